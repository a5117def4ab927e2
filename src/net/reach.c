/*
 * reach.c: which addresses are on the public network. All that the IANA registries of
 * special-purpose addresses call not globally reachable is private here, and so is
 * multicast. An IPv6 address that carries an IPv4 one counts as that one.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "net/private.h"

struct range4 {
	uint32_t base;
	unsigned bits;
};

static const struct range4 private4[] = {
	{ 0x00000000, 8 },  /* "this network"; 0.0.0.0 reaches this host */
	{ 0x0a000000, 8 },  /* private use */
	{ 0x64400000, 10 }, /* carrier-grade NAT */
	{ 0x7f000000, 8 },  /* loopback */
	{ 0xa9fe0000, 16 }, /* link-local, cloud metadata services */
	{ 0xac100000, 12 }, /* private use */
	{ 0xc0000000, 24 }, /* protocol assignments */
	{ 0xc0000200, 24 }, /* documentation */
	{ 0xc0586300, 24 }, /* 6to4 relays, withdrawn */
	{ 0xc0a80000, 16 }, /* private use */
	{ 0xc6120000, 15 }, /* benchmarks */
	{ 0xc6336400, 24 }, /* documentation */
	{ 0xcb007100, 24 }, /* documentation */
	{ 0xe0000000, 4 },  /* multicast */
	{ 0xf0000000, 4 },  /* reserved, broadcast */
};

static bool public4(uint32_t a)
{
	for (size_t i = 0; i < sizeof(private4) / sizeof(private4[0]); i++)
		if ((a ^ private4[i].base) >> (32 - private4[i].bits) == 0)
			return false;
	return true;
}

static uint32_t word(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool public6(const unsigned char *a)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	static const unsigned char nat64[12] = { 0x00, 0x64, 0xff, 0x9b };
	uint32_t first = word(a);

	if (memcmp(a, mapped, sizeof(mapped)) == 0 || memcmp(a, nat64, sizeof(nat64)) == 0)
		return public4(word(a + 12));
	if (first >> 16 == 0x2002) /* 6to4 */
		return public4(word(a + 2));
	/* Unique local, link-local, multicast, loopback and "::" all lie outside 2000::/3,
	 * which is all of IPv6 that is given out. */
	if (first >> 29 != 1)
		return false;
	/* Within it: protocol assignments with Teredo (2001::/23), documentation. */
	return first >> 9 != 0x20010000U >> 9 && first != 0x20010db8U && first >> 12 != 0x3fff0;
}

bool net_address_public(const struct sockaddr *sa)
{
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;

	if (sa->sa_family == AF_INET) {
		memcpy(&in4, sa, sizeof(in4));
		return public4(ntohl(in4.sin_addr.s_addr));
	}
	if (sa->sa_family == AF_INET6) {
		memcpy(&in6, sa, sizeof(in6));
		return public6(in6.sin6_addr.s6_addr);
	}
	return false;
}
