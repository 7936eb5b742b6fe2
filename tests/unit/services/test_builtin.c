/* SPDX-License-Identifier: Apache-2.0 */
#include "services/builtin.h"

#include "fake_host.h"
#include "nmu/book.h"
#include "services/table.h"
#include "suite.h"

#include <string.h>

START_TEST(each_is_sound_and_alone)
{
    size_t count;
    const cw_service *const *services = builtin_services(&count);
    ck_assert_uint_ge(count, 2);
    for (size_t i = 0; i < count; i++) {
        char why[TABLE_WHY_BYTES];
        ck_assert_msg(table_check(services[i], TABLE_BUILTIN, why) == 0, "%s", why);
        ck_assert_ptr_eq(builtin_service(services[i]->name), services[i]);
        ck_assert(i == 0 || services[i - 1]->job < services[i]->job);
        for (size_t k = 0; k < i; k++) {
            ck_assert_str_ne(services[i]->name, services[k]->name);
        }
    }
}
END_TEST

START_TEST(by_name)
{
    ck_assert_ptr_nonnull(builtin_service("ping"));
    ck_assert_ptr_nonnull(builtin_service("bench"));
    ck_assert_ptr_nonnull(builtin_service("trace"));
    ck_assert_ptr_nonnull(builtin_service("jobs"));
    ck_assert_ptr_nonnull(builtin_service("transport"));
    ck_assert_ptr_nonnull(builtin_service("multicast"));
    ck_assert_ptr_null(builtin_service("pin"));
    /* Of those that nobody runs unasked, the name is known and the job is in the book. */
    const cw_service *tunnel = builtin_service("ip"), *store = builtin_service("store");
    ck_assert_ptr_nonnull(tunnel);
    ck_assert_ptr_nonnull(store);
    size_t count, size;
    const cw_service *const *services = builtin_services(&count);
    for (size_t i = 0; i < count; i++) {
        ck_assert(services[i] != tunnel && services[i]->job != tunnel->job);
        ck_assert(services[i] != store && services[i]->job != store->job);
    }
    size_t all;
    ck_assert_ptr_eq(builtin_all(&all)[count], tunnel);
    ck_assert_ptr_eq(builtin_all(&all)[count + 1], store);
    ck_assert_uint_eq(all, count + 2);
    struct book *b;
    ck_assert_int_eq(book_open(&b, 27), 0);
    ck_assert_int_eq(builtin_jobs(b), 0);
    ck_assert_ptr_nonnull(book_record(b, tunnel->job, &size));
    ck_assert_ptr_nonnull(book_record(b, store->job, &size));
    book_close(b);
    ck_assert_ptr_null(builtin_service(""));
}
END_TEST

/*
 * Nobody says anything unasked, but for the cache, which does not know who was there before it
 * (services/kvcache/flush.c).
 */
START_TEST(each_opens_and_closes_anywhere)
{
    static const cw_dims shapes[] = {{1, 1, 1}, {2, 1, 1}, {3, 3, 3}, {256, 1, 1}};
    size_t count;
    const cw_service *const *services = builtin_services(&count);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            cw_svc *s = fake_open(services[i], shapes[k], (cw_coord){(uint8_t)(shapes[k].x - 1), 0, 0});
            s->swallow = true;
            fake_run(s, CW_SEC(1));
            bool asks = services[i] == builtin_service("kvcache") && shapes[k].x > 1;
            ck_assert((s->swallowed > 0) == asks);
            ck_assert_uint_eq(fake_close(s), 0);
        }
    }
}
END_TEST

/* Each is a job that reaches itself, by a port or two, and nobody else. */
START_TEST(each_may_do_what_it_needs)
{
    size_t count, grants, size;
    const cw_service *const *services = builtin_services(&count);
    const struct book_grant *grant = builtin_grants(&grants);
    ck_assert_uint_ge(grants, count);
    for (size_t i = 0; i < grants; i++) {
        ck_assert_uint_eq(grant[i].from, grant[i].to);
    }
    struct book *b;
    ck_assert_int_eq(book_open(&b, 27), 0);
    ck_assert_int_eq(builtin_jobs(b), 0);
    for (size_t i = 0; i < count; i++) {
        struct job_record r;
        const uint8_t *bytes = book_record(b, services[i]->job, &size);
        ck_assert_ptr_nonnull(bytes);
        ck_assert_int_eq(job_record_decode(bytes, size, &r), WIRE_OK);
        ck_assert_str_eq(r.name, services[i]->name);
        /*
         * The cache's large values have a port of their own; so have the progress of files, and groups; and what
         * reductions say, operators' reductions, questions, and sorted runs.
         */
        bool two = strcmp(services[i]->name, "kvcache") == 0, reduces = strcmp(services[i]->name, "aggregate") == 0;
        bool three = strcmp(services[i]->name, "multicast") == 0;
        ck_assert_uint_eq(r.grants, 1u + two + 2 * three + 5 * reduces);
        const uint8_t *at = r.grant_bytes;
        struct job_grant g = job_record_next_grant(&at);
        ck_assert(g.job == services[i]->job && g.all_processes && !g.all_ports && g.ports == 1);
        ck_assert_uint_eq(job_grant_port(&g, 0), 0);
    }
    book_close(b);
}
END_TEST

START_TEST(networks)
{
    char why[TABLE_WHY_BYTES];
    cw_service blue;
    ck_assert_int_eq(builtin_network(5003, "blue", 0, &blue, why), 0);
    ck_assert(blue.job == 5003 && strcmp(blue.name, "blue") == 0);
    ck_assert_ptr_eq(blue.exports, builtin_service("ip")->exports);
    ck_assert_int_lt(builtin_network(9, "blue", 0, &blue, why), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(networks),
    SUITE_TEST(each_is_sound_and_alone),
    SUITE_TEST(by_name),
    SUITE_TEST(each_may_do_what_it_needs),
    SUITE_TEST(each_opens_and_closes_anywhere),
};
SUITE_MAIN("builtin", tests)
