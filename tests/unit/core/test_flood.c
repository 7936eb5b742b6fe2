/* SPDX-License-Identifier: Apache-2.0 */
#include "core/flood.h"
#include "suite.h"

static struct flood make(struct arena *arena, uint32_t servers, uint32_t limit)
{
    struct flood f;
    *arena = arena_measure();
    flood_init(&f, servers, limit, arena);
    ck_assert_int_eq(arena_open(arena, arena_used(arena)), 0);
    flood_init(&f, servers, limit, arena);
    return f;
}

static cw_coord coord(cw_server s)
{
    return (cw_coord){0, 0, (uint8_t)s};
}

static bool append_record(struct flood *f, cw_server origin, uint32_t seq)
{
    struct flood_entry *entry = flood_append(f, FLOOD_RECORD, 0x3);
    if (entry == NULL) {
        return false;
    }
    entry->record = (struct record){.origin = coord(origin), .incarnation = 1, .seq = seq};
    flood_note(f, origin);
    return true;
}

START_TEST(keeps_order_and_bytes_while_it_grows_and_is_trimmed)
{
    struct arena arena;
    struct flood f = make(&arena, 8, 4096);
    uint32_t next = 1;
    for (uint32_t seq = 1; seq < 20000; seq++) {
        ck_assert(append_record(&f, seq % 8, seq));
        if (seq % 3 == 0 && f.end - f.first > 1000) {
            flood_trim(&f, f.first + 7);
            next += 7;
        }
    }
    for (uint64_t position = f.first; position < f.end; position++) {
        if (flood_at(&f, position)->record.seq != next++) {
            ck_abort_msg("position %llu", (unsigned long long)position);
        }
    }
    ck_assert_uint_eq(next, 20000);
    flood_trim(&f, f.end);
    ck_assert_uint_eq(flood_bytes(&f), 0); /* what a rush took is given back */
    ck_assert(append_record(&f, 1, 1));
    flood_close(&f);
    arena_close(&arena);
}
END_TEST

START_TEST(refuses_at_its_limit)
{
    struct arena arena;
    struct flood f = make(&arena, 8, 128);
    for (uint32_t seq = 1; seq <= 128; seq++) {
        ck_assert(append_record(&f, 0, seq));
    }
    ck_assert(!append_record(&f, 0, 129));
    ck_assert_uint_eq(f.end - f.first, 128);
    flood_trim(&f, f.first + 1);
    ck_assert(append_record(&f, 0, 129));
    flood_close(&f);
    arena_close(&arena);
}
END_TEST

START_TEST(finds_the_newest_record_of_an_origin)
{
    struct arena arena;
    struct flood f = make(&arena, 8, 128);
    cw_coord two = coord(2), three = coord(3);
    uint64_t position;
    ck_assert(!flood_find(&f, 2, &two, &position));
    ck_assert(append_record(&f, 2, 1));
    ck_assert(append_record(&f, 3, 1));
    ck_assert(append_record(&f, 2, 2));
    ck_assert(flood_find(&f, 2, &two, &position));
    ck_assert_uint_eq(flood_at(&f, position)->record.seq, 2);
    ck_assert(flood_find(&f, 3, &three, &position));
    ck_assert_uint_eq(position, f.first + 1);
    flood_trim(&f, position + 1);
    ck_assert(!flood_find(&f, 3, &three, &position));
    ck_assert(flood_find(&f, 2, &two, &position));
    flood_close(&f);
    arena_close(&arena);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(keeps_order_and_bytes_while_it_grows_and_is_trimmed),
    SUITE_TEST(refuses_at_its_limit),
    SUITE_TEST(finds_the_newest_record_of_an_origin),
};
SUITE_MAIN("flood", tests)
