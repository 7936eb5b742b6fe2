/* SPDX-License-Identifier: Apache-2.0 */
#include "base/list.h"
#include "base/prng.h"
#include "suite.h"

#include <string.h>

enum { ITEMS = 24, LISTS = 3, STEPS = 200000 };

struct item {
    int id;
    struct list_node link;
};

/* Compares list with an array of ids, forwards and backwards. */
static bool reads(const struct list *list, const int *ids, size_t count)
{
    size_t i = 0;
    for (const struct list_node *n = list_first(list); n != NULL; n = list_next(list, n), i++) {
        if (i == count || container_of_const(n, struct item, link)->id != ids[i]) {
            return false;
        }
    }
    if (i != count) {
        return false;
    }
    for (const struct list_node *n = list_last(list); n != NULL; n = list_prev(list, n)) {
        if (container_of_const(n, struct item, link)->id != ids[--i]) {
            return false;
        }
    }
    return i == 0 && list_valid(list) && list_is_empty(list) == (count == 0);
}

START_TEST(empty_list)
{
    struct list list;
    list_init(&list);
    ck_assert(reads(&list, NULL, 0));
    ck_assert_ptr_null(list_pop_front(&list));
    ck_assert_ptr_null(list_pop_back(&list));
}
END_TEST

START_TEST(pushes_inserts_and_pops)
{
    struct item a = {.id = 1}, b = {.id = 2}, c = {.id = 3}, d = {.id = 4};
    struct list list;
    list_init(&list);
    list_push_back(&list, &b.link);
    list_push_front(&list, &a.link);
    list_insert_after(&b.link, &d.link);
    list_insert_before(&d.link, &c.link);
    ck_assert(reads(&list, (int[]){1, 2, 3, 4}, 4));
    list_move_front(&list, &c.link);
    list_move_back(&list, &a.link);
    ck_assert(reads(&list, (int[]){3, 2, 4, 1}, 4));
    ck_assert_ptr_eq(list_pop_front(&list), &c.link);
    ck_assert_ptr_eq(list_pop_back(&list), &a.link);
    ck_assert(!list_is_linked(&c.link));
    ck_assert(list_is_linked(&b.link));
    list_remove(&b.link);
    ck_assert(reads(&list, (int[]){4}, 1));
}
END_TEST

START_TEST(splices)
{
    struct item items[4] = {{.id = 0}, {.id = 1}, {.id = 2}, {.id = 3}};
    struct list to, from;
    list_init(&to);
    list_init(&from);
    list_splice_back(&to, &from);
    ck_assert(reads(&to, NULL, 0));
    list_push_back(&from, &items[0].link);
    list_push_back(&from, &items[1].link);
    list_splice_back(&to, &from);
    ck_assert(reads(&to, (int[]){0, 1}, 2));
    ck_assert(reads(&from, NULL, 0));
    list_splice_back(&to, &from);
    ck_assert(reads(&to, (int[]){0, 1}, 2));
    list_push_back(&from, &items[2].link);
    list_push_back(&from, &items[3].link);
    list_splice_back(&to, &from);
    ck_assert(reads(&to, (int[]){0, 1, 2, 3}, 4));
    ck_assert(reads(&from, NULL, 0));
}
END_TEST

/* Several lists that trade items, against arrays that are too simple to be wrong. */
struct model {
    int ids[ITEMS];
    size_t count;
};

static void model_insert(struct model *m, size_t at, int id)
{
    memmove(m->ids + at + 1, m->ids + at, (m->count - at) * sizeof *m->ids);
    m->ids[at] = id;
    m->count++;
}

static void model_remove(struct model *m, int id)
{
    size_t at = 0;
    while (m->ids[at] != id) {
        at++;
    }
    m->count--;
    memmove(m->ids + at, m->ids + at + 1, (m->count - at) * sizeof *m->ids);
}

START_TEST(agrees_with_arrays)
{
    struct item items[ITEMS] = {{0}};
    int holder[ITEMS];
    struct list lists[LISTS];
    struct model models[LISTS] = {{.count = 0}};
    for (int i = 0; i < LISTS; i++) {
        list_init(&lists[i]);
    }
    for (int i = 0; i < ITEMS; i++) {
        items[i].id = i;
        holder[i] = -1;
    }
    struct prng p = prng_stream(1, 0, 0);
    for (int step = 0; step < STEPS; step++) {
        int id = (int)prng_below(&p, ITEMS);
        int l = (int)prng_below(&p, LISTS);
        bool front = prng_chance(&p, 1, 2);
        struct list_node *link = &items[id].link;
        if (prng_chance(&p, 1, 50)) {
            int other = (l + 1) % LISTS;
            list_splice_back(&lists[l], &lists[other]);
            for (size_t i = 0; i < models[other].count; i++) {
                holder[models[other].ids[i]] = l;
                model_insert(&models[l], models[l].count, models[other].ids[i]);
            }
            models[other].count = 0;
        } else if (holder[id] < 0) {
            (front ? list_push_front : list_push_back)(&lists[l], link);
            model_insert(&models[l], front ? 0 : models[l].count, id);
            holder[id] = l;
        } else if (prng_chance(&p, 1, 2)) {
            (front ? list_move_front : list_move_back)(&lists[l], link);
            model_remove(&models[holder[id]], id);
            model_insert(&models[l], front ? 0 : models[l].count, id);
            holder[id] = l;
        } else {
            list_remove(link);
            model_remove(&models[holder[id]], id);
            holder[id] = -1;
        }
        if (list_is_linked(link) != (holder[id] >= 0)) {
            ck_abort_msg("step %d: is_linked is wrong", step);
        }
        for (int i = 0; i < LISTS; i++) {
            if (!reads(&lists[i], models[i].ids, models[i].count)) {
                ck_abort_msg("step %d: list %d differs", step, i);
            }
        }
    }
}
END_TEST

START_TEST(a_node_is_linked_once)
{
    struct list list;
    struct item a = {.id = 1};
    list_init(&list);
    list_push_back(&list, &a.link);
    list_push_back(&list, &a.link);
}
END_TEST

START_TEST(an_unlinked_node_is_not_removed)
{
    struct item a = {.id = 1};
    list_remove(&a.link);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(empty_list),         SUITE_TEST(pushes_inserts_and_pops), SUITE_TEST(splices),
    SUITE_TEST(agrees_with_arrays), SUITE_ABORTS(a_node_is_linked_once), SUITE_ABORTS(an_unlinked_node_is_not_removed),
};
SUITE_MAIN("list", tests)
