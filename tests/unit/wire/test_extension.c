/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/extension.h"

#include "bits.h"
#include "packets.h"
#include "suite.h"

#include <stdlib.h>

/* By hand from docs/wire.md; the last extension of each type is as large as it may be. */
static const uint8_t key_bytes[] = {0x00, 0x04, 0x00, 0x00, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static const uint8_t request_bytes[] = {
    0x01, 0x06, 0x12, 0x34, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x06,
    0x01, 0x02, 0x03, 0x00, 0xaa, 0xbb, 0xcc, 0xdd, 0x00, 0x00, 0x03, 0xe8,
};
static const uint8_t response_bytes[] = {
    0x02, 0x05, 0x00, 0x0d, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00,
    0x00, 0x06, 0x01, 0x02, 0x03, 0x00, 0xaa, 0xbb, 0xcc, 0xdd,
};
/* 12 links 5 0 0 0 0 0 0 0 0 1 | 4 3: 00 101 000 .. 000 001 and 00 100 011 000 .. */
static const uint8_t path_bytes[] = {0x03, 0x03, 0x01, 0x0c, 0x28, 0x00, 0x00, 0x01, 0x23, 0x00, 0x00, 0x00};
static const uint8_t trace_bytes[] = {
    0x04, 0x05, 0x00, 0x01, 0x09, 0x08, 0x07, 0x27, 0x00, 0x01,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x07, 0xfe, 0x00, 0x01, 0x02,
};
static const uint8_t waypoints_bytes[] = {0x05, 0x03, 0x00, 0x02, 0x01, 0x02, 0x03, 0x00, 0x04, 0x05, 0x06, 0x00};

static const uint8_t guest_bytes[] = {0x06, 0x03, 0x04, 0x00, 0x00, 0x00, 0x01, 0x02, 0x10, 0x20, 0x30, 0x40};

static const struct {
    enum ext_type type;
    const uint8_t *bytes;
    uint32_t size;
} written[] = {
    {EXT_KEY, key_bytes, sizeof key_bytes},
    {EXT_REQUEST, request_bytes, sizeof request_bytes},
    {EXT_RESPONSE, response_bytes, sizeof response_bytes},
    {EXT_PATH, path_bytes, sizeof path_bytes},
    {EXT_TRACE, trace_bytes, sizeof trace_bytes},
    {EXT_WAYPOINTS, waypoints_bytes, sizeof waypoints_bytes},
    {EXT_GUEST, guest_bytes, sizeof guest_bytes},
};

static enum wire_reason check(const uint8_t *bytes, size_t size, enum ext_type type)
{
    uint8_t *exact = malloc(size ? size : 1);
    memcpy(exact, bytes, size);
    enum wire_reason reason = ext_check(exact, size, type);
    free(exact);
    return reason;
}

START_TEST(golden_bytes_decode_to_what_they_say)
{
    for (unsigned type = 0; type < EXT_TYPES; type++) {
        ck_assert_int_eq(check(written[type].bytes, written[type].size, written[type].type), WIRE_OK);
        ck_assert_uint_eq(ext_bytes(written[type].bytes), written[type].size);
    }
    cw_key key = ext_key_read(key_bytes, 0x0d0e0f1011121314);
    for (unsigned i = 0; i < CW_KEY_BYTES; i++) {
        ck_assert_uint_eq(key.b[i], i + 1);
    }
    struct ext_request request = ext_request_read(request_bytes);
    ck_assert_uint_eq(request.port, 0x1234);
    ck_assert_uint_eq(request.job, 5);
    ck_assert_uint_eq(request.process, 6);
    ck_assert_uint_eq(request.server.z, 3);
    ck_assert_uint_eq(request.call, 0xaabbccdd);
    ck_assert_uint_eq(request.limit_us, 1000);
    struct ext_response response = ext_response_read(response_bytes);
    ck_assert_uint_eq(response.status, 13);
    ck_assert_uint_eq(response.job, 5);
    ck_assert_uint_eq(response.process, 6);
    ck_assert_uint_eq(response.server.x, 1);
    ck_assert_uint_eq(response.call, 0xaabbccdd);
    struct ext_path path;
    ext_path_read(path_bytes, &path);
    ck_assert_uint_eq(path.mode, EXT_PATH_RETRACE);
    ck_assert_uint_eq(path.hops, 12);
    ck_assert_uint_eq(path.places, 20);
    ck_assert_uint_eq(path.link[0], 5);
    ck_assert_uint_eq(path.link[9], 1);
    ck_assert_uint_eq(path.link[10], 4);
    ck_assert_uint_eq(path.link[11], 3);
    struct ext_trace_entry entry = ext_trace_get(trace_bytes, 0);
    ck_assert_uint_eq(entry.server.x, 9);
    ck_assert_uint_eq(entry.in, 2);
    ck_assert_uint_eq(entry.out, EXT_TRACE_OUT_DROPPED);
    ck_assert_uint_eq(entry.wait_ns, 65536);
    ck_assert_uint_eq(entry.job, 7);
    ck_assert_uint_eq(entry.verdict, 0xfe);
    ck_assert_uint_eq(entry.queued, 0x102);
    struct ext_waypoints waypoints;
    ext_waypoints_read(waypoints_bytes, &waypoints);
    ck_assert_uint_eq(waypoints.next, 0);
    ck_assert_uint_eq(waypoints.count, 2);
    ck_assert_uint_eq(waypoints.at[1].y, 5);
    struct ext_guest guest = ext_guest_read(guest_bytes);
    ck_assert_uint_eq(guest.what, EXT_GUEST_MOVED);
    ck_assert_uint_eq(guest.meant, 0x102);
    ck_assert_uint_eq(guest.life, 0x10203040);
}
END_TEST

START_TEST(random_extensions_round_trip)
{
    struct dice dice = {3};
    for (unsigned round = 0; round < 300000; round++) {
        uint8_t bytes[PACKET_EXT_BYTES_MAX], again[PACKET_EXT_BYTES_MAX];
        enum ext_type type = (enum ext_type)(round % EXT_TYPES);
        memset(bytes, 0x5a, sizeof bytes); /* the writers leave no byte of theirs as it was, and all others */
        uint32_t size = dice_ext(&dice, type, bytes);
        for (size_t i = size; i < sizeof bytes && i < size + 16; i++) {
            if (bytes[i] != 0x5a) {
                ck_abort_msg("round %u, type %u: wrote behind its end", round, type);
            }
        }
        if (check(bytes, size, type) != WIRE_OK || ext_bytes(bytes) != size || recode_ext(bytes, type, again) != size ||
            memcmp(bytes, again, size) != 0) {
            ck_abort_msg("round %u, type %u", round, type);
        }
    }
}
END_TEST

/* The writers against the pictures of docs/wire.md. */
START_TEST(written_as_drawn)
{
    struct dice dice = {4};
    for (unsigned round = 0; round < 10000; round++) {
        uint8_t bytes[64], naive[64] = {0};
        struct bits b = {.bytes = naive};
        struct ext_request q = dice_request(&dice);
        ext_request_write(&q, bytes);
        const struct {
            unsigned width;
            uint64_t value;
        } request[] = {{8, 1},          {8, 6},          {16, q.port}, {32, q.job},  {32, q.process}, {8, q.server.x},
                       {8, q.server.y}, {8, q.server.z}, {8, 0},       {32, q.call}, {32, q.limit_us}};
        for (unsigned i = 0; i < sizeof request / sizeof *request; i++) {
            bits_put(&b, request[i].width, request[i].value);
        }
        ck_assert_mem_eq(bytes, naive, 24);

        b = (struct bits){.bytes = memset(naive, 0, sizeof naive)};
        struct ext_path path = dice_path(&dice);
        uint32_t size = ext_path_write(&path, bytes);
        bits_put(&b, 8, 3);
        bits_put(&b, 8, 1 + path.places / 10u);
        bits_put(&b, 8, path.mode);
        bits_put(&b, 8, path.hops);
        for (unsigned i = 0; i < path.places; i++) {
            if (i % 10 == 0) {
                bits_put(&b, 2, 0);
            }
            bits_put(&b, 3, i < path.hops ? path.link[i] : 0);
        }
        ck_assert_uint_eq(b.count, 8 * size);
        ck_assert_mem_eq(bytes, naive, size);

        b = (struct bits){.bytes = memset(naive, 0, sizeof naive)};
        struct ext_trace_entry e = dice_trace_entry(&dice);
        size = ext_trace_start(2, bytes);
        ck_assert(ext_trace_append(bytes, &e));
        const struct {
            unsigned width;
            uint64_t value;
        } trace[] = {{8, 4},          {8, 9},          {8, 0},    {8, 1},        {8, e.server.x},
                     {8, e.server.y}, {8, e.server.z}, {4, e.in}, {4, e.out},    {32, e.wait_ns},
                     {32, e.job},     {8, e.verdict},  {8, 0},    {16, e.queued}};
        for (unsigned i = 0; i < sizeof trace / sizeof *trace; i++) {
            bits_put(&b, trace[i].width, trace[i].value);
        }
        ck_assert_mem_eq(bytes, naive, size);
    }
}
END_TEST

START_TEST(every_truncation_and_other_type_is_refused)
{
    for (unsigned i = 0; i < EXT_TYPES; i++) {
        for (uint32_t size = 0; size < written[i].size; size++) {
            ck_assert_int_eq(check(written[i].bytes, size, written[i].type), WIRE_TRUNCATED);
        }
        uint8_t longer[64] = {0};
        memcpy(longer, written[i].bytes, written[i].size);
        ck_assert_int_eq(check(longer, sizeof longer, written[i].type), WIRE_OK); /* more may follow */
        for (unsigned type = 0; type < 256; type++) {
            longer[0] = (uint8_t)type;
            bool may_be = type < EXT_TYPES || type >= EXT_OPTIONAL;
            enum wire_reason expected = type == i ? WIRE_OK : may_be ? WIRE_BAD_ORDER : WIRE_BAD_KIND;
            ck_assert_int_eq(check(longer, sizeof longer, written[i].type), expected);
        }
    }
    ck_assert_int_eq(check((const uint8_t[]){7, 1, 0, 0}, 4, EXT_TYPES), WIRE_BAD_KIND);
}
END_TEST

START_TEST(every_length_but_its_own_is_refused)
{
    static const uint8_t zero[PACKET_EXT_BYTES_MAX];
    for (unsigned words = 0; words < 256; words++) {
        uint8_t bytes[PACKET_EXT_BYTES_MAX];
        memcpy(bytes, zero, sizeof bytes);
        bytes[EXT_AT_WORDS] = (uint8_t)words;
        for (unsigned type = 0; type < EXT_TYPES; type++) {
            bytes[EXT_AT_TYPE] = (uint8_t)type;
            bool fits[EXT_TYPES] = {
                words == 4,
                words == 6,
                words == 5,
                words >= 2 && words <= 8,
                words >= 5 && words <= 253 && (words - 1) % 4 == 0,
                words >= 2 && words <= 17,
                words == 3,
            };
            bytes[3] = (uint8_t)(type == EXT_WAYPOINTS ? words - 1 : 0);
            ck_assert_int_eq(check(bytes, sizeof bytes, (enum ext_type)type), fits[type] ? WIRE_OK : WIRE_BAD_LENGTH);
        }
    }
}
END_TEST

START_TEST(every_bit_flip_is_refused_or_another_value)
{
    for (unsigned i = 0; i < EXT_TYPES; i++) {
        for (uint32_t bit = 0; bit < 8 * written[i].size; bit++) {
            uint8_t bytes[64], again[PACKET_EXT_BYTES_MAX];
            memcpy(bytes, written[i].bytes, written[i].size);
            bytes[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
            if (check(bytes, written[i].size, written[i].type) != WIRE_OK) {
                continue;
            }
            ck_assert_uint_eq(recode_ext(bytes, written[i].type, again), written[i].size);
            ck_assert_mem_eq(bytes, again, written[i].size);
        }
    }
}
END_TEST

/* Only heads are looked at: type, words, and whether they are there. */
START_TEST(optional_ones_are_skipped_by_their_length)
{
    for (unsigned type = 0; type < 256; type++) {
        for (unsigned words = 0; words < 256; words++) {
            uint8_t bytes[12] = {(uint8_t)type, (uint8_t)words, 0xff, 0xff, 0xff};
            for (unsigned least = EXT_OPTIONAL; least < 258; least += 80) {
                enum wire_reason expected = type >= EXT_TYPES && type < EXT_OPTIONAL ? WIRE_BAD_KIND
                                            : type < least                           ? WIRE_BAD_ORDER
                                            : words == 0                             ? WIRE_BAD_LENGTH
                                            : words > 3                              ? WIRE_TRUNCATED
                                                                                     : WIRE_OK;
                ck_assert_int_eq(ext_check_optional(bytes, sizeof bytes, least), expected);
            }
        }
    }
    static const uint8_t one[] = {EXT_OPTIONAL, 1, 0, 0};
    for (size_t size = 0; size < sizeof one; size++) {
        ck_assert_int_eq(ext_check_optional(one, size, EXT_OPTIONAL), WIRE_TRUNCATED);
    }
}
END_TEST

/* One byte of a golden extension changed, and what that is called. */
static const struct {
    enum ext_type type;
    unsigned at;
    uint8_t byte;
    enum wire_reason reason;
} wrongs[] = {
    {EXT_KEY, 2, 0x80, WIRE_RESERVED},        {EXT_KEY, 3, 0x01, WIRE_RESERVED},
    {EXT_REQUEST, 15, 0x01, WIRE_RESERVED},   {EXT_RESPONSE, 15, 0x80, WIRE_RESERVED},
    {EXT_PATH, 2, 3, WIRE_BAD_VALUE},         {EXT_PATH, 2, 2, WIRE_BAD_COUNT}, /* overflow and yet not full */
    {EXT_PATH, 3, 21, WIRE_BAD_COUNT},                                          /* more than there are places */
    {EXT_PATH, 3, 11, WIRE_RESERVED},                                           /* a link behind the last */
    {EXT_PATH, 3, 0, WIRE_RESERVED},                                            /* */
    {EXT_PATH, 4, 0x68, WIRE_RESERVED},                                         /* the spare bits of a word */
    {EXT_PATH, 8, 0x80, WIRE_RESERVED},                                         /* */
    {EXT_PATH, 4, 0x30, WIRE_BAD_VALUE},                                        /* link 6 */
    {EXT_PATH, 7, 0x07, WIRE_BAD_VALUE},   /* link 7, in the last place of a word */
    {EXT_PATH, 11, 0x01, WIRE_RESERVED},   /* the last place of all */
    {EXT_TRACE, 2, 0x01, WIRE_RESERVED},   /* */
    {EXT_TRACE, 3, 2, WIRE_BAD_COUNT},     /* */
    {EXT_TRACE, 3, 0, WIRE_RESERVED},      /* an entry that is not filled, and not zero */
    {EXT_TRACE, 7, 0x77, WIRE_BAD_VALUE},  /* in 7 */
    {EXT_TRACE, 7, 0x28, WIRE_BAD_VALUE},  /* out 8 */
    {EXT_TRACE, 17, 0x01, WIRE_RESERVED},  /* */
    {EXT_WAYPOINTS, 2, 3, WIRE_BAD_VALUE}, /* next behind the last leg */
    {EXT_WAYPOINTS, 3, 1, WIRE_BAD_COUNT}, /* */
    {EXT_WAYPOINTS, 3, 3, WIRE_BAD_COUNT}, /* */
    {EXT_WAYPOINTS, 3, 0, WIRE_BAD_COUNT}, /* */
    {EXT_WAYPOINTS, 7, 1, WIRE_RESERVED},  /* */
    {EXT_WAYPOINTS, 11, 0x80, WIRE_RESERVED}, {EXT_GUEST, 2, EXT_GUEST_WHATS, WIRE_BAD_VALUE},
    {EXT_GUEST, 3, 0x01, WIRE_RESERVED},      {EXT_GUEST, 3, 0x80, WIRE_RESERVED},
};

START_TEST(each_wrong_has_its_name)
{
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        uint8_t bytes[64];
        uint32_t size = written[wrongs[i].type].size;
        memcpy(bytes, written[wrongs[i].type].bytes, size);
        bytes[wrongs[i].at] = wrongs[i].byte;
        enum wire_reason reason = check(bytes, size, wrongs[i].type);
        ck_assert_msg(reason == wrongs[i].reason, "case %zu: %s instead of %s", i, wire_reason_name(reason),
                      wire_reason_name(wrongs[i].reason));
    }
}
END_TEST

/* Every link value in every place, and in the place behind the last. */
START_TEST(each_place_of_a_path_is_judged)
{
    for (unsigned hops = 0; hops <= EXT_PATH_LINKS_MAX; hops++) {
        struct ext_path path = {.mode = EXT_PATH_RECORD, .hops = (uint8_t)hops, .places = EXT_PATH_LINKS_MAX};
        for (unsigned i = 0; i < hops; i++) {
            path.link[i] = (cw_link)(i % CW_LINK_COUNT);
        }
        for (unsigned place = 0; place < EXT_PATH_LINKS_MAX; place++) {
            for (unsigned value = 0; value < 8; value++) {
                uint8_t bytes[32], naive[32] = {0};
                ext_path_write(&path, bytes);
                struct bits b = {.bytes = naive, .count = 32 + 2 + place / 10 * 32 + place % 10 * 3};
                bits_put(&b, 3, 7);
                for (unsigned i = 4; i < 32; i++) {
                    bytes[i] &= (uint8_t)~naive[i];
                }
                b = (struct bits){.bytes = bytes, .count = b.count - 3};
                bits_put(&b, 3, value);
                enum wire_reason expected =
                    place < hops ? (value < 6 ? WIRE_OK : WIRE_BAD_VALUE) : (value == 0 ? WIRE_OK : WIRE_RESERVED);
                if (ext_check(bytes, sizeof bytes, EXT_PATH) != expected) {
                    ck_abort_msg("hops %u, place %u, value %u", hops, place, value);
                }
            }
        }
    }
}
END_TEST

START_TEST(a_path_walks_back)
{
    for (unsigned places = 10; places <= EXT_PATH_LINKS_MAX; places += 10) {
        for (unsigned hops = 0; hops <= places; hops++) {
            uint8_t ext[32];
            cw_link gone[EXT_PATH_LINKS_MAX], link = 77;
            struct ext_path empty = {.places = (uint8_t)places};
            struct dice dice = {hops};
            uint32_t size = ext_path_write(&empty, ext);
            ck_assert(!ext_path_peek(ext, &link)); /* not in mode record */
            for (unsigned i = 0; i < hops; i++) {
                gone[i] = (cw_link)dice_below(&dice, CW_LINK_COUNT);
                ext_path_append(ext, gone[i]);
                ext_path_pop(ext);    /* nothing */
                ext_path_forget(ext); /* nothing */
            }
            ck_assert_uint_eq(ext_path_hops(ext), hops);
            ck_assert(ext_path_turn(ext));
            ck_assert(!ext_path_turn(ext));
            for (unsigned i = hops; i-- > 0;) {
                ext_path_append(ext, 1); /* nothing */
                ck_assert(ext_path_peek(ext, &link));
                ck_assert_uint_eq(link, gone[i] ^ 1u);
                ext_path_pop(ext);
                ck_assert_int_eq(ext_check(ext, size, EXT_PATH), WIRE_OK);
            }
            link = 77;
            ck_assert(!ext_path_peek(ext, &link));
            ck_assert_uint_eq(link, 77);
            ext_path_pop(ext); /* nothing */
            empty.mode = EXT_PATH_RETRACE;
            uint8_t walked[32];
            ext_path_write(&empty, walked);
            ck_assert_mem_eq(ext, walked, size);
        }
    }
}
END_TEST

START_TEST(a_path_that_does_not_fit_says_so)
{
    uint8_t ext[32];
    struct ext_path path = {.places = 10};
    cw_link link;
    uint32_t size = ext_path_write(&path, ext);
    for (unsigned i = 0; i < 12; i++) {
        ext_path_append(ext, CW_LINK_ZM);
        ck_assert_int_eq(ext_path_mode(ext), i < 10 ? EXT_PATH_RECORD : EXT_PATH_OVERFLOW);
        ck_assert_int_eq(ext_check(ext, size, EXT_PATH), WIRE_OK);
    }
    ck_assert(!ext_path_turn(ext));
    ck_assert(!ext_path_peek(ext, &link));
    ext_path_read(ext, &path);
    ck_assert_uint_eq(path.hops, 10);

    path.mode = EXT_PATH_RETRACE; /* a link has died on the way back */
    ext_path_write(&path, ext);
    ext_path_forget(ext);
    ck_assert_int_eq(ext_check(ext, size, EXT_PATH), WIRE_OK);
    ck_assert_uint_eq(ext_path_hops(ext), 0);
    ck_assert(!ext_path_peek(ext, &link));
}
END_TEST

START_TEST(every_trace_entry_is_checked)
{
    enum { PLACES = 3 };
    uint8_t ext[PACKET_EXT_BYTES_MAX];
    for (unsigned i = 0; i < PLACES; i++) {
        static const struct {
            unsigned at;
            uint8_t byte;
            enum wire_reason reason;
        } wrong[] = {{3, 0x70, WIRE_BAD_VALUE}, {3, 0x08, WIRE_BAD_VALUE}, {13, 0x01, WIRE_RESERVED}};
        for (unsigned w = 0; w < sizeof wrong / sizeof *wrong; w++) {
            uint32_t size = ext_trace_start(PLACES, ext);
            for (unsigned n = 0; n < PLACES; n++) {
                ck_assert(ext_trace_append(ext, &(struct ext_trace_entry){.in = 1, .out = 2, .job = 3}));
            }
            ck_assert_int_eq(check(ext, size, EXT_TRACE), WIRE_OK);
            ext[EXT_AT_BODY + i * EXT_TRACE_ENTRY_WORDS * EXT_WORD_BYTES + wrong[w].at] = wrong[w].byte;
            ck_assert_int_eq(check(ext, size, EXT_TRACE), wrong[w].reason);
        }
    }
}
END_TEST

START_TEST(a_trace_fills_up)
{
    for (unsigned places = 1; places <= EXT_TRACE_ENTRIES_MAX; places++) {
        uint8_t ext[PACKET_EXT_BYTES_MAX], before[PACKET_EXT_BYTES_MAX];
        uint32_t size = ext_trace_start(places, ext);
        struct ext_trace_entry entry = {.in = EXT_TRACE_IN_MADE_HERE, .out = 1, .job = 5};
        ck_assert_uint_eq(size, 4 + 16 * places);
        ck_assert_uint_eq(ext_trace_places(ext), places);
        for (unsigned i = 0; i < places; i++) {
            entry.wait_ns = i;
            ck_assert(ext_trace_append(ext, &entry));
            ck_assert_int_eq(ext_check(ext, size, EXT_TRACE), WIRE_OK);
            ck_assert_uint_eq(ext_trace_entries(ext), i + 1);
            ck_assert_uint_eq(ext_trace_get(ext, i).wait_ns, i);
        }
        memcpy(before, ext, size);
        ck_assert(!ext_trace_append(ext, &entry));
        ck_assert_mem_eq(before, ext, size);
    }
}
END_TEST

START_TEST(waypoints_are_passed_in_turn)
{
    for (unsigned count = 1; count <= EXT_WAYPOINTS_MAX; count++) {
        uint8_t ext[PACKET_EXT_BYTES_MAX];
        cw_coord server = {9, 9, 9};
        struct ext_waypoints w = {.count = (uint8_t)count};
        for (unsigned i = 0; i < count; i++) {
            w.at[i] = (cw_coord){(uint8_t)i, 1, 2};
        }
        uint32_t size = ext_waypoints_write(&w, ext);
        ck_assert_uint_eq(size, 4 + 4 * count);
        for (unsigned i = 0; i < count; i++) {
            ck_assert(ext_waypoints_peek(ext, &server));
            ck_assert_uint_eq(server.x, i);
            ext_waypoints_advance(ext);
            ck_assert_int_eq(ext_check(ext, size, EXT_WAYPOINTS), WIRE_OK);
        }
        ext_waypoints_advance(ext); /* nothing */
        ck_assert(!ext_waypoints_peek(ext, &server));
        ck_assert_uint_eq(server.x, count - 1);
        ck_assert_int_eq(ext_check(ext, size, EXT_WAYPOINTS), WIRE_OK);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(golden_bytes_decode_to_what_they_say),
    SUITE_TEST(random_extensions_round_trip),
    SUITE_TEST(written_as_drawn),
    SUITE_TEST(every_truncation_and_other_type_is_refused),
    SUITE_TEST(every_length_but_its_own_is_refused),
    SUITE_TEST(every_bit_flip_is_refused_or_another_value),
    SUITE_TEST(optional_ones_are_skipped_by_their_length),
    SUITE_TEST(each_wrong_has_its_name),
    SUITE_TEST(each_place_of_a_path_is_judged),
    SUITE_TEST(a_path_walks_back),
    SUITE_TEST(a_path_that_does_not_fit_says_so),
    SUITE_TEST(every_trace_entry_is_checked),
    SUITE_TEST(a_trace_fills_up),
    SUITE_TEST(waypoints_are_passed_in_turn),
};
SUITE_MAIN("extension", tests)
