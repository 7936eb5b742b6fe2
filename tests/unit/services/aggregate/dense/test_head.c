/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/head.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static uint8_t bytes[MESSAGE_BYTES_MOST], again[MESSAGE_BYTES_MOST];

/* Of two records without a vector: server, ticket. */
static const uint8_t records[2 * MESSAGE_RECORD_BYTES] = {0, 7, 1, 2, 3, 4, 0, 9, 1};

static struct message sample(enum message_kind kind)
{
    struct message m = {.kind = kind, .run = {5, UINT64_C(0x1122334455667788), 9}, .attempt = 3, .tree = 4};
    m.position = 70000;
    m.block = 12;
    m.passed = 6;
    m.from = 8;
    m.runs = 2;
    m.deal[0] = (struct deal_run){1, 7};
    m.deal[1] = (struct deal_run){100, 1};
    m.ticket = UINT32_C(0x99aabbcc);
    m.spec = (struct spec){CW_NUMBER_FLOAT32, CW_COMBINE_SUM, CW_REDUCE_WITHOUT, 1000};
    m.each = 250;
    m.window = 8;
    m.ahead = 20;
    m.dealt = 120;
    m.servers = 70;
    m.members[0] = UINT64_MAX;
    m.members[1] = 0x3f;
    m.dead[1] = 1;
    m.status = ECONNRESET;
    m.who = 69;
    m.job = 77;
    m.digest = 123456789;
    m.name = "a name";
    m.name_length = 6;
    m.records = records;
    m.record_count = 2;
    m.first = 5;
    m.piece = 2;
    m.pieces = 3;
    return m;
}

/* Each kind comes back as it was, to the byte; and no shorter or longer one is taken. */
START_TEST(there_and_back)
{
    for (enum message_kind kind = MESSAGE_BLOCK; kind <= MESSAGE_SPREAD; kind++) {
        struct message m = sample(kind), out;
        size_t size = message_size(&m);
        message_encode(&m, bytes);
        size += kind == MESSAGE_RESULT; /* a RESULT has elements, which are not of the codec */
        SUITE_HOLDS(message_decode(bytes, size, &out) == 0, "kind %d", kind);
        size -= kind == MESSAGE_RESULT;
        SUITE_HOLDS(message_size(&out) == size, "kind %d", kind);
        message_encode(&out, again);
        SUITE_HOLDS(memcmp(bytes, again, size) == 0, "kind %d", kind);
        SUITE_HOLDS(run_name_equal(&m.run, &out.run) && out.attempt == 3, "kind %d", kind);
        for (size_t cut = 0; cut < size; cut++) {
            SUITE_HOLDS(message_decode(bytes, cut, &out) == -EPROTO, "kind %d cut to %zu", kind, cut);
        }
        SUITE_HOLDS(kind == MESSAGE_RESULT || message_decode(bytes, size + 1, &out) == -EPROTO, "kind %d", kind);
    }
}
END_TEST

/* Records of several members: their vectors too, when they are small; and nothing that cannot be. */
START_TEST(together)
{
    static const uint8_t vector[12] = {1, 2, 3};
    static uint8_t put[2 * (MESSAGE_RECORD_BYTES + sizeof vector)];
    struct message m = sample(MESSAGE_GATHER), out;
    m.spec.elements = 3;
    m.records = put;
    for (unsigned i = 0; i < 2; i++) {
        const struct message_record record = {.server = 4000 + i, .ticket = 5 + i, .elements = vector};
        ck_assert_uint_eq(message_record_size(&m), MESSAGE_RECORD_BYTES + sizeof vector);
        message_record_put(&m, &record, put + i * message_record_size(&m));
    }
    message_encode(&m, bytes);
    ck_assert_int_eq(message_decode(bytes, message_size(&m), &out), 0);
    ck_assert_uint_eq(out.record_count, 2);
    const struct message_record second = message_record(&out, 1);
    ck_assert(second.server == 4001 && second.ticket == 6 && memcmp(second.elements, vector, sizeof vector) == 0);
    const struct message_record nowhere = {.server = MESSAGE_SERVERS_MOST, .ticket = 5, .elements = vector};
    message_record_put(&m, &nowhere, put);
    message_encode(&m, bytes);
    ck_assert_int_eq(message_decode(bytes, message_size(&m), &out), -EPROTO);
    const struct message_record nobody = {.server = 1, .ticket = 0, .elements = vector};
    message_record_put(&m, &nobody, put);
    message_encode(&m, bytes);
    ck_assert_int_eq(message_decode(bytes, message_size(&m), &out), -EPROTO);
    m = sample(MESSAGE_SPREAD);
    m.status = 0;
    m.elements = vector;
    m.bytes = sizeof vector;
    message_encode(&m, bytes);
    ck_assert_int_eq(message_decode(bytes, message_size(&m), &out), 0);
    ck_assert(out.record_count == 2 && out.bytes == sizeof vector && message_record(&out, 1).server == 9);
    m.status = EIO; /* no result goes with an error */
    message_encode(&m, bytes);
    ck_assert_int_eq(message_decode(bytes, message_size(&m), &out), -EPROTO);
}
END_TEST

