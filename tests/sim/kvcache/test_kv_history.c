/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kv_history.c - is the judge right? Histories made by hand, and small random ones against a second opinion that
 * tries every order.
 */
#include "kv_history.h"

#include "base/prng.h"
#include "suite.h"

#include <string.h>

enum { SMALL = 7, ROUNDS = 300000 };

static char why[300];

static bool good(const struct kv_event *events, size_t count)
{
    struct kv_event copy[64];
    ck_assert_uint_le(count, 64);
    memcpy(copy, events, count * sizeof *copy);
    why[0] = '\0';
    bool is = kv_history_check(copy, count, why, sizeof why);
    ck_assert(is == (why[0] == '\0'));
    return is;
}

#define GOOD(...)                                                                                                   \
    ck_assert_msg(                                                                                                  \
        good((struct kv_event[]){__VA_ARGS__}, sizeof((struct kv_event[]){__VA_ARGS__}) / sizeof(struct kv_event)), \
        "%s", why)
#define BAD(words, ...)                                                                       \
    do {                                                                                      \
        ck_assert(!good((struct kv_event[]){__VA_ARGS__},                                     \
                        sizeof((struct kv_event[]){__VA_ARGS__}) / sizeof(struct kv_event))); \
        ck_assert_msg(strstr(why, words) != NULL, "%s", why);                                 \
    } while (0)

/* Events of key 1. */
#define WRITE(v, from, to) \
    ((struct kv_event){.kind = KV_EVENT_WRITE, .key = 1, .value = (v), .begun = (from), .ended = (to)})
#define READ(v, from, to) \
    ((struct kv_event){.kind = KV_EVENT_READ, .key = 1, .value = (v), .begun = (from), .ended = (to)})
#define DELETE(from, to) ((struct kv_event){.kind = KV_EVENT_DELETE, .key = 1, .begun = (from), .ended = (to)})
/* ... that took the place of a value. */
#define AFTER(b, v, from, to) \
    ((struct kv_event){.kind = KV_EVENT_WRITE, .key = 1, .value = (v), .before = (b), .begun = (from), .ended = (to)})
#define REMOVE(b, from, to) \
    ((struct kv_event){.kind = KV_EVENT_DELETE, .key = 1, .before = (b), .begun = (from), .ended = (to)})
#define OPEN KV_NO_END

START_TEST(registers)
{
    GOOD(WRITE(1, 0, 1), READ(1, 2, 3), WRITE(2, 4, 5), READ(2, 6, 7));
    BAD("before and after", WRITE(1, 0, 1), WRITE(2, 2, 3), READ(1, 4, 5));                /* stale */
    GOOD(WRITE(1, 0, 1), WRITE(2, 2, 4), READ(1, 3, 5));                                   /* while it is written */
    BAD("before and after", WRITE(1, 0, 1), WRITE(2, 2, 9), READ(2, 3, 4), READ(1, 5, 6)); /* new, then old */
    GOOD(WRITE(1, 0, 1), WRITE(2, 2, 9), READ(1, 3, 4), READ(2, 5, 6));                    /* old, then new */
    GOOD(WRITE(1, 0, 9), WRITE(2, 0, 9), READ(1, 1, 2), READ(2, 3, 4));                    /* either order */
    BAD("before and after", WRITE(1, 0, 9), WRITE(2, 0, 9), READ(1, 1, 2), READ(2, 3, 4), READ(1, 5, 6));
    BAD("nobody wrote", READ(1, 0, 1));
    BAD("before something that it needs", READ(1, 0, 1), WRITE(1, 2, 3)); /* ahead of its time */
    GOOD(READ(1, 0, 2), WRITE(1, 2, 3));                                  /* at one instant */
    BAD("made twice", WRITE(1, 0, 1), WRITE(1, 2, 3));
    GOOD(WRITE(1, 0, 1), ((struct kv_event){.kind = KV_EVENT_WRITE, .key = 2, .value = 1, .begun = 0, .ended = 1}));
}
END_TEST

START_TEST(deletes)
{
    GOOD(WRITE(1, 0, 1), DELETE(2, 3));
    BAD("before and after", WRITE(1, 0, 1), DELETE(2, 3), READ(1, 4, 5));
    GOOD(WRITE(1, 0, 1), DELETE(2, 5), READ(1, 4, 6));
    GOOD(WRITE(1, 0, 1), DELETE(2, OPEN), READ(1, 4, 5)); /* it may never have been done */
    GOOD(WRITE(1, 0, 4), DELETE(2, 3), READ(1, 5, 6));
    GOOD(WRITE(1, 0, 4), REMOVE(1, 2, 3));
    BAD("before and after", WRITE(1, 0, 4), DELETE(2, 3), READ(1, 0, 1), READ(1, 5, 6));
    BAD("before something that it needs", WRITE(1, 0, 3), REMOVE(1, 2, 3), READ(1, 4, 5));
}
END_TEST

