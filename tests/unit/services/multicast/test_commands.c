/* SPDX-License-Identifier: Apache-2.0 */
/* send and status: what makes no sense is refused with a sentence, and places for messages are bounded. */
#include "services/multicast/commands.h"

#include "fake_host.h"
#include "services/multicast/multicast.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_result r;

static cw_svc *open_first(void)
{
    return fake_open(&multicast_service, (cw_dims){3, 1, 1}, (cw_coord){0, 0, 0});
}

START_TEST(wrong_words)
{
    static const char *const lines[] = {"",
                                        "sing",
                                        "send",
                                        "send 5",
                                        "send x to all",
                                        "send 0 to all",
                                        "send 5 to 9,9,9",
                                        "send 5 to 0,0,0",
                                        "send 5 at all",
                                        "status now"};
    cw_svc *host = open_first();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        fake_command(host, lines[i], &r);
        ck_assert_int_eq(r.rc, -EINVAL);
        ck_assert_uint_gt(strlen(fake_text(&r, 0, "error")), 10);
    }
    ck_assert_uint_eq(fake_close(host), 0);
}
END_TEST

/* The 17th message is refused, with the number of those that are under way. */
START_TEST(too_many)
{
    static struct fake_result waiting[16];
    cw_svc *host = open_first();
    for (unsigned i = 0; i < 16; i++) {
        fake_command(host, "send 1000000 to all", &waiting[i]);
        ck_assert(!waiting[i].done);
    }
    fake_command(host, "send 1000000 to all", &r);
    ck_assert_int_eq(r.rc, -EBUSY);
    ck_assert_ptr_nonnull(strstr(fake_text(&r, 0, "error"), "16 messages"));
    fake_command(host, "status", &r);
    ck_assert_uint_eq(r.rows, 16);
    fake_shut(host);
    ck_assert_uint_eq(fake_close(host), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(wrong_words), SUITE_TEST(too_many)};
SUITE_MAIN("commands", tests)
