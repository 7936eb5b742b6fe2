/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - is a text UTF-8, and may a terminal see it? For names that others chose: of files, say. Pure.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum utf8_kind {
    UTF8_PLAIN,
    UTF8_CONTROL, /* UTF-8, with a control character in it: U+0000 to U+001F, U+007F to U+009F */
    UTF8_NONE,    /* not UTF-8 */
};

/* The kind of a text of so many bytes. */
enum utf8_kind utf8_check(const char *text, size_t length);
/*
 * Writes the text so that a terminal shows it and obeys nothing in it: a control character, a byte that is no UTF-8,
 * and a character that shows nothing or turns the line around (U+200B to U+200F, U+2028 to U+202E, U+2060 to U+2069,
 * U+FEFF) becomes \xNN, byte by byte. What does not fit is left out, whole characters at a time. Gives the length.
 */
size_t utf8_show(const char *text, size_t length, char *out, size_t room);

#endif
