/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/packet.h"

#include "bits.h"
#include "golden_packets.h"
#include "packets.h"
#include "suite.h"

#include <stdlib.h>

/* packet_decode(), which fails the test when a refusal wrote its outputs, or read a byte too many (sanitizers). */
static enum wire_reason decode(const uint8_t *bytes, size_t size, struct packet_head *head, struct packet_exts *exts)
{
    uint8_t *exact = malloc(size ? size : 1);
    memcpy(exact, bytes, size);
    memset(head, 0xa5, sizeof *head);
    memset(exts, 0xa5, sizeof *exts);
    enum wire_reason reason = packet_decode(exact, size, head, exts);
    const uint8_t *h = (const uint8_t *)head, *e = (const uint8_t *)exts;
    for (size_t i = 0; reason != WIRE_OK && i < sizeof *head + sizeof *exts; i++) {
        if ((i < sizeof *head ? h[i] : e[i - sizeof *head]) != 0xa5) {
            ck_abort_msg("refused as %s, but outputs touched", wire_reason_name(reason));
        }
    }
    free(exact);
    return reason;
}

static bool same_head(const struct packet_head *a, const struct packet_head *b)
{
    bool to = a->kind == PACKET_KEY
                  ? a->to.key == b->to.key
                  : memcmp(&a->to.server, &b->to.server, sizeof a->to.server) == 0 && a->to.process == b->to.process;
    return to && a->kind == b->kind && a->flags == b->flags && a->length == b->length && a->hop_limit == b->hop_limit &&
           a->hops == b->hops && a->port == b->port && a->job == b->job && a->source_job == b->source_job &&
           a->source_process == b->source_process && memcmp(&a->source, &b->source, sizeof a->source) == 0 &&
           a->ext_words == b->ext_words;
}

/* docs/wire.md, field by field. */
static void naive_encode(const struct packet_head *h, uint8_t out[static PACKET_HEAD_BYTES])
{
    struct bits b = {.bytes = memset(out, 0, PACKET_HEAD_BYTES)};
    bits_put(&b, 4, 2);
    bits_put(&b, 4, h->kind);
    bits_put(&b, 8, h->flags);
    bits_put(&b, 16, h->length);
    bits_put(&b, 8, h->hop_limit);
    bits_put(&b, 8, h->hops);
    bits_put(&b, 16, h->port);
    bits_put(&b, 32, h->job);
    bits_put(&b, 32, h->source_job);
    bits_put(&b, 32, h->source_process);
    bits_put(&b, 8, h->source.x);
    bits_put(&b, 8, h->source.y);
    bits_put(&b, 8, h->source.z);
    bits_put(&b, 8, h->ext_words);
    if (h->kind == PACKET_KEY) {
        bits_put(&b, 64, h->to.key);
        return;
    }
    bits_put(&b, 8, h->to.server.x);
    bits_put(&b, 8, h->to.server.y);
    bits_put(&b, 8, h->to.server.z);
    bits_put(&b, 8, 0);
    bits_put(&b, 32, h->to.process);
}

START_TEST(golden_bytes_decode_to_what_they_say)
{
    struct packet_head head;
    struct packet_exts exts;
    ck_assert_int_eq(decode(golden_key, sizeof golden_key, &head, &exts), WIRE_OK);
    struct packet_head key = {
        .kind = PACKET_KEY,
        .length = 36,
        .hop_limit = 64,
        .port = 0x1234,
        .job = 0x01020304,
        .source_job = 0x05060708,
        .source_process = 0x090a0b0c,
        .source = {13, 14, 15},
        .to.key = 0x1122334455667788,
    };
    ck_assert(same_head(&head, &key));
    ck_assert_uint_eq(packet_head_bytes(&head), 32);
    for (unsigned type = 0; type < EXT_TYPES; type++) {
        ck_assert_uint_eq(exts.at[type], 0);
    }

    ck_assert_int_eq(decode(golden_call, sizeof golden_call, &head, &exts), WIRE_OK);
    struct packet_head call = {
        .kind = PACKET_SERVER,
        .flags = 0x0a,
        .length = 66,
        .hop_limit = 61,
        .hops = 3,
        .port = 7,
        .job = 9,
        .source_job = 10,
        .source_process = 258,
        .source = {1, 2, 3},
        .ext_words = 8,
        .to = {.server = {4, 5, 6}, .process = 513},
    };
    ck_assert(same_head(&head, &call));
    ck_assert_uint_eq(exts.at[EXT_REQUEST], 32);
    ck_assert_uint_eq(exts.at[EXT_PATH], 56);

    ck_assert_int_eq(decode(golden_answer, sizeof golden_answer, &head, &exts), WIRE_OK);
    ck_assert_uint_eq(head.kind, PACKET_LINK);
    ck_assert_uint_eq(exts.at[EXT_RESPONSE], 32);
    ck_assert_uint_eq(exts.at[EXT_TRACE], 52);
    ck_assert_uint_eq(exts.at[EXT_PATH], 0);

    ck_assert_int_eq(decode(golden_detour, sizeof golden_detour, &head, &exts), WIRE_OK);
    ck_assert_uint_eq(exts.at[EXT_KEY], 32);
    ck_assert_uint_eq(exts.at[EXT_WAYPOINTS], 48);
    cw_key whole = ext_key_read(golden_detour + exts.at[EXT_KEY], head.to.key);
    ck_assert_uint_eq(whole.b[0], 0xa0);
    ck_assert_uint_eq(whole.b[11], 0xab);
    ck_assert_uint_eq(whole.b[12], 0xff);
    ck_assert_uint_eq(whole.b[19], 0xfe);
}
END_TEST

