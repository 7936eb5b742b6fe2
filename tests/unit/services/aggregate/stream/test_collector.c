/* SPDX-License-Identifier: Apache-2.0 */
#include "sanitized.h"
#include "stream_town.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 4000, ALL = 0x1ff };

/* Loses a server at that instant of a run of all; the answer. */
static struct fake_result *lose_at(struct fake_net **net, cw_server gone, int us, const char *more, const char *of)
{
    static struct fake_result r;
    char line[200];
    *net = stream_town_open(NULL);
    stream_town_fill(LINES);
    snprintf(line, sizeof line, "run map=kv from=in to=0,0,0:out partitions=30 %s %s", more, of);
    stream_town_begin(*net, 1, line, &r);
    fake_net_run(*net, CW_US(us));
    if (gone < STREAM_TOWN) {
        stream_town_lose(*net, gone);
    }
    fake_net_finish(*net, &r);
    return &r;
}

START_TEST(without_a_contributor)
{
    bool again = false;
    for (int us = 100; us < 1500; us += 60) {
        struct fake_net *net;
        const struct fake_result *r = lose_at(&net, 8, us, "without=1", "");
        ck_assert_int_eq(r->rc, 0);
        uint32_t counted = fake_int(r, 0, "counted") == 9 ? ALL : ALL & ~(1u << 8);
        ck_assert(stream_town_right(0, LINES, counted));
        ck_assert(counted == ALL || strcmp(fake_text(r, 1, "server"), "2,2,0") == 0);
        again = again || fake_int(r, 0, "attempts") > 1;
        stream_town_close(net);
    }
    ck_assert(again);
}
END_TEST

START_TEST(a_contributor_dies)
{
    unsigned failed = 0;
    for (int us = 100; us < 1500; us += 60) {
        struct fake_net *net;
        const struct fake_result *r = lose_at(&net, 8, us, "", "");
        ck_assert(r->rc == 0 || r->rc == -ECONNRESET || r->rc == -ENETUNREACH);
        if (r->rc == 0) {
            ck_assert(stream_town_right(0, LINES, ALL)); /* it was not needed any more */
        } else {
            failed++;
            ck_assert_msg(strstr(fake_text(r, 0, "error"), "2,2,0") != NULL, "%s", fake_text(r, 0, "error"));
            ck_assert_str_eq(stream_town_result(0), "-");
        }
        stream_town_close(net);
    }
    ck_assert_uint_ge(failed, 8);
}
END_TEST

/* Forty keys, each with so many values of each server: its records are in several blocks. */
enum { KEYS = 40, VALUES = 150, PARTITIONS = 2, EACH = 4096 /* bytes of a block, where there is little */ };
enum { ROUNDS = SANITIZED ? 6 : 12 };

