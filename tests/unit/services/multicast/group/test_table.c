/* SPDX-License-Identifier: Apache-2.0 */
/* The table against one too simple to be wrong, for drawn announcements; and its bounds. */
#include "services/multicast/group/table.h"

#include "rng.h"
#include "stops.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct group_name name_of(cw_job job, const char *text)
{
    struct group_name name;
    ck_assert_int_eq(group_name_make(&name, job, text, strlen(text)), 0);
    return name;
}

START_TEST(names)
{
    static const char longer[GROUP_NAME_MOST + 1] = {0};
    struct group_name n;
    ck_assert_int_eq(group_name_make(&n, 1, "", 0), -EINVAL);
    ck_assert_int_eq(group_name_make(&n, 1, NULL, 4), -EINVAL);
    ck_assert_int_eq(group_name_make(&n, 1, longer, sizeof longer), -EINVAL);
    struct group_name a = name_of(1, "ab"), b = name_of(1, "abc"), c = name_of(2, "a");
    ck_assert(group_name_compare(&a, &b) < 0 && group_name_compare(&b, &a) > 0 && group_name_compare(&b, &c) < 0);
    ck_assert_int_eq(group_name_compare(&a, &a), 0);
}
END_TEST

START_TEST(order_of_one_life)
{
    struct group_table t = {.groups_most = 4, .entries_most = 4};
    struct group_name name = name_of(7, "g");
    struct group_entry e = {.server = 3, .flags = GROUP_MEMBER, .serial = 5, .life = 1, .until = {100}};
    ck_assert_int_eq(group_table_update(&t, &name, &e), 0);
    e.serial = 6;
    e.flags = 0; /* it leaves, and its joining comes once more */
    ck_assert_int_eq(group_table_update(&t, &name, &e), 0);
    e.serial = 5;
    e.flags = GROUP_MEMBER;
    ck_assert_int_eq(group_table_update(&t, &name, &e), -ESTALE);
    ck_assert(!group_exists(group_table_find(&t, &name), (cw_time){0}));
    e.life = 2; /* another life begins anew */
    e.serial = 1;
    ck_assert_int_eq(group_table_update(&t, &name, &e), 0);
    ck_assert(group_exists(group_table_find(&t, &name), (cw_time){99}));
    ck_assert(!group_exists(group_table_find(&t, &name), (cw_time){100}));
    group_table_expire(&t, (cw_time){100});
    ck_assert(group_table_find(&t, &name) == NULL && t.count == 0 && t.entries == 0);
    group_table_free(&t);
}
END_TEST

START_TEST(bounds)
{
    struct group_table t = {.groups_most = 2, .entries_most = 3};
    struct group_name a = name_of(7, "a"), b = name_of(7, "b"), c = name_of(7, "c");
    struct group_entry e = {.server = 1, .flags = GROUP_MEMBER, .until = {100}};
    ck_assert(group_table_update(&t, &a, &e) == 0 && group_table_update(&t, &b, &e) == 0);
    ck_assert_int_eq(group_table_update(&t, &c, &e), -ENOSPC);
    e.server = 2;
    ck_assert_int_eq(group_table_update(&t, &a, &e), 0);
    e.server = 3;
    ck_assert_int_eq(group_table_update(&t, &a, &e), -ENOSPC);
    e.server = 2;
    ck_assert_int_eq(group_table_update(&t, &a, &e), 0); /* what is there needs no room */
    ck_assert(t.count == 2 && t.entries == 3);
    group_table_free(&t);
    struct group_table none = {.groups_most = 2, .entries_most = 0};
    ck_assert_int_eq(group_table_update(&none, &a, &e), -ENOSPC);
    ck_assert(none.count == 0); /* no group without an entry is left behind */
    group_table_free(&none);
}
END_TEST

enum { GROUPS = 6, SERVERS = 12 };

