/* SPDX-License-Identifier: Apache-2.0 */
#include "lab_place.h"
#include "testbed/crew.h"
#include "testbed/peer.h"

#include <errno.h>
#include <sys/wait.h>

static char *place;

static int start(struct crew *c, const char *script)
{
    char log[100];
    const char *const argv[] = {"/bin/sh", "-c", script, NULL}, *const extra[] = {"CREW=yes", NULL};
    snprintf(log, sizeof log, "%s/log", place);
    const struct crew_order order = {.argv = argv, .extra = extra, .ns = -1, .log = log, .folder = place};
    return crew_start(c, &order);
}

static void wait_for(struct crew *c)
{
    int status;
    ck_assert_int_eq(waitpid(c->pid, &status, 0), c->pid);
    crew_ended(c, status);
}

START_TEST(a_life)
{
    place = place_make();
    struct crew c = {.status = -1};
    ck_assert_int_eq(crew_kill(&c, false), -ESRCH);
    ck_assert_int_eq(start(&c, "echo $CREW; pwd; exit 5"), 0);
    ck_assert(c.state == CREW_RUNS && c.outside == c.pid && start(&c, "true") == -EALREADY);
    wait_for(&c);
    ck_assert(c.state == CREW_DEAD && WEXITSTATUS(c.status) == 5 && !c.asked);
    char path[100], text[200] = "", want[200];
    snprintf(path, sizeof path, "%s/log", place);
    FILE *f = fopen(path, "r");
    (void)!fread(text, 1, sizeof text - 1, f);
    fclose(f);
    snprintf(want, sizeof want, "yes\n%s\n", place);
    ck_assert_str_eq(text, want);
    ck_assert_int_eq(start(&c, "exec sleep 100"), 0);
    ck_assert_int_eq(crew_terminate(&c), 0);
    ck_assert_int_eq(crew_terminate(&c), -EALREADY);
    wait_for(&c);
    ck_assert(WTERMSIG(c.status) == SIGTERM && c.asked && c.starts == 2 && !c.leaves);
    ck_assert_int_eq(crew_terminate(&c), -ESRCH);
    place_remove(place);
}
END_TEST

START_TEST(a_pause)
{
    place = place_make();
    struct crew c = {.status = -1};
    int status;
    ck_assert_int_eq(start(&c, "exec sleep 100"), 0);
    ck_assert_int_eq(crew_continue(&c), -EALREADY);
    ck_assert_int_eq(crew_pause(&c, CW_NEVER), 0);
    ck_assert(waitpid(c.pid, &status, WUNTRACED) == c.pid && WIFSTOPPED(status));
    ck_assert(c.state == CREW_PAUSED && crew_pause(&c, CW_NEVER) == -EALREADY);
    ck_assert(c.pauses == 1 && c.pause_longest.ns == 0);
    ck_assert_int_eq(crew_continue(&c), 0);
    ck_assert(c.pause_longest.ns > 0 && c.pause_longest.ns == cw_time_since(c.continued, c.paused).ns);
    ck_assert(waitpid(c.pid, &status, WCONTINUED) == c.pid && WIFCONTINUED(status));
    ck_assert_int_eq(crew_pause(&c, CW_NEVER), 0);
    ck_assert_str_eq(crew_state_name(&c), "paused");
    ck_assert_int_eq(crew_terminate(&c), 0); /* it goes on, or it would never hear that */
    ck_assert_str_eq(crew_state_name(&c), "leaving");
    wait_for(&c);
    ck_assert_int_eq(WTERMSIG(c.status), SIGTERM);
    ck_assert_str_eq(crew_state_name(&c), "dead");
    place_remove(place);
}
END_TEST

START_TEST(what_cannot_begin)
{
    place = place_make();
    char log[100];
    struct crew c = {.status = -1};
    const char *const argv[] = {"/no/such/program", NULL};
    snprintf(log, sizeof log, "%s/log", place);
    struct crew_order order = {.argv = argv, .ns = -1, .log = log, .folder = place};
    ck_assert_int_eq(crew_start(&c, &order), -ENOENT);
    order.folder = "/no/such/folder";
    ck_assert_int_eq(crew_start(&c, &order), -ENOENT);
    ck_assert(c.state == CREW_DEAD && waitpid(-1, NULL, WNOHANG) < 0);
    place_remove(place);
}
END_TEST

/* Whoever the keeper is, its daemons die with it. */
START_TEST(none_outlives_its_keeper)
{
    int ends[2];
    place = place_make();
    ck_assert_int_eq(pipe(ends), 0);
    pid_t keeper = fork();
    if (keeper == 0) {
        struct crew c = {.status = -1};
        _exit(start(&c, "exec sleep 100") != 0); /* the daemon holds the pipe too */
    }
    close(ends[1]);
    ck_assert_int_eq(waitpid(keeper, NULL, 0), keeper);
    char byte;
    ck_assert_int_eq(read(ends[0], &byte, 1), 0);
    place_remove(place);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_life), SUITE_TEST(a_pause), SUITE_TEST(what_cannot_begin),
                                          SUITE_TEST(none_outlives_its_keeper)};
SUITE_MAIN("crew", tests)
