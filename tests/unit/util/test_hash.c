/* SipHash-2-4 against the vector in appendix A of its paper; digests against FIPS 180-4. */
#include "../unit.h"

#include <string.h>

#include "util/crypto.h"
#include "util/hash.h"

static void test_paper_vector(void **state)
{
	unsigned char key[16], in[15];

	(void)state;
	for (int i = 0; i < 16; i++)
		key[i] = (unsigned char)i;
	for (int i = 0; i < 15; i++)
		in[i] = (unsigned char)i;
	assert_true(hash_siphash24(in, sizeof(in), key) == 0xa129ca6149be45e5U);
}

static void test_process_key_is_stable(void **state)
{
	(void)state;
	assert_true(hash_bytes("abc", 3) == hash_bytes("abc", 3));
	assert_true(hash_bytes("abc", 3) != hash_bytes("abd", 3));
	assert_true(hash_bytes("", 0) != hash_bytes("\0", 1));
}

static void test_sha256(void **state)
{
	unsigned char digest[CRYPTO_SHA256_LEN];
	char hex[2 * CRYPTO_SHA256_LEN + 1];

	(void)state;
	assert_int_equal(crypto_sha256("abc", 3, digest), ST_OK);
	crypto_hex(digest, sizeof(digest), hex);
	assert_string_equal(hex,
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_true(crypto_equal("abc", "abc", 3));
	assert_false(crypto_equal("abc", "abd", 3));
}

/* RFC 4231, test case 2. */
static void test_hmac_sha256(void **state)
{
	unsigned char mac[CRYPTO_SHA256_LEN];
	char hex[2 * CRYPTO_SHA256_LEN + 1];

	(void)state;
	assert_int_equal(crypto_hmac_sha256("Jefe", 4, "what do ya want for nothing?", 28, mac),
		ST_OK);
	crypto_hex(mac, sizeof(mac), hex);
	assert_string_equal(hex,
		"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	assert_int_equal(crypto_hmac_sha256("", (size_t)1 << 40, "", 0, mac), ST_INTERNAL);
}

static void test_random_hex(void **state)
{
	char a[33], b[33];

	(void)state;
	assert_int_equal(crypto_random_hex(16, a), ST_OK);
	assert_int_equal(crypto_random_hex(16, b), ST_OK);
	assert_int_equal(strlen(a), 32);
	assert_string_not_equal(a, b);
	assert_int_equal(crypto_random_hex(65, a), ST_INTERNAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paper_vector),
		cmocka_unit_test(test_process_key_is_stable),
		cmocka_unit_test(test_sha256),
		cmocka_unit_test(test_hmac_sha256),
		cmocka_unit_test(test_random_hex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
