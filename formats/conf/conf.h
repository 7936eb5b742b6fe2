/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf.h - the text of a configuration as a tree: the part of UCL, the Universal Configuration Language, that people write.
 *
 *     cluster = 7;                    key = value, key: value or key value; ended by ; or , or the end of the line
 *     torus { dims = "3x3x3" }        a section
 *     service "kv" { weight = 2 }     a section with a name
 *     # comment   // comment   / * comment * /
 *
 * JSON objects are of this form too. Not read: lists, macros (.include), variables, heredocs; each is a mistake with its line. Names and values
 * are texts here: what a value means is for whoever knows the key.
 *
 * Written here because no library of it is packaged for Debian 12. Pure but for memory; one thread at a time.
 */
#ifndef CONF_CONF_H
#define CONF_CONF_H

#include "cubeway/types.h"

enum { CONF_DEPTH = 8, CONF_WHY = 160, CONF_NONE = 0 };

struct conf_item {
    const char *key;
    const char *name;     /* of a section with a name, else NULL */
    const char *value;    /* NULL: a section */
    unsigned line;        /* where its key is */
    uint32_t first, next; /* items; CONF_NONE: there is none */
};

struct conf {
    struct conf_item *item; /* item[0] is the file itself, a section */
    uint32_t count, room;
    char *strings;
};

/*
 * Borrows text[length] for the call and gives *out, to be closed. -EINVAL: *line and why say where and what is wrong; -ENOMEM. *out is then
 * untouched.
 */
CW_MUST_CHECK int conf_open(struct conf *out, const char *text, size_t length, unsigned *line,
                            char why[static CONF_WHY]);
void conf_close(struct conf *conf);

#endif
