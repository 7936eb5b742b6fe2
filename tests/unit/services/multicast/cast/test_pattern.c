/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/pattern.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static const uint8_t id[CAST_ID_BYTES] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

START_TEST(what_is_read_is_right)
{
    struct cast_source from;
    struct cast_sink to;
    struct cast_offer offer = {.kind = CAST_PATTERN, .bytes = 100};
    uint8_t bytes[50];
    memcpy(offer.id, id, sizeof id);
    for (int spoil = 0; spoil < 2; spoil++) {
        ck_assert_int_eq(cast_pattern_source(id, &from), 0);
        ck_assert_int_eq(cast_pattern_accept(NULL, &offer, &to), 0);
        for (uint64_t at = 0; at < 96; at += 48) {
            ck_assert_int_eq(from.read(from.context, at, bytes, sizeof bytes), 0);
            ck_assert(cast_pattern_is(UINT64_C(0x0102030405060708), at, bytes, sizeof bytes));
            bytes[49] ^= (uint8_t)spoil;
            ck_assert_int_eq(to.write(to.context, at, bytes, sizeof bytes), 0);
        }
        ck_assert_int_eq(to.end(to.context, 0), spoil ? -EBADMSG : 0);
        from.close(from.context);
    }
    ck_assert_int_eq(cast_pattern_accept(NULL, &offer, &to), 0);
    ck_assert_int_eq(to.end(to.context, -EPIPE), -EPIPE);
}
END_TEST

/* However it is cut, it is the same bytes. */
START_TEST(a_place_has_its_bytes)
{
    uint8_t whole[200], part[200];
    cast_pattern(7, 0, whole, sizeof whole);
    for (size_t at = 0; at < sizeof whole; at += 8) {
        cast_pattern(7, at, part, sizeof whole - at);
        ck_assert_mem_eq(part, whole + at, sizeof whole - at);
    }
    ck_assert(!cast_pattern_is(8, 0, whole, sizeof whole));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_is_read_is_right), SUITE_TEST(a_place_has_its_bytes)};
SUITE_MAIN("cast_pattern", tests)
