/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setting.h - one value that people write, in a file, on a command line or as an option of a service: how its text is
 * read into a typed field, what is said when it cannot be read, and how the field becomes text again.
 *
 * A setting is a row of a table. The row says the value's name, its kind, its limits and where its field lies; these
 * functions know kinds and no names. Everything that users of them refuse is refused in the same words.
 *
 * Pure functions; texts and tables are borrowed for the call.
 */
#ifndef SETTING_SETTING_H
#define SETTING_SETTING_H

#include "cubeway/types.h"

enum setting_kind {
    SETTING_TEXT,  /* char[size]: at least `least` characters, none of them a control character */
    SETTING_COUNT, /* unsigned, of 1, 2, 4 or 8 bytes, in least..most: "64", "8M" (quantity_count()) */
    SETTING_SEED,  /* uint64_t, all of its 64 bits; only digits */
    SETTING_HEX,   /* uint32_t in least..most: decimal, or 0x and hexadecimal; written in hexadecimal */
    SETTING_MODE,  /* uint32_t: a file's mode, octal, 0..0777 */
    SETTING_SPAN,  /* cw_span in least..most ns, with its unit: "5s" */
    SETTING_RATE,  /* uint64_t in least..most bits per second */
    SETTING_PPM,   /* uint32_t in least..most parts per million: "5%", "200ppm" */
    SETTING_RATIO, /* int64_t, millionths: "-0.5" */
    SETTING_BOOL,  /* bool: true, yes, on; false, no, off */
    SETTING_WORD,  /* an enum of an int's size: words[i] is i */
    SETTING_DIMS,  /* cw_dims */
    SETTING_RANGE, /* struct setting_range: "7" or "1..100" */
};

struct setting_range {
    uint64_t first, last; /* both included; first <= last */
};

/* A setting's `most` when only its kind and its field limit it. */
#define SETTING_ANY UINT64_MAX

struct setting {
    const char *name; /* NULL ends a table */
    enum setting_kind kind;
    size_t at;   /* the field's offset in the structure that the table describes */
    size_t size; /* of the field, in bytes; SETTING_FIELD() gives this and `at` */
    uint64_t least, most;
    uint64_t unit;            /* COUNT: the field holds the number times this, 1 << 20 for MiB; 0: the number itself */
    const char *of;           /* COUNT: what is counted, said behind the limits: "MiB"; NULL: nothing is said */
    bool plain;               /* COUNT: digits only; "1k" is refused */
    const char *const *words; /* WORD: all of them, ended by NULL */
    bool optional;            /* setting_write() leaves it out while its field is 0 or "" */
};

#define SETTING_FIELD(type, member) .at = offsetof(type, member), .size = sizeof(((type *)NULL)->member)

enum {
    SETTING_VALUE = 640, /* bytes that hold every value as text */
    SETTING_WHY = 240,   /* bytes that hold every sentence; a longer one is cut */
};

/*
 * Reads text[length], all of it, into base + at. 0; -ERANGE: it is of this kind, but not within the limits; -EINVAL: it
 * is not of this kind. When it fails nothing is changed.
 */
CW_MUST_CHECK int setting_read(const struct setting *setting, const char *text, size_t length, void *base);
/* What setting_read() expects, to be put behind "expected ": "a time with its unit from 1us to 1s, as 5s or 200ms". */
void setting_expected(const struct setting *setting, char out[static SETTING_WHY]);
/* Writes what setting_read() reads as the same value. False: it is optional and not set, and nothing was written. */
bool setting_write(const struct setting *setting, const void *base, char out[static SETTING_VALUE]);
/* True when a configuration file has the value in quotes. */
bool setting_is_text(const struct setting *setting);
/* The row of that name, or NULL. */
const struct setting *setting_find(const struct setting *table, const char *name, size_t length);
/*
 * For a text that setting_read() refuses: the value that was perhaps meant (nearest.h), where the setting has words
 * (WORD, BOOL); else NULL. Borrowed from the setting.
 */
const char *setting_nearest_value(const struct setting *setting, const char *text, size_t length);
/* The name that was perhaps meant (nearest.h), or NULL; borrowed from the table. */
const char *setting_nearest(const struct setting *table, const char *name, size_t length);
/* All names: "hello, dead or hold". */
void setting_names(const struct setting *table, char out[static SETTING_WHY]);

/*
 * Reads all of a table, the options of a service for example: get gives the value of that name, or NULL when it is not
 * set, and its field is then left as it is. Every name is asked for, whatever is wrong, as cw_option() wants.
 * 0; or -EINVAL, and why names the first mistake: "extras = \"9\": expected a whole number from 0 to 8".
 */
CW_MUST_CHECK int setting_read_table(const struct setting *table, void *base,
                                     const char *(*get)(void *context, const char *name), void *context,
                                     char why[static SETTING_WHY]);

#endif
