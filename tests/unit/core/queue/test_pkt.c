/* SPDX-License-Identifier: Apache-2.0 */
#include "core/queue/pkt.h"
#include "rng.h"
#include "suite.h"

#include <string.h>

enum { SMALL = 256, LARGE = 1500 + PKT_HEADROOM, MOST = 40 };

static struct pkt_home *home_new(uint32_t most)
{
    struct pkt_home *home = NULL;
    const struct pkt_home_config config = {.small_bytes = SMALL, .large_bytes = LARGE, .packets_max = most};
    ck_assert_int_eq(pkt_home_open(&home, &config), 0);
    return home;
}

/* Every byte it owns may be written: the sanitizer watches. */
static void scribble(struct cw_packet *p, uint8_t with)
{
    memset(p->data - p->back, with, p->back + p->room);
}

START_TEST(sizes_choose_the_pool)
{
    struct pkt_home *home = home_new(MOST);
    static const uint32_t lengths[] = {0, 1, SMALL - PKT_HEADROOM, SMALL - PKT_HEADROOM + 1, LARGE - PKT_HEADROOM};
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct cw_packet *p = pkt_take(home, lengths[i]);
        ck_assert_ptr_nonnull(p);
        ck_assert_uint_eq(p->length, lengths[i]);
        ck_assert_uint_eq(p->back, PKT_HEADROOM);
        ck_assert_uint_ge(p->room, p->length);
        ck_assert(p->next == NULL && p->pad == 0 && p->lender == NULL && pkt_writable(p));
        ck_assert_uint_eq(p->kind, lengths[i] <= SMALL - PKT_HEADROOM ? PKT_SMALL : PKT_LARGE);
        scribble(p, 0xaa);
        pkt_release(p);
    }
    ck_assert_ptr_null(pkt_take(home, LARGE - PKT_HEADROOM + 1));
    ck_assert_uint_eq(pkt_home_longest(home), LARGE - PKT_HEADROOM);
    ck_assert_uint_eq(pkt_home_out(home), 0);
    pkt_home_close(home);
}
END_TEST

START_TEST(limit_counts_all_kinds)
{
    struct pkt_home *home = home_new(3);
    struct cw_packet *a = pkt_take(home, 10), *b = pkt_take(home, 1000), *s = pkt_slice(b, 100, 50);
    ck_assert(a != NULL && b != NULL && s != NULL);
    ck_assert(pkt_take(home, 10) == NULL && pkt_slice(b, 0, 1) == NULL && pkt_copy(a) == NULL);
    pkt_release(b); /* its slice still needs it */
    ck_assert_uint_eq(pkt_home_out(home), 3);
    pkt_release(s);
    ck_assert_uint_eq(pkt_home_out(home), 1);
    pkt_release(a);
    pkt_release(NULL);
    pkt_home_close(home);
}
END_TEST

START_TEST(slices_of_bytes_and_pad)
{
    struct pkt_home *home = home_new(MOST);
    struct cw_packet *frame = pkt_take(home, 200);
    for (unsigned i = 0; i < 200; i++) {
        frame->data[i] = (uint8_t)i;
    }
    frame->pad = 100;
    struct cw_packet *whole = pkt_slice(frame, 20, 60), *part = pkt_slice(frame, 150, 120);
    ck_assert(whole->length == 60 && whole->pad == 0 && whole->room == 60 && whole->data[0] == 20);
    ck_assert(part->length == 50 && part->pad == 70 && part->data[49] == 199);
    ck_assert(!pkt_writable(frame) && pkt_writable(whole));
    struct cw_packet *copy = pkt_copy(part);
    ck_assert(copy->length == 50 && copy->pad == 70 && copy->lender == NULL && copy->back == PKT_HEADROOM);
    ck_assert_int_eq(memcmp(copy->data, part->data, 50), 0);
    pkt_release(whole);
    pkt_release(frame);
    pkt_release(part);
    pkt_release(copy);
    pkt_home_close(home);
}
END_TEST

/* Random lives: whatever is taken, shared, sliced and copied, in whatever order it is released, all comes home. */
static void life(uint64_t seed, struct pkt_home *home)
{
    struct rng rng = {seed};
    struct cw_packet *out[MOST];
    unsigned count = 0;
    for (unsigned step = 0; step < 3000; step++) {
        unsigned what = (unsigned)rng_below(&rng, 10);
        struct cw_packet *some = count > 0 ? out[rng_below(&rng, count)] : NULL, *p = NULL;
        if (what < 4) {
            p = pkt_take(home, (uint32_t)rng_below(&rng, LARGE - PKT_HEADROOM + 1));
            if (p != NULL) {
                scribble(p, (uint8_t)step);
            }
        } else if (what < 6 && some != NULL && count < MOST) {
            uint32_t offset = (uint32_t)rng_below(&rng, some->length + 1);
            p = pkt_slice(some, offset, (uint32_t)rng_below(&rng, some->length - offset + 1));
        } else if (what == 6 && some != NULL) {
            p = pkt_copy(some);
        } else if (what == 7 && some != NULL && count < MOST) {
            p = pkt_ref(some);
        } else if (count > 0) {
            unsigned i = (unsigned)rng_below(&rng, count);
            pkt_release(out[i]);
            out[i] = out[--count];
        }
        if (p != NULL && count < MOST) {
            out[count++] = p;
        } else {
            pkt_release(p);
        }
        ck_assert_uint_le(pkt_home_out(home), MOST);
    }
    while (count > 0) {
        pkt_release(out[--count]);
    }
    ck_assert_uint_eq(pkt_home_out(home), 0);
}

START_TEST(everything_comes_home)
{
    struct pkt_home *home = home_new(MOST);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        life(seed, home);
    }
    ck_assert_uint_gt(pkt_home_bytes(home), 0);
    pkt_home_close(home);
}
END_TEST

START_TEST(every_take_may_fail)
{
    struct pkt_home *home = home_new(MOST);
    for (uint32_t nth = 1; nth < 200; nth++) {
        pkt_home_fail_nth(home, nth);
        life(7, home);
    }
    pkt_home_fail_nth(home, 1);
    ck_assert_ptr_null(pkt_take(home, 1));
    struct cw_packet *p = pkt_take(home, 1);
    ck_assert_ptr_nonnull(p); /* once only */
    pkt_home_fail_nth(home, 1);
    pkt_home_fail_nth(home, 0);
    struct cw_packet *copy = pkt_copy(p);
    ck_assert_ptr_nonnull(copy);
    pkt_release(p);
    pkt_release(copy);
    pkt_home_close(home);
}
END_TEST

START_TEST(closing_with_a_packet_out_is_a_mistake)
{
    struct pkt_home *home = home_new(MOST);
    ck_assert_ptr_nonnull(pkt_take(home, 1));
    pkt_home_close(home);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(sizes_choose_the_pool),   SUITE_TEST(limit_counts_all_kinds),
    SUITE_TEST(slices_of_bytes_and_pad), SUITE_TEST(everything_comes_home),
    SUITE_TEST(every_take_may_fail),     SUITE_ABORTS(closing_with_a_packet_out_is_a_mistake),
};
SUITE_MAIN("pkt", tests)
