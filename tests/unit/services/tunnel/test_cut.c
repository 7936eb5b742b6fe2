/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/cut.h"

#include "base/bytes.h"
#include "ip_kit.h"
#include "suite.h"

#include <string.h>

static struct ip_kit_packet drawn;
static struct ip_packet p;
static struct cut cut;
static uint8_t piece[IP_KIT_BYTES];

static enum tunnel_cause begin(size_t room)
{
    ck_assert_int_eq(ip_read(drawn.bytes, drawn.length, &p), TUNNEL_GOOD);
    return cut_begin(&cut, &p, &(struct offload){drawn.partial, drawn.gso_size}, room);
}

/* Each piece is right by itself, and all have the segments of the packet: for any room. */
START_TEST(pieces_are_packets)
{
    struct rng r = {11};
    struct ip_kit_list want = {0}, got = {0};
    for (unsigned i = 0; i < 1500; i++) {
        ip_kit_draw(&r, &(struct ip_kit_wish){.payload_most = i % 10 == 0 ? 0 : 12000}, &drawn);
        size_t room = 60 + (size_t)rng_below(&r, i % 2 == 0 ? 1500 : 9500), bytes = 0;
        if (begin(room) != TUNNEL_GOOD) {
            SUITE_HOLDS(drawn.length > room && (drawn.gso_size == 0 || p.heads + drawn.gso_size > room));
            continue;
        }
        ip_kit_clear(&want);
        ip_kit_clear(&got);
        ip_kit_segments(drawn.bytes, drawn.length, true, drawn.gso_size, false, &want);
        size_t length;
        struct offload o;
        for (size_t said = cut_next_bytes(&cut); (length = cut_next(&cut, piece, &o)) != 0; bytes += length - p.heads) {
            SUITE_HOLDS(length == said && length <= room);
            const char *wrong = ip_kit_wrong(piece, length, o.partial, o.gso_size);
            SUITE_HOLDS(wrong == NULL, "seed 11, packet %u: %s", i, wrong);
            struct ip_packet again;
            SUITE_HOLDS(ip_read(piece, length, &again) == TUNNEL_GOOD && offload_fits(&again, &o));
            ip_kit_segments(piece, length, o.partial, o.gso_size, false, &got);
            said = cut_next_bytes(&cut);
            /* Full but for the last: one segment more would have no room. */
            SUITE_HOLDS(said == 0 || length + drawn.gso_size > room);
        }
        SUITE_HOLDS(bytes == drawn.length - p.heads);
        SUITE_HOLDS(ip_kit_equal(&want, &got), "packet %u", i);
    }
    ip_kit_free(&want);
    ip_kit_free(&got);
}
END_TEST

START_TEST(what_has_room_stays)
{
    struct rng r = {12};
    for (unsigned i = 0; i < 100; i++) {
        ip_kit_draw(&r, &(struct ip_kit_wish){0}, &drawn);
        struct offload o;
        ck_assert_int_eq(begin(drawn.length), TUNNEL_GOOD);
        SUITE_HOLDS(cut_next_bytes(&cut) == drawn.length);
        SUITE_HOLDS(cut_next(&cut, piece, &o) == drawn.length);
        SUITE_HOLDS(o.partial && o.gso_size == drawn.gso_size);
        SUITE_HOLDS(memcmp(piece, drawn.bytes, drawn.length) == 0);
        SUITE_HOLDS(cut_next_bytes(&cut) == 0 && cut_next(&cut, piece, &o) == 0);
    }
}
END_TEST

START_TEST(too_big)
{
    struct rng r = {13};
    ip_kit_draw(&r, &(struct ip_kit_wish){.version = 4, .protocol = 6, .plain_heads = true}, &drawn);
    drawn.gso_size = 0;
    ck_assert_int_eq(begin(drawn.length - 1), TUNNEL_TOO_BIG);
    drawn.gso_size = 1000;
    drawn.length = 20 + 20 + 5000;
    drawn.bytes[20 + 12] = 0x50;
    ip_set_length(drawn.bytes, 20, drawn.length);
    ck_assert_int_eq(begin(1039), TUNNEL_TOO_BIG);
    ck_assert_int_eq(begin(1040), TUNNEL_GOOD);
    ck_assert_uint_eq(cut_next_bytes(&cut), 1040);
    ck_assert_int_eq(begin(3039), TUNNEL_GOOD);
    ck_assert_uint_eq(cut_next_bytes(&cut), 2040);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(pieces_are_packets), SUITE_TEST(what_has_room_stays),
                                          SUITE_TEST(too_big)};
SUITE_MAIN("cut", tests)
