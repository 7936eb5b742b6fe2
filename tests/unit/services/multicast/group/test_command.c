/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/command.h"

#include "group_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_result r;

static void run(cw_server s, const char *line)
{
    fake_command(town->server[s], line, &r);
    fake_net_finish(town, &r);
    ck_assert(r.done);
}

START_TEST(join_publish_leave)
{
    town_open();
    run(1, "group join web");
    ck_assert_int_eq(r.rc, 0);
    ck_assert_str_eq(fake_text(&r, 0, "this_server"), "member");
    run(5, "group join web");
    run(0, "group members web");
    ck_assert(r.rc == 0 && r.rows == 2);
    ck_assert_str_eq(fake_text(&r, 0, "member"), "0,1,0");
    ck_assert_str_eq(fake_text(&r, 1, "member"), "1,2,0");
    run(0, "group publish web hello there");
    ck_assert(r.rc == 0 && fake_int(&r, 0, "members") == 2 && fake_int(&r, 0, "complete") == 2 && r.rows == 1);
    run(1, "group heard");
    ck_assert(r.rc == 0 && r.rows == 1 && fake_int(&r, 0, "bytes") == 11);
    ck_assert_str_eq(fake_text(&r, 0, "text"), "hello there");
    ck_assert_str_eq(fake_text(&r, 0, "from"), "0,0,0");
    run(0, "group publish-once web again");
    ck_assert(r.rc == 0 && fake_int(&r, 0, "members") == 2);
    fake_net_run(town, CW_MS(1));
    run(5, "group heard");
    ck_assert_uint_eq(r.rows, 2);
    run(1, "group list");
    ck_assert(r.rc == 0 && fake_int(&r, 0, "acknowledged") == 1);
    ck_assert_str_eq(fake_text(&r, 0, "group"), "web");
    run(1, "group leave web");
    ck_assert_int_eq(r.rc, 0);
    run(5, "group leave web");
    run(0, "group members web");
    ck_assert_int_eq(r.rc, -ENOENT);
    ck_assert_ptr_nonnull(strstr(fake_text(&r, 0, "error"), "web"));
    town_close();
}
END_TEST

START_TEST(the_last_texts_are_kept)
{
    char line[64];
    town_open();
    run(3, "group join g");
    for (int i = 0; i < GROUP_HEARD_MOST + 5; i++) {
        snprintf(line, sizeof line, "group publish g text-%d", i);
        run(3, line);
    }
    run(3, "group heard");
    ck_assert_uint_eq(r.rows, GROUP_HEARD_MOST);
    ck_assert_str_eq(fake_text(&r, 0, "text"), "text-5");
    town_close();
}
END_TEST

START_TEST(wrong_words)
{
    static const char *const lines[] = {"group",
                                        "group sing",
                                        "group join",
                                        "group join all",
                                        "group join 1,0,0",
                                        "group join a b",
                                        "group members",
                                        "group list web",
                                        "group heard web",
                                        "group publish web",
                                        "group publish all text"};
    town_open();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        fake_command(town->server[0], lines[i], &r);
        ck_assert_int_eq(r.rc, -EINVAL);
        ck_assert_uint_gt(strlen(fake_text(&r, 0, "error")), 20);
    }
    fake_command(town->server[0], "group leave web", &r);
    ck_assert_int_eq(r.rc, -ENOENT);
    fake_command(town->server[0], "group publish web text", &r);
    fake_net_finish(town, &r);
    ck_assert_int_eq(r.rc, -ENOENT);
    town_close();
}
END_TEST

/* The service closes while commands wait. */
START_TEST(closing)
{
    static struct fake_result join, ask, say;
    town_open();
    fake_command(town->server[0], "group join g", &join);
    fake_command(town->server[0], "group members g", &ask);
    fake_command(town->server[0], "group publish g text", &say);
    ck_assert(!join.done && !ask.done && !say.done);
    town_close();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(join_publish_leave), SUITE_TEST(the_last_texts_are_kept),
                                          SUITE_TEST(wrong_words), SUITE_TEST(closing)};
SUITE_MAIN("group_command", tests)
