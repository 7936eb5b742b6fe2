/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/ask/asker.h"

#include "services/store/common.h"
#include "services/store/held/page.h"
#include "store_town.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 20 };

static char told[4000];
static cw_store_status status;
static size_t count;
static unsigned times;
static bool more;

static void on_done(void *arg, const cw_store_page *page)
{
    size_t at = 0;
    (void)arg;
    told[0] = '\0';
    status = page->status;
    count = page->count;
    more = page->more;
    times++;
    for (size_t i = 0; i < page->count; i++) {
        at += (size_t)snprintf(told + at, sizeof told - at, "%s%.*s", at > 0 ? " " : "",
                               (int)page->entry[i].name_length, (const char *)page->entry[i].name);
    }
}

/* Lists at server 0 and waits; gives the names with spaces between. */
static const char *list(struct fake_net *net, const char *prefix, const char *after, unsigned limit)
{
    const cw_store_list l = {CW_STORE_LIST_INIT, .job = STORE_JOB,
                             .prefix = prefix,   .prefix_length = strlen(prefix),
                             .after = after,     .after_length = strlen(after),
                             .limit = limit,     .timeout = CW_SEC(2)};
    times = 0;
    ck_assert_int_eq(store_lister_do(store_town_of(net, 0), &l, on_done, NULL), 0);
    ck_assert_uint_eq(times, 0);
    fake_net_run(net, CW_SEC(3));
    ck_assert_uint_eq(times, 1);
    return told;
}

START_TEST(pages_over_all_shards)
{
    struct fake_net *net = store_town_open(3);
    char line[40], name[16], after[16] = "";
    ck_assert_str_eq(list(net, "", "", 0), "");
    ck_assert(!more);
    for (unsigned i = 0; i < NAMES; i++) {
        snprintf(line, sizeof line, "put n%02u value%u", i, i);
        store_town_must(net, i % STORE_TOWN, line, CW_STORE_OK);
    }
    store_town_must(net, 0, "put other one", CW_STORE_OK);
    store_town_must(net, 0, "put n07x one job=5001", CW_STORE_OK);
    store_town_must(net, 0, "delete n05", CW_STORE_OK);
    ck_assert_str_eq(list(net, "n0", "", 0), "n00 n01 n02 n03 n04 n06 n07 n08 n09");
    ck_assert(!more);
    for (unsigned seen = 0, i = 0; seen < NAMES - 1; i++) {
        list(net, "n", after, 4);
        ck_assert_uint_eq(count, seen + 4 <= NAMES - 1 ? 4 : NAMES - 1 - seen);
        seen += (unsigned)count;
        ck_assert_int_eq(more, seen < NAMES - 1);
        snprintf(name, sizeof name, "n%02u", seen > 5 ? seen : seen - 1); /* n05 is not there */
        ck_assert_str_eq(told + strlen(told) - 3, name);
        strcpy(after, name);
        ck_assert_uint_lt(i, NAMES);
    }
    ck_assert_str_eq(list(net, "", "n18", 0), "n19 other");
    store_town_close(net);
}
END_TEST

START_TEST(a_tag_asks_one_shard)
{
    struct fake_net *net = store_town_open(3);
    char line[600] = "put {t}", after[600];
    memset(line + 7, 'x', 400);
    for (unsigned i = 0; i < 6; i++) { /* more than one packet of names */
        snprintf(line + 407, sizeof line - 407, "%u v", i);
        store_town_must(net, 3, line, CW_STORE_OK);
    }
    uint64_t before = store_town_of(net, 0)->count[STORE_COUNT_ATTEMPTS];
    list(net, "{t}", "", 0);
    ck_assert_uint_eq(count, 6);
    ck_assert_uint_le(store_town_of(net, 0)->count[STORE_COUNT_ATTEMPTS], before + 8);
    snprintf(after, sizeof after, "%.404s2", line + 4);
    after[403] = '2';
    after[404] = '\0';
    list(net, "{t}", after, 2);
    ck_assert_uint_eq(count, 2);
    ck_assert(more);
    ck_assert_int_eq(told[strlen(told) - 1], '4');
    store_town_close(net);
}
END_TEST

/* Store rule 34: a part of the names is no list. */
START_TEST(a_shard_without_a_majority_fails_the_list)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    for (unsigned m = 0; m < 3; m++) {
        if (member[m] != 0) {
            fake_net_down(net, member[m]);
        }
    }
    list(net, "a", "", 0);
    ck_assert_int_ne(status, CW_STORE_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert(!more);
    ck_assert_uint_eq(store_town_of(net, 0)->listings, 0);
    store_town_close(net);
}
END_TEST

