/*
 * test_tls.c: certificates are checked: who signed them and for which name. The server's
 * certificate is made here, for 127.0.0.1 alone, and signs itself.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../unit.h"
#include "net/net.h"
#include "util/clock.h"

struct secure {
	SSL_CTX *ctx;
	int fd;
	unsigned port;
	pthread_t thread;
	char ca_file[64];
};

static X509 *certificate_make(EVP_PKEY *key, long valid_s)
{
	X509 *x = X509_new();
	X509_NAME *name = X509_get_subject_name(x);
	X509V3_CTX ctx;
	X509_EXTENSION *ext;

	assert_int_equal(X509_set_version(x, 2), 1);
	assert_int_equal(ASN1_INTEGER_set(X509_get_serialNumber(x), 1), 1);
	assert_non_null(X509_gmtime_adj(X509_getm_notBefore(x), -3600));
	assert_non_null(X509_gmtime_adj(X509_getm_notAfter(x), valid_s));
	assert_int_equal(X509_set_pubkey(x, key), 1);
	assert_int_equal(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
				 (const unsigned char *)"test", -1, -1, 0),
		1);
	assert_int_equal(X509_set_issuer_name(x, name), 1);
	X509V3_set_ctx(&ctx, x, x, NULL, NULL, 0);
	ext = X509V3_EXT_conf_nid(NULL, &ctx, NID_subject_alt_name, "IP:127.0.0.1");
	assert_non_null(ext);
	assert_int_equal(X509_add_ext(x, ext, -1), 1);
	X509_EXTENSION_free(ext);
	ext = X509V3_EXT_conf_nid(NULL, &ctx, NID_basic_constraints, "critical,CA:TRUE");
	assert_int_equal(X509_add_ext(x, ext, -1), 1);
	X509_EXTENSION_free(ext);
	assert_true(X509_sign(x, key, EVP_sha256()) > 0);
	return x;
}

static void *serve(void *arg)
{
	struct secure *s = arg;
	static const char answer[] =
		"HTTP/1.1 200 X\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
	char buf[4096];
	int fd;

	while ((fd = accept(s->fd, NULL, NULL)) >= 0) {
		SSL *ssl = SSL_new(s->ctx);
		(void)SSL_set_fd(ssl, fd);
		if (SSL_accept(ssl) == 1 && SSL_read(ssl, buf, sizeof(buf)) > 0)
			(void)SSL_write(ssl, answer, sizeof(answer) - 1);
		(void)SSL_shutdown(ssl);
		SSL_free(ssl);
		(void)close(fd);
	}
	return NULL;
}

static void listen_on_loopback(struct secure *s)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);

	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(s->fd, 8), 0);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&a, &len), 0);
	s->port = ntohs(a.sin_port);
}

static void secure_start(struct secure *s, long valid_s)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = certificate_make(key, valid_s);
	FILE *f;

	(void)snprintf(s->ca_file, sizeof(s->ca_file), "/tmp/test_net_caXXXXXX");
	f = fdopen(mkstemp(s->ca_file), "w");
	assert_non_null(f);
	assert_int_equal(PEM_write_X509(f, x), 1);
	assert_int_equal(fclose(f), 0);
	s->ctx = SSL_CTX_new(TLS_server_method());
	assert_int_equal(SSL_CTX_use_certificate(s->ctx, x), 1);
	assert_int_equal(SSL_CTX_use_PrivateKey(s->ctx, key), 1);
	X509_free(x);
	EVP_PKEY_free(key);
	listen_on_loopback(s);
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void secure_stop(struct secure *s)
{
	(void)shutdown(s->fd, SHUT_RDWR);
	(void)pthread_join(s->thread, NULL);
	(void)close(s->fd);
	(void)unlink(s->ca_file);
	SSL_CTX_free(s->ctx);
}

static enum status call(const struct secure *s, const char *host, const char *ca_file,
	struct error *e)
{
	const struct net_policy policy = { .private_hosts = true, .ca_file = ca_file };
	char url[100];
	struct net_request req = { .url = url,
		.max_body = 100,
		.deadline_ms = clock_mono_ms() + 5000 };
	struct net_response r;
	struct net *n;
	enum status st;

	(void)snprintf(url, sizeof(url), "https://%s:%u/", host, s->port);
	assert_int_equal(net_new(&policy, &n, e), ST_OK);
	e->detail[0] = '\0';
	st = net_call(n, &req, &r, e);
	if (!st) {
		assert_int_equal(r.body.len, 2);
		net_response_release(&r);
	}
	net_free(n);
	return st;
}

static void test_certificates(void **state)
{
	struct secure s;
	struct error e;

	(void)state;
	secure_start(&s, 3600);
	assert_int_equal(call(&s, "127.0.0.1", s.ca_file, &e), ST_OK);
	/* Signed by nobody that the system knows. */
	assert_int_equal(call(&s, "127.0.0.1", NULL, &e), ST_UNAVAILABLE);
	assert_non_null(strstr(e.detail, "certificate"));
	/* Made out to another name. */
	assert_int_equal(call(&s, "localhost", s.ca_file, &e), ST_UNAVAILABLE);
	secure_stop(&s);
	/* Out of date. */
	secure_start(&s, -60);
	assert_int_equal(call(&s, "127.0.0.1", s.ca_file, &e), ST_UNAVAILABLE);
	assert_non_null(strstr(e.detail, "expired"));
	secure_stop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_certificates),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
