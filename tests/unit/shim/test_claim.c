/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/claim.h"

#include "netns.h"
#include "suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TYPE = 0x88b5 };

static int bound(const char *interface, uint16_t ethertype)
{
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ethertype), .sll_ifindex = (int)if_nametoindex(interface)};
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

START_TEST(one_at_a_time)
{
    netns_enter();
    netns_veth("left", "right", 1500, -1);
    uint32_t left = if_nametoindex("left"), right = if_nametoindex("right");
    ck_assert_int_eq(claim_interface(left, TYPE, NULL, 0), 0);
    int mine[2] = {bound("left", TYPE), bound("left", TYPE)};
    ck_assert_int_eq(claim_interface(left, TYPE, mine, 2), 0);
    ck_assert_int_eq(claim_interface(left, TYPE, mine, 1), -EADDRINUSE); /* each is another's for the other */
    ck_assert_int_eq(claim_interface(left, TYPE, mine + 1, 1), -EADDRINUSE);
    ck_assert_int_eq(claim_interface(right, TYPE, NULL, 0), 0);
    ck_assert_int_eq(claim_interface(left, TYPE + 1, NULL, 0), 0);
    int all = bound("left", 3); /* a capture hears everything, and claims nothing */
    ck_assert_int_eq(claim_interface(left, TYPE, mine, 2), 0);
    close(mine[1]);
    ck_assert_int_eq(claim_interface(left, TYPE, mine, 1), 0);
    /* In another namespace the index is another interface's. */
    netns_enter();
    ck_assert_int_eq(claim_interface(left, TYPE, NULL, 0), 0);
    close(mine[0]);
    close(all);
}
END_TEST

START_TEST(it_ends_with_its_process)
{
    int ready[2];
    char byte = 0;
    netns_enter();
    netns_veth("left", "right", 1500, -1);
    uint32_t left = if_nametoindex("left");
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        byte = bound("left", TYPE) >= 0;
        (void)!write(ready[1], &byte, 1);
        pause();
        _exit(0);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_assert_int_eq(byte, 1);
    ck_assert_int_eq(claim_interface(left, TYPE, NULL, 0), -EADDRINUSE);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_int_eq(claim_interface(left, TYPE, NULL, 0), 0);
    close(ready[0]);
    close(ready[1]);
}
END_TEST

/* Who may not have packet sockets cannot be in the way: no name, no file, no port of anything decides. */
static const struct suite_test tests[] = {
    SUITE_TEST(one_at_a_time),
    SUITE_TEST(it_ends_with_its_process),
};

int main(void)
{
    return netns_can() ? suite_run("claim", tests, sizeof tests / sizeof *tests) : SUITE_SKIP;
}
