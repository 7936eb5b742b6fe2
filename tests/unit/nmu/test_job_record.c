/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs.h"
#include "nmu/job_record.h"
#include "rng.h"
#include "suite.h"

#include <string.h>

static uint8_t bytes[4096];
static size_t size;

static const struct job_span two_spans[] = {{1, 3}, {5, 5}};
static const cw_port three_ports[] = {0, 7, 65535};

/* A record with some of everything. Offsets: ranges 64, ports 88, grants 160 (12, 16 spans, 8 ports), 196 (12). */
static enum wire_reason write_sample(void)
{
    struct job_record head = {.job = 9, .version = 3, .generation = 2, .name = "web-store"};
    struct job_record_writer w;
    job_record_begin(&w, bytes, sizeof bytes, &head);
    job_record_put_range(&w, &(struct job_range){0, 4, 100});
    job_record_put_range(&w, &(struct job_range){4, 2, 10});
    job_record_put_port(&w, 1, "get");
    job_record_put_port(&w, 7, "put");
    job_record_put_grant(&w, 4, two_spans, 2, three_ports, 3);
    job_record_put_grant(&w, 9, NULL, 0, NULL, 0);
    return job_record_finish(&w, &size);
}

START_TEST(what_is_written_is_read)
{
    ck_assert_uint_eq(write_sample(), WIRE_OK);
    ck_assert_uint_eq(size, 64 + 24 + 72 + 36 + 12);
    struct job_record r;
    ck_assert_uint_eq(job_record_decode(bytes, size, &r), WIRE_OK);
    ck_assert_uint_eq(r.job, 9);
    ck_assert_uint_eq(r.version, 3);
    ck_assert_uint_eq(r.generation, 2);
    ck_assert(!r.destroyed);
    ck_assert_str_eq(r.name, "web-store");
    ck_assert_uint_eq(r.ranges, 2);
    struct job_range range = job_record_range(&r, 1);
    ck_assert(range.first == 4 && range.count == 2 && range.server == 10);
    ck_assert_uint_eq(r.ports, 2);
    struct job_port port = job_record_port(&r, 1);
    ck_assert_uint_eq(port.port, 7);
    ck_assert_str_eq(port.name, "put");
    ck_assert_uint_eq(r.grants, 2);
    const uint8_t *at = r.grant_bytes;
    struct job_grant g = job_record_next_grant(&at);
    ck_assert(g.job == 4 && !g.all_processes && !g.all_ports && g.spans == 2 && g.ports == 3);
    struct job_span span = job_grant_span(&g, 0);
    ck_assert(span.first == 1 && span.last == 3);
    ck_assert_uint_eq(job_grant_port(&g, 2), 65535);
    g = job_record_next_grant(&at);
    ck_assert(g.job == 9 && g.all_processes && g.all_ports);
    ck_assert_ptr_eq(at, bytes + size);
}
END_TEST

/* One byte of the sample changed, and what is said of it. */
START_TEST(every_rule_has_its_refusal)
{
    static const struct {
        unsigned at;
        uint8_t value;
        enum wire_reason reason;
    } wrong[] = {
        {0, 2, WIRE_BAD_VERSION},  {1, 2, WIRE_RESERVED},      {1, 1, WIRE_BAD_COUNT},   {2, 1, WIRE_RESERVED},
        {7, 0, WIRE_BAD_VALUE},    {15, 0, WIRE_BAD_VALUE},    {23, 0, WIRE_BAD_VALUE},  {24, 17, WIRE_BAD_COUNT},
        {26, 2, WIRE_BAD_COUNT},   {28, 255, WIRE_BAD_COUNT},  {30, 1, WIRE_RESERVED},   {32, 0, WIRE_BAD_VALUE},
        {33, '/', WIRE_BAD_VALUE}, {50, 'x', WIRE_BAD_VALUE},  {71, 0, WIRE_BAD_VALUE},  {64, 255, WIRE_BAD_ORDER},
        {79, 3, WIRE_BAD_ORDER},   {87, 104, WIRE_BAD_ORDER},  {90, 1, WIRE_RESERVED},   {92, 0, WIRE_BAD_VALUE},
        {89, 7, WIRE_BAD_ORDER},   {128, 'g', WIRE_OK},        {164, 4, WIRE_RESERVED},  {165, 1, WIRE_RESERVED},
        {164, 1, WIRE_BAD_VALUE},  {164, 2, WIRE_BAD_VALUE},   {163, 0, WIRE_BAD_VALUE}, {166, 255, WIRE_BAD_VALUE},
        {168, 1, WIRE_BAD_VALUE},  {169, 200, WIRE_TRUNCATED}, {170, 1, WIRE_RESERVED},  {175, 9, WIRE_BAD_VALUE},
        {183, 4, WIRE_BAD_ORDER},  {183, 3, WIRE_BAD_ORDER},   {191, 0, WIRE_BAD_ORDER}, {195, 1, WIRE_RESERVED},
        {199, 3, WIRE_BAD_ORDER},  {199, 4, WIRE_OK},          {29, 1, WIRE_BAD_LENGTH}, {29, 3, WIRE_TRUNCATED},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_uint_eq(write_sample(), WIRE_OK);
        bytes[wrong[i].at] = wrong[i].value;
        struct job_record r;
        enum wire_reason reason = job_record_decode(bytes, size, &r);
        if (wrong[i].at == 199 && wrong[i].value == 4) {
            /* two grants for one job: "all ports" must stand first */
            ck_assert_uint_eq(reason, WIRE_BAD_ORDER);
            continue;
        }
        ck_assert_msg(reason == wrong[i].reason, "byte %u = %u: %d, not %d", wrong[i].at, wrong[i].value, reason,
                      wrong[i].reason);
    }
}
END_TEST