START_TEST(writes_without_an_answer)
{
    GOOD(WRITE(1, 0, 1), WRITE(2, 2, OPEN), READ(1, 9, 10));                                   /* not yet */
    GOOD(WRITE(1, 0, 1), WRITE(2, 2, OPEN), READ(1, 3, 4), READ(2, 9, 10));                    /* late */
    BAD("before and after", WRITE(1, 0, 1), WRITE(2, 2, OPEN), READ(2, 3, 4), READ(1, 9, 10)); /* and undone again */
    GOOD(WRITE(1, 0, OPEN), DELETE(2, 3), READ(1, 4, 5));
    BAD("before and after", WRITE(1, 0, OPEN), READ(1, 0, 1), DELETE(2, 3), READ(1, 4, 5));
    BAD("before something that it needs", WRITE(1, 5, OPEN), READ(1, 0, 4));
}
END_TEST

/* What names the value whose place it took comes right behind it. */
START_TEST(chains)
{
    GOOD(WRITE(1, 0, 1), AFTER(1, 2, 2, 3), AFTER(2, 3, 4, 5), READ(3, 6, 7));
    BAD("before and after", WRITE(1, 0, 1), WRITE(9, 2, 3), AFTER(1, 2, 4, 5)); /* there was another between */
    GOOD(WRITE(1, 0, 1), WRITE(9, 2, 5), AFTER(1, 2, 4, 5));
    BAD("both took the place", WRITE(1, 0, 1), AFTER(1, 2, 2, 9), AFTER(1, 3, 2, 9)); /* a lost update */
    GOOD(WRITE(1, 0, 1), AFTER(1, 2, 2, 9), AFTER(1, 3, 2, OPEN));
    BAD("both took the place", WRITE(1, 0, 1), AFTER(1, 2, 2, 9), REMOVE(1, 2, 9));
    BAD("before something that it needs", WRITE(1, 0, 1), AFTER(1, 2, 2, 3),
        READ(1, 4, 5)); /* what took its place is gone again */
    BAD("nobody wrote", AFTER(7, 2, 2, 3));
    BAD("in a circle", AFTER(2, 1, 0, 9), AFTER(1, 2, 0, 9));
    GOOD(WRITE(1, 0, OPEN), AFTER(1, 2, 2, OPEN), READ(2, 4, 5)); /* both were done */
    BAD("before something that it needs", WRITE(1, 6, OPEN), AFTER(1, 2, 2, OPEN), READ(2, 4, 5));
    BAD("before and after", WRITE(1, 0, 1), AFTER(1, 2, 2, OPEN), READ(2, 3, 4), DELETE(5, 6), READ(2, 7, 8));
    GOOD(WRITE(1, 0, 1), AFTER(1, 2, 2, OPEN), READ(1, 5, 6), DELETE(7, 8));
}
END_TEST

START_TEST(a_cas_names_a_value)
{
    struct kv_event told = WRITE(1, 0, 1), seen = {.kind = KV_EVENT_READ, .key = 1, .cas = 70, .begun = 4, .ended = 5};
    told.cas = 70;
    GOOD(told, seen);
    BAD("before and after", told, WRITE(2, 2, 3), seen);
    struct kv_event swap = {.kind = KV_EVENT_WRITE, .key = 1, .value = 3, .before_cas = 70, .begun = 4, .ended = 5};
    GOOD(told, swap);
    BAD("before and after", told, WRITE(2, 2, 3), swap);
    struct kv_event other = READ(1, 4, 5);
    other.cas = 71;
    BAD("two cas", told, other);
    other.value = 2;
    other.cas = 70;
    BAD("of two values", told, WRITE(2, 2, 3), other);
    /* Nobody knows of which value: perhaps of the second. */
    struct kv_event early = {.kind = KV_EVENT_READ, .key = 1, .cas = 99, .begun = 1, .ended = 2}, late = early;
    late.begun = 7;
    late.ended = 8;
    GOOD(WRITE(1, 0, OPEN), early, READ(1, 3, 4), late);
    GOOD(early, WRITE(2, 4, 5), late);
    swap.before_cas = 99;
    GOOD(WRITE(1, 0, 1), swap);
}
END_TEST

/* ---- A second opinion -------------------------------------------------------------------------------------------- */

struct tries {
    const struct kv_event *event;
    size_t count;
    unsigned placed;
};

static bool must_be(const struct kv_event *e)
{
    return e->ended != OPEN;
}

/* Nothing that is not placed yet ended before it began. */
static bool may_be_next(const struct tries *t, size_t i)
{
    for (size_t j = 0; j < t->count; j++) {
        if (!(t->placed >> j & 1) && t->event[j].ended < t->event[i].begun) {
            return false;
        }
    }
    return !(t->placed >> i & 1);
}

/* Every order. What is there may be lost at any instant, but nothing needs that nothing is there. */
static bool some_order(struct tries *t, uint64_t there)
{
    bool all = true;
    for (size_t i = 0; i < t->count; i++) {
        all = all && ((t->placed >> i & 1) || !must_be(&t->event[i]));
    }
    if (all) {
        return true;
    }
    for (size_t i = 0; i < t->count; i++) {
        const struct kv_event *e = &t->event[i];
        uint64_t needs = e->kind == KV_EVENT_READ ? e->value : e->before;
        if (!may_be_next(t, i) || (needs != 0 && needs != there)) {
            continue;
        }
        t->placed |= 1u << i;
        bool found = some_order(t, e->kind == KV_EVENT_DELETE ? 0 : e->value);
        t->placed &= ~(1u << i);
        if (found) {
            return true;
        }
    }
    return false;
}