START_TEST(random_packets_round_trip)
{
    struct dice dice = {1};
    for (unsigned round = 0; round < 200000; round++) {
        uint8_t bytes[DICE_PACKET_MAX], naive[PACKET_HEAD_BYTES];
        struct packet_head sent, head;
        struct packet_exts exts;
        unsigned flags = round % 4 ? dice_below(&dice, DICE_FLAGS) : 0;
        uint32_t size = dice_packet(&dice, PACKET_KEY + round % 3, flags, &sent, bytes);
        enum wire_reason reason = decode(bytes, size, &head, &exts);
        if (reason != WIRE_OK) {
            ck_abort_msg("round %u refused: %s", round, wire_reason_name(reason));
        }
        naive_encode(&sent, naive);
        if (!same_head(&sent, &head) || !recodes(bytes, &head, &exts) || memcmp(naive, bytes, sizeof naive) != 0) {
            ck_abort_msg("round %u differs", round);
        }
    }
}
END_TEST

START_TEST(every_truncation_is_refused)
{
    for (unsigned g = 0; g < GOLDENS; g++) {
        uint8_t bytes[128];
        struct packet_head head;
        struct packet_exts exts;
        memcpy(bytes, goldens[g].bytes, goldens[g].size);
        for (size_t size = 0; size < goldens[g].size; size++) {
            ck_assert_int_eq(decode(bytes, size, &head, &exts), WIRE_TRUNCATED);
        }
        bytes[goldens[g].size] = 0;
        ck_assert_int_eq(decode(bytes, goldens[g].size + 1, &head, &exts), WIRE_BAD_LENGTH);

        /* Cut short and the length field says so: only payload may be missing. */
        for (size_t size = 32; size < goldens[g].size; size++) {
            bytes[PACKET_AT_LENGTH] = 0;
            bytes[PACKET_AT_LENGTH + 1] = (uint8_t)size;
            enum wire_reason expected = size < goldens[g].head ? WIRE_BAD_LENGTH : WIRE_OK;
            ck_assert_int_eq(decode(bytes, size, &head, &exts), expected);
        }
    }
}
END_TEST