/* Store rule 7: who led without knowing that another does by now lists nothing old. */
START_TEST(a_deposed_leader_lists_nothing)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put {t}a old", CW_STORE_OK);
    store_town_members(net, "{t}a", member);
    store_town_hush(member[0], true);
    struct store_shard *second = store_town_shard(net, member[1], "{t}a");
    ck_assert_int_eq(store_lead_begin(store_town_of(net, member[1]), second), 0);
    fake_net_run(net, CW_MS(100));
    store_town_must(net, member[1], "delete {t}a", CW_STORE_OK);
    store_town_must(net, member[1], "put {t}b new", CW_STORE_OK);
    store_town_hush(member[0], false);
    const struct fake_result *r = store_town_ask(net, member[0], "list {t}");
    ck_assert_uint_eq(r->rows, 2);
    ck_assert_str_eq(fake_text(r, 0, "name"), "{t}b");
    store_town_close(net);
}
END_TEST

START_TEST(what_makes_no_sense_is_refused)
{
    struct fake_net *net = store_town_open(3);
    struct store *s = store_town_of(net, 0);
    cw_store_list l = {CW_STORE_LIST_INIT, .job = STORE_JOB, .prefix = "a", .prefix_length = 1};
    l.after = "b";
    l.after_length = 1;
    ck_assert_int_eq(store_lister_do(s, &l, on_done, NULL), -EINVAL);
    l.after_length = 0;
    l.limit = CW_STORE_LIST_MAX + 1;
    ck_assert_int_eq(store_lister_do(s, &l, on_done, NULL), -EINVAL);
    l.limit = 0;
    for (unsigned i = 0; i < STORE_LISTINGS_MOST; i++) {
        ck_assert_int_eq(store_lister_do(s, &l, on_done, NULL), 0);
    }
    ck_assert_int_eq(store_lister_do(s, &l, on_done, NULL), -ENOBUFS);
    store_town_close(net); /* lists that are under way end */
}
END_TEST

/* ---- Changes ----------------------------------------------------------------------------------------------------- */

static struct {
    cw_store_status status;
    size_t count;
    uint64_t version; /* of the last change */
    bool deleted;
    unsigned times;
    cw_store_cursor cursor;
} heard;

static void on_changes(void *arg, const cw_store_changes *c)
{
    (void)arg;
    heard.status = c->status;
    heard.count = c->count;
    heard.version = c->count > 0 ? c->change[c->count - 1].entry.version : 0;
    heard.deleted = c->count > 0 && c->change[c->count - 1].deleted;
    heard.cursor = c->cursor;
    heard.times++;
}

/* Watches at server 0, behind what was heard last. */
static void watch(struct fake_net *net, const char *name, bool prefix)
{
    const cw_store_watch w = {CW_STORE_WATCH_INIT,         .job = STORE_JOB, .name = name,
                              .name_length = strlen(name), .prefix = prefix, .cursor = heard.cursor,
                              .timeout = CW_SEC(10)};
    heard.times = 0;
    ck_assert_int_eq(store_watcher_do(store_town_of(net, 0), &w, on_changes, NULL), 0);
    ck_assert_uint_eq(heard.times, 0);
}

START_TEST(changes_are_told_as_they_come)
{
    struct fake_net *net = store_town_open(3);
    memset(&heard, 0, sizeof heard);
    int64_t first = store_town_must(net, 0, "put a one", CW_STORE_OK);
    watch(net, "a", false);
    fake_net_run(net, CW_SEC(1));
    ck_assert_uint_eq(heard.times, 1);
    ck_assert_uint_eq(heard.version, (uint64_t)first);
    watch(net, "a", false);
    fake_net_run(net, CW_SEC(5)); /* longer than a leader holds a question */
    ck_assert_uint_eq(heard.times, 0);
    store_town_must(net, 4, "put ab two", CW_STORE_OK);
    int64_t gone = store_town_must(net, 4, "delete a", CW_STORE_OK);
    fake_net_run(net, CW_MS(100));
    ck_assert_uint_eq(heard.times, 1);
    ck_assert_uint_eq(heard.count, 1);
    ck_assert_uint_eq(heard.version, (uint64_t)gone);
    ck_assert(heard.deleted);
    watch(net, "a", false);
    fake_net_run(net, CW_SEC(12));
    ck_assert_uint_eq(heard.times, 1);
    ck_assert_int_eq(heard.status, CW_STORE_OK);
    ck_assert_uint_eq(heard.count, 0);
    const cw_store_watch none = {CW_STORE_WATCH_INIT, .job = STORE_JOB, .name = "a", .name_length = 1, .prefix = true};
    ck_assert_int_eq(store_watcher_do(store_town_of(net, 0), &none, on_changes, NULL), -EINVAL);
    store_town_close(net);
}
END_TEST

