/*
 * route.c: which resources there are. The rows are tried in order; exact paths
 * stand before the base, so that a base of "/" leaves them reachable.
 */
#include <string.h>

#include "http/path.h"
#include "http/private.h"

#define ALLOW_GET "GET, HEAD, OPTIONS"
#define ALLOW_POST "POST, OPTIONS"

static const struct route routes[] = {
	{ .path = "/healthz", .allow = ALLOW_GET, .answer = health_answer },
	{ .path = "/readyz", .allow = ALLOW_GET, .answer = ready_answer },
	{ .path = NULL, .allow = ALLOW_POST, .post = true, .gated = true, .answer = call_answer },
	{ .path = "/", .allow = ALLOW_GET, .answer = about_answer },
};

const struct route *route_find(struct exchange *ex)
{
	const struct http *h = ex->io->http;
	size_t i;

	for (i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		const struct route *route = &routes[i];

		if (route->path ? strcmp(route->path, ex->target) == 0
				: path_split(ex->target, h->base, h->base_len, &ex->method))
			return route;
	}
	return NULL;
}
