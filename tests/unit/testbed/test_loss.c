/* SPDX-License-Identifier: Apache-2.0 */
#include "lab_place.h"
#include "testbed/loss.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>

enum { ROUNDS = 20000, STOLEN = 4, OK = 0 };

/* How often of ROUNDS the kernel lets the program lose a frame; -1: it may not be tried. */
static int lost(uint32_t ppm)
{
    int program = loss_program(ppm), count = 0;
    uint8_t frame[64] = {0};
    if (program == -EPERM) {
        printf("programs cannot be loaded into this kernel by this user\n");
        return -1;
    }
    ck_assert_int_ge(program, 0);
    for (int i = 0; i < ROUNDS; i++) {
        union bpf_attr attr;
        memset(&attr, 0, sizeof attr);
        attr.test.prog_fd = (uint32_t)program;
        attr.test.data_in = (uint64_t)(uintptr_t)frame;
        attr.test.data_size_in = sizeof frame;
        ck_assert_int_eq(syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof attr), 0);
        ck_assert(attr.test.retval == STOLEN || attr.test.retval == OK);
        count += attr.test.retval == STOLEN;
    }
    close(program);
    return count;
}

START_TEST(shares)
{
    int some = lost(50000);
    if (some >= 0) {
        ck_assert_int_eq(lost(0), 0);
        ck_assert_int_ge(lost(1000000), ROUNDS - 1); /* but for one number of 2^32 */
        ck_assert_int_gt(some, ROUNDS / 20 - 300);   /* ten standard deviations */
        ck_assert_int_lt(some, ROUNDS / 20 + 300);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(shares)};
SUITE_MAIN("loss", tests)