/* Store rule 36: what one leader has told says nothing under another. */
START_TEST(another_leader_tells_all_again)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    memset(&heard, 0, sizeof heard);
    store_town_must(net, 0, "put {t}a one", CW_STORE_OK);
    store_town_must(net, 0, "put {t}b one", CW_STORE_OK);
    watch(net, "{t}", true);
    fake_net_run(net, CW_SEC(1));
    ck_assert_uint_eq(heard.count, 2);
    watch(net, "{t}", true);
    fake_net_run(net, CW_MS(100));
    store_town_members(net, "{t}a", member);
    ck_assert_int_eq(store_lead_begin(store_town_of(net, member[1]), store_town_shard(net, member[1], "{t}a")), 0);
    fake_net_run(net, CW_SEC(3));
    ck_assert_uint_eq(heard.times, 1);
    ck_assert_uint_eq(heard.count, 2);
    ck_assert_uint_eq(store_town_of(net, member[0])->watchers, 0);
    store_town_close(net);
}
END_TEST

/* Store rule 36: what is not chosen yet is told to nobody, and nobody is told that he is behind it. */
START_TEST(a_write_under_way_is_no_change_yet)
{
    static struct fake_result put;
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    memset(&heard, 0, sizeof heard);
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    store_town_hush(member[1], true);
    store_town_hush(member[2], true);
    fake_command(net->server[member[0]], "put a two", &put);
    fake_net_run(net, CW_MS(1));
    store_town_hush(member[1], false); /* it has not heard of the write, and would confirm the leader */
    watch(net, "a", false);
    while (heard.times == 0) {
        fake_net_run(net, CW_MS(1));
    }
    ck_assert_uint_eq(heard.version, store_town_register(net, member[1], "a")->version);
    fake_net_finish(net, &put);
    store_town_close(net);
}
END_TEST

/* Of two writes the later one is over first: who watches it is told when the earlier one is over, and not before. */
START_TEST(a_slow_write_wakes_who_watches_another_name)
{
    static struct fake_result slow, quick;
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    char tag[] = "{a}", a[40], b[40];
    do {
        tag[1]++;
        store_town_members(net, tag, member);
    } while (member[1] == 0 || member[2] == 0); /* the watcher's own server hears what comes */
    snprintf(a, sizeof a, "put %sa one", tag);
    snprintf(b, sizeof b, "put %sb one", tag);
    store_town_must(net, member[0], a, CW_STORE_OK);
    store_town_must(net, member[0], b, CW_STORE_OK);
    snprintf(b, sizeof b, "%sb", tag);
    memset(&heard, 0, sizeof heard);
    watch(net, b, false);
    fake_net_run(net, CW_SEC(1));
    watch(net, b, false);
    fake_net_run(net, CW_MS(50)); /* it waits at the leader */
    ck_assert_uint_eq(heard.times, 0);
    store_town_hush(member[1], true);
    store_town_hush(member[2], true);
    fake_command(net->server[member[0]], a, &slow);
    fake_net_run(net, CW_MS(1));
    store_town_hush(member[1], false);
    store_town_hush(member[2], false);
    snprintf(b, sizeof b, "put %sb two", tag);
    fake_command(net->server[member[0]], b, &quick);
    fake_net_run(net, CW_MS(2));
    ck_assert(quick.done && !slow.done);
    ck_assert_uint_eq(heard.times, 0); /* a cursor behind the slow one would claim that it is told */
    fake_net_run(net, CW_MS(60));
    ck_assert(slow.done);
    ck_assert_uint_eq(heard.times, 1);
    ck_assert_uint_eq(heard.count, 1);
    ck_assert_uint_eq(heard.version, (uint64_t)fake_int(&quick, 0, "version"));
    store_town_close(net);
}
END_TEST