START_TEST(every_bit_flip_is_refused_or_another_packet)
{
    unsigned refused[WIRE_REASON_COUNT] = {0};
    for (unsigned g = 0; g < GOLDENS; g++) {
        for (size_t bit = 0; bit < 8 * goldens[g].size; bit++) {
            uint8_t bytes[128];
            struct packet_head head;
            struct packet_exts exts;
            memcpy(bytes, goldens[g].bytes, goldens[g].size);
            bytes[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
            enum wire_reason reason = decode(bytes, goldens[g].size, &head, &exts);
            refused[reason]++;
            if (reason == WIRE_OK && !recodes(bytes, &head, &exts)) {
                ck_abort_msg("%s, bit %zu: accepted, but written differently", goldens[g].name, bit);
            }
            if (bit < 4) {
                ck_assert_int_eq(reason, WIRE_BAD_VERSION);
            }
        }
    }
    for (unsigned reason = 0; reason < WIRE_REASON_COUNT; reason++) {
        ck_assert_msg(refused[reason] > 0, "no bit flip leads to %s", wire_reason_name((enum wire_reason)reason));
    }
}
END_TEST

/* One byte of a golden packet changed, and what that is called. */
static const struct {
    const uint8_t *golden;
    size_t size;
    unsigned at;
    uint8_t byte;
    enum wire_reason reason;
} wrongs[] = {
#define WRONG(golden, ...)                 \
    {                                      \
        golden, sizeof golden, __VA_ARGS__ \
    }
    WRONG(golden_key, 0, 0x01, WIRE_BAD_VERSION),
    WRONG(golden_key, 0, 0x11, WIRE_BAD_VERSION),
    WRONG(golden_key, 0, 0x31, WIRE_BAD_VERSION),
    WRONG(golden_key, 0, 0x20, WIRE_BAD_KIND),
    WRONG(golden_key, 0, 0x24, WIRE_BAD_KIND), /* control has decoders of its own */
    WRONG(golden_key, 0, 0x2f, WIRE_BAD_KIND),
    WRONG(golden_key, 1, 0x40, WIRE_TRUNCATED),
    WRONG(golden_key, 1, 0x80, WIRE_OK),        /* the mark has no extension */
    WRONG(golden_key, 1, 0x01, WIRE_TRUNCATED), /* a flag without its extension, and no word for one */
    WRONG(golden_key, 2, 0x01, WIRE_TRUNCATED),
    WRONG(golden_key, 3, 31, WIRE_BAD_LENGTH),
    WRONG(golden_key, 3, 35, WIRE_BAD_LENGTH),
    WRONG(golden_key, 3, 37, WIRE_TRUNCATED),
    WRONG(golden_key, 4, 0, WIRE_BAD_VALUE), /* a budget of 0 */
    WRONG(golden_key, 5, 192, WIRE_BAD_VALUE),
    WRONG(golden_key, 23, 1, WIRE_TRUNCATED), /* 'a' is an optional extension, of 'b' words */
    WRONG(golden_key, 23, 2, WIRE_BAD_LENGTH),
    WRONG(golden_call, 1, 0x0b, WIRE_BAD_VALUE), /* full key where there are no routing bits */
    WRONG(golden_call, 1, 0x02, WIRE_BAD_ORDER), /* one flag less */
    WRONG(golden_call, 1, 0x0c, WIRE_BAD_ORDER), /* another flag */
    WRONG(golden_call, 1, 0x1a, WIRE_TRUNCATED), /* one flag more */
    WRONG(golden_call, 27, 1, WIRE_RESERVED),    /* behind the destination server */
    WRONG(golden_call, 23, 7, WIRE_TRUNCATED),   /* the path ends behind the extension words */
    WRONG(golden_call, 32, 3, WIRE_BAD_ORDER),   /* another type than the flag says */
    WRONG(golden_call, 32, 6, WIRE_BAD_ORDER),
    WRONG(golden_call, 32, 7, WIRE_BAD_KIND),
    WRONG(golden_call, 32, 15, WIRE_BAD_KIND),
    WRONG(golden_call, 32, 16, WIRE_BAD_ORDER), /* an optional one before those that flags name */
    WRONG(golden_call, 56, 1, WIRE_BAD_ORDER),  /* repeated */
    WRONG(golden_call, 57, 3, WIRE_TRUNCATED),
    WRONG(golden_answer, 4, 2, WIRE_BAD_VALUE),    /* kind link crosses one link */
    WRONG(golden_answer, 5, 1, WIRE_BAD_VALUE),    /* and only one */
    WRONG(golden_answer, 1, 0x34, WIRE_BAD_VALUE), /* waypoints on kind link */
    WRONG(golden_answer, 27, 0x80, WIRE_RESERVED),
    WRONG(golden_detour, 4, 1, WIRE_BAD_VALUE), /* 1 + 255 hops */
    WRONG(golden_detour, 0, 0x22, WIRE_BAD_VALUE),
    WRONG(golden_guest, 1, 0x40, WIRE_OK),        /* without the mark */
    WRONG(golden_guest, 1, 0x80, WIRE_BAD_ORDER), /* without the flag of its extension */
    WRONG(golden_guest, 34, 5, WIRE_BAD_VALUE),   /* no such what */
    WRONG(golden_guest, 35, 1, WIRE_RESERVED),    /* flags of the guest */
    WRONG(golden_guest, 33, 2, WIRE_BAD_LENGTH),  /* */
    WRONG(golden_guest, 44, 5, WIRE_BAD_ORDER),   /* an extension of no flag */
    WRONG(golden_guest, 44, 6, WIRE_BAD_ORDER),   /* repeated */
    WRONG(golden_guest, 44, 7, WIRE_BAD_KIND),    /* */
    WRONG(golden_guest, 44, 15, WIRE_BAD_KIND),   /* */
    WRONG(golden_guest, 44, 254, WIRE_OK),        /* still rising */
    WRONG(golden_guest, 44, 255, WIRE_BAD_ORDER), /* twice the same */
    WRONG(golden_guest, 45, 0, WIRE_BAD_LENGTH),  /* no words */
    WRONG(golden_guest, 45, 3, WIRE_BAD_ORDER),   /* a longer one, and what follows is no extension */
    WRONG(golden_guest, 49, 2, WIRE_BAD_ORDER),   /* */
    WRONG(golden_guest, 49, 4, WIRE_TRUNCATED),   /* longer than the words */
    WRONG(golden_guest, 50, 0xff, WIRE_OK),       /* what it says is nobody's business */
#undef WRONG
};

START_TEST(each_wrong_has_its_name)
{
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        uint8_t bytes[128];
        struct packet_head head;
        struct packet_exts exts;
        memcpy(bytes, wrongs[i].golden, wrongs[i].size);
        bytes[wrongs[i].at] = wrongs[i].byte;
        enum wire_reason reason = decode(bytes, wrongs[i].size, &head, &exts);
        ck_assert_msg(reason == wrongs[i].reason, "case %zu: %s instead of %s", i, wire_reason_name(reason),
                      wire_reason_name(wrongs[i].reason));
    }
}
END_TEST

