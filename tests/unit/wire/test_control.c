/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"
#include "wire/control.h"
#include "wire/packet.h"

#include <string.h>

/* A stream head of 24 bytes: the shortest packet whose length may grow. */
static void good(uint8_t bytes[32])
{
    memset(bytes, 0, 32);
    static const uint8_t head[] = {0x24, 0x03, 0x00, 0x18, 0x01, 0x02, 0x03, 0x04};
    memcpy(bytes, head, sizeof head);
}

static void refused(const uint8_t *bytes, size_t size, enum wire_reason expected)
{
    struct control_head head, untouched; /* filled by memset: an assignment may leave the padding out */
    memset(&untouched, 0x77, sizeof untouched);
    memset(&head, 0x77, sizeof head);
    ck_assert_str_eq(wire_reason_name(control_decode(bytes, size, &head)), wire_reason_name(expected));
    ck_assert_mem_eq(&head, &untouched, sizeof head);
}

START_TEST(golden)
{
    uint8_t bytes[32], again[CONTROL_HEAD_BYTES];
    good(bytes);
    struct control_head head;
    ck_assert_int_eq(control_decode(bytes, STREAM_HEAD_BYTES, &head), WIRE_OK);
    ck_assert_uint_eq(head.type, CONTROL_STREAM);
    ck_assert_uint_eq(head.length, 24);
    ck_assert_uint_eq(head.session, 0x01020304);
    control_encode(&head, again);
    ck_assert_mem_eq(again, bytes, sizeof again);
}
END_TEST

START_TEST(refuses_by_name)
{
    uint8_t b[32];
    good(b);
    for (size_t size = 0; size < STREAM_HEAD_BYTES; size++) {
        refused(b, size, WIRE_TRUNCATED);
    }
    refused(b, STREAM_HEAD_BYTES + 1, WIRE_BAD_LENGTH);
    for (unsigned version = 0; version < 16; version++) {
        good(b);
        b[0] = (uint8_t)(version << 4 | PACKET_CONTROL);
        if (version != WIRE_VERSION_NOW) {
            refused(b, 24, WIRE_BAD_VERSION);
        }
    }
    for (unsigned kind = 0; kind < 16; kind++) {
        good(b);
        b[0] = (uint8_t)(WIRE_VERSION_NOW << 4 | kind);
        if (kind != PACKET_CONTROL) {
            refused(b, 24, WIRE_BAD_KIND);
        }
    }
    for (unsigned type = 0; type < 256; type++) {
        good(b);
        b[1] = (uint8_t)type;
        if (type != CONTROL_STREAM && type >= CONTROL_HELLO && type <= CONTROL_CABLING_ACK) {
            refused(b, 24, WIRE_BAD_LENGTH);
        } else if (type != CONTROL_STREAM) {
            refused(b, 24, WIRE_BAD_KIND);
        }
    }
    good(b);
    memset(b + 4, 0, 4);
    refused(b, 24, WIRE_BAD_VALUE);
}
END_TEST

START_TEST(length_fits_the_type)
{
    uint8_t b[248] = {0x24};
    b[7] = 1;
    for (unsigned type = CONTROL_HELLO; type <= CONTROL_CABLING_ACK; type++) {
        for (unsigned length = CONTROL_HEAD_BYTES; length <= sizeof b; length++) {
            bool fits = type == CONTROL_HELLO         ? length == HELLO_BYTES
                        : type == CONTROL_GOODBYE     ? length == GOODBYE_BYTES
                        : type == CONTROL_PROBE       ? length == 56
                        : type == CONTROL_CABLING     ? length == 120 || length == 224
                        : type == CONTROL_CABLING_ACK ? length > 16 && (length - 16) % 12 == 0
                                                      : length >= STREAM_HEAD_BYTES && length % 4 == 0;
            struct control_head head;
            b[1] = (uint8_t)type;
            b[3] = (uint8_t)length;
            ck_assert_int_eq(control_decode(b, length, &head), fits ? WIRE_OK : WIRE_BAD_LENGTH);
        }
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(golden),
    SUITE_TEST(refuses_by_name),
    SUITE_TEST(length_fits_the_type),
};
SUITE_MAIN("control", tests)
