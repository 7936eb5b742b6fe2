/* SPDX-License-Identifier: Apache-2.0 */
#include "lab_place.h"
#include "testbed/peer.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

/* A child that answers the first request with these bytes, then waits to be left. */
static pid_t answer_with(const char *path, const char *bytes)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    strcpy(a.sun_path, path);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert(bind(listener, (struct sockaddr *)&a, sizeof a) == 0 && listen(listener, 1) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        char request[4096];
        int fd = accept(listener, NULL, NULL);
        (void)!read(fd, request, sizeof request);
        (void)!write(fd, bytes, strlen(bytes));
        shutdown(fd, SHUT_WR);
        (void)!read(fd, request, sizeof request);
        _exit(0);
    }
    close(listener);
    return pid;
}

static void count(void *context, const struct message *row)
{
    *(int64_t *)context += message_get_integer(row, "n", 0);
}

static int ask(const char *bytes, cw_span patience, int64_t *sum, char *why)
{
    char path[100];
    struct peer p;
    char *place = place_make();
    snprintf(path, sizeof path, "%s/s", place);
    ck_assert_int_eq(peer_open(&p, path), -ENOENT);
    pid_t pid = answer_with(path, bytes);
    ck_assert_int_eq(peer_open(&p, path), 0);
    *sum = 0;
    int rc = peer_ask(&p, peer_request("x", 0, NULL), patience, count, sum, why);
    peer_close(&p);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    place_remove(place);
    return rc;
}

START_TEST(rows_then_the_end)
{
    char why[PEER_WHY];
    int64_t sum;
    ck_assert_int_eq(ask("{\"id\":1,\"row\":{\"n\":3}}\n{\"id\":9,\"row\":{\"n\":100}}\n{\"id\":1,\"row\":{\"n\":4}}\n"
                         "{\"id\":1,\"done\":true,\"rc\":0}\n",
                         CW_MS(5000), &sum, why),
                     0);
    ck_assert_int_eq(sum, 7);
    ck_assert_int_eq(ask("{\"id\":1,\"done\":true,\"rc\":-2,\"error\":\"no such\"}\n", CW_MS(5000), &sum, why), -2);
    ck_assert_str_eq(why, "no such");
}
END_TEST

START_TEST(bad_ends)
{
    char why[PEER_WHY];
    int64_t sum;
    ck_assert_int_eq(ask("what?\n", CW_MS(5000), &sum, why), -EPROTO);
    ck_assert_int_eq(ask("{\"id\":1", CW_MS(5000), &sum, why), -ECONNRESET);
    ck_assert(why[0] != '\0');
}
END_TEST

START_TEST(no_answer)
{
    int ends[2];
    char why[PEER_WHY];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    struct peer p = {.fd = ends[0], .bytes = malloc(100), .room = 100, .passed = {-1, -1}};
    cw_time before = peer_clock();
    ck_assert_int_eq(peer_ask(&p, peer_request("x", 0, NULL), CW_MS(30), NULL, NULL, why), -ETIMEDOUT);
    ck_assert(cw_time_since(peer_clock(), before).ns >= 30000000);
    peer_close(&p);
    close(ends[1]);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(rows_then_the_end), SUITE_TEST(bad_ends), SUITE_TEST(no_answer)};
SUITE_MAIN("peer", tests)
