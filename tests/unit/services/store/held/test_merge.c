/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/merge.h"

#include "base/prng.h"
#include "store_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { SOURCES = 7, NAMES = 400, PIECE = 5, ROOM = 512 };

static size_t encode(const char *name, uint8_t *out)
{
    struct store_register *r = store_town_make(name, "v", (struct store_tag){{1, 1}, 5});
    size_t size = store_named_encode(r, out);
    free(r);
    return size;
}

/* Name i is with this source. */
static unsigned source_of(unsigned i)
{
    return (unsigned)(prng_mix(11, i) % SOURCES);
}

/* A piece of the source, as its shard would tell it: behind the name, or from the beginning. */
static void give(struct store_merge *m, uint32_t source)
{
    struct store_named behind;
    uint8_t bytes[ROOM];
    char name[16], after[16] = "";
    size_t length = 0;
    unsigned count = 0;
    bool more = false;
    if (store_merge_behind(m, source, &behind)) {
        snprintf(after, sizeof after, "%.*s", (int)behind.name.length, (const char *)behind.name.bytes);
    }
    for (unsigned i = 0; i < NAMES && !more; i++) {
        snprintf(name, sizeof name, "n%03u", i);
        if (source_of(i) != source || strcmp(name, after) <= 0) {
            continue;
        }
        more = count == PIECE;
        length += more ? 0 : encode(name, bytes + length);
        count++;
    }
    ck_assert_int_eq(store_merge_give(m, source, bytes, length, more), 0);
}

/* Whatever the order in which pieces come, all names come in order, each once. */
START_TEST(names_come_in_order)
{
    struct store_merge m;
    struct prng p = prng_stream(9, 0, 1);
    uint32_t asked[SOURCES];
    unsigned waiting = 0, next = 0;
    char name[16];
    ck_assert_int_eq(store_merge_open(&m, 96, SOURCES), 0);
    while (!store_merge_is_over(&m)) {
        struct store_named n;
        while (store_merge_ask(&m, &asked[waiting])) {
            ck_assert_uint_eq(m.source[asked[waiting]].shard, 96 + asked[waiting]);
            waiting++;
        }
        if (waiting > 0) {
            unsigned i = (unsigned)prng_below(&p, waiting);
            give(&m, asked[i]);
            asked[i] = asked[--waiting];
        }
        while (store_merge_next(&m, &n)) {
            snprintf(name, sizeof name, "n%03u", next++);
            ck_assert_uint_eq(n.name.length, strlen(name));
            ck_assert_int_eq(memcmp(n.name.bytes, name, n.name.length), 0);
        }
    }
    ck_assert_uint_eq(next, NAMES);
    store_merge_close(&m);
}
END_TEST

START_TEST(what_is_no_piece_is_refused)
{
    struct store_merge m;
    uint8_t bytes[ROOM];
    uint32_t source;
    ck_assert_int_eq(store_merge_open(&m, 0, 1), 0);
    ck_assert(store_merge_ask(&m, &source));
    size_t length = encode("b", bytes);
    length += encode("a", bytes + length);
    ck_assert_int_eq(store_merge_give(&m, source, bytes, length, false), -EBADMSG);
    ck_assert_int_eq(store_merge_give(&m, source, bytes, length - 1, false), -EBADMSG);
    ck_assert_int_eq(store_merge_give(&m, source, NULL, 0, true), -EBADMSG);
    ck_assert(!store_merge_is_over(&m));
    ck_assert_int_eq(store_merge_give(&m, source, NULL, 0, false), 0);
    ck_assert(store_merge_is_over(&m));
    store_merge_close(&m);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(names_come_in_order),
    SUITE_TEST(what_is_no_piece_is_refused),
};
SUITE_MAIN("store merge", tests)
