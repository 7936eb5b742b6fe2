/* SPDX-License-Identifier: Apache-2.0 */
#include "lab_place.h"
#include "testbed/cwlab/converge.h"
#include "testbed/peer.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

/* A daemon of all servers that reaches one server more each time it is asked, up to most. */
static pid_t growing(const struct lab *lab, int most, int rc)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char path[LAB_PATH];
    lab_path(lab, "all", ".sock", path);
    snprintf(a.sun_path, sizeof a.sun_path, "%.100s", path);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert(bind(listener, (struct sockaddr *)&a, sizeof a) == 0 && listen(listener, 100) == 0);
    pid_t pid = fork();
    int n = 0;
    while (pid == 0) {
        char request[4096], text[200];
        int fd = accept(listener, NULL, NULL);
        (void)!read(fd, request, sizeof request);
        n += n < most;
        int length = snprintf(
            text, sizeof text,
            "{\"id\":1,\"row\":{\"reachable\":%d,\"state\":\"serving\"}}\n{\"id\":1,\"done\":true,\"rc\":%d}\n", n, rc);
        (void)!write(fd, text, (size_t)length);
        close(fd);
    }
    close(listener);
    return pid;
}

static bool thrice(void *context, const struct converge_sight *sight)
{
    int *left = context;
    ck_assert(sight->done == 0 && sight->total == 8 && sight->server == 0 && sight->reachable == 8);
    return --*left > 0;
}

static unsigned wait_for(const struct lab *lab, const bool *who, uint32_t want, bool links, int64_t ms)
{
    const struct converge_goal goal = {.who = who, .want = want, .links = links};
    return converge_wait(lab, &goal, cw_time_add(peer_clock(), CW_MS(ms)), NULL, NULL);
}

START_TEST(until_all_know_all)
{
    char *place = place_make(), why[LAB_WHY];
    struct lab lab = {.driver = LAB_PROCESS};
    struct converge_view view;
    ck_assert_int_eq(torus_init(&lab.torus, (cw_dims){2, 2, 2}), 0);
    ck_assert(lab_place(&lab, "c", why) == 0 && lab_make_folder(&lab) == 0);
    ck_assert_int_lt(converge_ask(&lab, 0, &view), 0);
    pid_t pid = growing(&lab, 8, 0);
    ck_assert_uint_eq(wait_for(&lab, NULL, 8, true, 20000), 8);
    ck_assert(converge_ask(&lab, 0, &view) == 0 && view.whole && view.reachable == 8);
    int left = 3;
    const struct converge_goal nine = {.want = 9};
    ck_assert_uint_eq(converge_wait(&lab, &nine, cw_time_add(peer_clock(), CW_MS(20000)), thrice, &left), 0);
    bool who[8] = {[3] = true};
    ck_assert_uint_eq(wait_for(&lab, who, 8, false, 20000), 1);
    ck_assert_uint_eq(wait_for(&lab, NULL, 9, false, 0), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    place_remove(place);
}
END_TEST

/* Neighbours of a dead server answer 1: not all is well with them, and they know all that run. */
START_TEST(who_lacks_a_link_knows_all_the_same)
{
    char *place = place_make(), why[LAB_WHY];
    struct lab lab = {.driver = LAB_PROCESS};
    struct converge_view view;
    ck_assert_int_eq(torus_init(&lab.torus, (cw_dims){2, 2, 2}), 0);
    ck_assert(lab_place(&lab, "d", why) == 0 && lab_make_folder(&lab) == 0);
    pid_t pid = growing(&lab, 7, 1);
    ck_assert_uint_eq(wait_for(&lab, NULL, 7, false, 20000), 8);
    ck_assert(converge_ask(&lab, 0, &view) == 0 && !view.whole && view.reachable == 7);
    ck_assert_uint_eq(wait_for(&lab, NULL, 7, true, 100), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    place_remove(place);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(until_all_know_all),
                                          SUITE_TEST(who_lacks_a_link_knows_all_the_same)};
SUITE_MAIN("converge", tests)
