/* SPDX-License-Identifier: Apache-2.0 */
/* The walker passes what is sound, and names server, key and rule of each kind of damage. */
#include "kv_town.h"
#include "services/kvcache/reader.h"
#include "services/kvcache/root.h"
#include "services/kvcache/walk.h"
#include "suite.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct fake_net *net;
static struct kvcache *k; /* the root of key */
static const char *key;

/* A row of five; server 0 is the root of a key with copies, writes that wait for them, and questions of its own. */
static void open_busy(void)
{
    net = kv_town_open(5, 8);
    key = kv_town_key(net, 0, 0);
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, "one"), KV_OK);
    ck_assert_int_eq(kv_town_do(net, 1, KV_SET, key, "one"), KV_OK); /* and knows the root's instance */
    for (unsigned i = 0; i < 60; i++) {
        ck_assert_int_eq(kv_town_do(net, i % 5, KV_GET, key, NULL), KV_OK);
    }
    k = kv_town_cache(net, 0);
    ck_assert_uint_eq(k->holders.count, 1);
    net->hop = CW_US(100); /* the root's requests to drop copies are on their way, and server 1's write has come */
    struct kv_request r = kv_town_request(KV_SET, key, "two");
    ck_assert_int_eq(kv_town_ask(net, 0, &r), 0);
    ck_assert_int_eq(kv_town_ask(net, 1, &r), 0);
    const char *other = kv_town_key(net, 3, 0);
    r = kv_town_request(KV_SET, other, "three");
    ck_assert_int_eq(kv_town_ask(net, 0, &r), 0);
    fake_net_run(net, CW_US(150));
    ck_assert_uint_eq(kv_town_answer.times, 0);
    ck_assert_uint_eq(k->question_count, 2);
    ck_assert_uint_eq(container_of(list_first(&k->holders.ages), struct held_key, by_age)->write_count, 2);
}

static struct held_key *held(void)
{
    return container_of(list_first(&k->holders.ages), struct held_key, by_age);
}

static struct question *waiting(void)
{
    return container_of(list_first(&k->writes), struct question, node);
}

static struct item *value(void)
{
    struct list *queue = list_is_empty(&k->values.main.list) ? &k->values.small.list : &k->values.main.list;
    return container_of(list_first(queue), struct item, queue);
}

START_TEST(what_is_sound_passes)
{
    open_busy();
    for (cw_server s = 0; s < 5; s++) {
        ck_assert(walk_now(kv_town_cache(net, s)));
    }
    fake_net_run(net, CW_SEC(1));
    for (cw_server s = 0; s < 5; s++) {
        ck_assert(walk_now(kv_town_cache(net, s)));
    }
    ck_assert_uint_eq(k->question_count, 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/* ---- Damage ------------------------------------------------------------------------------------------------------ */

static void bytes_of_a_queue(void)
{
    k->values.small.bytes++;
}

static void item_in_another_chain(void)
{
    value()->id.b[0] ^= 1;
}

static void cas_of_nobody(void)
{
    value()->cas = k->cas + 1;
}

static void value_of_the_future(void)
{
    value()->epoch = cw_epoch(k->svc) + 1;
}

static void holder_forgotten(void)
{
    held()->count = 0;
}

static void holder_twice(void)
{
    struct held_key *h = held();
    ck_assert_uint_ge(h->count, 2);
    h->holder[1].server = h->holder[0].server;
}

static void waiting_bytes(void)
{
    k->waiting_bytes--;
}

static void question_forgotten(void)
{
    waiting()->timer = NULL;
    waiting()->call = 0;
    root_abandon(k, waiting());
}

static void question_uncounted(void)
{
    k->question_count--;
}

static void number_twice(void)
{
    struct question *q = waiting();
    container_of(list_next(&k->writes, &q->node), struct question, node)->number = q->number;
}

static void write_no_longer_known(void)
{
    container_of(list_last(&k->dedup.ages), struct dedup_write, by_age)->under_way = NULL;
}

static void copy_of_the_future(void)
{
    struct items *t = &kv_town_cache(net, 1)->copies;
    for (cw_server s = 1; s < 5 && t->count == 0; s++) {
        t = &kv_town_cache(net, s)->copies;
        k = kv_town_cache(net, s);
    }
    struct list *queue = list_is_empty(&t->main.list) ? &t->small.list : &t->main.list;
    container_of(list_first(queue), struct item, queue)->stamp = k->generation + 1;
}

static void settled_while_settling(void)
{
    k->settled_epoch = cw_epoch(k->svc) + 1;
}

static void flush_uncounted(void)
{
    k->flush_count++;
}

/* What the walk says on standard error when it stops a child in which that was done; empty: it does not stop. */
static const char *stops_with(void (*damage)(void))
{
    static char text[1000];
    size_t size = 0;
    ssize_t got;
    int ends[2], status;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        damage();
        walk_now(k);
        _exit(0);
    }
    close(ends[1]);
    while ((got = read(ends[0], text + size, sizeof text - 1 - size)) > 0) {
        size += (size_t)got;
    }
    close(ends[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    text[WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? size : 0] = '\0';
    return text;
}

START_TEST(each_damage_is_named)
{
    static const struct {
        void (*damage)(void);
        const char *rule;
        bool key; /* it is named, too */
    } cases[] = {
        {bytes_of_a_queue, "kvcache items: chains", false},
        {item_in_another_chain, "kvcache items: chains", true},
        {cas_of_nobody, "kvcache items: a value's cas", true},
        {value_of_the_future, "kvcache rule 6:", true},
        {holder_forgotten, "kvcache rule 1:", true},
        {holder_twice, "kvcache holders:", true},
        {waiting_bytes, "kvcache holders:", false},
        {question_forgotten, "kvcache reader: a question waits", true},
        {question_uncounted, "kvcache reader: counts", false},
        {number_twice, "kvcache rule 10:", false},
        {write_no_longer_known, "kvcache rule 11:", true},
        {copy_of_the_future, "kvcache rule 16:", true},
        {settled_while_settling, "kvcache rules 13 and 14:", false},
        {flush_uncounted, "kvcache flush:", false},
    };
    open_busy();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *said = stops_with(cases[i].damage);
        ck_assert_msg(strstr(said, cases[i].rule) != NULL, "no '%s' in '%s'", cases[i].rule, said);
        ck_assert_msg(strstr(said, "; server ") != NULL, "no server in '%s'", said);
        ck_assert_msg(!cases[i].key || (strstr(said, key) != NULL && strstr(said, "of job 6") != NULL),
                      "no key %s in '%s'", key, said);
    }
    fake_net_run(net, CW_SEC(1));
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/* What a walk costs is paid for by the upcalls after it. */
START_TEST(large_tables_are_walked_less_often)
{
    open_busy();
    unsigned walks = 0;
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t before = k->walk_steps;
        ck_assert(walk_sometimes(k));
        walks += k->walk_steps >= before;
    }
    ck_assert_uint_gt(walks, 5);
    ck_assert_uint_lt(walks, 200);
    fake_net_run(net, CW_SEC(1));
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_is_sound_passes), SUITE_TEST(each_damage_is_named),
                                          SUITE_TEST(large_tables_are_walked_less_often)};
SUITE_MAIN("walk", tests)
