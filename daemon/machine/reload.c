/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/machine/reload.h"

#include "daemon/machine/log.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    char *key, *value;
};

struct list {
    struct entry *entry;
    size_t count, room;
    bool failed;
};

static void add(void *context, const char *key, const char *value)
{
    struct list *l = context;
    if (l->count == l->room) {
        size_t room = l->room == 0 ? 64 : l->room * 2;
        struct entry *more = realloc(l->entry, room * sizeof *more);
        if (more == NULL) {
            l->failed = true;
            return;
        }
        l->entry = more;
        l->room = room;
    }
    struct entry e = {strdup(key), strdup(value)};
    if (e.key == NULL || e.value == NULL) {
        free(e.key);
        free(e.value);
        l->failed = true;
        return;
    }
    l->entry[l->count++] = e;
}

static void release(struct list *l)
{
    for (size_t i = 0; i < l->count; i++) {
        free(l->entry[i].key);
        free(l->entry[i].value);
    }
    free(l->entry);
}

static const char *value_of(const struct list *l, const char *key)
{
    for (size_t i = 0; i < l->count; i++) {
        if (strcmp(l->entry[i].key, key) == 0) {
            return l->entry[i].value;
        }
    }
    return NULL;
}

unsigned reload_compare(const struct daemon_config *now, const struct daemon_config *next,
                        void (*differ)(void *context, const char *key, const char *now, const char *next),
                        void *context)
{
    struct list a = {.entry = NULL}, b = {.entry = NULL};
    unsigned count = 0;
    config_visit(now, add, &a);
    config_visit(next, add, &b);
    for (size_t i = 0; i < a.count; i++) {
        const char *other = value_of(&b, a.entry[i].key);
        if (other == NULL || strcmp(other, a.entry[i].value) != 0) {
            differ(context, a.entry[i].key, a.entry[i].value, other);
            count++;
        }
    }
    for (size_t i = 0; i < b.count; i++) {
        if (value_of(&a, b.entry[i].key) == NULL) {
            differ(context, b.entry[i].key, NULL, b.entry[i].value);
            count++;
        }
    }
    release(&a);
    release(&b);
    return count;
}

static void say_mistake(void *context, const char *text)
{
    LOG(context, CW_LOG_ERROR, "configuration is not read again", {"why", text});
}

static void say_difference(void *context, const char *key, const char *now, const char *next)
{
    if (strcmp(key, "log.level") != 0) {
        LOG(context, CW_LOG_WARN, "this change needs a restart", {"key", key}, {"now", now}, {"file", next});
    }
}

void reload_level(struct daemon_config *config, struct log *log)
{
    struct daemon_config *next = malloc(sizeof *next);
    if (next == NULL || config->file[0] == '\0' || config_load(config->file, next, say_mistake, log) < 0) {
        free(next);
        return;
    }
    unsigned changes = reload_compare(config, next, say_difference, log);
    if (next->log_level != config->log_level) {
        config->log_level = next->log_level;
        log_set_level(log, next->log_level);
    }
    LOG(log, CW_LOG_INFO, changes == 0 ? "configuration has not changed" : "configuration was read again",
        {"level", log_level_name(config->log_level)});
    free(next);
}
