/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/summary_top.h"

#include "base/prng.h"
#include "services/aggregate/query/tally.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { WORDS = 20000, SERVERS = 12, LINES = 8000 };

static uint64_t count[WORDS]; /* how often each word came, by everybody */
static struct summary_union room;
static uint8_t bytes[SUMMARY_TOP_BYTES];

/* Skewed: word 0 comes most. */
static unsigned draw(struct prng *random, unsigned words)
{
    uint64_t n = 1 + prng_below(random, words);
    return (unsigned)prng_below(random, n);
}

static void judge(const struct summary_top *t, uint64_t lines, bool exact)
{
    uint64_t floor = 0;
    bool item[WORDS] = {false};
    SUITE_HOLDS(t->lines == lines);
    SUITE_HOLDS(t->floor * SUMMARY_ITEMS <= lines);
    for (unsigned i = 0; i < t->used; i++) {
        unsigned word = (unsigned)strtoul(t->item[i].text, NULL, 10);
        item[word] = true;
        SUITE_HOLDS(count[word] <= t->item[i].count, "word %u", word);
        SUITE_HOLDS(count[word] + t->item[i].error >= t->item[i].count, "word %u", word);
        SUITE_HOLDS(t->item[i].error <= t->floor);
        SUITE_HOLDS(!exact || t->item[i].error == 0);
        SUITE_HOLDS(i == 0 || t->item[i - 1].count >= t->item[i].count);
    }
    for (unsigned word = 0; word < WORDS; word++) {
        floor = !item[word] && count[word] > floor ? count[word] : floor;
    }
    SUITE_HOLDS(floor <= t->floor, "a word that is no item came %u times", (unsigned)floor);
}

/* What servers have seen, merged in a drawn order, beside what is counted one by one. */
static void try(uint64_t seed, unsigned words)
{
    static struct summary_top part[SERVERS];
    struct prng random = prng_stream(seed, 0, 3);
    memset(count, 0, sizeof count);
    for (unsigned s = 0; s < SERVERS; s++) {
        struct tally *t = tally_open(s);
        for (unsigned i = 0; i < LINES; i++) {
            char text[16];
            unsigned word = draw(&random, words);
            count[word]++;
            tally_line(t, text, (size_t)snprintf(text, sizeof text, "%u", word));
        }
        tally_top(t, &part[s]);
        tally_close(t);
    }
    prng_shuffle(&random, part, SERVERS, sizeof *part);
    for (unsigned left = SERVERS; left > 1; left--) {
        unsigned into = (unsigned)prng_below(&random, left - 1);
        ck_assert_int_eq(summary_top_decode(bytes, summary_top_encode(&part[left - 1], bytes), &part[left - 1]), 0);
        ck_assert_int_eq(summary_top_merge(&part[into], &part[left - 1], &room), 0);
    }
    judge(&part[0], (uint64_t)SERVERS * LINES, words <= SUMMARY_ITEMS);
}

START_TEST(bounds_hold)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        try(seed, WORDS);
    }
    try(9, SUMMARY_ITEMS);
    try(10, 3);
}
END_TEST

START_TEST(texts)
{
    char text[60];
    memset(text, 'a', sizeof text);
    struct summary_item item = summary_item_of(1, text, sizeof text, 2);
    ck_assert(item.cut && item.length == SUMMARY_ITEM_TEXT && item.count == 2);
    item = summary_item_of(1, text, SUMMARY_ITEM_TEXT, 2);
    ck_assert(!item.cut && item.length == SUMMARY_ITEM_TEXT);
}
END_TEST

START_TEST(bytes_that_are_none)
{
    static struct summary_top t = {.of = SUMMARY_OF_FEED, .used = 2, .lines = 9}, out, other;
    t.item[0] = summary_item_of(7, "x", 1, 5);
    t.item[1] = summary_item_of(3, "yy", 2, 4);
    size_t size = summary_top_encode(&t, bytes);
    ck_assert_int_eq(summary_top_decode(bytes, size, &out), 0);
    ck_assert_mem_eq(&out, &t, sizeof t);
    ck_assert_int_eq(summary_top_decode(bytes, size - 1, &out), -EPROTO);
    bytes[SUMMARY_TOP_HEAD + 15] = 3; /* less than the next one */
    ck_assert_int_eq(summary_top_decode(bytes, size, &out), -EPROTO);
    other.of = SUMMARY_OF_COUNTER;
    ck_assert_int_eq(summary_top_merge(&t, &other, &room), -EINVAL);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(bounds_hold), SUITE_TEST(texts), SUITE_TEST(bytes_that_are_none)};
SUITE_MAIN("summary_top", tests)
