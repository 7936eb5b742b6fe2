/* SPDX-License-Identifier: Apache-2.0 */
#include "share/completions.h"
#include "share_kit.h"
#include "suite.h"

#include <errno.h>

static struct share_kit k;

static void tell(uint64_t user)
{
    ck_assert_int_eq(share_teller_reserve(&k.teller), 1);
    share_teller_tell(&k.teller, &(struct share_completion){.kind = SHARE_END_SENT, .user = user});
}

START_TEST(every_field)
{
    struct share_completion c = {1, 2, 3, -110, 65535, 7, SHARE_END_ANSWER, 9}, back;
    uint64_t word[SHARE_COMPLETION_WORDS];
    share_completion_encode(&c, word);
    back = share_completion_decode(word);
    ck_assert(back.user == 1 && back.length == 2 && back.handle == 3 && back.status == -110);
    ck_assert(back.endpoint == 65535 && back.items == 7 && back.kind == SHARE_END_ANSWER && back.flags == 9);
}
END_TEST

/* Round and round, over the wrap of the index; what is told is seen when it is published. */
START_TEST(in_order)
{
    struct share_completion c;
    uint64_t told = 0, heard = 0;
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, UINT32_MAX - 40);
    for (unsigned round = 0; round < 30; round++) {
        for (unsigned i = 0; i < 1 + round % 32; i++) {
            tell(told++);
        }
        ck_assert_int_eq(share_listener_next(&k.listener, &c), 0);
        ck_assert(share_teller_publish(&k.teller));
        ck_assert(!share_teller_publish(&k.teller));
        while (share_listener_next(&k.listener, &c) == 1) {
            ck_assert_uint_eq(c.user, heard++);
        }
        ck_assert_uint_eq(heard, told);
        share_listener_publish(&k.listener);
    }
    ck_assert(share_kit_close(&k));
}
END_TEST

START_TEST(a_full_ring)
{
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    for (unsigned i = 0; i < 32; i++) {
        ck_assert_int_eq(share_teller_reserve(&k.teller), 1);
    }
    ck_assert_int_eq(share_teller_reserve(&k.teller), 0);
    share_teller_keep_silent(&k.teller);
    ck_assert_int_eq(share_teller_reserve(&k.teller), 1);
    ck_assert_int_eq(share_teller_reserve(&k.teller), 0);
    ck_assert(share_kit_close(&k));
}
END_TEST

/* The head of a process that read more than it was shown, or went back. */
START_TEST(a_head_out_of_bounds)
{
    for (unsigned i = 0; i < 3; i++) {
        share_kit_open(&k, 16, SHARE_INBOX_LEAST, 100);
        for (unsigned n = 0; n < 32; n++) {
            tell(n);
            if (n == 19) {
                (void)share_teller_publish(&k.teller);
            }
        }
        uint32_t head = i == 0 ? 121 : i == 1 ? 99 : 120;
        memcpy(k.sub + SHARE_SUB_COMPLETION_HEAD, &head, sizeof head);
        SUITE_HOLDS(share_teller_reserve(&k.teller) == (i == 2 ? 1 : -EPROTO), "round %u", i);
        SUITE_HOLDS(k.teller.broken == (i != 2), "round %u", i);
        ck_assert(share_kit_close(&k));
    }
}
END_TEST

START_TEST(a_tail_out_of_bounds)
{
    struct share_completion c;
    uint32_t tail = 33;
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    memcpy(k.com + SHARE_COM_COMPLETION_TAIL, &tail, sizeof tail);
    ck_assert_int_eq(share_listener_next(&k.listener, &c), -EPROTO);
    ck_assert_int_eq(share_listener_next(&k.listener, &c), -EPROTO);
    ck_assert(share_kit_close(&k));
}
END_TEST

START_TEST(an_end_without_a_slot)
{
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    share_teller_tell(&k.teller, &(struct share_completion){.kind = SHARE_END_SENT});
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_field),          SUITE_TEST(in_order),
    SUITE_TEST(a_full_ring),          SUITE_TEST(a_head_out_of_bounds),
    SUITE_TEST(a_tail_out_of_bounds), SUITE_ABORTS(an_end_without_a_slot),
};
SUITE_MAIN("completions", tests)
