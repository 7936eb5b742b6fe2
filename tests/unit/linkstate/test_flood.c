/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/flood.h"

#include "suite.h"

enum { SERVERS = 8, LIMIT = 256, CHUNK_BYTES = FLOOD_CHUNK * sizeof(struct flood_entry) };

struct fixture {
    struct arena arena;
    struct flood flood;
};

static struct fixture fixture_open(void)
{
    struct fixture f;
    struct arena measure = arena_measure();
    flood_init(&f.flood, SERVERS, LIMIT, &measure);
    ck_assert_int_eq(arena_open(&f.arena, arena_used(&measure)), 0);
    flood_init(&f.flood, SERVERS, LIMIT, &f.arena);
    ck_assert(arena_is_full(&f.arena));
    return f;
}

static void fixture_close(struct fixture *f)
{
    flood_close(&f->flood);
    arena_close(&f->arena);
}

static cw_coord coord(cw_server s)
{
    return (cw_coord){0, 0, (uint8_t)s};
}

/* A record of this origin whose seq tells it apart. */
static bool append(struct fixture *f, cw_server origin, uint32_t seq)
{
    struct flood_entry *entry = flood_append(&f->flood, FLOOD_RECORD, CW_LINKS_ALL);
    if (entry == NULL) {
        return false;
    }
    entry->record = (struct record){.origin = coord(origin), .incarnation = 1, .seq = seq};
    flood_note(&f->flood, origin);
    return true;
}

START_TEST(an_empty_log_takes_no_memory)
{
    struct fixture f = fixture_open();
    ck_assert_uint_eq(f.flood.first, 1);
    ck_assert_uint_eq(f.flood.end, 1);
    ck_assert_uint_eq(flood_bytes(&f.flood), 0);
    uint64_t position;
    for (cw_server s = 0; s < SERVERS; s++) {
        cw_coord at = coord(s);
        ck_assert(!flood_find(&f.flood, s, &at, &position));
    }
    fixture_close(&f);
}
END_TEST

START_TEST(entries_come_zeroed_but_for_kind_and_links)
{
    struct fixture f = fixture_open();
    ck_assert(append(&f, 3, 9));
    flood_trim(&f.flood, f.flood.end);
    for (unsigned i = 0; i < 64; i++) { /* over the same place again */
        struct flood_entry *entry = flood_append(&f.flood, FLOOD_SYNCED, cw_links_of(CW_LINK_YP));
        struct flood_entry want;
        memset(&want, 0, sizeof want);
        want.kind = FLOOD_SYNCED;
        want.owed = cw_links_of(CW_LINK_YP);
        ck_assert_mem_eq(entry, &want, sizeof want);
    }
    fixture_close(&f);
}
END_TEST

START_TEST(the_log_grows_keeps_order_and_stops_at_its_limit)
{
    struct fixture f = fixture_open();
    for (uint32_t i = 0; i < 40; i++) { /* so that the first entries and the last share a chunk */
        ck_assert(append(&f, i % SERVERS, i));
    }
    flood_trim(&f.flood, 41);
    for (uint32_t i = 40; i < 40 + LIMIT; i++) {
        ck_assert(append(&f, i % SERVERS, i));
    }
    ck_assert(!append(&f, 0, 1));
    ck_assert_uint_eq(flood_bytes(&f.flood), LIMIT * sizeof(struct flood_entry));
    for (uint64_t p = f.flood.first; p < f.flood.end; p++) {
        ck_assert_uint_eq(flood_at(&f.flood, p)->record.seq, p - 1);
    }
    flood_trim(&f.flood, f.flood.first + 1);
    ck_assert(append(&f, 0, 1));
    ck_assert(!append(&f, 0, 1));
    fixture_close(&f);
}
END_TEST

START_TEST(the_newest_record_of_an_origin_is_found)
{
    struct fixture f = fixture_open();
    uint64_t position;
    cw_coord two = coord(2), three = coord(3);
    ck_assert(append(&f, 2, 1));
    ck_assert(append(&f, 3, 1));
    ck_assert(append(&f, 2, 2));
    ck_assert(flood_find(&f.flood, 2, &two, &position));
    ck_assert_uint_eq(position, 3);
    ck_assert(flood_find(&f.flood, 3, &three, &position));
    ck_assert_uint_eq(position, 2);
    ck_assert(!flood_find(&f.flood, 2, &three, &position)); /* another server's */
    flood_trim(&f.flood, 3);
    ck_assert(!flood_find(&f.flood, 3, &three, &position));
    ck_assert(flood_find(&f.flood, 2, &two, &position));
    flood_trim(&f.flood, 4);
    ck_assert(!flood_find(&f.flood, 2, &two, &position));
    fixture_close(&f);
}
END_TEST

