/* SPDX-License-Identifier: Apache-2.0 */
#include "core/turns.h"
#include "rng.h"
#include "sanitized.h"
#include "suite.h"

enum { PACKETS = 2000, LONGEST = 9000 };

static struct cw_packet packets[PACKETS];
static struct cw_packet *spare; /* of them, linked by next */
static uint64_t order;

static void begin(struct turns *t, uint32_t packets_max, uint32_t bytes_max)
{
    spare = NULL;
    order = 0;
    for (unsigned i = 0; i < PACKETS; i++) {
        packets[i].next = spare;
        spare = &packets[i];
    }
    turns_init(t, packets_max, bytes_max);
}

static void end(struct turns *t)
{
    (void)turns_drain(t);
    turns_close(t);
}

/* A packet of a job, for these links; NULL when there was no room for it. */
static struct cw_packet *put(struct turns *t, cw_job job, cw_links links, uint32_t length)
{
    struct cw_packet *p = spare;
    ck_assert_ptr_nonnull(p);
    struct cw_packet *next = p->next;
    *p = (struct cw_packet){.length = length, .links = links, .order = ++order, .head.source_job = job};
    bool room = turns_takes(t, p);
    ck_assert(turns_put(t, p) == room);
    if (room) {
        spare = next;
        return p;
    }
    p->next = next;
    return NULL;
}

static void give_back(struct cw_packet *p)
{
    p->next = spare;
    spare = p;
}

/* Jobs that always want a link get the same bytes, however long their packets are and whoever else comes and goes. */
START_TEST(jobs_are_byte_fair)
{
    enum { STEADY = 5 };
    for (uint64_t seed = 1; seed <= (SANITIZED ? 3 : 20); seed++) {
        struct rng rng = {seed};
        struct turns t;
        uint32_t longest[STEADY];
        int64_t sent[STEADY] = {0};
        unsigned waits[STEADY] = {0};
        begin(&t, 1000, 8 << 20);
        for (unsigned i = 0; i < STEADY; i++) {
            longest[i] = 64 + (uint32_t)rng_below(&rng, LONGEST - 64);
        }
        for (unsigned step = 0; step < 5000; step++) {
            for (unsigned i = 0; i < STEADY; i++) {
                for (; waits[i] < 2; waits[i]++) {
                    uint32_t length = 64 + (uint32_t)rng_below(&rng, longest[i] - 63);
                    ck_assert_ptr_nonnull(put(&t, 1000 + i, cw_links_of(CW_LINK_XP), length));
                }
            }
            if (rng_below(&rng, 3) == 0) { /* and some that come and go */
                put(&t, 2000 + (cw_job)rng_below(&rng, 200), cw_links_of(CW_LINK_XP), 64);
            }
            struct cw_packet *next = turns_peek(&t, CW_LINK_XP), *p = turns_take(&t, CW_LINK_XP);
            ck_assert_ptr_eq(p, next);
            if (p->head.source_job < 2000) {
                sent[p->head.source_job - 1000] += p->length;
                waits[p->head.source_job - 1000]--;
            }
            give_back(p);
        }
        for (unsigned i = 1; i < STEADY; i++) {
            int64_t off = sent[i] - sent[0];
            ck_assert_msg(off * off <= (int64_t)4 * LONGEST * LONGEST, "seed %lu: %ld and %ld bytes",
                          (unsigned long)seed, (long)sent[i], (long)sent[0]);
        }
        end(&t);
    }
}
END_TEST

/* Each job has one packet at a time, so that its turn is empty whenever it was served; and one of them was away. */
START_TEST(coming_back_gains_nothing)
{
    struct turns t;
    int64_t sent[2] = {0};
    begin(&t, 1000, 8 << 20);
    put(&t, 1, cw_links_of(CW_LINK_XP), 1000);
    for (unsigned step = 0; step < 10000; step++) {
        if (step == 5000) {
            put(&t, 2, cw_links_of(CW_LINK_XP), 100);
        }
        struct cw_packet *p = turns_take(&t, CW_LINK_XP);
        cw_job job = p->head.source_job;
        sent[job - 1] += step >= 5000 ? p->length : 0;
        give_back(p);
        put(&t, job, cw_links_of(CW_LINK_XP), job == 1 ? 1000 : 100);
    }
    ck_assert_int_gt(sent[0], 400000);
    ck_assert_int_le(sent[0] - sent[1], 2000);
    ck_assert_int_le(sent[1] - sent[0], 2000);
    end(&t);
}
END_TEST

