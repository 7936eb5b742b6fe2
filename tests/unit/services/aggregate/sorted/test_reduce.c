/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/reduce.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

enum { MEMORY = 256 };

static struct reduce reduce;
static _Alignas(cw_bytes) uint8_t memory[MEMORY];
static char said[1024];
static int refuse;

static cw_bytes text(const char *words)
{
    return (cw_bytes){(const uint8_t *)words, strlen(words)};
}

static int say(void *context, cw_bytes key, cw_bytes value)
{
    char *out = context;
    sprintf(out + strlen(out), "%.*s=%.*s;", (int)key.length, (const char *)key.bytes, (int)value.length,
            (const char *)value.bytes);
    return refuse;
}

static void open_for(const char *word)
{
    struct combine combine;
    said[0] = '\0';
    refuse = 0;
    SUITE_HOLDS(combine_read(word, &combine) == 0);
    reduce_open(&reduce, &combine, NULL, 0, say, said);
}

START_TEST(finishes)
{
    open_for("avg");
    ck_assert_int_eq(reduce_add(&reduce, text("a"), text("7 2")), 0);
    ck_assert_int_eq(reduce_add(&reduce, text("b"), text("4 2")), 0);
    ck_assert_str_eq(said, "a=3.5;b=2;");
    ck_assert_int_eq(reduce_add(&reduce, text("c"), text("4")), -EINVAL);
    ck_assert(reduce_key(&reduce).length == 1 && reduce_key(&reduce).bytes[0] == 'c');
    ck_assert_int_eq(reduce_end(&reduce), 0);
    ck_assert_uint_eq(reduce.results, 2);
}
END_TEST

START_TEST(passes)
{
    open_for("none");
    ck_assert_int_eq(reduce_add(&reduce, text("a"), text("1")), 0);
    ck_assert_int_eq(reduce_add(&reduce, text("a"), text("")), 0);
    ck_assert_int_eq(reduce_end(&reduce), 0);
    ck_assert_str_eq(said, "a=1;a=;");
    refuse = -EIO;
    ck_assert_int_eq(reduce_add(&reduce, text("a"), text("1")), -EIO);
}
END_TEST

/* The values with a bar between: all of a key in one call, in their order. */
static int bars(cw_bytes key, const cw_bytes *values, size_t count, uint64_t argument, uint8_t *out, size_t room)
{
    size_t used = 0;
    (void)key, (void)argument, (void)room;
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            out[used++] = '|';
        }
        memcpy(out + used, values[i].bytes, values[i].length);
        used += values[i].length;
    }
    return (int)used;
}

static const cw_combiner table = {.size = sizeof table, .api = CW_COMBINE_API, .name = "bars", .combine = bars};

START_TEST(gathers)
{
    said[0] = '\0';
    refuse = 0;
    reduce_open(&reduce, &(struct combine){&table, 0}, memory, MEMORY - 1, say, said);
    ck_assert_int_eq(reduce_add(&reduce, text("a"), text("3")), 0);
    ck_assert_int_eq(reduce_add(&reduce, text("a"), text("12")), 0);
    ck_assert_int_eq(reduce_add(&reduce, text("a"), text("4")), 0);
    ck_assert_str_eq(said, "");
    ck_assert_int_eq(reduce_add(&reduce, text("ab"), text("5")), 0);
    ck_assert_str_eq(said, "a=3|12|4;");
    ck_assert_int_eq(reduce_end(&reduce), 0);
    ck_assert_int_eq(reduce_end(&reduce), 0);
    ck_assert_str_eq(said, "a=3|12|4;ab=5;");
    int rc = 0;
    unsigned n = 0;
    for (; rc == 0; n++) {
        rc = reduce_add(&reduce, text("much"), text("0123456789"));
    }
    ck_assert_int_eq(rc, -E2BIG);
    ck_assert_uint_eq(n, (MEMORY - 1) / 26 + 1);
    ck_assert_uint_eq(reduce_key(&reduce).length, 4);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(finishes), SUITE_TEST(passes), SUITE_TEST(gathers)};
SUITE_MAIN("reduce", tests)
