/* SPDX-License-Identifier: Apache-2.0 */
#include "core/queue/holdq.h"
#include "rng.h"
#include "suite.h"

enum { PACKETS = 300, SERVICES = 5 };

START_TEST(first_in_first_out_within_its_share)
{
    static struct cw_packet packets[PACKETS];
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct rng rng = {seed};
        struct holdq q;
        uint32_t most = 1000 + (uint32_t)rng_below(&rng, 100000), bytes = 0, of[SERVICES] = {0};
        struct cw_packet *list[PACKETS];
        unsigned count = 0;
        holdq_init(&q, most, CW_MS(260));
        for (unsigned i = 0; i < PACKETS; i++) {
            struct cw_packet *p = &packets[i];
            *p = (struct cw_packet){.place = (uint8_t)rng_below(&rng, SERVICES),
                                    .length = 32 + (uint32_t)rng_below(&rng, 1468),
                                    .queued = {(int64_t)i * 10}};
            p->pad = rng_below(&rng, 8) == 0 ? (uint32_t)rng_below(&rng, 8000) : 0;
            uint32_t weight = p->length + p->pad, room = most - bytes;
            bool fits = weight <= room && of[p->place] + weight <= 2 * room;
            ck_assert_int_eq(holdq_put(&q, p), fits);
            if (fits) {
                list[count++] = p;
                bytes += weight;
                of[p->place] += weight;
            }
            ck_assert_uint_eq(q.packets, count);
            ck_assert_uint_eq(q.bytes, bytes);
            ck_assert(holdq_valid(&q));
            ck_assert_int_eq(holdq_wake(&q).ns, count > 0 ? cw_time_add(list[0]->queued, CW_MS(260)).ns : CW_NEVER.ns);
            if (rng_below(&rng, 60) == 0) {
                struct cw_packet *p2 = holdq_drain(&q);
                for (unsigned k = 0; k < count; k++, p2 = p2->next) {
                    ck_assert_ptr_eq(p2, list[k]);
                }
                ck_assert_ptr_null(p2);
                ck_assert_uint_eq(q.packets + q.bytes, 0);
                count = bytes = 0;
                for (unsigned k = 0; k < SERVICES; k++) {
                    of[k] = 0;
                }
            }
        }
    }
}
END_TEST

/* One alone can have two thirds; those who come later still find room. */
START_TEST(shared_by_dynamic_thresholds)
{
    static struct cw_packet packets[1000];
    struct holdq q;
    unsigned got[3] = {0}, used = 0;
    holdq_init(&q, 90000, CW_MS(260));
    for (unsigned service = 0; service < 3; service++) {
        for (;;) {
            struct cw_packet *p = &packets[used];
            *p = (struct cw_packet){.place = (uint8_t)service, .length = 100};
            if (!holdq_put(&q, p)) {
                break;
            }
            used++;
            got[service]++;
        }
    }
    ck_assert_uint_eq(got[0], 600);
    ck_assert_uint_eq(got[1], 200);
    ck_assert_uint_ge(got[2], 65);
}
END_TEST

START_TEST(patience_is_from_the_first_hold)
{
    struct holdq q;
    struct cw_packet p = {.length = 100, .queued = {1000}};
    holdq_init(&q, 1000, CW_NS(50));
    ck_assert(!holdq_expired(&q, &p, (cw_time){1049}));
    ck_assert(holdq_expired(&q, &p, (cw_time){1050}));
    ck_assert(holdq_put(&q, &p));
    ck_assert_int_eq(holdq_wake(&q).ns, 1050);
}
END_TEST

/* What is put back after a drain stands before what was sent meanwhile, in the order that it had. */
START_TEST(put_back_before_what_is_newer)
{
    static struct cw_packet old[100], new[100];
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct rng rng = {seed};
        struct holdq q;
        unsigned newer = 0;
        holdq_init(&q, 1000000, CW_NS(500));
        for (unsigned i = 0; i < 100; i++) {
            old[i] = (struct cw_packet){.length = 100, .queued = {(int64_t)(i / 2) * 10}};
            ck_assert(holdq_put(&q, &old[i]));
        }
        ck_assert_ptr_eq(holdq_drain(&q), &old[0]);
        for (unsigned i = 0; i < 100; i++) {
            if (rng_below(&rng, 4) == 0) {
                new[newer] = (struct cw_packet){.length = 100, .queued = {1000}};
                ck_assert(holdq_put(&q, &new[newer++]));
            }
            ck_assert(holdq_put(&q, &old[i]));
        }
        ck_assert(holdq_valid(&q));
        struct cw_packet *p = holdq_drain(&q);
        for (unsigned i = 0; i < 100 + newer; i++, p = p->next) {
            ck_assert_ptr_eq(p, i < 100 ? &old[i] : &new[i - 100]);
        }
        ck_assert_ptr_null(p);
    }
}
END_TEST

/* Each packet is given once, when its own time is over, and no other with it. */
START_TEST(expired_one_by_one)
{
    static struct cw_packet packets[PACKETS];
    struct holdq q;
    holdq_init(&q, 1000000, CW_NS(50));
    for (unsigned i = 0; i < PACKETS; i++) {
        packets[i] = (struct cw_packet){.length = 100, .place = (uint8_t)(i % SERVICES), .queued = {(int64_t)i * 10}};
        ck_assert(holdq_put(&q, &packets[i]));
    }
    for (unsigned i = 0; i < PACKETS; i++) {
        cw_time due = holdq_wake(&q);
        ck_assert_int_eq(due.ns, (int64_t)i * 10 + 50);
        ck_assert_ptr_null(holdq_take_expired(&q, (cw_time){due.ns - 1}));
        ck_assert_ptr_eq(holdq_take_expired(&q, due), &packets[i]);
        ck_assert(holdq_valid(&q));
    }
    ck_assert_uint_eq(q.packets + q.bytes, 0);
    ck_assert_ptr_null(holdq_take_expired(&q, (cw_time){1000000}));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(first_in_first_out_within_its_share),
    SUITE_TEST(shared_by_dynamic_thresholds),
    SUITE_TEST(patience_is_from_the_first_hold),
    SUITE_TEST(put_back_before_what_is_newer),
    SUITE_TEST(expired_one_by_one),
};
SUITE_MAIN("holdq", tests)
