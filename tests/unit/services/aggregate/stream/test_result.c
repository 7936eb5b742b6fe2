/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/record.h"
#include "stream_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static size_t block(uint8_t out[static RECORD_BLOCK], const char *key, const char *value)
{
    struct record_writer w;
    record_writer_init(&w, out, RECORD_BLOCK);
    ck_assert_int_eq(record_write(&w, (cw_bytes){(const uint8_t *)key, strlen(key)},
                                  (cw_bytes){(const uint8_t *)value, strlen(value)}),
                     0);
    return w.used;
}

START_TEST(partitions)
{
    static uint8_t bytes[RECORD_BLOCK];
    struct fake_net *net = stream_town_open(NULL);
    struct stream *st = stream_town_at(net, 0);
    struct wish w = {.partitions = 3, .combine = "sum", .to = "out"};
    uint64_t before = st->memory;
    struct result *r = NULL;
    ck_assert_int_eq(result_open(st, NULL, &w, 0, w.partitions, &r), 0);
    ck_assert_uint_eq(result_count(r), 0);
    uint64_t empty = st->memory;
    size_t n = block(bytes, "key", "1");
    ck_assert_int_eq(result_put(r, 1, bytes, n, false), 0);
    ck_assert_uint_eq(st->memory, empty + n);
    ck_assert_int_eq(result_put(r, 2, bytes, n, true), 0);
    ck_assert(result_whole(r, 2) && !result_whole(r, 1) && result_count(r) == 1);
    ck_assert_uint_eq(result_cut(r), n); /* what is not whole goes on behind its last key (rule 26) */
    cw_bytes after = result_after(r, 1);
    ck_assert(after.length == 3 && memcmp(after.bytes, "key", 3) == 0 && result_after(r, 0).length == 0);
    ck_assert_uint_eq(st->memory, empty + 2 * n);
    fake_net_run(net, CW_MS(1)); /* and what is whole is sorted, in memory for that */
    ck_assert_uint_eq(st->memory, empty + n + BATCH_LEAST);
    result_drop(r);
    ck_assert_uint_eq(st->memory, before);
    stream_town_close(net);
}
END_TEST

/* By the limit of its job, and by that of all. */
START_TEST(memory_is_bounded)
{
    static const char *const options[][4] = {{"data=/d", "memory=2M", NULL},
                                             {"data=/d", "memory=2M", "job_memory=2M", NULL}};
    static uint8_t bytes[RECORD_BLOCK];
    for (unsigned all = 0; all < 2; all++) {
        struct fake_net *net = stream_town_open(options[all]);
        struct stream *st = stream_town_at(net, 0);
        struct wish w = {.job = 1, .partitions = 1, .combine = "sum", .to = "out"};
        struct result *r = NULL, *other = NULL;
        int rc = result_open(st, NULL, &w, 0, w.partitions, &r);
        w.job = 2;
        rc = rc < 0 ? rc : result_open(st, NULL, &w, 0, w.partitions, &other);
        rc = rc < 0 ? rc : result_put(other, 0, bytes, sizeof bytes, false);
        for (int i = 0; i < 100 && rc == 0; i++) {
            rc = result_put(r, 0, bytes, sizeof bytes, false);
        }
        ck_assert_int_eq(rc, all ? -ENOBUFS : -ENOSR);
        ck_assert_uint_le(st->memory, all ? st->memory_most : st->job_memory + sizeof bytes);
        ck_assert_int_eq(result_put(other, 0, bytes, sizeof bytes, false), all ? -ENOBUFS : 0);
        result_drop(r);
        result_drop(other);
        ck_assert(st->memory == 0 && list_is_empty(&st->accounts));
        stream_town_close(net);
    }
}
END_TEST

START_TEST(a_disk_is_full)
{
    struct fake_net *net = stream_town_open(NULL);
    stream_town_fill(10);
    stream_disks[0].result_error = -ENOSPC;
    const struct fake_result *r = stream_town_ask(net, 1, "run map=kv from=in to=0,0,0:out");
    ck_assert_int_eq(r->rc, -ENOSPC);
    ck_assert(strstr(fake_text(r, 0, "error"), "server 0,0,0: its spool folder, or its disk, is full") != NULL);
    ck_assert_str_eq(stream_town_result(0), "-");
    stream_disks[0].result_error = 0;
    ck_assert_int_eq(stream_town_ask(net, 1, "run map=kv from=in to=0,0,0:out")->rc, 0);
    ck_assert(stream_town_right(0, 10, 0x1ff));
    stream_town_close(net);
}
END_TEST

START_TEST(long_results)
{
    struct fake_net *net = stream_town_open(NULL);
    stream_town_fill(30000); /* some 4 MB: several pieces of work */
    const struct fake_result *r = stream_town_ask(net, 1, "run map=kv from=in to=0,0,0:out");
    ck_assert_int_eq(r->rc, 0);
    ck_assert(stream_town_right(0, 30000, 0x1ff));
    ck_assert_uint_eq((size_t)fake_int(r, 0, "bytes"), strlen(stream_town_result(0)));
    ck_assert_int_eq(fake_int(r, 0, "keys"), 9 * 30000 + 1);
    r = stream_town_ask(net, 1, "run map=kv from=in to=0,0,0:out top=100000");
    ck_assert_int_eq(fake_int(r, 0, "keys"), 100000);
    ck_assert(strncmp(stream_town_result(0), "s0k29999\t29999\ns1k29999\t29999\n", 30) == 0);
    stream_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(partitions), SUITE_TEST(memory_is_bounded),
                                          SUITE_TEST(a_disk_is_full), SUITE_TEST(long_results)};
SUITE_MAIN("result", tests)
