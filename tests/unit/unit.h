/* unit.h: what every unit test includes: cmocka and its prerequisites. */
#ifndef RCPD_TESTS_UNIT_H
#define RCPD_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