/* In what two members disagree goes with that error alone. */
START_TEST(unlike)
{
    struct message m = sample(MESSAGE_END), out;
    for (unsigned bits = 0; bits < 128; bits++) {
        m.status = EINVAL;
        m.unlike = (uint8_t)bits;
        m.everyone = bits % 2 != 0;
        message_encode(&m, bytes);
        int rc = message_decode(bytes, message_size(&m), &out);
        SUITE_HOLDS(rc == (bits <= CW_REDUCE_UNLIKES ? 0 : -EPROTO), "bits %u: %d", bits, rc);
        SUITE_HOLDS(rc < 0 || (out.unlike == bits && out.everyone == m.everyone), "bits %u", bits);
        m.status = ECONNRESET;
        message_encode(&m, bytes);
        rc = message_decode(bytes, message_size(&m), &out);
        SUITE_HOLDS(rc == (bits == 0 ? 0 : -EPROTO), "bits %u: %d", bits, rc);
    }
}
END_TEST

/* A small vector goes with the JOIN, and a small result with an END that is good; RESULT has elements behind it. */
START_TEST(small)
{
    static const uint8_t vector[MESSAGE_SMALL_MOST + 1] = {1, 2, 3};
    struct message m = sample(MESSAGE_JOIN), out;
    m.spec.elements = 3;
    m.elements = vector;
    m.bytes = 12;
    message_encode(&m, bytes);
    ck_assert_int_eq(message_decode(bytes, message_size(&m), &out), 0);
    ck_assert(out.bytes == 12 && memcmp(out.elements, vector, 12) == 0);
    ck_assert_int_eq(message_decode(bytes, message_size(&m) - 1, &out), -EPROTO);
    m = sample(MESSAGE_END);
    m.elements = vector;
    m.bytes = MESSAGE_SMALL_MOST;
    message_encode(&m, bytes);
    ck_assert_int_eq(message_decode(bytes, message_size(&m), &out), -EPROTO);
    m.status = 0;
    message_encode(&m, bytes);
    ck_assert_int_eq(message_decode(bytes, message_size(&m), &out), 0);
    ck_assert_uint_eq(out.bytes, MESSAGE_SMALL_MOST);
    m = sample(MESSAGE_RESULT);
    message_encode(&m, bytes);
    bytes[MESSAGE_RESULT_HEAD] = 77;
    ck_assert_int_eq(message_decode(bytes, MESSAGE_RESULT_HEAD + 1, &out), 0);
    ck_assert(out.bytes == 1 && out.elements[0] == 77 && out.first == 5 && out.piece == 2 && out.pieces == 3);
    ck_assert(spec_is_small(&(struct spec){CW_NUMBER_FLOAT32, CW_COMBINE_SUM, 0, 256}));
    ck_assert(!spec_is_small(&(struct spec){CW_NUMBER_FLOAT32, CW_COMBINE_SUM, 0, 257}));
    ck_assert(spec_is_small(&(struct spec){CW_NUMBER_FLOAT32, CW_COMBINE_SUM, 0, 0}));
}
END_TEST