START_TEST(as_a_naive_one)
{
    static const char *const text[GROUPS] = {"a", "aa", "b", "", "zz", "ab"};
    struct rng rng = (struct rng){4};
    struct group_table t = {.groups_most = 64, .entries_most = 1000};
    struct group_entry known[GROUPS][SERVERS] = {{{.flags = 0}}};
    bool there[GROUPS][SERVERS] = {{false}};
    for (int64_t step = 1; step < 20000; step++) {
        unsigned g = (unsigned)rng_below(&rng, GROUPS);
        struct group_name name = name_of(g % 2, g == 3 ? "c" : text[g]);
        struct group_entry e = {.server = (cw_server)rng_below(&rng, SERVERS),
                                .flags = (uint8_t)rng_below(&rng, 4),
                                .serial = (uint32_t)rng_below(&rng, 50),
                                .life = rng_below(&rng, 20) == 0,
                                .until = {step + (int64_t)rng_below(&rng, 400)}};
        struct group_entry *k = &known[g][e.server];
        bool stale = there[g][e.server] && k->life == e.life && k->serial > e.serial;
        ck_assert_int_eq(group_table_update(&t, &name, &e), stale ? -ESTALE : 0);
        if (!stale) {
            *k = e;
            there[g][e.server] = true;
        }
        if (step % 16 == 0) {
            group_table_expire(&t, (cw_time){step});
            unsigned entries = 0;
            for (unsigned i = 0; i < GROUPS; i++) {
                bool exists = false;
                name = name_of(i % 2, i == 3 ? "c" : text[i]);
                for (cw_server s = 0; s < SERVERS; s++) {
                    there[i][s] = there[i][s] && known[i][s].until.ns > step;
                    entries += there[i][s];
                    exists = exists || (there[i][s] && known[i][s].flags != 0);
                }
                const struct group *found = group_table_find(&t, &name);
                ck_assert(exists == (found != NULL && group_exists(found, (cw_time){step})));
                for (unsigned n = 0; found != NULL && n < found->count; n++) {
                    const struct group_entry *f = &found->entry[n];
                    ck_assert(there[i][f->server] && known[i][f->server].flags == f->flags);
                    ck_assert(n == 0 || f->server > found->entry[n - 1].server);
                }
            }
            ck_assert_uint_eq(entries, t.entries);
        }
    }
    group_table_free(&t);
}
END_TEST

/* ---- Damage ------------------------------------------------------------------------------------------------------ */

static struct group_table damaged;

/* Two groups: "a" with servers 1 and 2, "b" with server 1. */
static void fill(void)
{
    const struct group_name a = name_of(7, "a"), b = name_of(7, "b");
    struct group_entry e = {.server = 1, .flags = GROUP_MEMBER, .until = {100}};
    damaged = (struct group_table){.groups_most = 2, .entries_most = 3};
    ck_assert(group_table_update(&damaged, &a, &e) == 0 && group_table_update(&damaged, &b, &e) == 0);
    e.server = 2;
    ck_assert_int_eq(group_table_update(&damaged, &a, &e), 0);
}

static void swap_groups(void)
{
    struct group *first = damaged.group[0];
    damaged.group[0] = damaged.group[1];
    damaged.group[1] = first;
}

START_TEST(sound)
{
    fill();
    ck_assert(group_table_audit(&damaged));
    group_table_free(&damaged);
}
END_TEST

#define STOPS_AT(name, rule, damage) STOPS(name, rule, fill(); damage; (void)group_table_audit(&damaged))
STOPS_AT(a_group_is_empty, "groups G1: no group is kept without an entry", damaged.group[1]->count = 0)
STOPS_AT(groups_descend, "groups G1: groups ascend", swap_groups())
STOPS_AT(a_server_comes_twice, "groups G1: a server has one entry in a group", damaged.group[0]->entry[1].server = 1)
STOPS_AT(entries_are_miscounted, "groups G1: the entries of a root's table are counted right", damaged.entries--)
STOPS_AT(there_are_too_many_entries, "groups G1: the entries of a root's table are counted right",
         damaged.entries_most = 2)
STOPS_AT(there_are_too_many_groups, "groups G1: the entries of a root's table are counted right",
         damaged.groups_most = 1)

static const struct suite_test tests[] = {
    SUITE_TEST(names),
    SUITE_TEST(order_of_one_life),
    SUITE_TEST(bounds),
    SUITE_TEST(as_a_naive_one),
    SUITE_TEST(sound),
    SUITE_TEST(a_group_is_empty),
    SUITE_TEST(groups_descend),
    SUITE_TEST(a_server_comes_twice),
    SUITE_TEST(entries_are_miscounted),
    SUITE_TEST(there_are_too_many_entries),
    SUITE_TEST(there_are_too_many_groups),
};
SUITE_MAIN("group_table", tests)
