/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reason.h - why bytes were refused. Every decoder of this folder gives one of these reasons; when it is not WIRE_OK,
 * the decoder has written nothing.
 */
#ifndef WIRE_REASON_H
#define WIRE_REASON_H

enum wire_reason {
    WIRE_OK = 0,
    WIRE_TRUNCATED,   /* fewer bytes than the header says or needs */
    WIRE_BAD_LENGTH,  /* a length field that does not fit its kind */
    WIRE_BAD_VERSION, /* not WIRE_VERSION_NOW */
    WIRE_BAD_KIND,    /* unknown packet kind, control type, extension or item */
    WIRE_RESERVED,    /* a reserved bit or padding byte is not zero */
    WIRE_BAD_VALUE,   /* a field outside its range */
    WIRE_BAD_COUNT,   /* a count that disagrees with the bytes */
    WIRE_BAD_ORDER,   /* extensions out of order, repeated, or not those the flags name */
    WIRE_REASON_COUNT,
};

/* The reason's name ("truncated"), for counters and logs, and a sentence for people. Static strings, never NULL. */
const char *wire_reason_name(enum wire_reason reason);
const char *wire_reason_text(enum wire_reason reason);

#endif
