/* SPDX-License-Identifier: Apache-2.0 */
/* test_account.c - what jobs hold is counted, bounded and shown; a greedy one harms nobody else. */
#include "stream_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { GREEDY = 2000, MODEST = 2001 };

static const char *const small[] = {"data=/d", "spool=/s", "memory=32M", "spool_limit=4M", NULL};

static struct fake_net *net;
static unsigned ends;
static struct cw_run_result last;

static void done(void *arg, const cw_run_result *result)
{
    (void)arg;
    ends++;
    last = *result;
}

static int order(cw_job job, const char *to, const char *of, uint32_t number)
{
    const char *const words[] = {"from=in", "map=kv", to, of};
    const cw_run run = {CW_RUN_INIT, .word = words, .words = 4};
    return stream_run(stream_town_at(net, 0), &ends, job, &run, done, NULL, number);
}

START_TEST(counts)
{
    net = stream_town_open(small);
    struct stream *st = stream_town_at(net, 0);
    struct account *a = account_open(st, GREEDY), *b = account_open(st, MODEST);
    ck_assert_ptr_eq(account_open(st, GREEDY), a);
    ck_assert_int_eq(account_take(a, 10 << 20), 0);
    ck_assert_int_eq(account_take(a, 10 << 20), -ENOSR); /* half of 32 MB */
    ck_assert_int_eq(account_take(a, UINT64_MAX), -ENOSR);
    ck_assert_int_eq(account_take(b, 10 << 20), 0);
    ck_assert(a->memory == 10 << 20 && st->memory == 20 << 20);
    st->job_memory = 32 << 20;
    ck_assert_int_eq(account_room(b, 15 << 20), -ENOBUFS); /* that is the limit of both */
    uint64_t bytes = 0;
    ck_assert_int_eq(account_batch(b, 1000, &bytes), 0);
    ck_assert_uint_ge(bytes, BATCH_LEAST);
    account_give(a, 10 << 20);
    account_give(b, 10 << 20);
    ck_assert(account_limit(st, -ENOSR) == 32 << 20 && account_limit(st, -EXFULL) == 2000000);
    ck_assert(account_limit(st, -EUSERS) == ACCOUNT_RUNS && account_limit(st, -ENOBUFS) == 0);
    account_close(a);
    ck_assert_uint_eq(a->users, 1);
    account_close(a);
    account_close(b);
    account_close(NULL);
    ck_assert(list_is_empty(&st->accounts));
    stream_town_close(net);
}
END_TEST

/* Its records have no room in its share of the spool: that is told with server, job and limit. Another job's have. */
START_TEST(a_greedy_job)
{
    enum { MANY = 250000, FEW = 300 };
    net = stream_town_open(small);
    stream_town_fill(FEW);
    char *many = malloc(MANY * 24);
    size_t length = 0;
    for (unsigned i = 0; i < MANY; i++) {
        length += (size_t)sprintf(many + length, "key%u\t%u\n", i, i);
    }
    stream_disk_put(&stream_disks[5], "in", many, length);
    free(many);
    ends = 0;
    ck_assert_int_eq(order(GREEDY, "to=1,0,0:out", "of=1,2,0", 1), 0);
    for (unsigned i = 0; i < 100 && ends == 0; i++) {
        fake_net_run(net, CW_MS(10));
    }
    ck_assert_uint_eq(ends, 1);
    ck_assert_int_eq(last.status, -EXFULL);
    ck_assert(last.named && last.who.x == 1 && last.who.y == 2 && last.limit == 2000000);
    const struct fake_result *r = stream_town_ask(net, 0, "run map=kv from=in to=1,0,0:out of=1,2,0");
    ck_assert_int_eq(r->rc, -EXFULL);
    ck_assert_msg(strstr(fake_text(r, 0, "error"), "server 1,2,0, in: job 8 may have 2000000 bytes of the spool there, "
                                                   "and needs more (option job_spool)") != NULL,
                  "%s", fake_text(r, 0, "error"));
    struct account *a = account_open(stream_town_at(net, 5), GREEDY); /* it holds all of its memory, and of its spool */
    ck_assert_int_eq(account_take(a, stream_town_at(net, 5)->job_memory), 0);
    atomic_store(&a->spool.used, a->spool.limit);
    r = stream_town_ask(net, 5, "status");
    ck_assert_str_eq(fake_text(r, 0, "role"), "job");
    ck_assert(fake_int(r, 0, "job") == GREEDY && fake_int(r, 0, "memory_bytes") == 16000000 &&
              fake_int(r, 0, "memory_limit_bytes") == 16000000 && fake_int(r, 0, "spool_bytes") == 2000000);
    stream_town_put(5, "a\t1\n");
    ends = 0;
    ck_assert_int_eq(order(MODEST, "to=1,0,0:out", "of=1,2,0", 2), 0);
    ck_assert_int_eq(order(GREEDY, "to=2,0,0:out", "of=1,2,0", 3), 0);
    fake_net_run(net, CW_MS(500));
    ck_assert_uint_eq(ends, 2);
    ck_assert_str_eq(stream_town_result(3), "a\t1\n");
    ck_assert_str_eq(stream_town_result(6), "-");
    account_give(a, a->memory);
    atomic_store(&a->spool.used, 0);
    account_close(a);
    stream_town_close(net);
}
END_TEST

