/*
 * ref_constant.c: the first reference: takes the body, looks at none of it, sends
 * a constant answer. What libmicrohttpd and the kernel cost by themselves.
 */
#include "ref.h"

static char *reply(struct ref_answer *a, const char *body, size_t len, size_t *ret_len,
	int *ret_owned)
{
	(void)body, (void)len;
	*ret_len = a->len;
	*ret_owned = 0;
	return a->data;
}

int main(int argc, char **argv)
{
	return ref_main(argc, argv, NULL, reply);
}