/* Where all members are counted no set of them is sent. */
START_TEST(everyone)
{
    for (enum message_kind kind = MESSAGE_END; kind <= MESSAGE_SPREAD; kind += MESSAGE_SPREAD - MESSAGE_END) {
        struct message m = sample(kind), out;
        size_t size = message_size(&m);
        m.everyone = true;
        message_encode(&m, bytes);
        SUITE_HOLDS(message_size(&m) == size - 2 * sizeof *m.members, "kind %d", kind);
        ck_assert_int_eq(message_decode(bytes, message_size(&m), &out), 0);
        ck_assert(out.everyone && out.servers == 70 && out.status == ECONNRESET);
        bytes[1] = 0; /* then a set should be there */
        SUITE_HOLDS(message_decode(bytes, message_size(&m), &out) == -EPROTO, "kind %d", kind);
    }
}
END_TEST

START_TEST(fields)
{
    struct message m = sample(MESSAGE_ANNOUNCE), out;
    message_encode(&m, bytes);
    ck_assert_int_eq(message_decode(bytes, message_size(&m), &out), 0);
    ck_assert(spec_equal(&m.spec, &out.spec));
    ck_assert(out.dealt == 120 && out.window == 8 && out.ahead == 20 && out.each == 250 && out.servers == 70);
    ck_assert(out.members[1] == 0x3f && out.dead[1] == 1 && out.ticket == m.ticket);
    m = sample(MESSAGE_JOIN);
    message_encode(&m, bytes);
    ck_assert_int_eq(message_decode(bytes, message_size(&m), &out), 0);
    ck_assert(out.name_length == 6 && memcmp(out.name, "a name", 6) == 0 && out.job == 77);
}
END_TEST

/* What would be dangerous later is refused here. */
START_TEST(impossible)
{
    struct message out;
    struct message m[] = {sample(MESSAGE_BLOCK),    sample(MESSAGE_DEAL),     sample(MESSAGE_DEAL),
                          sample(MESSAGE_ANNOUNCE), sample(MESSAGE_ANNOUNCE), sample(MESSAGE_ANNOUNCE),
                          sample(MESSAGE_END),      sample(MESSAGE_VOID),     sample(MESSAGE_JOIN),
                          sample(MESSAGE_JOIN),     sample(MESSAGE_JOIN)};
    m[0].tree = 6;
    m[1].tree = 7;
    m[2].deal[1].count = 0;
    m[3].members[1] = 0x40; /* server 70 of 70 */
    m[4].spec.type = 0;
    m[5].spec.combine = CW_COMBINE_XOR; /* of float32 */
    m[6].status = 4096;
    m[7].status = 5000;
    m[8].ticket = 0;
    m[9].name_length = 0;
    m[10].spec.flags = 16;
    for (unsigned i = 0; i < sizeof m / sizeof *m; i++) {
        message_encode(&m[i], bytes);
        SUITE_HOLDS(message_decode(bytes, message_size(&m[i]), &out) == -EPROTO, "%u", i);
    }
    for (enum message_kind kind = MESSAGE_BLOCK; kind <= MESSAGE_SPREAD; kind++) { /* all of them: the END's word */
        bool ends = kind == MESSAGE_END || kind == MESSAGE_SPREAD;
        struct message other = sample(kind);
        message_encode(&other, bytes);
        bytes[1] = ends ? 2 : 1;
        size_t size = message_size(&other) + (kind == MESSAGE_RESULT);
        SUITE_HOLDS(message_decode(bytes, size, &out) == -EPROTO, "kind %d", kind);
    }
    struct message good = sample(MESSAGE_PROBE);
    message_encode(&good, bytes);
    bytes[1] = 1;
    ck_assert_int_eq(message_decode(bytes, message_size(&good), &out), -EPROTO);
    bytes[1] = 0;
    bytes[0] = (MESSAGE_VERSION - 1) << 4 | MESSAGE_PROBE;
    ck_assert_int_eq(message_decode(bytes, message_size(&good), &out), -EPROTO);
    bytes[0] = MESSAGE_VERSION << 4 | 15;
    ck_assert_int_eq(message_decode(bytes, message_size(&good), &out), -EPROTO);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(there_and_back), SUITE_TEST(together), SUITE_TEST(everyone),
                                          SUITE_TEST(unlike),         SUITE_TEST(fields),   SUITE_TEST(small),
                                          SUITE_TEST(impossible)};
SUITE_MAIN("head", tests)
