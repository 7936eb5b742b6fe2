/* SPDX-License-Identifier: Apache-2.0 */
/* test_map.c - bits, prefixes, and maps on disk that are torn, of other files, or lie. */
#include "services/multicast/file/map.h"
#include "stops.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static const uint8_t digest[FILES_DIGEST_BYTES] = {1, 2, 3};

START_TEST(pieces_and_prefix)
{
    struct file_map m;
    ck_assert_int_eq(file_map_open(&m, 1000, 64, digest), 0); /* 15 whole ones, and 40 bytes */
    ck_assert_uint_eq(m.pieces, 16);
    ck_assert_uint_eq(file_map_prefix(&m), 0);
    file_map_set(&m, 1);
    file_map_set(&m, 1);
    ck_assert_uint_eq(m.have, 1);
    ck_assert_uint_eq(file_map_prefix(&m), 0);
    file_map_set(&m, 0);
    ck_assert_uint_eq(file_map_prefix(&m), 128);
    for (uint64_t i = 15; i > 1; i--) {
        ck_assert_uint_eq(file_map_prefix(&m), 128);
        file_map_set(&m, i);
    }
    ck_assert_uint_eq(file_map_prefix(&m), 1000);
    ck_assert_uint_eq(m.have, 16);
    ck_assert(!file_map_has(&m, 16));
    file_map_close(&m);
    for (uint64_t bytes = 1; bytes < 40; bytes++) {
        ck_assert_int_eq(file_map_open(&m, bytes, 1, digest), 0);
        file_map_set_all(&m);
        ck_assert_uint_eq(file_map_prefix(&m), bytes);
        ck_assert(file_map_has(&m, bytes - 1) && !file_map_has(&m, bytes));
        file_map_close(&m);
    }
}
END_TEST

START_TEST(on_disk_and_back)
{
    uint8_t bytes[200];
    for (uint64_t length = 1; length < 300; length += 7) {
        struct file_map m, back;
        ck_assert_int_eq(file_map_open(&m, length, 3, digest), 0);
        ck_assert_int_eq(file_map_open(&back, length, 3, digest), 0);
        for (uint64_t i = 0; i < m.pieces; i += 1 + i % 3) {
            file_map_set(&m, i);
        }
        size_t size = file_map_size(&m);
        ck_assert_uint_le(size, sizeof bytes);
        file_map_write(&m, bytes);
        ck_assert_int_eq(file_map_read(&back, bytes, size), 0);
        ck_assert_uint_eq(back.have, m.have);
        ck_assert_uint_eq(back.whole, m.whole);
        for (uint64_t i = 0; i < m.pieces; i++) {
            ck_assert_int_eq(file_map_has(&back, i), file_map_has(&m, i));
        }
        file_map_close(&m);
        file_map_close(&back);
    }
}
END_TEST

START_TEST(maps_that_are_none)
{
    static const uint8_t other[FILES_DIGEST_BYTES] = {9};
    uint8_t bytes[200];
    struct file_map m, back;
    ck_assert_int_eq(file_map_open(&m, 100, 3, digest), 0); /* 34 pieces: bits are left over */
    file_map_set(&m, 5);
    size_t size = file_map_size(&m);
    file_map_write(&m, bytes);
    for (size_t i = 0; i < size * 8; i++) {
        bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        ck_assert_int_eq(file_map_read(&m, bytes, size), -EBADMSG);
        bytes[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    for (size_t n = 0; n < size; n++) {
        ck_assert_int_eq(file_map_read(&m, bytes, n), -EBADMSG);
    }
    ck_assert_uint_eq(m.have, 1);
    static const struct {
        uint64_t bytes;
        uint32_t piece;
        const uint8_t *digest;
    } others[] = {{101, 3, digest}, {100, 4, digest}, {100, 3, other}};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(file_map_open(&back, others[i].bytes, others[i].piece, others[i].digest), 0);
        ck_assert_int_eq(file_map_read(&back, bytes, size), -EBADMSG);
        file_map_close(&back);
    }
    /* A sum that is right over bits that cannot be. */
    m.bit[4] |= 0x80;
    m.have++;
    file_map_write(&m, bytes);
    ck_assert_int_eq(file_map_read(&m, bytes, size), -EBADMSG);
    file_map_close(&m);
}
END_TEST

/* ---- Damage ------------------------------------------------------------------------------------------------------ */

static struct file_map damaged;

/* Pieces 0, 1 and 3 of 16 are there. */
static void fill(void)
{
    ck_assert_int_eq(file_map_open(&damaged, 1000, 64, digest), 0);
    file_map_set(&damaged, 0);
    file_map_set(&damaged, 1);
    file_map_set(&damaged, 3);
}

START_TEST(sound)
{
    fill();
    ck_assert(file_map_audit(&damaged));
    file_map_set_all(&damaged);
    ck_assert(file_map_audit(&damaged));
    file_map_close(&damaged);
}
END_TEST

#define STOPS_AT(name, rule, damage) STOPS(name, rule, fill(); damage; (void)file_map_audit(&damaged))
STOPS_AT(a_piece_is_counted_twice, "files F1: a map counts its pieces right", damaged.have++)
STOPS_AT(a_piece_is_lost, "files F1: a map counts its pieces right", damaged.bit[0] = 3)
STOPS_AT(the_prefix_is_longer_than_all, "files F1: the prefix is among the pieces", damaged.whole = 4)
STOPS_AT(the_prefix_has_a_gap, "files F1: the prefix has no gap", damaged.whole = 3)
STOPS_AT(the_prefix_stops_too_early, "files F1: the prefix is as long as it can be", damaged.whole = 1)

static const struct suite_test tests[] = {
    SUITE_TEST(pieces_and_prefix),
    SUITE_TEST(on_disk_and_back),
    SUITE_TEST(maps_that_are_none),
    SUITE_TEST(sound),
    SUITE_TEST(a_piece_is_counted_twice),
    SUITE_TEST(a_piece_is_lost),
    SUITE_TEST(the_prefix_is_longer_than_all),
    SUITE_TEST(the_prefix_has_a_gap),
    SUITE_TEST(the_prefix_stops_too_early),
};
SUITE_MAIN("file_map", tests)
