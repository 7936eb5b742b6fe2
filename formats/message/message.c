/* SPDX-License-Identifier: Apache-2.0 */
#include "message/message.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A struct message is never made: it is the library's object under a name of ours. */
static json_t *object(const struct message *m)
{
    return (json_t *)(uintptr_t)m;
}

static const json_t *get(const struct message *m, const char *name)
{
    return json_object_get(object(m), name);
}

struct message *message_open(void)
{
    return (struct message *)json_object();
}

struct message *message_parse(const char *text, size_t length, char *why, size_t room)
{
    json_error_t error;
    json_t *value = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(value)) {
        return (struct message *)value;
    }
    if (why != NULL && value == NULL) {
        snprintf(why, room, "not JSON: %s, at byte %d", error.text, error.position);
    } else if (why != NULL) {
        snprintf(why, room, "not a JSON object");
    }
    json_decref(value);
    return NULL;
}

struct message *message_share(const struct message *m)
{
    return (struct message *)json_incref(object(m));
}

void message_close(struct message *m)
{
    json_decref(object(m));
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

bool message_holds(const char *text)
{
    json_t *value = json_string(text);
    json_decref(value);
    return value != NULL;
}

static json_t *text_of(const char *value)
{
    json_t *text = json_string(value);
    if (text != NULL) {
        return text;
    }
    char *copy = strdup(value);
    if (copy == NULL) {
        return NULL;
    }
    for (char *c = copy; *c != '\0'; c++) {
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    }
    text = json_string(copy);
    free(copy);
    return text;
}

void message_text(struct message *m, const char *name, const char *value)
{
    json_object_set_new(object(m), name, text_of(value));
}

void message_integer(struct message *m, const char *name, int64_t value)
{
    json_object_set_new(object(m), name, json_integer(value));
}

void message_real(struct message *m, const char *name, double value)
{
    json_object_set_new(object(m), name, json_real(value));
}

void message_flag(struct message *m, const char *name, bool value)
{
    json_object_set_new(object(m), name, json_boolean(value));
}

void message_null(struct message *m, const char *name)
{
    json_object_set_new(object(m), name, json_null());
}

void message_element(struct message *m, const char *name, const char *value)
{
    json_t *list = json_object_get(object(m), name);
    if (!json_is_array(list)) {
        list = json_array();
        json_object_set_new(object(m), name, list); /* without m, or memory for the field, it frees the list */
        list = json_object_get(object(m), name);
    }
    if (value != NULL) {
        json_array_append_new(list, text_of(value));
    }
}

void message_append(struct message *m, const char *name, struct message *inner)
{
    message_element(m, name, NULL);
    json_array_append_new(json_object_get(object(m), name), object(inner));
}

void message_inner(struct message *m, const char *name, struct message *inner)
{
    json_object_set_new(object(m), name, object(inner));
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

enum message_kind message_kind(const struct message *m, const char *name)
{
    static const enum message_kind kinds[] = {
        [JSON_OBJECT] = MESSAGE_INNER,    [JSON_ARRAY] = MESSAGE_LIST, [JSON_STRING] = MESSAGE_TEXT,
        [JSON_INTEGER] = MESSAGE_INTEGER, [JSON_REAL] = MESSAGE_REAL,  [JSON_TRUE] = MESSAGE_FLAG,
        [JSON_FALSE] = MESSAGE_FLAG,      [JSON_NULL] = MESSAGE_NULL,
    };
    const json_t *value = get(m, name);
    return value != NULL ? kinds[json_typeof(value)] : MESSAGE_MISSING;
}

bool message_has(const struct message *m, const char *name)
{
    return get(m, name) != NULL;
}

const char *message_name(const struct message *m, size_t i)
{
    void *at = json_object_iter(object(m));
    while (at != NULL && i-- > 0) {
        at = json_object_iter_next(object(m), at);
    }
    return at != NULL ? json_object_iter_key(at) : NULL;
}

const char *message_get_text(const struct message *m, const char *name, const char *otherwise)
{
    const char *text = json_string_value(get(m, name));
    return text != NULL ? text : otherwise;
}

int64_t message_get_integer(const struct message *m, const char *name, int64_t otherwise)
{
    const json_t *value = get(m, name);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

double message_get_real(const struct message *m, const char *name, double otherwise)
{
    const json_t *value = get(m, name);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

bool message_get_flag(const struct message *m, const char *name)
{
    return json_is_true(get(m, name));
}

size_t message_elements(const struct message *m, const char *name)
{
    return json_array_size(get(m, name));
}

const char *message_get_element(const struct message *m, const char *name, size_t i)
{
    const json_t *value = get(m, name);
    if (json_is_string(value)) {
        return i == 0 ? json_string_value(value) : NULL;
    }
    return json_string_value(json_array_get(value, i));
}

const struct message *message_get_object(const struct message *m, const char *name, size_t i)
{
    const json_t *inner = json_array_get(get(m, name), i);
    return json_is_object(inner) ? (const struct message *)inner : NULL;
}

const struct message *message_get_inner(const struct message *m, const char *name)
{
    const json_t *inner = get(m, name);
    return json_is_object(inner) ? (const struct message *)inner : NULL;
}

/* One value that is no list and no object; true and false by the words given for them. */
static bool show_one(const json_t *value, const char *yes, const char *no, char *out, size_t room)
{
    if (json_is_string(value)) {
        snprintf(out, room, "%s", json_string_value(value));
    } else if (json_is_integer(value)) {
        snprintf(out, room, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_boolean(value)) {
        snprintf(out, room, "%s", json_is_true(value) ? yes : no);
    } else {
        return false;
    }
    return true;
}

bool message_show_element(const struct message *m, const char *name, size_t i, char *out, size_t room)
{
    return show_one(json_array_get(get(m, name), i), "true", "false", out, room);
}

static void show_list(const json_t *list, char *out, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(list) && used < room; i++) {
        if (json_is_object(json_array_get(list, i))) {
            continue;
        }
        const char *text = json_string_value(json_array_get(list, i));
        int n = snprintf(out + used, room - used, "%s%s", i > 0 ? " " : "", text != NULL ? text : "?");
        used += n > 0 ? (size_t)n : 0;
    }
}

bool message_show(const struct message *m, const char *name, char *out, size_t room)
{
    const json_t *value = get(m, name);
    out[0] = '\0';
    if (value == NULL) {
        return false;
    }
    if (json_is_array(value)) {
        show_list(value, out, room);
    } else if (!show_one(value, "yes", "no", out, room)) {
        snprintf(out, room, "?");
    }
    return true;
}

/* ---- As a line --------------------------------------------------------------------------------------------------- */

char *message_line(const struct message *m, size_t *length)
{
    char *text = m != NULL ? json_dumps(object(m), JSON_COMPACT) : NULL;
    size_t size = text != NULL ? strlen(text) : 0;
    char *line = text != NULL ? realloc(text, size + 2) : NULL;
    if (line == NULL) {
        free(text);
        return NULL;
    }
    memcpy(line + size, "\n", 2);
    *length = size + 1;
    return line;
}

void message_print(const struct message *m, FILE *out)
{
    json_dumpf(object(m), out, JSON_COMPACT);
    fputc('\n', out);
}
