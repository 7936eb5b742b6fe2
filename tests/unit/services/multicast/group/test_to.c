/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that name a group, through a table of its own and through the service's. */
#include "services/multicast/group/to.h"

#include "group_town.h"
#include "services/multicast/group/group.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

START_TEST(names)
{
    static const char *const group[] = {"send", "5", "to", "web"}, *const all[] = {"send", "5", "to", "all"},
                             *const server[] = {"send", "5", "to", "1,0,0"}, *const two[] = {"to", "web", "db"};
    ck_assert(group_to_named(4, group) && !group_to_named(4, all) && !group_to_named(4, server));
    ck_assert(!group_to_named(3, two) && !group_to_named(1, group) && !group_to_named(0, group));
}
END_TEST

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

static const struct suite_test tests[] = {SUITE_TEST(names), SUITE_TEST(members_are_asked_for),
                                          SUITE_TEST(nobody_there)};
SUITE_MAIN("group_to", tests)