static void draw(struct prng *p, struct kv_event *e, size_t count)
{
    uint64_t values = 1 + prng_below(p, 3), next = 1, times = 4 + prng_below(p, 12);
    for (size_t i = 0; i < count; i++) {
        uint64_t dice = prng_below(p, 10);
        e[i] = (struct kv_event){.key = 1, .begun = (int64_t)prng_below(p, times)};
        e[i].ended = e[i].begun + (int64_t)prng_below(p, 1 + times / 2);
        e[i].kind = dice < 4 || next == 1 ? KV_EVENT_WRITE : dice < 9 ? KV_EVENT_READ : KV_EVENT_DELETE;
        e[i].value = e[i].kind == KV_EVENT_WRITE ? next++ : e[i].kind == KV_EVENT_READ ? 1 + prng_below(p, values) : 0;
        if (e[i].kind != KV_EVENT_READ && prng_below(p, 3) == 0) {
            uint64_t before = 1 + prng_below(p, values);
            e[i].before = before != e[i].value ? before : 0;
        }
        if (e[i].kind != KV_EVENT_READ && prng_below(p, 5) == 0) {
            e[i].ended = OPEN;
        }
    }
}

/* Some are told by cas what they were told by number, when somebody knows both. */
static void hide(struct prng *p, struct kv_event *e, size_t count)
{
    bool known[SMALL + 2] = {false};
    for (size_t i = 0; i < count; i++) {
        if (e[i].kind == KV_EVENT_WRITE && e[i].ended != OPEN) {
            e[i].cas = 100 + e[i].value;
            known[e[i].value] = true;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (e[i].kind == KV_EVENT_READ && known[e[i].value] && prng_below(p, 2) == 0) {
            e[i].cas = 100 + e[i].value;
            e[i].value = 0;
        }
        if (e[i].before != 0 && known[e[i].before] && prng_below(p, 2) == 0) {
            e[i].before_cas = 100 + e[i].before;
            e[i].before = 0;
        }
    }
}

/* Whatever is hidden, nothing good becomes bad. */
static void hide_all(struct prng *p, struct kv_event *e, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (e[i].kind != KV_EVENT_DELETE && (e[i].ended != OPEN) && prng_below(p, 2) == 0) {
            e[i].cas = 100 + e[i].value;
        }
        if (e[i].kind == KV_EVENT_READ && prng_below(p, 2) == 0) {
            e[i].cas = 100 + e[i].value;
            e[i].value = 0;
        }
        if (e[i].before != 0 && prng_below(p, 2) == 0) {
            e[i].before_cas = 100 + e[i].before;
            e[i].before = 0;
        }
    }
}

START_TEST(less_knowledge_is_no_blame)
{
    struct prng p = prng_stream(6, 0, 2);
    unsigned yes = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct kv_event event[SMALL];
        size_t count = 2 + prng_below(&p, SMALL - 1);
        draw(&p, event, count);
        struct tries t = {.event = event, .count = count};
        if (some_order(&t, 0)) {
            hide_all(&p, event, count);
            ck_assert_msg(good(event, count), "round %u: %s", i, why);
            yes++;
        }
    }
    ck_assert_uint_gt(yes, ROUNDS / 10);
}
END_TEST

START_TEST(the_judge_and_a_search_of_all_orders_agree)
{
    struct prng p = prng_stream(6, 0, 1);
    unsigned yes = 0, no = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct kv_event event[SMALL], told[SMALL];
        size_t count = 2 + prng_below(&p, SMALL - 1);
        draw(&p, event, count);
        memcpy(told, event, sizeof told);
        hide(&p, told, count);
        struct tries t = {.event = event, .count = count};
        bool opinion = some_order(&t, 0);
        if (good(told, count) != opinion) {
            for (size_t n = 0; n < count; n++) {
                printf("%u: value %llu before %llu [%lld, %lld]\n", event[n].kind, (unsigned long long)event[n].value,
                       (unsigned long long)event[n].before, (long long)event[n].begun, (long long)event[n].ended);
            }
            ck_abort_msg("round %u: some order %d, %s", i, opinion, why);
        }
        yes += opinion;
        no += !opinion;
    }
    ck_assert_uint_gt(yes, ROUNDS / 10);
    ck_assert_uint_gt(no, ROUNDS / 10);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(registers),
    SUITE_TEST(deletes),
    SUITE_TEST(writes_without_an_answer),
    SUITE_TEST(chains),
    SUITE_TEST(a_cas_names_a_value),
    SUITE_TEST(less_knowledge_is_no_blame),
    SUITE_TEST(the_judge_and_a_search_of_all_orders_agree),
};
SUITE_MAIN("kv_history", tests)
