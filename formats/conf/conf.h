/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf.h - reads the text of a configuration as a tree: that part of UCL, the Universal Configuration Language, that
 * people write.
 *
 *     cluster = 7;                    key = value, key: value or key value; ended by ; or , or the end of the line
 *     torus { dims = "3x3x3" }        a section
 *     service "kv" { weight = 2 }     a section with a name
 *     # comment   // comment   / * comment * /
 *
 * JSON objects have this form too. Lists, macros (.include), variables and heredocs are not read; each is a mistake
 * with its line. Names and values are texts here: the caller, who knows the key, knows what its value means.
 *
 * We have our own reader because Debian 12 packages no library of UCL. Pure but for memory; one thread at a time.
 */
#ifndef CONF_CONF_H
#define CONF_CONF_H

#include "cubeway/types.h"

enum {
    CONF_DEPTH = 8, /* sections inside of one another, at most */
    CONF_WHY = 160, /* bytes of the sentence that says what is wrong */
    CONF_NONE = 0,  /* no item: item[0], the file, is nobody's child and nobody's neighbour */
};

struct conf_item {
    const char *key;
    const char *name;  /* of a section with a name; else NULL */
    const char *value; /* NULL: it is a section */
    unsigned line;     /* where its key is */
    bool guessed;      /* a list without quotes, a quote that is typographic or not closed: told, and taken as meant */
    uint32_t first;    /* index of a section's first item, or CONF_NONE */
    uint32_t next;     /* index of the next item of the same section, or CONF_NONE */
};

struct conf {
    struct conf_item *item; /* item[0] is the file itself, a section */
    uint32_t count, room;
    char *strings;
};

/*
 * Borrows text[length] for the call, and gives *out, which is to be closed. -EINVAL: *line says where the mistake is,
 * and why says what is wrong; -ENOMEM. After an error *out is untouched.
 */
CW_MUST_CHECK int conf_open(struct conf *out, const char *text, size_t length, unsigned *line,
                            char why[static CONF_WHY]);

/* One mistake: its line, and a sentence (borrowed for the call) that says what is wrong. */
typedef void conf_mistake_fn(void *context, unsigned line, const char *why);

/*
 * The same for a reader who wants to know every mistake of the text: tells each one, goes on behind it, and gives in
 * *out what can be read. A section without its { or its } is read as if the brace stood where the depth of the lines
 * says that it is missing, and that is told as a mistake. Returns how many mistakes were told, or -ENOMEM, and then
 * *out is untouched. A mistake after which nobody knows where the sections end (a comment or a section that is not
 * ended, sections that are too deep) is the last one.
 */
CW_MUST_CHECK int conf_open_most(struct conf *out, const char *text, size_t length, conf_mistake_fn *mistake,
                                 void *context);
void conf_close(struct conf *conf);

enum { CONF_PATH = 200 };
/*
 * Writes the path of the item, as conf_line() reads it, cut to what fits: `user`, `links.+x.interface`, `service
 * "kv".options.listen`. Gives out.
 */
const char *conf_path(const struct conf *conf, const struct conf_item *item, char out[static CONF_PATH]);

/*
 * The line of the item that the path names: `user`, `links.+x.interface`, `service "kv".options.listen`. Where there is
 * no such item: the line of the innermost section of the path that is there, and 1 where none is.
 */
unsigned conf_line(const struct conf *conf, const char *path);
/* That item, or section, holds a guess (conf_item.guessed), so nothing more is to be said of it. */
bool conf_guessed(const struct conf *conf, const char *path);

#endif
