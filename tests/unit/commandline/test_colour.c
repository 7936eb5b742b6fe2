/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* posix_openpt */
#include "commandline/colour.h"

#include "suite.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

START_TEST(on_terminals_only)
{
    FILE *file = tmpfile();
    ck_assert(setenv("TERM", "xterm", 1) == 0 && unsetenv("NO_COLOR") == 0);
    ck_assert(!colour_wanted(file));
    fclose(file);
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0) {
        return; /* no terminals here */
    }
    FILE *terminal = fopen(ptsname(master), "r+");
    ck_assert_ptr_nonnull(terminal);
    ck_assert(colour_wanted(terminal));
    ck_assert_int_eq(setenv("NO_COLOR", "1", 1), 0);
    ck_assert(!colour_wanted(terminal));
    ck_assert_int_eq(setenv("NO_COLOR", "", 1), 0); /* as if it was not set */
    ck_assert(colour_wanted(terminal));
    ck_assert_int_eq(setenv("TERM", "dumb", 1), 0);
    ck_assert(!colour_wanted(terminal));
    fclose(terminal);
    close(master);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(on_terminals_only)};
SUITE_MAIN("colour", tests)