/* On the way, too; and where the result is wanted. */
START_TEST(memory_of_others)
{
    static const struct {
        cw_server full;
        const char *says;
    } tries[] = {{3, "the run failed: server 1,0,0: job 8 may have 16000000 bytes of memory there"},
                 {0, "server 0,0,0, which is to write the result: job 8 may have 16000000 bytes of memory there"}};
    for (unsigned i = 0; i < 2; i++) {
        net = stream_town_open(small);
        stream_town_fill(20);
        struct account *a = account_open(stream_town_at(net, tries[i].full), AGGREGATE_JOB);
        ck_assert_int_eq(account_take(a, 15900000), 0);
        const struct fake_result *r = stream_town_ask(net, 4, "run map=kv from=in to=0,0,0:out of=2,0,0 of=1,1,0");
        ck_assert_int_eq(r->rc, -ENOSR);
        ck_assert_msg(strstr(fake_text(r, 0, "error"), tries[i].says) != NULL, "%s", fake_text(r, 0, "error"));
        account_give(a, 15900000);
        account_close(a);
        fake_net_run(net, CW_SEC(1));
        for (cw_server s = 0; s < STREAM_TOWN; s++) {
            ck_assert(list_is_empty(&stream_town_at(net, s)->accounts));
        }
        ck_assert_int_eq(stream_town_ask(net, 4, "run map=kv from=in to=0,0,0:out of=2,0,0 of=1,1,0")->rc, 0);
        stream_town_close(net);
    }
}
END_TEST

static void heard(void *arg, int status)
{
    *(int *)arg = status;
}

/* A job has so many inputs at a time, and feeds; and no run takes the feed of another one. */
START_TEST(inputs_and_feeds)
{
    const char *const words[] = {"from=feed:f", "map=kv", "of=1,0,0", "to=1,0,0:out", "limit_ms=500"};
    const cw_run run = {CW_RUN_INIT, .word = words, .words = 5};
    int fed = 1, other = 1;
    net = stream_town_open(NULL);
    ends = 0;
    for (uint32_t n = 0; n < 5; n++) {
        for (uint32_t i = 0; i < STREAM_LEADS_EACH && n * STREAM_LEADS_EACH + i <= ACCOUNT_RUNS; i++) {
            ck_assert_int_eq(stream_run(stream_town_at(net, n), &ends, GREEDY, &run, done, NULL, i + 1), 0);
        }
    }
    fake_net_run(net, CW_MS(50));
    ck_assert(ends == 1 && last.status == -EUSERS && last.who.x == 1 && last.limit == ACCOUNT_RUNS);
    ck_assert_int_eq(stream_run(stream_town_at(net, 5), &ends, MODEST, &run, done, NULL, 1), 0);
    ck_assert_int_eq(stream_give(stream_town_at(net, 3), &fed, 7, "f", "x\t1\n", 4, true, heard, &other), 0);
    ck_assert_int_eq(stream_give(stream_town_at(net, 3), &ends, MODEST, "f", "a\t1\n", 4, true, heard, &fed), 0);
    fake_net_run(net, CW_MS(100));
    ck_assert(ends == 2 && last.status == 0 && fed == 0 && other == 1);
    ck_assert_str_eq(stream_town_result(3), "a\t1\n");
    for (unsigned i = 1; i < INTAKES_EACH; i++) {
        char name[8];
        snprintf(name, sizeof name, "g%u", i);
        ck_assert_int_eq(stream_give(stream_town_at(net, 3), &fed, 7, name, "a\t1\n", 4, true, heard, &other), 0);
    }
    ck_assert_int_eq(stream_give(stream_town_at(net, 3), &fed, 7, "h", "x\t1\n", 4, true, heard, &other), -ENOSPC);
    ck_assert_int_eq(stream_give(stream_town_at(net, 3), &ends, MODEST, "h", "", 0, true, heard, &fed), 0);
    stream_disown(stream_town_at(net, 3), &fed);
    stream_disown(stream_town_at(net, 3), &ends);
    fake_net_run(net, CW_SEC(1));
    stream_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(counts), SUITE_TEST(a_greedy_job), SUITE_TEST(memory_of_others),
                                          SUITE_TEST(inputs_and_feeds)};
SUITE_MAIN("account", tests)