/* A question or an answer of a watch may get lost: it is asked again, with the cursor that it had. */
START_TEST(a_lost_packet_of_a_watch_loses_no_change)
{
    char line[40];
    struct fake_net *net = store_town_open(3);
    memset(&heard, 0, sizeof heard);
    net->lose = 4;
    for (unsigned i = 0; i < 8; i++) {
        snprintf(line, sizeof line, "put a v%u", i);
        int64_t version = store_town_must(net, 3, line, CW_STORE_OK);
        watch(net, "a", false);
        for (unsigned ms = 0; ms < 10000 && heard.times == 0; ms++) {
            fake_net_run(net, CW_MS(1));
        }
        ck_assert_uint_eq(heard.times, 1);
        ck_assert_uint_eq(heard.version, (uint64_t)version);
    }
    ck_assert_uint_gt(store_town_of(net, 0)->count[STORE_COUNT_ATTEMPTS], 8); /* some were lost */
    net->lose = 0;
    store_town_close(net);
}
END_TEST

/* Of a member that says what was not asked for nothing is told, and nothing of it is read where there is nothing. */
START_TEST(members_that_lie)
{
    struct fake_net *net = store_town_open(3);
    struct store_register *r = store_town_make("a", "one", (struct store_tag){{1, 1}, 1});
    uint8_t names[64], gone[64];
    size_t length = store_named_encode(r, names);
    r->deleted = true;
    ck_assert_uint_eq(store_named_encode(r, gone), length);
    const struct store_answer without = {.state = STORE_ANSWER_DONE, .status = CW_STORE_OK, .length = 100};
    const struct store_answer outside = {.state = STORE_ANSWER_DONE,
                                         .status = CW_STORE_OK,
                                         .carries = true,
                                         .length = (uint32_t)length,
                                         .value = names,
                                         .flags = STORE_LIST_MORE};
    struct store_answer deleted = outside, changed = outside;
    uint8_t change[STORE_CURSOR_BYTES + sizeof names] = {0};
    memcpy(change + STORE_CURSOR_BYTES, names, length);
    changed.value = change;
    changed.length = (uint32_t)(STORE_CURSOR_BYTES + length);
    deleted.value = gone;
    const struct store_answer *const lies[] = {&without, &outside, &deleted};
    for (unsigned i = 0; i < 3; i++) {
        store_town_lie(lies[i]);
        list(net, i == 2 ? "a" : "abc", "", 0); /* each asked again and again, the first one until the time is over */
        ck_assert_int_eq(status, CW_STORE_NO_ANSWER);
        list(net, "a", "a", 0);
        ck_assert_int_eq(status, CW_STORE_NO_ANSWER);
    }
    memset(&heard, 0, sizeof heard);
    for (unsigned i = 0; i < 2; i++) {
        store_town_lie(i == 0 ? &without : &changed);
        watch(net, "abc", false);
        fake_net_run(net, CW_SEC(12));
        ck_assert_uint_eq(heard.times, 1);
        ck_assert_int_eq(heard.status, CW_STORE_NO_ANSWER);
        ck_assert_uint_eq(heard.count, 0);
    }
    store_town_lie(NULL);
    ck_assert_uint_eq(store_town_of(net, 0)->watches, 0);
    free(r);
    store_town_close(net);
}
END_TEST

/* Each waiting watch has a right to answer at a leader: no server has so many that its other questions have none. */
START_TEST(so_many_watches_and_no_more)
{
    struct fake_net *net = store_town_open(3);
    const cw_store_watch w = {CW_STORE_WATCH_INIT, .job = STORE_JOB, .name = "a", .name_length = 1};
    memset(&heard, 0, sizeof heard);
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    for (unsigned i = 0; i < STORE_WATCHES_MOST; i++) {
        ck_assert_int_eq(store_watcher_do(store_town_of(net, 0), &w, on_changes, NULL), 0);
    }
    ck_assert_int_eq(store_watcher_do(store_town_of(net, 0), &w, on_changes, NULL), -ENOBUFS);
    fake_net_run(net, CW_SEC(1));
    ck_assert_uint_eq(heard.times, STORE_WATCHES_MOST);
    ck_assert_int_eq(store_watcher_do(store_town_of(net, 0), &w, on_changes, NULL), 0);
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(pages_over_all_shards),
    SUITE_TEST(a_tag_asks_one_shard),
    SUITE_TEST(a_shard_without_a_majority_fails_the_list),
    SUITE_TEST(a_deposed_leader_lists_nothing),
    SUITE_TEST(what_makes_no_sense_is_refused),
    SUITE_TEST(changes_are_told_as_they_come),
    SUITE_TEST(another_leader_tells_all_again),
    SUITE_TEST(a_write_under_way_is_no_change_yet),
    SUITE_TEST(members_that_lie),
    SUITE_TEST(so_many_watches_and_no_more),
    SUITE_TEST(a_slow_write_wakes_who_watches_another_name),
    SUITE_TEST(a_lost_packet_of_a_watch_loses_no_change),
};
SUITE_MAIN("store lister", tests)
