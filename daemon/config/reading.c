/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/config/reading.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void reading_tell(struct reading *r, unsigned line, const char *key, const char *why)
{
    char text[CONF_WHY + SETTING_WHY + CONFIG_PATH + CONF_PATH + 16];
    if (++r->mistakes <= CONFIG_MISTAKES) {
        snprintf(text, sizeof text, "%s:%u: %s%s%s", r->file, line, key, key[0] != '\0' ? ": " : "", why);
        r->mistake(r->context, text);
    }
}

/* Something is wrong with that item. */
void reading_wrong(struct reading *r, const struct conf_item *item, const char *format, ...)
{
    char why[CONF_WHY + SETTING_WHY], path[CONF_PATH];
    va_list args;
    if (item->guessed) {
        return; /* its mistake is told: quotes are missing */
    }
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    reading_tell(r, item->line, conf_path(&r->tree, item, path), why);
}

const struct conf_item *reading_item(const struct reading *r, uint32_t index)
{
    return index == CONF_NONE ? NULL : &r->tree.item[index];
}

const struct conf_item *reading_next(const struct reading *r, const struct conf_item *item)
{
    return reading_item(r, item->next);
}

static bool same_name(const struct conf_item *a, const struct conf_item *b)
{
    bool named = a->name != NULL && b->name != NULL;
    return strcmp(a->key, b->key) == 0 && (named ? strcmp(a->name, b->name) == 0 : a->name == b->name);
}

/* Tells of a key that stands in the section twice. */
bool reading_is_first(struct reading *r, const struct conf_item *section, const struct conf_item *item)
{
    const struct conf_item *other = reading_item(r, section->first);
    while (!same_name(other, item)) {
        other = reading_next(r, other);
    }
    if (other != item) {
        reading_wrong(r, item, "it was given before, in line %u", other->line);
    }
    return other == item;
}

/* near: what was perhaps meant, or NULL. */
void reading_tell_unknown(struct reading *r, const struct conf_item *item, const char *where, const char *near)
{
    r->report.dims |= near != NULL && strcmp(near, "torus") == 0; /* which are in there, perhaps */
    reading_wrong(r, item, "no such key %s; %s%s%s", where, near != NULL ? "did you mean " : "",
                  near != NULL ? near : "cubewayd.conf(5) lists them", near != NULL ? "?" : "");
}

void reading_unknown(struct reading *r, const struct conf_item *item, const struct setting *table, const char *where)
{
    reading_tell_unknown(r, item, where, setting_nearest(table, item->key, strlen(item->key)));
}

bool reading_want_section(struct reading *r, const struct conf_item *item, bool named)
{
    if (item->value != NULL) {
        reading_wrong(r, item, "expected a section: %s%s { ... }", item->key, named ? " \"name\"" : "");
        return false;
    }
    if ((item->name != NULL) != named) {
        reading_wrong(r, item,
                      named ? "this section needs a name: %s \"name\" { ... }" : "this section has no name: %s { ... }",
                      item->key);
        return false;
    }
    return true;
}

bool reading_want_value(struct reading *r, const struct conf_item *item)
{
    if (item->value == NULL) {
        reading_wrong(r, item, "expected a value, not a section");
    }
    return item->value != NULL;
}

/* Reads the item when the table knows its key. */
bool reading_setting(struct reading *r, const struct setting *table, const struct conf_item *item, void *base)
{
    const struct setting *s = setting_find(table, item->key, strlen(item->key));
    if (s == NULL || !reading_want_value(r, item)) {
        return s != NULL;
    }
    if (setting_read(s, item->value, strlen(item->value), base) < 0) {
        char expected[SETTING_WHY];
        setting_expected(s, expected);
        const char *near = setting_nearest_value(s, item->value, strlen(item->value));
        reading_wrong(r, item, "'%.60s': expected %s%s%s%s", item->value, expected,
                      near != NULL ? "; did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
    }
    return true;
}

void reading_plain(struct reading *r, const struct conf_item *section, const struct setting *table, void *base)
{
    if (!reading_want_section(r, section, false)) {
        return;
    }
    for (const struct conf_item *i = reading_item(r, section->first); i != NULL; i = reading_next(r, i)) {
        if (!reading_setting(r, table, i, base)) {
            reading_unknown(r, i, table, "in this section");
        } else {
            reading_is_first(r, section, i);
        }
    }
}
