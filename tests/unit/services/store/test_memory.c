/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store when memory is short: one allocation after another fails while a member takes over, a newcomer is filled
 * and a server starts again, and nothing that was acknowledged is lost by it, nor shown what never was. The files of
 * the store that allocate are built into this program with other names for malloc() and its like.
 */
#include "services/store/change.h"
#include "services/store/members.h"
#include "store_cellar.h"
#include "suite.h"

#include <stdlib.h>

enum { NAMES = 3 };

void *short_malloc(size_t size);
void *short_calloc(size_t count, size_t size);
void *short_realloc(void *before, size_t size);

/* The n-th allocation from now fails; 0: none does. And how many there were. */
static unsigned fails, made;

static bool is_short(void)
{
    made++;
    return fails > 0 && --fails == 0;
}

void *short_malloc(size_t size)
{
    return is_short() ? NULL : malloc(size);
}

void *short_calloc(size_t count, size_t size)
{
    return is_short() ? NULL : calloc(count, size);
}

void *short_realloc(void *before, size_t size)
{
    return is_short() ? NULL : realloc(before, size);
}

static cw_server member[STORE_COPIES_MOST];

static void put_all(struct fake_net *net, cw_server at, const char *value)
{
    char line[40];
    for (unsigned i = 0; i < NAMES; i++) {
        snprintf(line, sizeof line, "put {t}%u %s", i, value);
        store_town_must(net, at, line, CW_STORE_OK);
    }
}

/* Each name has this value, or, where that is allowed, nobody can tell. */
static void look(struct fake_net *net, cw_server at, const char *value, bool or_silence, unsigned n)
{
    char line[40];
    for (unsigned i = 0; i < NAMES; i++) {
        snprintf(line, sizeof line, "get {t}%u wait_ms=1000", i);
        const struct fake_result *r = store_town_ask(net, at, line);
        int64_t code = fake_int(r, 0, "code");
        if (or_silence && (code == CW_STORE_NO_QUORUM || code == CW_STORE_NO_ANSWER)) {
            continue;
        }
        ck_assert_msg(code == CW_STORE_OK, "allocation %u: %s: %s", n, line, fake_text(r, 0, "status"));
        ck_assert_str_eq(fake_text(r, 0, "value"), value);
    }
}

/* Store rule 4: the third member has missed all that was put last, and then it leads. */
START_TEST(a_takeover)
{
    bool all = false;
    for (unsigned n = 1; !all; n++) {
        struct fake_net *net = store_town_open(3);
        put_all(net, 0, "old");
        store_town_members(net, "{t}", member);
        store_town_hush(member[2], true);
        put_all(net, 0, "new");
        store_town_hush(member[2], false);
        fake_net_down(net, member[0]);
        made = 0;
        fails = n;
        struct store *s = store_town_of(net, member[2]);
        struct store_shard *shard = store_town_shard(net, member[2], "{t}");
        (void)!store_lead_begin(s, shard);
        fake_net_run(net, CW_MS(300));
        all = fails > 0;
        fails = 0;
        look(net, member[2], "new", false, n);
        store_town_close(net);
    }
    ck_assert_uint_gt(made, 3 * NAMES);
}
END_TEST

/* Store rule 14: the newcomer holds names that were never chosen. */
START_TEST(a_fill)
{
    bool all = false;
    char name[20];
    for (unsigned n = 1; !all; n++) {
        struct fake_net *net = store_town_open(3);
        cw_server other = 0;
        put_all(net, 0, "new");
        store_town_members(net, "{t}", member);
        struct store_shard *first = store_town_shard(net, member[0], "{t}");
        while (store_config_place(&first->config, other) < first->config.count) {
            other++;
        }
        struct store_shard *there = store_members_shard(store_town_of(net, other), first->number);
        store_members_learn(store_town_of(net, other), there, &first->config);
        for (unsigned i = 0; i < NAMES; i++) {
            snprintf(name, sizeof name, "{t}never%u", i);
            ck_assert_int_eq(store_table_put(&there->acceptor.table,
                                             store_town_make(name, "x", (struct store_tag){first->lead->ballot, 1})),
                             0);
        }
        first->lost[2] = true; /* else it would be found that the third member is back */
        made = 0;
        fails = n;
        store_change_begin(first->lead, 2, other);
        fake_net_run(net, CW_SEC(1));
        all = fails > 0;
        fails = 0;
        fake_net_run(net, CW_SEC(4));
        ck_assert_uint_ge(first->config.epoch, 2);
        struct store_shard *now = store_town_shard(net, first->config.member[2], "{t}");
        ck_assert_msg(store_sum_equal(store_table_root(&now->acceptor.table), store_table_root(&first->acceptor.table)),
                      "allocation %u", n);
        look(net, 0, "new", false, n);
        store_town_close(net);
    }
    ck_assert_uint_gt(made, 3 * NAMES);
}
END_TEST

/* Store rule 21: of those that have what was put last one starts again, and then the other one is gone. */
START_TEST(a_start)
{
    bool all = false;
    unsigned silent = 0;
    for (unsigned n = 1; !all; n++) {
        struct fake_net *net = store_cellar_open(3);
        put_all(net, 0, "old");
        store_town_members(net, "{t}", member);
        store_town_hush(member[2], true);
        put_all(net, 0, "new");
        fake_net_down(net, member[1]);
        store_cellar_crash(member[1]);
        made = 0;
        fails = n;
        fake_net_up(net, member[1]);
        store_cellar_run(net, CW_MS(300));
        all = fails > 0;
        fails = 0;
        fake_net_down(net, member[0]);
        store_town_hush(member[2], false);
        store_cellar_run(net, CW_SEC(2));
        silent += store_town_of(net, member[1])->health == STORE_DEAD;
        look(net, member[2], "new", !all, n);
        store_cellar_close(net);
    }
    ck_assert_uint_gt(silent, NAMES);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_takeover), SUITE_TEST(a_fill), SUITE_TEST(a_start)};
SUITE_MAIN("store memory", tests)
