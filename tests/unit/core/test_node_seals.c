/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealed tables in a whole node (NMU 6.2): who writes to them is found out, people are told, and the records decide
 * again.
 */
#include "node_bench.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static const struct siphash_key key = {{1, 2}};

static struct bench *sealed(void)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    b->seal = &key;
    bench_start_all(b);
    bench_settle(b);
    return b;
}

static int try(struct bench *b)
{
    cw_to to = to_server(b, 1);
    return send_text(b, 0, "x", &to, NULL);
}

static uint64_t refused_as(struct bench *b, enum nmu_cause cause)
{
    const struct denied *denied = &node_nmu(b->node[0])->denied;
    uint32_t from = 0;
    uint64_t times = 0;
    for (const struct denied_row *row; (row = denied_next(denied, &from)) != NULL;) {
        times += row->cause == cause ? row->times : 0;
    }
    return times;
}

/*
 * In the entry that says who the probe is: its packets are refused from that moment on, until the tables are written
 * anew.
 */
START_TEST(refused_then_mended)
{
    struct bench *b = sealed();
    struct nmu *nmu = &b->node[0]->nmu;
    ck_assert_int_eq(try(b), 0);
    nmu->tables.access.entry[bench_svc(b, 0)->index].process ^= 1;
    ck_assert_int_eq(try(b), -EACCES);
    ck_assert_uint_eq(refused_as(b, NMU_TAMPERED), 1);
    ck_assert_uint_eq(b->logs, 0);
    bench_run(b, CW_MS(50));
    ck_assert_uint_eq(b->logs, 1);
    ck_assert_int_eq(try(b), 0);
    bench_run(b, CW_SEC(1));
    ck_assert_uint_eq(b->logs, 1);
    bench_close(b);
}
END_TEST

/* In an entry that no packet asks for, of each table: the sweep comes by within seconds. */
START_TEST(found_by_the_sweep)
{
    struct bench *b = sealed();
    struct nmu *nmu = &b->node[0]->nmu;
    struct nmu_tables *t = &nmu->tables;
    uint8_t *const bytes[] = {
        (uint8_t *)&t->access.entry[60],
        (uint8_t *)&t->privilege.slot[t->privilege.mask],
        (uint8_t *)&t->privilege.sets.list[9],
        (uint8_t *)&t->privilege.sets.span[200],
        (uint8_t *)&t->map.job[60],
        (uint8_t *)&t->map.door[60],
        (uint8_t *)&t->map.ranges.list[60],
        (uint8_t *)&t->map.ranges.span[200],
        (uint8_t *)&t->map.slot[t->map.slot_mask],
    };
    for (unsigned i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        bytes[i][2] ^= 0x40;
        bench_run(b, CW_SEC(3));
        ck_assert_uint_eq(b->logs, i + 1);
        ck_assert_uint_eq(bytes[i][2] & 0x40, 0);
        ck_assert_int_eq(try(b), 0);
    }
    bench_close(b);
}
END_TEST

static cw_verdict drop_it(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)state;
    (void)p;
    (void)rx;
    return CW_DROP;
}

/* A service that comes meanwhile does not get what was written seals. */
START_TEST(found_by_a_change)
{
    struct bench *b = sealed();
    const cw_service other = {CW_SERVICE_INIT, .name = "other", .job = 2000, .on_packet = drop_it};
    b->node[0]->nmu.tables.map.door[0].known ^= 1;
    ck_assert_int_eq(node_service_add(b->node[0], &other, b->now), 0);
    ck_assert_int_eq(try(b), -EACCES);
    bench_run(b, CW_MS(50));
    ck_assert_uint_eq(b->logs, 1);
    ck_assert_int_eq(try(b), 0);
    ck_assert_int_eq(node_service_remove(b->node[0], 2000, b->now), 0);
    ck_assert_uint_eq(b->logs, 1);
    bench_close(b);
}
END_TEST

static void count_tampered(void *context, const char *service, const char *name, uint64_t value)
{
    if (strcmp(service, "node") == 0 && strcmp(name, "tampered") == 0) {
        *(uint64_t *)context = value;
    }
}

START_TEST(counted)
{
    struct bench *b = sealed();
    uint64_t found = 77;
    node_counters(b->node[0], count_tampered, &found);
    ck_assert_uint_eq(found, 0);
    b->node[0]->nmu.tables.map.door[0].known ^= 1;
    ck_assert_int_eq(try(b), -EACCES);
    node_counters(b->node[0], count_tampered, &found);
    ck_assert_uint_eq(found, 1);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(refused_then_mended),
    SUITE_TEST(found_by_the_sweep),
    SUITE_TEST(found_by_a_change),
    SUITE_TEST(counted),
};
SUITE_MAIN("node_seals", tests)
