/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/machine/build.h"

#include "suite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What binutils say of this very program; "" without them, or where the linker has put no identifier in. */
static void identifier(char out[static BUILD_TEXT])
{
    char program[512] = "", command[600], line[256];
    out[0] = '\0';
    ck_assert_int_gt(readlink("/proc/self/exe", program, sizeof program - 1), 0);
    snprintf(command, sizeof command, "readelf -n '%s' 2>/dev/null", program);
    FILE *said = popen(command, "r");
    while (said != NULL && fgets(line, sizeof line, said) != NULL) {
        const char *at = strstr(line, "Build ID: ");
        if (at != NULL) {
            snprintf(out, BUILD_TEXT, "%.16s", at + strlen("Build ID: "));
        }
    }
    if (said != NULL) {
        pclose(said);
    }
}

START_TEST(it_is_that_of_the_program)
{
    char name[BUILD_TEXT], expected[BUILD_TEXT];
    build_name(name);
    ck_assert(strlen(name) == 0 || strlen(name) == BUILD_TEXT - 1);
    ck_assert_uint_eq(strspn(name, "0123456789abcdef"), strlen(name));
    identifier(expected);
    if (expected[0] != '\0') {
        ck_assert_str_eq(name, expected);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(it_is_that_of_the_program)};
SUITE_MAIN("build", tests)
