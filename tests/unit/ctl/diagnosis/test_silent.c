/* SPDX-License-Identifier: Apache-2.0 */
/* test_silent.c - a server of a lab that nobody hears: its keeper says whether it lives, and it says itself why. */
#include "ctl/diagnosis/silent.h"

#include "../fake_daemon.h"
#include "suite.h"

#define DONE "{\"id\":1,\"done\":true,\"rc\":0}\n"

static struct fake_daemon keeper, daemon_; /* of 1,0,2; its socket is moved into the folder of the lab */
static struct rows rows;
static char path[128], kept[128], json[128], own[128];

static void begin(const char *state, const char *const says[])
{
    static char line[200];
    static const char *keeps[] = {line, NULL};
    snprintf(line, sizeof line, "{\"id\":1,\"row\":{\"server\":\"1,0,2\",\"state\":\"%s\"}}\n" DONE, state);
    fake_daemon_start(&keeper, keeps, 1);
    fake_daemon_start(&daemon_, says, 1);
    snprintf(path, sizeof path, "%s/0,0,0.sock", keeper.folder);
    snprintf(kept, sizeof kept, "%s/keeper.sock", keeper.folder);
    snprintf(json, sizeof json, "%s/lab.json", keeper.folder);
    snprintf(own, sizeof own, "%s/1,0,2.sock", keeper.folder);
    ck_assert_int_eq(rename(keeper.path, kept), 0);
    ck_assert_int_eq(rename(daemon_.path, own), 0);
    FILE *f = fopen(json, "w");
    ck_assert(f != NULL && fclose(f) == 0);
    for (unsigned i = 0; i < 2; i++) {
        struct message *m = message_open();
        message_text(m, "part", "finding");
        message_text(m, "cause", "server-down");
        message_text(m, "server", i == 0 ? "0,0,2" : "1,0,1");
        message_text(m, "expected", "1,0,2");
        message_text(m, "silent_for", "3s");
        rows_add(&rows, m);
    }
}

static void end(void)
{
    unlink(json);
    unlink(kept);
    unlink(own);
    rows_clear(&rows);
    fake_daemon_end(&daemon_);
    fake_daemon_end(&keeper);
}

static const char *of(size_t i, const char *field)
{
    return message_get_text(rows.row[i], field, "");
}

START_TEST(it_says_why)
{
    static const char *const says[] = {
        "{\"id\":1,\"row\":{\"part\":\"finding\",\"server\":\"1,0,2\",\"cause\":\"held\"}}\n" DONE, NULL};
    begin("running", says);
    silent_ask(&rows, path);
    ck_assert_uint_eq(rows.count, 3);
    ck_assert_str_eq(of(0, "cause"), "silent");
    ck_assert_str_eq(of(1, "cause"), "silent");
    ck_assert_str_eq(of(2, "cause"), "held");
    ck_assert_str_eq(of(0, "text"),
                     "1,0,2 is not heard by its neighbours for 3s, and the lab's keeper says that its daemon runs: it "
                     "answers now, so that it stood still a moment ago, and its links come up again");
    end();
}
END_TEST

START_TEST(it_does_not_answer)
{
    static const char *const says[] = {NULL};
    begin("running", says);
    silent_ask(&rows, path);
    ck_assert_uint_eq(rows.count, 2);
    ck_assert_str_eq(of(1, "cause"), "silent");
    ck_assert_msg(strstr(of(1, "text"), "it stands still, or its machine or a service keeps it busy") != NULL, "%s",
                  of(1, "text"));
    ck_assert_str_eq(of(1, "do"), "on 1,0,2: journalctl -u cubewayd");
    end();
}
END_TEST

START_TEST(it_is_dead)
{
    static const char *const says[] = {NULL};
    begin("dead", says);
    silent_ask(&rows, path);
    ck_assert_uint_eq(rows.count, 2);
    ck_assert_str_eq(of(0, "cause"), "server-down");
    ck_assert_str_eq(of(0, "text"), "");
    end();
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(it_says_why),
    SUITE_TEST(it_does_not_answer),
    SUITE_TEST(it_is_dead),
};
SUITE_MAIN("silent", tests)
