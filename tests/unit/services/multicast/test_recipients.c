/* SPDX-License-Identifier: Apache-2.0 */
/* To whom a command sends, through the service: a group's root is asked first. */
#include "services/multicast/recipients.h"

#include "group_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

/* The engine's packets do not cross the fake net: what is seen is for whom it waits. */
START_TEST(members_are_asked_for)
{
    static struct fake_result r, status;
    town_open();
    fake_command(town->server[1], "group join web", &r);
    fake_net_finish(town, &r);
    fake_command(town->server[4], "group join web", &r);
    fake_net_finish(town, &r);
    fake_command(town->server[0], "send 100000 to web", &r);
    ck_assert(!r.done);
    fake_net_run(town, CW_MS(5));
    fake_command(town->server[0], "status", &status);
    ck_assert_uint_eq(status.rows, 1);
    ck_assert_int_eq(fake_int(&status, 0, "waits_for"), 2);
    ck_assert_str_eq(fake_text(&status, 0, "role"), "source");
    town_close();
}
END_TEST

START_TEST(nobody_there)
{
    static struct fake_result r, more;
    town_open();
    fake_command(town->server[0], "send 100000 to nobody", &r);
    fake_net_finish(town, &r);
    ck_assert_int_eq(r.rc, -ENOENT);
    ck_assert_ptr_nonnull(strstr(fake_text(&r, 0, "error"), "'nobody'"));
    fake_command(town->server[0], "sing to web", &r);
    fake_net_finish(town, &r);
    ck_assert_int_ne(r.rc, 0);
    fake_command(town->server[0], "send 5 to somebody", &more); /* still asking when it closes */
    ck_assert(!more.done);
    town_close();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(members_are_asked_for), SUITE_TEST(nobody_there)};
SUITE_MAIN("recipients", tests)
