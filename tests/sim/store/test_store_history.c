/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_history.c - is the judge right? Histories made by hand, and small random ones against a second opinion
 * that tries every order.
 */
#include "store_groups.h"
#include "store_history.h"

#include "base/prng.h"
#include "suite.h"

#include <string.h>

enum { SMALL = 6, ROUNDS = 100000 };

static char why[300];

static bool good(const struct store_event *events, size_t count)
{
    struct store_event copy[32];
    memcpy(copy, events, count * sizeof *copy);
    why[0] = '\0';
    bool is = store_history_check(copy, count, why, sizeof why);
    ck_assert(is == (why[0] == '\0'));
    return is;
}

#define LIST(...) \
    (struct store_event[]){__VA_ARGS__}, sizeof((struct store_event[]){__VA_ARGS__}) / sizeof(struct store_event)
#define GOOD(...) ck_assert_msg(good(LIST(__VA_ARGS__)), "%s", why)
#define BAD(words, ...)                                       \
    do {                                                      \
        ck_assert(!good(LIST(__VA_ARGS__)));                  \
        ck_assert_msg(strstr(why, words) != NULL, "%s", why); \
    } while (0)

/* Value 100 + version, so that both are known. */
#define EVENT(k, v, x, from, to) \
    ((struct store_event){       \
        .kind = STORE_EVENT_##k, .version = (v), .value = (x), .any = true, .begun = (from), .ended = (to)})
#define PUT(v, from, to) EVENT(PUT, v, 100 + (v), from, to)
#define LOST(x, from) EVENT(PUT, 0, x, from, STORE_NO_END)
#define DELETE(v, from, to) EVENT(DELETE, v, 0, from, to)
#define READ(v, from, to) EVENT(READ, v, 100 + (v), from, to)
#define ABSENT(v, from, to) EVENT(ABSENT, v, 0, from, to)
#define SOME(from, to) EVENT(SOME, 0, 0, from, to)
#define NOTHING(from, to) EVENT(NOTHING, 0, 0, from, to)
#define CAS(f, v, from, to) \
    ((struct store_event){  \
        .kind = STORE_EVENT_PUT, .version = (v), .value = 100 + (v), .found = (f), .begun = (from), .ended = (to)})

START_TEST(registers)
{
    GOOD(PUT(1, 0, 1), READ(1, 2, 3), PUT(2, 4, 5), READ(2, 6, 7));
    BAD("older was asked for", PUT(1, 0, 1), PUT(2, 2, 3), READ(1, 4, 5)); /* stale */
    GOOD(PUT(1, 0, 1), PUT(2, 2, 4), READ(1, 3, 5));                       /* while it is written */
    BAD("older was asked for", PUT(1, 0, 1), PUT(2, 2, 9), READ(2, 3, 4), READ(1, 5, 6));
    BAD("nobody wrote", READ(1, 0, 1));
    BAD("older was asked for", READ(1, 0, 1), PUT(1, 2, 3));
    BAD("made twice", PUT(1, 0, 1), EVENT(PUT, 1, 300, 2, 3));
    BAD("older was asked for", PUT(2, 0, 1), PUT(1, 2, 3)); /* versions grow */
    GOOD(ABSENT(0, 0, 1), PUT(5, 2, 3));
    BAD("older was asked for", PUT(5, 0, 1), ABSENT(0, 2, 3)); /* lost */
    BAD("told that nothing was done", EVENT(FAILED, 0, 101, 0, 1), READ(1, 2, 3));
}
END_TEST

START_TEST(deletes)
{
    GOOD(PUT(1, 0, 1), DELETE(2, 2, 3), ABSENT(2, 4, 5), PUT(7, 6, 7));
    BAD("older was asked for", PUT(1, 0, 1), DELETE(2, 2, 3), READ(1, 4, 5));
    BAD("with a value and without", PUT(1, 0, 1), ABSENT(1, 2, 3));
    BAD("deleted nothing", DELETE(2, 2, 3));
    BAD("no value", PUT(1, 0, 1), NOTHING(2, 3));
    GOOD(PUT(1, 0, 1), NOTHING(0, 3));
    GOOD(PUT(1, 0, 1), DELETE(2, 4, 9), NOTHING(5, 6), PUT(3, 8, 10));
    GOOD(PUT(1, 0, 1), SOME(2, 3), DELETE(2, 4, 9), SOME(5, 6));
    BAD("some value", PUT(1, 0, 1), DELETE(2, 2, 3), SOME(4, 5));
    BAD("some value", SOME(0, 1), PUT(1, 2, 3));
    GOOD(PUT(1, 0, 1), DELETE(2, 2, 3), SOME(4, 5), PUT(0, 0, STORE_NO_END)); /* it may be that one */
}
END_TEST

START_TEST(conditions)
{
    GOOD(PUT(1, 0, 1), CAS(1, 2, 2, 3));
    BAD("between them", PUT(1, 0, 1), PUT(2, 0, 1), CAS(1, 3, 2, 3));
    BAD("was inserted", PUT(1, 0, 1), CAS(0, 2, 0, 3));
    GOOD(PUT(1, 0, 1), DELETE(2, 0, 4), CAS(0, 3, 0, 3));
}
END_TEST

START_TEST(writes_without_an_answer)
{
    GOOD(LOST(101, 0), READ(1, 2, 3));
    GOOD(LOST(101, 0), ABSENT(0, 2, 3), READ(1, 4, 5));
    BAD("two versions", LOST(101, 0), READ(1, 2, 3), EVENT(READ, 4, 101, 5, 6)); /* done twice */
    GOOD(PUT(1, 0, 1), EVENT(DELETE, 0, 0, 2, STORE_NO_END), ABSENT(2, 3, 4));
    BAD("nobody can have made", PUT(1, 0, 1), ABSENT(2, 3, 4));
    BAD("older was asked for", PUT(1, 0, 1), ABSENT(2, 3, 4), EVENT(DELETE, 0, 0, 5, STORE_NO_END));
}
END_TEST

/* A put at 0 with a ttl of 50, and what may become of it from then on. */
#define FLEETING                                                                                                     \
    ((struct store_event){.kind = STORE_EVENT_PUT, .version = 1, .value = 101, .any = true, .ended = 1, .ttl = 50}), \
        ((struct store_event){                                                                                       \
            .kind = STORE_EVENT_DELETE, .any = true, .expires = true, .begun = 50, .ended = STORE_NO_END})

START_TEST(values_that_go_by_themselves)
{
    GOOD(FLEETING, READ(1, 2, 60), ABSENT(2, 61, 62), PUT(3, 63, 64));
    BAD("was gone at 40", FLEETING, ABSENT(2, 30, 40));
    BAD("had no ttl", FLEETING, PUT(2, 2, 3), ABSENT(4, 60, 61));
    GOOD(FLEETING, NOTHING(60, 61));
    BAD("no value", FLEETING, NOTHING(30, 31));
    BAD("no value", FLEETING, PUT(2, 2, 3), NOTHING(60, 61));
}
END_TEST

/* ---- A second opinion -------------------------------------------------------------------------------------------- */

struct tries {
    const struct store_event *event;
    size_t count;
    unsigned placed;
};

struct now {
    uint64_t version, value; /* value 0: there is none */
};

static bool may_be_next(const struct tries *t, size_t i)
{
    for (size_t k = 0; k < t->count; k++) {
        if (!(t->placed >> k & 1) && t->event[k].ended < t->event[i].begun) {
            return false;
        }
    }
    return !(t->placed >> i & 1);
}

/* Can the event come now? Then *now is what it leaves. version: that of a write which was told none. */
static bool apply(const struct store_event *e, uint64_t version, struct now *now)
{
    switch (e->kind) {
    case STORE_EVENT_PUT:
    case STORE_EVENT_DELETE: {
        uint64_t made = e->version != 0 ? e->version : version, there = now->value != 0 ? now->version : 0;
        bool fits = (e->any || there == e->found) && (e->kind == STORE_EVENT_PUT || there != 0) && made > now->version;
        *now = (struct now){made, e->kind == STORE_EVENT_PUT ? e->value : 0};
        return fits;
    }
    case STORE_EVENT_READ:
        return now->value != 0 && now->version == e->version && (e->value == 0 || e->value == now->value);
    case STORE_EVENT_ABSENT:
        return now->value == 0 && now->version == e->version;
    case STORE_EVENT_NOTHING:
        return now->value == 0;
    case STORE_EVENT_SOME:
        return now->value != 0;
    default:
        return true;
    }
}

/* Every order. A write that was told no version may have any, here one of 1..9, or not be done at all. */
static bool some_order(struct tries *t, struct now now)
{
    bool all = true;
    for (size_t i = 0; i < t->count; i++) {
        all = all && ((t->placed >> i & 1) || t->event[i].ended == STORE_NO_END);
    }
    for (size_t i = 0; i < t->count && !all; i++) {
        const struct store_event *e = &t->event[i];
        bool free_version = (e->kind == STORE_EVENT_PUT || e->kind == STORE_EVENT_DELETE) && e->version == 0;
        if (!may_be_next(t, i)) {
            continue;
        }
        for (uint64_t version = 1; version < (free_version ? 10 : 2) && !all; version++) {
            struct now then = now;
            if (apply(e, version, &then)) {
                t->placed |= 1u << i;
                all = some_order(t, then);
                t->placed &= ~(1u << i);
            }
        }
    }
    return all;
}

static void draw(struct prng *p, struct store_event *e, size_t count, bool lost)
{
    uint64_t times = 4 + prng_below(p, 12), next = 1;
    for (size_t i = 0; i < count; i++) {
        uint64_t dice = prng_below(p, 10), version = 1 + prng_below(p, 4);
        int64_t begun = (int64_t)prng_below(p, times), ended = begun + (int64_t)prng_below(p, 1 + times / 2);
        e[i] = dice < 4   ? EVENT(PUT, next, 100 + next, begun, ended)
               : dice < 5 ? EVENT(DELETE, next, 0, begun, ended)
               : dice < 8 ? EVENT(READ, version, 100 + version, begun, ended)
               : dice < 9 ? EVENT(ABSENT, prng_below(p, 3), 0, begun, ended)
                          : EVENT(NOTHING, 0, 0, begun, ended);
        if (dice < 5) {
            next++;
            e[i].any = prng_below(p, 3) != 0;
            e[i].found = e[i].any ? 0 : prng_below(p, 3);
            if (e[i].kind == STORE_EVENT_DELETE && e[i].found == 0) {
                e[i].any = true;
            }
            if (lost && prng_below(p, 3) == 0) {
                e[i].version = 0;
                e[i].ended = STORE_NO_END;
            }
        }
    }
}

static void compare(uint64_t stream, bool lost, unsigned least_yes)
{
    struct prng p = prng_stream(18, 0, stream);
    unsigned yes = 0, no = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct store_event event[SMALL];
        size_t count = 2 + prng_below(&p, SMALL - 1);
        draw(&p, event, count, lost);
        struct tries t = {.event = event, .count = count};
        bool opinion = some_order(&t, (struct now){0, 0}), is = good(event, count);
        if (lost ? opinion && !is : opinion != is) {
            for (size_t n = 0; n < count; n++) {
                printf("%u: version %llu value %llu found %llu%s [%lld, %lld]\n", event[n].kind,
                       (unsigned long long)event[n].version, (unsigned long long)event[n].value,
                       (unsigned long long)event[n].found, event[n].any ? " any" : "", (long long)event[n].begun,
                       (long long)event[n].ended);
            }
            ck_abort_msg("round %u: some order %d, %s", i, opinion, why);
        }
        yes += is && opinion;
        no += !is && !opinion;
    }
    ck_assert_uint_gt(yes, least_yes);
    ck_assert_uint_gt(no, ROUNDS / 10);
}

START_TEST(the_judge_and_a_search_of_all_orders_agree)
{
    compare(1, false, ROUNDS / 30);
}
END_TEST

/* With writes that nobody knows all about the judge may be too kind, and is never too strict. */
START_TEST(the_judge_blames_nobody_who_is_right)
{
    compare(2, true, ROUNDS / 30);
}
END_TEST

/* An event of key k, as one of the question n. */
static struct store_event of(uint32_t k, uint32_t n, struct store_event e)
{
    e.key = k;
    e.node = n;
    return e;
}

#define FITS(is, ...) ck_assert_int_eq(store_groups_check(LIST(__VA_ARGS__), 9, why, sizeof why), is)

/* Several names: what is written and met together stands at one instant. */
START_TEST(transactions)
{
    const struct store_event x = of(1, 0, PUT(5, 10, 20)), y = of(2, 0, PUT(6, 10, 20));
    FITS(true, x, y, of(1, 1, READ(5, 12, 14)), of(2, 1, READ(6, 12, 14)));
    FITS(false, x, y, of(1, 1, READ(5, 12, 14)), of(2, 1, READ(4, 12, 14))); /* half of it */
    FITS(true, x, y, of(1, 1, READ(5, 12, 14)), of(2, 2, READ(4, 12, 14)));  /* two questions at the same time */
    FITS(false, x, y, of(1, 1, READ(5, 12, 13)), of(2, 2, READ(4, 14, 15))); /* and one after the other */
    FITS(true, x, y, of(1, 1, READ(3, 12, 13)), of(2, 2, READ(6, 14, 15)));
    /* Each has met what was there before the other wrote. */
    FITS(false, of(1, 0, READ(1, 10, 20)), of(2, 0, PUT(5, 10, 20)), of(2, 1, READ(2, 10, 20)),
         of(1, 1, PUT(6, 10, 20)));
    FITS(true, of(1, 0, READ(1, 10, 20)), of(2, 0, PUT(5, 10, 20)), of(2, 1, READ(5, 10, 20)),
         of(1, 1, PUT(6, 10, 20)));
    /* Of an absence, and of one without an answer. */
    FITS(false, of(1, 0, PUT(5, 10, STORE_NO_END)), of(2, 0, DELETE(6, 10, STORE_NO_END)), of(1, 1, READ(5, 30, 40)),
         of(2, 1, READ(4, 30, 40)));
    FITS(true, of(1, 0, PUT(5, 10, STORE_NO_END)), of(2, 0, DELETE(6, 10, STORE_NO_END)), of(1, 1, READ(5, 30, 40)),
         of(2, 1, ABSENT(6, 30, 40)));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(transactions),
    SUITE_TEST(registers),
    SUITE_TEST(deletes),
    SUITE_TEST(conditions),
    SUITE_TEST(writes_without_an_answer),
    SUITE_TEST(values_that_go_by_themselves),
    SUITE_TEST(the_judge_and_a_search_of_all_orders_agree),
    SUITE_TEST(the_judge_blames_nobody_who_is_right),
};
SUITE_MAIN("store_history", tests)
