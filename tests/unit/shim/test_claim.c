/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/claim.h"

#include "netns.h"
#include "suite.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(one_at_a_time)
{
    netns_enter();
    int fd = claim_interface(3, 0x88b5);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(claim_interface(3, 0x88b5), -EADDRINUSE);
    int other = claim_interface(4, 0x88b5);
    int type = claim_interface(3, 0x88b6);
    ck_assert_int_ge(other, 0);
    ck_assert_int_ge(type, 0);
    close(fd);
    fd = claim_interface(3, 0x88b5);
    ck_assert_int_ge(fd, 0);
    /* In another namespace the index is another interface's. */
    netns_enter();
    int elsewhere = claim_interface(3, 0x88b5);
    ck_assert_int_ge(elsewhere, 0);
    close(elsewhere);
    close(fd);
    close(other);
    close(type);
}
END_TEST

START_TEST(it_ends_with_its_process)
{
    int ready[2];
    char byte = 0;
    netns_enter();
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        byte = claim_interface(9, 1) >= 0;
        (void)!write(ready[1], &byte, 1);
        pause();
        _exit(0);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_assert_int_eq(byte, 1);
    ck_assert_int_eq(claim_interface(9, 1), -EADDRINUSE);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    int fd = claim_interface(9, 1);
    ck_assert_int_ge(fd, 0);
    close(fd);
    close(ready[0]);
    close(ready[1]);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(one_at_a_time),
    SUITE_TEST(it_ends_with_its_process),
};

int main(void)
{
    return netns_can() ? suite_run("claim", tests, sizeof tests / sizeof *tests) : SUITE_SKIP;
}