START_TEST(what_is_found_is_a_record)
{
    struct fixture f = fixture_open();
    uint64_t position;
    cw_coord zero = coord(0);
    ck_assert_ptr_nonnull(
        flood_append(&f.flood, FLOOD_ACK, CW_LINKS_ALL)); /* all its bytes are zero, as that coordinate's */
    flood_note(&f.flood, 0);
    ck_assert(!flood_find(&f.flood, 0, &zero, &position));
    fixture_close(&f);
}
END_TEST

START_TEST(a_chunk_that_first_and_last_entries_share_stays)
{
    struct fixture f = fixture_open();
    for (uint32_t i = 1; i <= 20; i++) {
        ck_assert(append(&f, 0, i));
    }
    flood_trim(&f.flood, 21);
    for (uint32_t i = 21; i < 21 + LIMIT; i++) {
        ck_assert(append(&f, 0, i));
    }
    ck_assert(flood_is_full(&f.flood));
    for (uint64_t first = 22; first < f.flood.end; first++) { /* one at a time: everything else is as it was */
        flood_trim(&f.flood, first);
        for (uint64_t p = first; p < f.flood.end; p++) {
            ck_assert_uint_eq(flood_at(&f.flood, p)->record.seq, p);
        }
    }
    ck_assert_uint_eq(flood_bytes(&f.flood), CHUNK_BYTES);
    fixture_close(&f);
}
END_TEST

START_TEST(a_log_gives_back_the_memory_of_what_all_have_read)
{
    struct fixture f = fixture_open();
    for (uint32_t i = 0; i < 65; i++) {
        ck_assert(append(&f, 0, i));
    }
    ck_assert_uint_eq(flood_bytes(&f.flood), 2 * CHUNK_BYTES);
    flood_trim(&f.flood, 63);
    ck_assert_uint_eq(flood_bytes(&f.flood), 2 * CHUNK_BYTES);
    flood_trim(&f.flood, 64);
    ck_assert_uint_eq(flood_bytes(&f.flood), CHUNK_BYTES);
    flood_trim(&f.flood, f.flood.end); /* where it goes on stays */
    ck_assert_uint_eq(flood_bytes(&f.flood), CHUNK_BYTES);
    ck_assert(append(&f, 0, 7)); /* positions go on */
    ck_assert_uint_eq(f.flood.end, 67);
    ck_assert_uint_eq(flood_at(&f.flood, 66)->record.seq, 7);
    while (f.flood.end % FLOOD_CHUNK != 0) {
        ck_assert(!flood_is_full(&f.flood));
        ck_assert(append(&f, 0, 7));
    }
    ck_assert(flood_is_full(&f.flood));
    flood_trim(&f.flood, f.flood.end);
    ck_assert_uint_eq(flood_bytes(&f.flood), 0);
    fixture_close(&f);
}
END_TEST

START_TEST(trimming_beyond_the_end_is_our_mistake)
{
    struct fixture f = fixture_open();
    flood_trim(&f.flood, 2);
}
END_TEST

START_TEST(a_limit_is_a_power_of_two)
{
    struct arena measure = arena_measure();
    struct flood flood;
    flood_init(&flood, SERVERS, 100, &measure);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(an_empty_log_takes_no_memory),
    SUITE_TEST(entries_come_zeroed_but_for_kind_and_links),
    SUITE_TEST(the_log_grows_keeps_order_and_stops_at_its_limit),
    SUITE_TEST(the_newest_record_of_an_origin_is_found),
    SUITE_TEST(what_is_found_is_a_record),
    SUITE_TEST(a_chunk_that_first_and_last_entries_share_stays),
    SUITE_TEST(a_log_gives_back_the_memory_of_what_all_have_read),
    SUITE_ABORTS(trimming_beyond_the_end_is_our_mistake),
    SUITE_ABORTS(a_limit_is_a_power_of_two),
};

SUITE_MAIN("flood", tests)
