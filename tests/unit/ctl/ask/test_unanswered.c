/* SPDX-License-Identifier: Apache-2.0 */
/* test_unanswered.c - a daemon that answers other questions: which service has kept the command is said. */
#include "ctl/ask/unanswered.h"

#include "../fake_daemon.h"
#include "suite.h"

#include <errno.h>

static struct fake_daemon d;
static struct client *c;
static char why[CLIENT_WHY];

/* The daemon says nothing to the first request, and `answer` to the second, which is that of unanswered_explain(). */
static void explain(const char *answer)
{
    const char *const says[] = {"{\"id\":7,\"row\":{}}\n", answer, NULL};
    fake_daemon_start(&d, says, 1);
    ck_assert_int_eq(client_open(&c, d.path, why), 0);
    struct request_draft *r = request_draft_open("service", NULL);
    ck_assert_int_eq(client_ask(c, r, CW_MS(30), NULL, NULL, why), -ETIME);
    request_draft_close(r);
    unanswered_explain(c, "1,0,2", CW_SEC(5), why);
    client_close(c);
    fake_daemon_end(&d);
}

START_TEST(a_service_keeps_a_command)
{
    explain(
        "{\"id\":2,\"row\":{\"service\":\"jobs\",\"commands\":0}}\n"
        "{\"id\":2,\"row\":{\"service\":\"of another operator\",\"commands\":1,\"command\":\"send\",\"command_age_ns\":"
        "300000000000}}\n"
        "{\"id\":2,\"row\":{\"service\":\"other\",\"commands\":1,\"command\":\"go\",\"command_age_ns\":"
        "1000000000}}\n"
        "{\"id\":2,\"row\":{\"service\":\"slow\",\"commands\":2,\"command\":\"hold red\",\"command_age_ns\":"
        "5012000000}}\n{\"id\":2,\"done\":true,\"rc\":0}\n");
    ck_assert_ptr_nonnull(strstr(why, ": no answer in time: service slow has had the command 'hold red' in hand for "
                                      "5.0 s and has not ended it, which cw_request_done() does; --timeout waits "
                                      "longer"));
    ck_assert_int_eq(strncmp(why, d.path, strlen(d.path)), 0);
}
END_TEST

START_TEST(no_service_does)
{
    explain("{\"id\":2,\"row\":{\"service\":\"jobs\",\"commands\":0}}\n{\"id\":2,\"done\":true,\"rc\":0}\n");
    ck_assert_ptr_nonnull(strstr(why, "nothing came for 5.0 s, though the daemon answers other questions now"));
}
END_TEST

START_TEST(the_thread_is_held)
{
    explain(NULL);
    ck_assert_ptr_nonnull(strstr(why, "an upcall of a service holds the daemon's thread"));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_service_keeps_a_command),
    SUITE_TEST(no_service_does),
    SUITE_TEST(the_thread_is_held),
};
SUITE_MAIN("unanswered", tests)
