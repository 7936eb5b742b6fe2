/* SPDX-License-Identifier: Apache-2.0 */
/* path.c - the paths of items: `service "lock".options.patience` and back to the line where it stands (conf.h). */
#include "conf/conf.h"

#include <stdio.h>
#include <string.h>

/* Does the path begin with the item, as `key` or `key "name"`? Then the bytes of it, with the dot behind; else 0. */
static size_t spells(const struct conf_item *item, const char *path)
{
    size_t length = strlen(item->key);
    if (strncmp(path, item->key, length) != 0) {
        return 0;
    }
    if (item->name != NULL) {
        size_t name = strlen(item->name);
        if (strncmp(path + length, " \"", 2) != 0 || strncmp(path + length + 2, item->name, name) != 0 ||
            path[length + 2 + name] != '"') {
            return 0;
        }
        length += name + 3;
    }
    return path[length] == '\0' ? length : path[length] == '.' ? length + 1 : 0;
}

/* The item of the path, or the innermost section of it that is there. */
static const struct conf_item *find(const struct conf *conf, const char *path)
{
    const struct conf_item *found = &conf->item[0];
    uint32_t at = found->first;
    while (at != CONF_NONE && path[0] != '\0') {
        const struct conf_item *item = &conf->item[at];
        size_t used = spells(item, path);
        if (used == 0) {
            at = item->next;
            continue;
        }
        path += used;
        found = item;
        at = item->first;
    }
    return found;
}

unsigned conf_line(const struct conf *conf, const char *path)
{
    return find(conf, path)->line;
}

bool conf_guessed(const struct conf *conf, const char *path)
{
    return find(conf, path)->guessed;
}

/* Writes the path of the item below that section, whose own path ends at `used`. False: it is not below. */
static bool write_path(const struct conf *conf, uint32_t section, const struct conf_item *item, char *out, size_t used)
{
    for (uint32_t i = conf->item[section].first; i != CONF_NONE; i = conf->item[i].next) {
        const struct conf_item *at = &conf->item[i];
        int length =
            snprintf(out + used, CONF_PATH - used, "%s%s%s%s%s", used > 0 ? "." : "", at->key,
                     at->name != NULL ? " \"" : "", at->name != NULL ? at->name : "", at->name != NULL ? "\"" : "");
        size_t behind = used + (size_t)(length > 0 ? length : 0);
        if (at == item || write_path(conf, i, item, out, behind < CONF_PATH ? behind : CONF_PATH - 1)) {
            return true;
        }
    }
    return false;
}

const char *conf_path(const struct conf *conf, const struct conf_item *item, char out[static CONF_PATH])
{
    if (!write_path(conf, 0, item, out, 0)) {
        out[0] = '\0';
    }
    return out;
}
