/* date.h: instants as text (RFC 3339) and as milliseconds since the Unix epoch. */
#ifndef RCPD_UTIL_DATE_H
#define RCPD_UTIL_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include "util/bytes.h"

/*
 * Reads an RFC 3339 date-time with offset ("2024-01-01T00:30:00+02:00", fractions
 * of a second to any length, "t" and "z" in lower case too) or a date alone
 * (midnight UTC). False for anything else and for days that do not exist. A leap
 * second counts as the last moment of its minute.
 */
bool date_parse(struct bytes text, int64_t *ret_ms);

#endif
