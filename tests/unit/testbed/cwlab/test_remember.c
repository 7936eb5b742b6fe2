/* SPDX-License-Identifier: Apache-2.0 */
/* test_remember.c - a daemon's configuration says what it runs now. Labs that do it: tests/net/lab/test_cmd_ctl.py. */
#include "testbed/cwlab/remember.h"

#include "suite.h"

#include <string.h>

static const char before[] = "cluster = 7\n"
                             "service \"multicast\" { options { folder = \"/x\"; } }\n"
                             "service \"kvcache\" { }\n"
                             "service \"old\" { file = \"/tmp/libold.so\"; }\n"
                             "service \"witness\" { file = \"/lib/witness.so\"; }\n";

static struct remembered what;

static const char *written(void)
{
    static char text[4096];
    FILE *in = fmemopen((void *)(uintptr_t)before, strlen(before), "r"), *out = fmemopen(text, sizeof text, "w");
    ck_assert_int_eq(remember_write(in, &what, out), 0);
    fclose(in);
    fclose(out);
    return text;
}

START_TEST(modules_are_those_that_run)
{
    what = (struct remembered){
        .count = 2,
        .module = {{.service = "witness", .file = "/lib/witness.so", .weight = 10},
                   {.service = "lock",
                    .file = "/tmp/a \"b\".so",
                    .options = "naive=yes term_ms=50 path=a=b\\",
                    .weight = 30,
                    .background = true}},
    };
    ck_assert_str_eq(
        written(), "cluster = 7\n"
                   "service \"multicast\" { options { folder = \"/x\"; } }\n"
                   "service \"kvcache\" { }\n"
                   "service \"witness\" { file = \"/lib/witness.so\"; weight = 10; background = no; options { } }\n"
                   "service \"lock\" { file = \"/tmp/a \\\"b\\\".so\"; weight = 30; background = yes; options { naive "
                   "= \"yes\"; term_ms = \"50\"; path = \"a=b\\\\\"; } }\n");
}
END_TEST

START_TEST(none_is_none)
{
    what.count = 0;
    ck_assert_str_eq(written(), "cluster = 7\n"
                                "service \"multicast\" { options { folder = \"/x\"; } }\n"
                                "service \"kvcache\" { }\n");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(modules_are_those_that_run),
    SUITE_TEST(none_is_none),
};
SUITE_MAIN("remember", tests)
