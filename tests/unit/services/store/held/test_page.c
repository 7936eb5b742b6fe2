/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/page.h"

#include "base/prng.h"
#include "services/store/held/wire.h"
#include "store_town.h"
#include "suite.h"

#include <string.h>

enum { ROOM = 4096, NAMES = 300 };

static struct store_table table;
static uint64_t last_n;

static struct store_register *put(const char *name, bool deleted)
{
    struct store_register *r = store_town_make(name, deleted ? "" : "value", (struct store_tag){{1, 1}, ++last_n});
    r->deleted = deleted;
    ck_assert_int_eq(store_table_put(&table, r), 0);
    return r;
}

static struct store_order order_of(const char *prefix, const char *rest, unsigned most)
{
    return (struct store_order){.op = STORE_OP_LIST,
                                .most = most,
                                .name = {STORE_JOB, (const uint8_t *)prefix, strlen(prefix)},
                                .conditional = rest != NULL,
                                .value = (const uint8_t *)rest,
                                .value_length = rest != NULL ? strlen(rest) : 0};
}

/* The names of a page, with spaces between. */
static const char *text_of(const struct store_page *p)
{
    static char text[ROOM];
    struct store_named n;
    size_t at = 0, out = 0;
    text[0] = '\0';
    while (at < p->length && store_named_next(p->bytes, p->length, &at, &n)) {
        out += (size_t)snprintf(text + out, sizeof text - out, "%s%.*s", out > 0 ? " " : "", (int)n.name.length,
                                (const char *)n.name.bytes);
    }
    return text;
}

static const char *read_all(const char *prefix, const char *rest, unsigned most, size_t room, bool *is_full)
{
    struct store_page *p = store_page_new(room);
    const struct store_order o = order_of(prefix, rest, most);
    ck_assert_ptr_null(store_page_read(p, &table, &o, true));
    const char *text = text_of(p);
    *is_full = p->is_full;
    store_page_free(p);
    return text;
}

START_TEST(what_a_page_holds)
{
    bool full;
    store_table_open(&table, 7);
    ck_assert_str_eq(read_all("", NULL, 10, ROOM, &full), "");
    for (const char *const *name = (const char *const[]){"b", "ab", "a", "abc", "c", NULL}; *name != NULL; name++) {
        put(*name, false);
    }
    put("aa", true);
    struct store_register *other = put("ac", false);
    other->job = 5001;
    ck_assert_str_eq(read_all("", NULL, 10, ROOM, &full), "a ab abc b c");
    ck_assert(!full);
    ck_assert_str_eq(read_all("a", NULL, 10, ROOM, &full), "a ab abc");
    ck_assert_str_eq(read_all("a", NULL, 3, ROOM, &full), "a ab abc");
    ck_assert(!full);
    ck_assert_str_eq(read_all("a", NULL, 2, ROOM, &full), "a ab");
    ck_assert(full);
    ck_assert_str_eq(read_all("a", "b", 2, ROOM, &full), "abc");
    ck_assert(!full);
    ck_assert_str_eq(read_all("a", "", 1, ROOM, &full), "ab");
    ck_assert_str_eq(read_all("", NULL, 10, 2 * STORE_NAMED_HEAD + 3, &full), "a ab");
    ck_assert(full);
    store_table_close(&table);
}
END_TEST

/* More names than one pass over the table finds, in the order in which sorting brings them. */
START_TEST(many_names)
{
    char name[16], wanted[ROOM] = "";
    size_t at = 0;
    bool full;
    struct prng p = prng_stream(3, 0, 1);
    store_table_open(&table, 7);
    for (unsigned i = 0; i < 2 * NAMES; i++) {
        snprintf(name, sizeof name, "n%03u", (unsigned)prng_below(&p, NAMES));
        put(name, false);
    }
    for (unsigned i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "n%03u", i);
        const struct store_name n = {STORE_JOB, (const uint8_t *)name, strlen(name)};
        if (store_table_find(&table, &n) != NULL) {
            at += (size_t)snprintf(wanted + at, sizeof wanted - at, "%s%s", at > 0 ? " " : "", name);
        }
    }
    ck_assert_str_eq(read_all("n", NULL, NAMES, ROOM * 4, &full), wanted);
    ck_assert(!full);
    store_table_close(&table);
}
END_TEST

/* Store rule 8: also a delete that is under way, of a value that may stay; and what was read before stays read. */
START_TEST(a_write_under_way_is_waited_for)
{
    int writes[2];
    store_table_open(&table, 7);
    put("a", false);
    put("b", true)->under_way = &writes[0];
    put("c", false)->under_way = &writes[1];
    put("d", false);
    struct store_page *p = store_page_new(ROOM);
    const struct store_order o = order_of("", NULL, 10);
    const struct store_register *waits = store_page_read(p, &table, &o, true);
    ck_assert_ptr_eq(waits->under_way, &writes[0]);
    ck_assert_str_eq(text_of(p), "a");
    put("b", true);
    waits = store_page_read(p, &table, &o, true);
    ck_assert_ptr_eq(waits->under_way, &writes[1]);
    put("a", true);
    put("c", false);
    ck_assert_ptr_null(store_page_read(p, &table, &o, true));
    ck_assert_str_eq(text_of(p), "a c d");
    store_page_free(p);
    store_table_close(&table);
}
END_TEST

/* Store rule 36: by rising version, up to where all writes are over; under another ballot all, and what was deleted. */
START_TEST(changes)
{
    uint8_t bytes[STORE_CURSOR_BYTES];
    const struct store_cursor now = {{1, 1}, 4};
    struct store_order o = {.op = STORE_OP_WATCH, .name = {STORE_JOB, (const uint8_t *)"{t}", 3}, .conditional = true};
    const char *const names[] = {"{t}c", "{t}a", "{t}b", "other", "{t}d"};
    store_table_open(&table, 7);
    last_n = 0;
    for (unsigned i = 0; i < 5; i++) {
        (void)put(names[i], i == 1);
    }
    ck_assert_uint_eq(store_page_newest(&table, &o), 5); /* behind what may be told so far, which is 4 */
    struct store_page *p = store_page_new(ROOM);
    struct store_cursor to = store_page_changes(p, &table, &o, now);
    ck_assert_str_eq(text_of(p), "{t}c {t}b"); /* who begins is not told of what is gone */
    ck_assert_uint_eq(to.n, 4);
    store_page_free(p);
    o.value = bytes;
    o.value_length = STORE_CURSOR_BYTES;
    store_cursor_encode((struct store_cursor){{1, 1}, 1}, bytes);
    p = store_page_new(ROOM);
    (void)store_page_changes(p, &table, &o, now);
    ck_assert_str_eq(text_of(p), "{t}a {t}b");
    store_page_free(p);
    store_cursor_encode((struct store_cursor){{1, 2}, 4}, bytes);
    p = store_page_new(2 * STORE_NAMED_HEAD + 8);
    to = store_page_changes(p, &table, &o, now);
    ck_assert_str_eq(text_of(p), "{t}c {t}a");
    ck_assert_uint_eq(to.n, 2); /* of the leader that told it: the next page begins there */
    ck_assert_int_eq(store_ballot_compare(to.ballot, now.ballot), 0);
    store_page_free(p);
    store_table_close(&table);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_a_page_holds),
    SUITE_TEST(many_names),
    SUITE_TEST(a_write_under_way_is_waited_for),
    SUITE_TEST(changes),
};
SUITE_MAIN("store page", tests)
