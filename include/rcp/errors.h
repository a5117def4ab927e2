/*
 * rcp/errors.h: the error codes of RCP/1, as they travel in JSON-RPC's error.code.
 * Constants only: no function, no allocation, fit for C and C++.
 *
 * Retry: "yes" means the same request may succeed later; honour
 * error.data.retryable and error.data.retryAfterMs where a server sends them.
 */
#ifndef RCP_ERRORS_H
#define RCP_ERRORS_H

/* clang-format off: one column of reasons */
#define RCP_PARSE_ERROR (-32700)         /* not JSON, or JSON beyond the limits */
#define RCP_INVALID_REQUEST (-32600)     /* JSON, but no JSON-RPC request */
#define RCP_INVALID_PARAMS (-32602)      /* malformed; error.data.field says where */
#define RCP_INTERNAL_ERROR (-32603)      /* a fault of the server; retry once */
#define RCP_NOT_INITIALIZED (-32001)     /* initialize first; yes, after that */
#define RCP_VERSION_MISMATCH (-32002)    /* no common protocol version */
#define RCP_CAPABILITY_MISSING (-32003)  /* the method exists, not on this server */
#define RCP_UNKNOWN_METHOD (-32004)      /* RCP/1 defines no such method */
#define RCP_OPTION_UNSUPPORTED (-32005)  /* error.data.option is not offered */
#define RCP_CANCELLED (-32006)           /* notifications/cancel, or the client left */
#define RCP_BACKEND_UNAVAILABLE (-32010) /* busy, draining, out of room; yes */
#define RCP_RATE_LIMITED (-32011)        /* yes, later */
#define RCP_UNAUTHORIZED (-32012)        /* no credentials, or not enough rights */
#define RCP_PAYLOAD_TOO_LARGE (-32013)   /* above a limit; send less */
#define RCP_TIMEOUT (-32014)             /* the deadline passed; yes */
#define RCP_NOT_FOUND (-32015)           /* session, cursor or entity is gone */
#define RCP_CONFLICT (-32016)            /* contradicts the current state */
/* clang-format on */

#endif
