/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading.h - a configuration while it is read: from an item of the text's tree to a field, and telling what is wrong
 * with it. For config.c and services.c, which know the sections.
 */
#ifndef DAEMON_CONFIG_READING_H
#define DAEMON_CONFIG_READING_H

#include "conf/conf.h"
#include "daemon/config/internal.h"

struct reading {
    struct config_report report; /* first: tell() finds the reading by it */
    struct conf tree;
    const char *file;
    struct daemon_config *config;
    config_mistake_fn *mistake;
    void *context;
    unsigned mistakes;
    bool labels, ports; /* links were named by direction, by number */
};

/* Something is wrong with that line, or with that item. */
void reading_tell(struct reading *r, unsigned line, const char *key, const char *why);
__attribute__((format(printf, 3, 4))) void reading_wrong(struct reading *r, const struct conf_item *item,
                                                         const char *format, ...);
/* near: what was perhaps meant, or NULL. where: "in this section". */
void reading_tell_unknown(struct reading *r, const struct conf_item *item, const char *where, const char *near);
/* The same, and it looks in the table for what was perhaps meant. */
void reading_unknown(struct reading *r, const struct conf_item *item, const struct setting *table, const char *where);

/* NULL at the end. */
const struct conf_item *reading_item(const struct reading *r, uint32_t index);
const struct conf_item *reading_next(const struct reading *r, const struct conf_item *item);

/* Each gives true, or tells why not: the key stands in the section once; it is a section, with or without a name. */
bool reading_is_first(struct reading *r, const struct conf_item *section, const struct conf_item *item);
bool reading_want_section(struct reading *r, const struct conf_item *item, bool named);
bool reading_want_value(struct reading *r, const struct conf_item *item);

/* Reads the item, or tells what was expected, when the table knows its key; false: it does not. */
bool reading_setting(struct reading *r, const struct setting *table, const struct conf_item *item, void *base);
/* A section without a name, whose keys are all in the table. */
void reading_plain(struct reading *r, const struct conf_item *section, const struct setting *table, void *base);

/* services.c: a section `service NAME` or `network NAME`; and what follows from the rest of the file. */
void reading_service(struct reading *r, const struct conf_item *section);
void reading_network(struct reading *r, const struct conf_item *section);
void reading_complete_service(const struct daemon_config *c, struct config_service *s);

#endif
