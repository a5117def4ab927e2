/*
 * banned.h: calls that have cost servers their memory safety, made into compile
 * errors. Included by every .c file through the build (-include), after the
 * system headers it needs itself. The lint test checks the same list in text.
 */
#ifndef RCPD_UTIL_BANNED_H
#define RCPD_UTIL_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#undef sprintf /* macros of a fortified <stdio.h> */
#undef vsprintf
#pragma GCC poison strcpy strcat strncpy strncat stpcpy sprintf vsprintf gets
#pragma GCC poison atoi atol atoll atof strtok
#pragma GCC poison gmtime localtime ctime asctime
#undef alloca /* a macro of <stdlib.h> */
#pragma GCC poison alloca system popen mktemp tmpnam

#endif
