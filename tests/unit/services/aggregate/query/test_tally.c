/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/tally.h"

#include "base/prng.h"
#include "suite.h"

#include <string.h>

static void say(struct tally *t, const char *line)
{
    tally_line(t, line, strlen(line));
}

START_TEST(lines_and_numbers)
{
    static struct summary_top top;
    struct tally *t = tally_open(7);
    say(t, "3");
    say(t, "-1.5");
    say(t, "three");
    say(t, "3");
    tally_line(t, "", 0);
    const struct summary_number *n = tally_number(t);
    ck_assert_uint_eq(n->count, 5);
    ck_assert_uint_eq(n->numbers, 3);
    ck_assert(n->sum == 4500000 && n->least == -1500000 && n->greatest_at == 7);
    ck_assert_uint_eq(tally_histogram(t)->count, 3);
    ck_assert_uint_eq(summary_distinct_count(tally_distinct(t)), 4);
    tally_top(t, &top);
    ck_assert_uint_eq(top.used, 4);
    ck_assert_uint_eq(top.item[0].count, 2);
    ck_assert_mem_eq(top.item[0].text, "3", 1);
    ck_assert_uint_le(tally_bytes(), 90000);
    tally_close(t);
}
END_TEST

/* Space-saving as its paper has it, with the least of the items looked for one by one. */
struct naive {
    unsigned used;
    uint64_t word[SUMMARY_ITEMS], count[SUMMARY_ITEMS];
};

static void naive_add(struct naive *n, uint64_t word)
{
    unsigned least = 0, i = 0;
    for (; i < n->used && n->word[i] != word; i++) {
        least = n->count[i] < n->count[least] ? i : least;
    }
    if (i == SUMMARY_ITEMS) {
        i = least;
    } else if (i == n->used) {
        n->count[n->used++] = 0;
    }
    n->word[i] = word;
    n->count[i]++;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* Which of several least items goes is anybody's choice: what counts there are is not. */
START_TEST(counts_are_those_of_space_saving)
{
    static struct naive naive;
    static struct summary_top top;
    struct tally *t = tally_open(0);
    struct prng random = prng_stream(5, 0, 5);
    for (unsigned i = 0; i < 60000; i++) {
        char text[24];
        uint64_t word = prng_below(&random, 1 + prng_below(&random, 4000));
        tally_line(t, text, (size_t)snprintf(text, sizeof text, "%u", (unsigned)word));
        naive_add(&naive, word);
        if (i % 10000 == 9999) {
            uint64_t count[SUMMARY_ITEMS];
            memcpy(count, naive.count, sizeof count);
            qsort(count, naive.used, sizeof *count, by_size);
            tally_top(t, &top);
            ck_assert_uint_eq(top.used, naive.used);
            uint64_t sum = 0, right = 0;
            for (unsigned k = 0; k < top.used; k++) {
                sum += top.item[k].count;
                right += count[k];
            }
            ck_assert_uint_eq(sum, right);
            ck_assert_uint_eq(sum, i + 1);
        }
    }
    tally_close(t);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(lines_and_numbers), SUITE_TEST(counts_are_those_of_space_saving)};
SUITE_MAIN("tally", tests)