START_TEST(a_hop_is_counted_until_the_limit)
{
    uint8_t bytes[sizeof golden_key];
    struct packet_head head;
    struct packet_exts exts;
    memcpy(bytes, golden_key, sizeof bytes);
    for (unsigned hops = 1; hops <= 64; hops++) {
        ck_assert(packet_hop(bytes));
        ck_assert_int_eq(decode(bytes, sizeof bytes, &head, &exts), WIRE_OK);
        ck_assert_uint_eq(head.hops, hops);
        ck_assert_uint_eq(head.hop_limit, 64 - hops);
    }
    ck_assert(!packet_hop(bytes));
    bytes[PACKET_AT_HOP_LIMIT] = 64;
    bytes[PACKET_AT_HOPS] = 0;
    ck_assert_mem_eq(bytes, golden_key, sizeof bytes);
}
END_TEST

START_TEST(changes_in_place_keep_a_packet_valid)
{
    struct dice dice = {2};
    unsigned made = 0;
    for (unsigned round = 0; round < 20000; round++) {
        uint8_t bytes[DICE_PACKET_MAX];
        struct packet_head head;
        struct packet_exts exts, again;
        uint32_t size = dice_packet(&dice, PACKET_KEY + round % 3, dice_below(&dice, DICE_FLAGS), &head, bytes);
        ck_assert_int_eq(packet_decode(bytes, size, &head, &exts), WIRE_OK);
        for (unsigned change = 0; change < 20; change++) {
            made += change_packet(&dice, bytes, &exts);
            enum wire_reason reason = packet_decode(bytes, size, &head, &again);
            if (reason != WIRE_OK || !recodes(bytes, &head, &again) || memcmp(&exts, &again, sizeof exts) != 0) {
                ck_abort_msg("round %u, change %u: %s", round, change, wire_reason_name(reason));
            }
        }
    }
    ck_assert_uint_gt(made, 20000);
}
END_TEST

START_TEST(sizes_at_the_ends)
{
    static uint8_t bytes[PACKET_BYTES_MAX + 1];
    struct packet_head head = {.kind = PACKET_KEY, .length = PACKET_BYTES_MAX, .hop_limit = 1, .flags = 0x10};
    struct packet_exts exts;
    head.ext_words = (uint8_t)(ext_trace_start(EXT_TRACE_ENTRIES_MAX, bytes + 32) / 4);
    ck_assert_uint_eq(head.ext_words, 253);
    packet_encode(&head, bytes);
    ck_assert_int_eq(packet_decode(bytes, PACKET_BYTES_MAX, &head, &exts), WIRE_OK);
    ck_assert_uint_eq(packet_head_bytes(&head), 32 + 4 * 253);
    ck_assert_int_eq(packet_decode(bytes, PACKET_BYTES_MAX + 1, &head, &exts), WIRE_BAD_LENGTH);
    head.length = 32 + 4 * 253; /* no payload */
    packet_encode(&head, bytes);
    ck_assert_int_eq(packet_decode(bytes, head.length, &head, &exts), WIRE_OK);
    head.length--;
    ck_assert_int_eq(packet_judge(&head), WIRE_BAD_LENGTH);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(golden_bytes_decode_to_what_they_say),
    SUITE_TEST(random_packets_round_trip),
    SUITE_TEST(every_truncation_is_refused),
    SUITE_TEST(every_bit_flip_is_refused_or_another_packet),
    SUITE_TEST(each_wrong_has_its_name),
    SUITE_TEST(a_hop_is_counted_until_the_limit),
    SUITE_TEST(changes_in_place_keep_a_packet_valid),
    SUITE_TEST(sizes_at_the_ends),
};
SUITE_MAIN("packet", tests)
