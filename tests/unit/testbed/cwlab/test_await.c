/* SPDX-License-Identifier: Apache-2.0 */
#include "lab_place.h"
#include "testbed/cwlab/await.h"
#include "testbed/peer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

static struct lab lab;
static char why[AWAIT_WHY];

static int listen_at(const char *stem)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char path[LAB_PATH];
    lab_path(&lab, stem, ".sock", path);
    snprintf(a.sun_path, sizeof a.sun_path, "%.100s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert(bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, 100) == 0);
    return fd;
}

/* A keeper that says the same of the daemon each time, and opens the daemon's socket when it is asked `opens` times. */
static pid_t keep(const char *row, int opens)
{
    int listener = listen_at("keeper");
    pid_t pid = fork();
    if (pid != 0) {
        close(listener);
        return pid;
    }
    for (int n = 1;; n++) {
        char request[4096], text[300];
        int fd = accept(listener, NULL, NULL);
        (void)!read(fd, request, sizeof request);
        if (n == opens) {
            (void)listen_at("all");
        }
        int length = snprintf(text, sizeof text, "{\"id\":1,\"row\":%s}\n{\"id\":1,\"done\":true,\"rc\":0}\n", row);
        (void)!write(fd, text, (size_t)length);
        close(fd);
    }
}

static char ended[AWAIT_ENDED];

static int await_with(const char *row, int opens, cw_span patience, bool leave)
{
    char *place = place_make(), text[LAB_WHY];
    lab = (struct lab){.driver = LAB_PROCESS};
    ck_assert_int_eq(torus_init(&lab.torus, (cw_dims){2, 2, 2}), 0);
    ck_assert(lab_place(&lab, "a", text) == 0 && lab_make_folder(&lab) == 0);
    pid_t pid = row != NULL ? keep(row, opens) : 0;
    cw_time until = cw_time_add(peer_clock(), patience);
    int rc = leave ? await_leave(&lab, 3, until, ended, why) : await_daemon(&lab, 3, until, why);
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    place_remove(place);
    return rc;
}

START_TEST(one_that_starts_is_waited_for)
{
    ck_assert_int_eq(await_with("{\"server\":\"all\",\"state\":\"running\"}", 3, CW_SEC(60), false), 0);
    ck_assert_str_eq(why, "");
}
END_TEST

START_TEST(a_dead_one_is_not)
{
    ck_assert_int_eq(
        await_with("{\"server\":\"all\",\"state\":\"dead\",\"ended\":\"signal 9, as ordered\"}", 0, CW_SEC(60), false),
        -ESRCH);
    ck_assert_msg(strstr(why, "is dead (signal 9, as ordered): cwlab down --name a removes the lab, and ") != NULL,
                  "%s", why);
}
END_TEST

START_TEST(not_for_ever)
{
    ck_assert_int_eq(await_with("{\"server\":\"all\",\"state\":\"running\"}", 0, CW_MS(1), false), -ETIMEDOUT);
    ck_assert_msg(strstr(why, "runs, but it has not opened its control socket in time") != NULL, "%s", why);
    ck_assert(strstr(why, "dead") == NULL && strstr(why, "/all.log") != NULL);
}
END_TEST

START_TEST(without_a_keeper)
{
    ck_assert_int_eq(await_with(NULL, 0, CW_SEC(60), false), -ECONNREFUSED);
    ck_assert_str_eq(why, "lab 'a' is dead: its keeper does not answer");
    ck_assert_int_gt(await_patience().ns, CW_SEC(1).ns);
}
END_TEST

START_TEST(one_that_leaves_is_waited_for)
{
    ck_assert_int_eq(await_with("{\"server\":\"all\",\"state\":\"leaving\"}", 0, CW_MS(20), true), -ETIMEDOUT);
    ck_assert_msg(strstr(why, "all is still leaving: its log, ") != NULL, "%s", why);
    ck_assert_msg(strstr(why, "; cwlab fail --name a all kills it") != NULL, "%s", why);
    ck_assert_int_eq(
        await_with("{\"server\":\"all\",\"state\":\"dead\",\"ended\":\"exit code 0\"}", 0, CW_SEC(60), true), 0);
    ck_assert_str_eq(ended, "exit code 0");
    ck_assert_int_eq(await_with("{\"server\":\"all\",\"state\":\"running\"}", 0, CW_SEC(60), true), 0);
    ck_assert_str_eq(ended, "");
    ck_assert_int_eq(await_with(NULL, 0, CW_SEC(60), true), -ECONNREFUSED);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(one_that_starts_is_waited_for), SUITE_TEST(a_dead_one_is_not),
                                          SUITE_TEST(not_for_ever), SUITE_TEST(without_a_keeper),
                                          SUITE_TEST(one_that_leaves_is_waited_for)};
SUITE_MAIN("await", tests)
