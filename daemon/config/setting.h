/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setting.h - one kind of value in a configuration: how it is read, how it is written, what is said when it is wrong.
 *
 * The tables of config.c say for each key its kind and where its value lives; these functions know kinds and no keys.
 */
#ifndef DAEMON_CONFIG_SETTING_H
#define DAEMON_CONFIG_SETTING_H

#include "cubeway/types.h"

enum setting_kind {
    SETTING_TEXT,   /* char[most]: one line, printable, at most most - 1 bytes, at least `least` */
    SETTING_COUNT,  /* uint32_t in least..most; "64", "8M" */
    SETTING_SEED,   /* uint64_t */
    SETTING_NUMBER, /* uint32_t in least..most; decimal, or 0x and hexadecimal; written in hexadecimal */
    SETTING_MODE,   /* uint32_t: of a file, octal, 0..0777 */
    SETTING_SPAN,   /* cw_span in least..most ns */
    SETTING_RATE,   /* uint64_t bits per second */
    SETTING_PPM,    /* uint32_t in least..most parts per million */
    SETTING_BOOL,   /* bool: true/yes/on, false/no/off */
    SETTING_WORD,   /* an int-sized enum: words[i] is i */
    SETTING_DIMS,   /* cw_dims */
};

struct setting {
    const char *key;
    enum setting_kind kind;
    size_t at; /* offset of the value in the structure the table is of */
    uint64_t least, most;
    const char *const *words; /* SETTING_WORD: up to NULL */
    bool optional;            /* written only when it is not 0 or "" */
};

enum { SETTING_VALUE = 640, SETTING_WHY = 200 };

/* 0 and the value in base + setting->at, or -EINVAL and why says what was expected; nothing is changed then. */
CW_MUST_CHECK int setting_read(const struct setting *setting, const char *text, void *base,
                               char why[static SETTING_WHY]);
/* False: it is optional and not set, nothing was written. What setting_read() reads as the same value. */
bool setting_write(const struct setting *setting, const void *base, char out[static SETTING_VALUE]);
/* True when the value is written in quotes. */
bool setting_is_text(const struct setting *setting);

#endif
