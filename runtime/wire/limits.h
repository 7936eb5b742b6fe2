/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - all numbers of the wire format on one screen, with their arithmetic. docs/wire.md has the drawings.
 */
#ifndef WIRE_LIMITS_H
#define WIRE_LIMITS_H

enum wire_limits {
    WIRE_VERSION_NOW = 2,
    WIRE_ETHERTYPE = 0x88B5,         /* of data frames: IEEE 802 local experimental 1 */
    WIRE_ETHERTYPE_CONTROL = 0x88B6, /* of control frames: IEEE 802 local experimental 2 */

    /* Frame: what follows the 14 bytes of the Ethernet header. */
    FRAME_HEAD_BYTES = 8,
    FRAME_TAG_BYTES = 8 + 16, /* counter and tag */
    FRAME_PACKETS_MAX = 255,

    /* Data packet. */
    PACKET_HEAD_BYTES = 32,
    PACKET_EXT_WORDS_MAX = 255,
    PACKET_EXT_BYTES_MAX = 4 * PACKET_EXT_WORDS_MAX, /* 1020 */
    PACKET_BYTES_MAX = 65535,

    /* Extensions, in 4-byte words, the head word included. */
    EXT_WORD_BYTES = 4,
    EXT_KEY_WORDS = 1 + 3,
    EXT_REQUEST_WORDS = 1 + 5,
    EXT_RESPONSE_WORDS = 1 + 4,
    EXT_PATH_LINKS_PER_WORD = 10,                                            /* 10 * 3 bits of 32 */
    EXT_PATH_WORDS_MAX = 1 + 7,                                              /* 70 links: the hop budget is 64 */
    EXT_PATH_LINKS_MAX = (EXT_PATH_WORDS_MAX - 1) * EXT_PATH_LINKS_PER_WORD, /* 70 */
    EXT_TRACE_ENTRY_WORDS = 4,
    EXT_TRACE_ENTRIES_MAX = 63, /* 1 + 4 * 63 = 253 words of 255 */
    EXT_WAYPOINTS_MAX = 16,
    EXT_GUEST_WORDS = 1 + 2,

    /* Control packet. */
    CONTROL_HEAD_BYTES = 8,
    HELLO_BYTES = 72, /* a frame of 80, on the cable 80 + 14 + 4 + 20 = 118: 100 a second are 0.0094 % of 1 Gb/s */
    GOODBYE_BYTES = 20,
    STREAM_HEAD_BYTES = 24,

    /* Bootstrap. */
    PROBE_NAME_BYTES = 16,
    PROBE_BYTES = 56,
    CABLING_HEAD_BYTES = 16,
    CABLING_ENTRY_BYTES = 104, /* 14 of them in a frame of 1,500 bytes, 86 in a frame of 9,000 */
    CABLING_ACK_ENTRY_BYTES = 12,

    /* Control stream items, with their 4-byte item header. */
    ITEM_HEAD_BYTES = 4,
    RECORD_BYTES = 32,
    ITEM_RECORD_BYTES = ITEM_HEAD_BYTES + RECORD_BYTES,
    ITEM_ACK_BYTES = ITEM_HEAD_BYTES + 28,
    SUMMARY_ENTRY_BYTES = 16,
    ITEM_SYNCED_BYTES = ITEM_HEAD_BYTES + 8,
    ITEM_JOB_HEAD_BYTES = ITEM_HEAD_BYTES + 4 + 8 + 4 + 4 + 4,
    ITEM_JOB_ACK_BYTES = ITEM_HEAD_BYTES + 24,
    JOB_SUMMARY_ENTRY_BYTES = 12,
    ABOUT_TEXT_BYTES = 16, /* of the version's name, and of the build's */
    ITEM_ABOUT_BYTES = ITEM_HEAD_BYTES + 2 * ABOUT_TEXT_BYTES,
    JOB_RECORD_BYTES_MAX = 1 << 20, /* what the parts of one signed job record may add up to */
    ITEM_BYTES_MAX = 65532,         /* the length has 16 bits, and goes in steps of 4 */

    /* Hop budget (semantics 4.4): the default, and the most that 8 bits can say. */
    HOP_LIMIT_DEFAULT = 64,
    HOP_LIMIT_MAX = 255,
};

#endif