START_TEST(no_part_of_a_record_is_one)
{
    ck_assert_uint_eq(write_sample(), WIRE_OK);
    struct job_record r;
    for (size_t i = 0; i < size; i++) {
        ck_assert_uint_ne(job_record_decode(bytes, i, &r), WIRE_OK);
    }
    ck_assert_uint_eq(job_record_decode(bytes, size + 1, &r), WIRE_BAD_LENGTH);
    static uint8_t large[JOB_RECORD_BYTES_LIMIT + 1];
    ck_assert_uint_eq(job_record_decode(large, sizeof large, &r), WIRE_BAD_LENGTH);
}
END_TEST

static enum wire_reason write_grants(const struct plain_grant *grants, unsigned count)
{
    struct job_record head = {.job = 9, .version = 1, .generation = 1, .name = "x"};
    struct job_record_writer w;
    job_record_begin(&w, bytes, sizeof bytes, &head);
    for (unsigned i = 0; i < count; i++) {
        const struct plain_grant *g = &grants[i];
        job_record_put_grant(&w, g->job, g->spans > 0 ? g->span : NULL, g->spans, g->ports > 0 ? g->port : NULL,
                             g->ports);
    }
    return job_record_finish(&w, &size);
}

START_TEST(a_port_is_granted_once)
{
    struct plain_grant g[] = {
        {.job = 4, .spans = 1},
        {.job = 4, .ports = 2, .port = {1, 5}},
        {.job = 4, .ports = 2, .port = {2, 6}},
        {.job = 5, .ports = 1, .port = {1}},
    };
    ck_assert_uint_eq(write_grants(g, 4), WIRE_OK);
    g[2].port[1] = 5;
    ck_assert_uint_eq(write_grants(g, 4), WIRE_BAD_VALUE);
    g[2].port[1] = 6;
    g[2].port[0] = 1;
    ck_assert_uint_eq(write_grants(g, 4), WIRE_BAD_ORDER);
    g[2].port[0] = 6;
    ck_assert_uint_eq(write_grants(g, 4), WIRE_BAD_ORDER);
    g[2].port[0] = 2;
    g[3].job = 3;
    ck_assert_uint_eq(write_grants(g, 4), WIRE_BAD_ORDER);
}
END_TEST

START_TEST(names_and_destroyed_jobs)
{
    struct job_record head = {.job = 9, .version = 1, .generation = 1, .destroyed = true, .name = "a"};
    struct job_record_writer w;
    job_record_begin(&w, bytes, sizeof bytes, &head);
    ck_assert_uint_eq(job_record_finish(&w, &size), WIRE_OK);
    job_record_begin(&w, bytes, sizeof bytes, &head);
    job_record_put_range(&w, &(struct job_range){0, 1, 0});
    ck_assert_uint_eq(job_record_finish(&w, &size), WIRE_BAD_COUNT);
    job_record_begin(&w, bytes, 63, &head);
    ck_assert_uint_eq(job_record_finish(&w, &size), WIRE_TRUNCATED);
    head.destroyed = false;
    job_record_begin(&w, bytes, sizeof bytes, &head);
    job_record_put_port(&w, 1, "same");
    job_record_put_port(&w, 2, "same");
    ck_assert_uint_eq(job_record_finish(&w, &size), WIRE_BAD_VALUE);
    static const struct job_range outside[] = {
        {0, 0, 0}, {UINT32_MAX, 2, 0}, {0, 2, UINT32_MAX - 1}, {0, 1, UINT32_MAX}, {UINT32_MAX, 1, 0}};
    for (unsigned i = 0; i < 5; i++) {
        job_record_begin(&w, bytes, sizeof bytes, &head);
        job_record_put_range(&w, &outside[i]);
        ck_assert_uint_eq(job_record_finish(&w, &size), WIRE_BAD_VALUE);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_is_written_is_read), SUITE_TEST(every_rule_has_its_refusal), SUITE_TEST(no_part_of_a_record_is_one),
    SUITE_TEST(a_port_is_granted_once),  SUITE_TEST(names_and_destroyed_jobs),
};
SUITE_MAIN("job_record", tests)
