/* SPDX-License-Identifier: Apache-2.0 */
/*
 * about.h - which software a server runs: an item that both ends of a link send once in each adjacency. It is for
 * people only. No server decides anything by it: what servers must agree on is the wire's version and the
 * configuration.
 *
 *      0       8       16      24      32
 *    0 |     version, 16 characters    |  "0.1.0"
 *   16 |      build, 16 characters     |  which build of that version; all 0: not known
 *
 * Both are printable ASCII without spaces, then zeros.
 */
#ifndef WIRE_ABOUT_H
#define WIRE_ABOUT_H

#include "wire/control.h"

enum { ABOUT_BYTES = ITEM_ABOUT_BYTES - ITEM_HEAD_BYTES };

struct about {
    char version[ABOUT_TEXT_BYTES]; /* ends with a NUL unless it fills its place; so does build */
    char build[ABOUT_TEXT_BYTES];
};

/*
 * Fills *about from two texts, each cut at ABOUT_TEXT_BYTES and before the first character that may not be in it. NULL
 * is the empty text.
 */
void about_fill(struct about *about, const char *version, const char *build);

/* See control.h for what every decoder promises. */
CW_MUST_CHECK enum wire_reason about_decode(const uint8_t bytes[static ABOUT_BYTES], struct about *out);
void about_encode(const struct about *about, uint8_t bytes[static ABOUT_BYTES]);

#endif
