/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/message.h"

#include "base/check.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A struct message is never made: it is the library's object under a name of ours. */
static json_t *object(struct message *m)
{
    return (json_t *)m;
}

static json_t *field(const struct message *m, const char *name)
{
    return json_object_get((const json_t *)m, name);
}

struct message *message_parse(const char *line, size_t length)
{
    json_error_t error;
    json_t *value = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(value)) {
        json_decref(value);
        return NULL;
    }
    return (struct message *)value;
}

struct message *message_open(void)
{
    json_t *value = json_object();
    CHECK(value != NULL);
    return (struct message *)value;
}

void message_close(struct message *m)
{
    json_decref(object(m));
}

static void set(struct message *m, const char *name, json_t *value)
{
    CHECK(value != NULL && json_object_set_new(object(m), name, value) == 0);
}

static json_t *text_value(const char *value)
{
    json_t *text = json_string(value);
    return text != NULL ? text : json_string("(not UTF-8)");
}

void message_text(struct message *m, const char *name, const char *value)
{
    set(m, name, text_value(value));
}

void message_integer(struct message *m, const char *name, int64_t value)
{
    set(m, name, json_integer(value));
}

void message_real(struct message *m, const char *name, double value)
{
    set(m, name, json_real(value));
}

void message_flag(struct message *m, const char *name, bool value)
{
    set(m, name, json_boolean(value));
}

void message_item(struct message *m, const char *name, const char *value)
{
    json_t *list = field(m, name);
    if (!json_is_array(list)) {
        list = json_array();
        set(m, name, list);
    }
    CHECK(json_array_append_new(list, text_value(value)) == 0);
}

void message_inner(struct message *m, const char *name, struct message *inner)
{
    set(m, name, object(inner));
}

const char *message_get_text(const struct message *m, const char *name)
{
    return json_string_value(field(m, name));
}

const struct message *message_get_inner(const struct message *m, const char *name)
{
    const json_t *inner = field(m, name);
    return json_is_object(inner) ? (const struct message *)inner : NULL;
}

const char *message_get_item(const struct message *m, const char *name, size_t i)
{
    return json_string_value(json_array_get(field(m, name), i));
}

int64_t message_get_integer(const struct message *m, const char *name, int64_t otherwise)
{
    const json_t *value = field(m, name);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

double message_get_real(const struct message *m, const char *name, double otherwise)
{
    const json_t *value = field(m, name);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

bool message_get_flag(const struct message *m, const char *name)
{
    return json_is_true(field(m, name));
}

void message_visit(const struct message *m, const struct message_visitor *v)
{
    json_t *all = (json_t *)(uintptr_t)m;
    for (void *at = json_object_iter(all); at != NULL; at = json_object_iter_next(all, at)) {
        const char *name = json_object_iter_key(at);
        const json_t *value = json_object_iter_value(at);
        if (json_is_string(value)) {
            v->text(v->context, name, json_string_value(value));
        } else if (json_is_integer(value)) {
            v->integer(v->context, name, json_integer_value(value));
        } else if (json_is_real(value)) {
            v->real(v->context, name, json_real_value(value));
        } else if (json_is_boolean(value)) {
            v->flag(v->context, name, json_is_true(value));
        }
    }
}

char *message_line(const struct message *m, size_t *length)
{
    size_t size = json_dumpb((const json_t *)m, NULL, 0, JSON_COMPACT);
    char *line = malloc(size + 2);
    CHECK(size > 0 && line != NULL);
    json_dumpb((const json_t *)m, line, size, JSON_COMPACT);
    memcpy(line + size, "\n", 2);
    *length = size + 1;
    return line;
}