static void fill_values(void)
{
    static char text[KEYS * VALUES * 64];
    for (cw_server s = 0; s < STREAM_TOWN; s++) {
        size_t length = 0;
        for (unsigned i = 0; i < KEYS * VALUES; i++) {
            length += (size_t)sprintf(text + length, "k%02u\t%040u\n", i % KEYS, s * 100000 + i);
        }
        stream_town_put(s, text);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Each value of the two servers is there, once, and the keys ascend. */
static void has_all_values(cw_server one, cw_server other)
{
    static const char *line[2 * KEYS * VALUES + 1];
    static char must[64], text[2 * KEYS * VALUES * 64];
    unsigned n = 0;
    snprintf(text, sizeof text, "%s", stream_town_result(0));
    for (char *rest = text, *at; (at = strtok_r(rest, "\n", &rest)) != NULL && n <= 2 * KEYS * VALUES;) {
        ck_assert(n == 0 || strncmp(line[n - 1], at, 3) <= 0);
        line[n++] = at;
    }
    ck_assert_uint_eq(n, 2 * KEYS * VALUES);
    qsort(line, n, sizeof *line, by_text);
    for (unsigned i = 0, k = 0; k < KEYS; k++) {
        for (unsigned v = 0; v < 2 * VALUES; v++, i++) {
            unsigned of = v < VALUES ? one : other;
            snprintf(must, sizeof must, "k%02u\t%040u", k, of * 100000 + v % VALUES * KEYS + k);
            ck_assert_str_eq(line[i], must);
        }
    }
}

/* Bytes that have come to the root of partitions that are not whole. */
static uint64_t taken_at_root(struct fake_net *net)
{
    const struct stream *st = stream_town_at(net, 0);
    return list_is_empty(&st->collectors)
               ? 0
               : ((const struct collector *)(const void *)list_first(&st->collectors))->taken;
}

/*
 * One on the way dies in the middle of partitions of many blocks: what has come of them stays, and is right, whether
 * values of a key were added up on the way, or keep apart. Most of what goes over the edges goes once.
 */
START_TEST(goes_on_where_it_was)
{
    unsigned behind[2] = {0, 0};
    uint64_t calm[2] = {0, 0}, calm_root[2] = {60000, 480000}; /* bytes, about, that come to the root in all */
    for (unsigned i = 0; i < ROUNDS; i++) {
        static struct fake_result r;
        unsigned apart = i % 2;
        cw_server gone = i / 2 % 2 == 0 ? 2 : 5;
        struct fake_net *net = stream_town_open(NULL);
        uint64_t moved = 0;
        if (apart) {
            fill_values();
        } else {
            stream_town_fill(LINES);
        }
        stream_town_begin(net, 1,
                          apart ? "run map=kv combine=none from=in to=0,0,0:out partitions=2 of=2,2,0 of=1,1,0"
                                : "run map=kv from=in to=0,0,0:out partitions=2 of=2,2,0 of=1,1,0",
                          &r);
        for (unsigned steps = 0;
             i > 1 && taken_at_root(net) < calm_root[apart] / (ROUNDS / 2 + 1) * (i / 2) && steps < 100000; steps++) {
            fake_net_run(net, CW_US(2));
        }
        if (i > 1) {
            stream_town_lose(net, gone);
        }
        fake_net_finish(net, &r);
        ck_assert_int_eq(r.rc, 0);
        if (apart) {
            has_all_values(4, 8);
        } else {
            ck_assert(stream_town_right(0, LINES, 1u << 8 | 1u << 4));
        }
        for (cw_server s = 0; s < STREAM_TOWN; s++) {
            moved += stream_town_at(net, s)->counted[STREAM_COUNT_BYTES];
        }
        calm[apart] = i > 1 ? calm[apart] : moved;
        ck_assert(i > 1 || fake_int(&r, 0, "attempts") == 1);
        uint64_t kept = stream_town_at(net, 0)->counted[STREAM_COUNT_KEPT];
        behind[apart] += kept > 0;
        /* Every edge has at most its windows to send again. */
        ck_assert_uint_le(moved, calm[apart] + (uint64_t)PARTITIONS * STREAM_TOWN * STREAM_WINDOW_MOST * EACH);
        stream_town_close(net);
    }
    ck_assert(behind[0] > 0 && behind[1] > 1);
}
END_TEST

START_TEST(the_root_or_the_desk_dies)
{
    struct fake_net *net;
    struct fake_result *r = lose_at(&net, 0, 700, "without=1", "");
    ck_assert(r->rc == -ECONNRESET || r->rc == -ENETUNREACH);
    ck_assert(strstr(fake_text(r, 0, "error"), "server 0,0,0, which is to write the result") != NULL);
    fake_net_run(net, CW_SEC(2));
    ck_assert_uint_eq(stream_town_at(net, 5)->task_count, 0);
    stream_town_close(net);
    static struct fake_result desk;
    net = stream_town_open(NULL);
    stream_town_fill(LINES);
    stream_town_begin(net, 1, "run map=kv from=in to=0,0,0:out", &desk);
    fake_net_run(net, CW_US(700));
    stream_town_lose(net, 1);
    fake_net_run(net, CW_SEC(2));
    ck_assert_str_eq(stream_town_result(0), "-");
    for (cw_server s = 0; s < STREAM_TOWN; s++) {
        ck_assert(s == 1 || stream_town_at(net, s)->task_count == 0);
    }
    stream_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(without_a_contributor), SUITE_TEST(a_contributor_dies),
                                          SUITE_TEST(goes_on_where_it_was), SUITE_TEST(the_root_or_the_desk_dies)};
SUITE_MAIN("collector", tests)