/* Any packets, links and jobs, more of them than there are turns: of a job and a link, nothing overtakes. */
START_TEST(nothing_is_lost_or_overtakes)
{
    for (uint64_t seed = 1; seed <= (SANITIZED ? 3 : 30); seed++) {
        struct rng rng = {seed};
        struct turns t;
        unsigned inside = 0, jobs = seed % 2 == 0 ? 10 : 300;
        uint64_t last[300][PACKETQ_SETS] = {{0}};
        begin(&t, 1500, 8 << 20);
        for (unsigned step = 0; step < 4000; step++) {
            cw_job job = (cw_job)rng_below(&rng, jobs);
            cw_link link = (cw_link)rng_below(&rng, CW_LINK_COUNT);
            switch (rng_below(&rng, 5)) {
            case 0:
            case 1:
            case 2:
                inside += inside < PACKETS / 2 &&
                          put(&t, 5000 + job, (cw_links)(1 + rng_below(&rng, PACKETQ_SETS - 1)), 100) != NULL;
                break;
            case 3: {
                struct cw_packet *p = turns_take(&t, link);
                ck_assert((p != NULL) == ((turns_links(&t) & cw_links_of(link)) != 0) || p != NULL);
                if (p != NULL) {
                    uint64_t *before = &last[p->head.source_job - 5000][p->links];
                    ck_assert(p->links & cw_links_of(link));
                    ck_assert(jobs > TURNS_JOBS || *before < p->order);
                    *before = p->order;
                    inside--;
                    give_back(p);
                }
                break;
            }
            default:
                if (rng_below(&rng, 20) == 0) { /* all is routed anew */
                    uint64_t before = 0;
                    for (struct cw_packet *p = turns_drain(&t), *next; p != NULL; p = next) {
                        next = p->next;
                        ck_assert_uint_lt(before, p->order);
                        before = p->order;
                        turns_put_back(&t, p);
                    }
                }
            }
            ck_assert_uint_eq(t.packets, inside);
            if (step % 16 == 0) {
                ck_assert(turns_valid(&t));
            }
        }
        ck_assert_uint_gt(turns_bytes(&t), 0);
        end(&t);
    }
}
END_TEST

/* A job may have twice what is free: of 1,500 packets one has 1,000, the next 334, a third 111. */
START_TEST(no_job_fills_the_room)
{
    static const unsigned gets[] = {1000, 334, 111};
    struct turns t;
    begin(&t, 1500, 8 << 20);
    for (cw_job job = 1; job <= 3; job++) {
        unsigned got = 0;
        while (put(&t, job, CW_LINKS_ALL, 64) != NULL) {
            got++;
        }
        ck_assert_uint_eq(got, gets[job - 1]);
    }
    end(&t);
    begin(&t, 1500, 90000); /* the same in bytes */
    unsigned got = 0;
    while (put(&t, 1, CW_LINKS_ALL, 9000) != NULL) {
        got++;
    }
    ck_assert_uint_eq(got, 7);
    ck_assert_ptr_null(put(&t, 2, CW_LINKS_ALL, 28000));
    ck_assert_ptr_nonnull(put(&t, 2, CW_LINKS_ALL, 27000));
    end(&t);
}
END_TEST

START_TEST(how_many_jobs_want_a_link)
{
    struct turns t;
    begin(&t, 100, 8 << 20);
    ck_assert_uint_eq(turns_links(&t), CW_LINKS_NONE);
    ck_assert_ptr_null(turns_peek(&t, CW_LINK_XP));
    ck_assert_ptr_null(turns_take(&t, CW_LINK_XP));
    put(&t, 1, cw_links_of(CW_LINK_XP), 64);
    put(&t, 1, cw_links_of(CW_LINK_XP), 64);
    put(&t, 2, cw_links_of(CW_LINK_XP) | cw_links_of(CW_LINK_ZM), 64);
    ck_assert_uint_eq(turns_wanted(&t, CW_LINK_XP), 2);
    ck_assert_uint_eq(turns_wanted(&t, CW_LINK_ZM), 1);
    ck_assert_uint_eq(turns_wanted(&t, CW_LINK_YP), 0);
    ck_assert_uint_eq(turns_links(&t), cw_links_of(CW_LINK_XP) | cw_links_of(CW_LINK_ZM));
    (void)turns_take(&t, CW_LINK_ZM);
    ck_assert_uint_eq(turns_wanted(&t, CW_LINK_XP), 1);
    t.packets++;
    ck_assert(!turns_valid(&t));
    t.packets--;
    end(&t);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(jobs_are_byte_fair),    SUITE_TEST(coming_back_gains_nothing), SUITE_TEST(nothing_is_lost_or_overtakes),
    SUITE_TEST(no_job_fills_the_room), SUITE_TEST(how_many_jobs_want_a_link),
};
SUITE_MAIN("turns", tests)
