/* SPDX-License-Identifier: Apache-2.0 */
#include "base/check.h"

#undef NDEBUG
#include <assert.h>

/* The C library's own assertion printer: it needs no stdio from us and ends in abort(). */
_Noreturn void check_failed(const char *text, const char *file, unsigned line, const char *function)
{
    __assert_fail(text, file, line, function);
}
