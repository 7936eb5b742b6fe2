/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/response.h"
#include "rng.h"
#include "suite.h"

static const struct ext_request request = {.port = 1, .server = {1, 2, 3}, .job = 9, .process = 4, .call = 77};

static struct response_right *ask(struct response_table *r, unsigned service, uint32_t who, int64_t until)
{
    const struct response_requester requester = {.job = 5 + who, .process = who, .server = who};
    return response_open_right(r, service, &requester, &request, (cw_time){until});
}

/* Of one of a job's processes. */
static struct response_right *ask_of(struct response_table *r, cw_job job, uint32_t process)
{
    const struct response_requester requester = {.job = job, .process = process, .server = process};
    return response_open_right(r, 0, &requester, &request, (cw_time){10});
}

START_TEST(a_right_is_used_once_by_its_owner)
{
    struct response_table r;
    ck_assert_int_eq(response_open(&r, 16, 4, 1), 0);
    struct response_right *right = ask(&r, 2, 1, 100);
    uint32_t handle = right->item.handle;
    ck_assert_uint_ne(handle, 0);
    ck_assert_uint_eq(right->request.call, 77);
    ck_assert_ptr_null(response_find(&r, 1, handle)); /* another service's */
    ck_assert_ptr_eq(response_find(&r, 2, handle), right);
    response_end(&r, right);
    ck_assert_ptr_null(response_find(&r, 2, handle));
    right = ask(&r, 2, 1, 100);
    handle = right->item.handle;
    response_expire(&r, (cw_time){99});
    ck_assert_ptr_eq(response_find(&r, 2, handle), right);
    response_expire(&r, (cw_time){100});
    ck_assert_ptr_null(response_find(&r, 2, handle));
    response_close(&r);
}
END_TEST

/* With a server go the rights to answer those that asked from there. */
START_TEST(rights_end_with_the_requesters_server)
{
    struct response_table r;
    ck_assert_int_eq(response_open(&r, 128, 16, 1), 0); /* a job alone has half */
    for (cw_server server = 0; server < 8; server++) {
        for (unsigned i = 0; i < 5; i++) {
            const struct response_requester from = {.job = 7, .process = i, .server = server};
            ck_assert_ptr_nonnull(response_open_right(&r, 0, &from, &request, (cw_time){1000}));
        }
    }
    response_end_of(&r, 3);
    ck_assert_uint_eq(expiry_count(&r.table), 35);
    response_end_of(&r, 3);
    response_end_of(&r, 99);
    ck_assert_uint_eq(expiry_count(&r.table), 35);
    uint32_t place = 0;
    for (const struct response_right *right; (right = expiry_each(&r.table, &place)) != NULL;) {
        ck_assert_uint_ne(right->requester.server, 3);
    }
    response_close(&r);
}
END_TEST

START_TEST(one_requester_cannot_fill_the_table)
{
    struct response_table r;
    ck_assert_int_eq(response_open(&r, 67, 4, 1), 0);
    for (uint32_t who = 0; who < 16; who++) {
        for (unsigned i = 0; i < 4; i++) {
            ck_assert_ptr_nonnull(ask(&r, i, who, 10 + who));
        }
        ck_assert_ptr_null(ask(&r, 0, who, 10));
    }
    for (uint32_t who = 99; who < 102; who++) {
        ck_assert_ptr_nonnull(ask(&r, 3, who, 10));
    }
    ck_assert_ptr_null(ask(&r, 0, 102, 10)); /* full */
    response_end_all(&r, 3);
    ck_assert_uint_eq(expiry_count(&r.table), 48);
    for (uint32_t who = 0; who < 16; who++) {
        ck_assert_ptr_nonnull(ask(&r, 5, who, 10));
        ck_assert_ptr_null(ask(&r, 5, who, 10));
    }
    response_expire(&r, (cw_time){1000});
    for (uint32_t i = 0; i <= r.counts_mask; i++) {
        ck_assert_uint_eq(r.counts[i].who, 0);
    }
    response_close(&r);
}
END_TEST

/* The counts by requester against plain arrays, over random lives of small tables where probes collide all the time. */
START_TEST(quota_is_exact)
{
    enum { WHO = 40, LIMIT = 32 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct rng rng = {seed};
        struct response_table r;
        struct response_right *open[LIMIT];
        uint32_t owner[LIMIT], count = 0, of[WHO] = {0};
        uint32_t quota = 1 + (uint32_t)rng_below(&rng, 6);
        ck_assert_int_eq(response_open(&r, LIMIT, quota, seed), 0);
        for (unsigned step = 0; step < 20000; step++) {
            uint32_t who = (uint32_t)rng_below(&rng, WHO);
            if (rng_below(&rng, 2) == 0) {
                struct response_right *right = ask(&r, 0, who, 10);
                if ((right != NULL) != (of[who] < LIMIT - count && of[who] < quota)) {
                    ck_abort_msg("seed %lu step %u: a right given or refused", (unsigned long)seed, step);
                }
                if (right != NULL) {
                    open[count] = right;
                    owner[count++] = who;
                    of[who]++;
                }
            } else if (count > 0) {
                uint32_t i = (uint32_t)rng_below(&rng, count);
                response_end(&r, open[i]);
                of[owner[i]]--;
                open[i] = open[--count];
                owner[i] = owner[count];
            }
        }
        response_close(&r);
    }
}
END_TEST

/*
 * A job on any number of servers: half of the table, and the next ones half of what is left. Nothing is lost when
 * rights end.
 */
START_TEST(one_job_cannot_fill_the_table)
{
    static const unsigned shares[] = {32, 16, 8, 4, 2, 1, 1};
    struct response_table r;
    ck_assert_int_eq(response_open(&r, 64, 4, 1), 0);
    for (unsigned turn = 0; turn < 3; turn++) {
        unsigned all = 0;
        for (unsigned job = 0; job < sizeof shares / sizeof *shares; job++) {
            unsigned got = 0;
            for (uint32_t process = 0; process < 100; process++) {
                got += ask_of(&r, 9 + job, process) != NULL;
            }
            ck_assert_uint_eq(got, shares[job]);
            all += got;
        }
        ck_assert_uint_eq(all, 64);
        ck_assert_ptr_null(ask_of(&r, 100, 1));
        response_expire(&r, (cw_time){10});
        for (uint32_t i = 0; i <= r.counts_mask; i++) {
            ck_assert_uint_eq(r.counts[i].who, 0);
        }
    }
    response_close(&r);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_right_is_used_once_by_its_owner),   SUITE_TEST(rights_end_with_the_requesters_server),
    SUITE_TEST(one_requester_cannot_fill_the_table), SUITE_TEST(quota_is_exact),
    SUITE_TEST(one_job_cannot_fill_the_table),
};
SUITE_MAIN("responses", tests)
