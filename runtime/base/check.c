/* SPDX-License-Identifier: Apache-2.0 */
#include "base/check.h"

#undef NDEBUG
#include <assert.h>
#include <stddef.h>

/* The C library's own assertion printer: it needs no stdio from us and ends in abort(). */
_Noreturn void check_failed(const char *text, const char *file, unsigned line, const char *function)
{
    __assert_fail(text, file, line, function);
}

static size_t append(char *out, size_t used, size_t room, const char *text)
{
    while (*text != '\0' && used + 1 < room) {
        out[used++] = *text++;
    }
    out[used] = '\0';
    return used;
}

_Noreturn void check_rule_failed(const char *text, const char *rule, const char *who, const char *file, unsigned line,
                                 const char *function)
{
    char all[501];
    const char *const pieces[] = {text, " (", rule, "; ", who, ")"};
    size_t used = 0;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        used = append(all, used, sizeof all, pieces[i]);
    }
    check_failed(all, file, line, function);
}
