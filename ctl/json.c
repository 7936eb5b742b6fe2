/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/json.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- Requests ------------------------------------------------------------------------------------------------------------- */

struct json_request {
    json_t *object, *args, *options;
};

struct json_request *json_request_open(const char *command, const char *server)
{
    struct json_request *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return NULL;
    }
    r->object = json_object();
    r->args = json_array();
    r->options = json_object();
    json_object_set_new(r->object, "id", json_integer(0)); /* first on the line */
    json_object_set_new(r->object, "command", json_string(command));
    if (server != NULL) {
        json_object_set_new(r->object, "server", json_string(server));
    }
    return r;
}

void json_request_word(struct json_request *r, const char *word)
{
    if (r != NULL) {
        json_array_append_new(r->args, json_string(word));
    }
}

void json_request_text(struct json_request *r, const char *option, const char *value)
{
    if (r != NULL) {
        json_object_set_new(r->options, option, json_string(value));
    }
}

void json_request_integer(struct json_request *r, const char *option, int64_t value)
{
    if (r != NULL) {
        json_object_set_new(r->options, option, json_integer(value));
    }
}

void json_request_flag(struct json_request *r, const char *option)
{
    if (r != NULL) {
        json_object_set_new(r->options, option, json_true());
    }
}

void json_request_element(struct json_request *r, const char *option, const char *value)
{
    if (r == NULL) {
        return;
    }
    if (json_object_get(r->options, option) == NULL) {
        json_object_set_new(r->options, option, json_array());
    }
    json_array_append_new(json_object_get(r->options, option), json_string(value));
}

char *json_request_line(const struct json_request *r, int64_t id, size_t *length)
{
    if (r == NULL) {
        return NULL;
    }
    json_object_set_new(r->object, "id", json_integer(id));
    if (json_array_size(r->args) > 0) {
        json_object_set(r->object, "args", r->args);
    }
    if (json_object_size(r->options) > 0) {
        json_object_set(r->object, "options", r->options);
    }
    char *text = json_dumps(r->object, JSON_COMPACT);
    size_t size = text != NULL ? strlen(text) : 0;
    char *line = text != NULL ? realloc(text, size + 2) : NULL;
    if (line == NULL) {
        free(text);
        return NULL;
    }
    line[size] = '\n';
    line[size + 1] = '\0';
    *length = size + 1;
    return line;
}

void json_request_close(struct json_request *r)
{
    if (r != NULL) {
        json_decref(r->options);
        json_decref(r->args);
        json_decref(r->object);
        free(r);
    }
}

/* ---- Rows ------------------------------------------------------------------------------------------------------------------ */

/* A row is a JSON object by another name. */
static json_t *object_of(struct json_row *row)
{
    return (json_t *)row;
}

static const json_t *get(const struct json_row *row, const char *field)
{
    return json_object_get((const json_t *)row, field);
}

bool json_row_has(const struct json_row *row, const char *field)
{
    return get(row, field) != NULL;
}

const char *json_row_text(const struct json_row *row, const char *field, const char *fallback)
{
    const char *text = json_string_value(get(row, field));
    return text != NULL ? text : fallback;
}

int64_t json_row_integer(const struct json_row *row, const char *field, int64_t fallback)
{
    const json_t *value = get(row, field);
    return json_is_integer(value) ? json_integer_value(value) : fallback;
}

bool json_row_flag(const struct json_row *row, const char *field)
{
    return json_is_true(get(row, field));
}

static void show_list(const json_t *list, char *out, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(list) && used < room; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        int n = snprintf(out + used, room - used, "%s%s", i > 0 ? " " : "", text != NULL ? text : "?");
        used += n > 0 ? (size_t)n : 0;
    }
}

bool json_row_show(const struct json_row *row, const char *field, char *out, size_t room)
{
    const json_t *value = get(row, field);
    out[0] = '\0';
    if (value == NULL) {
        return false;
    }
    if (json_is_string(value)) {
        snprintf(out, room, "%s", json_string_value(value));
    } else if (json_is_integer(value)) {
        snprintf(out, room, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_boolean(value)) {
        snprintf(out, room, "%s", json_is_true(value) ? "yes" : "no");
    } else if (json_is_array(value)) {
        show_list(value, out, room);
    } else {
        snprintf(out, room, "?");
    }
    return true;
}

const char *json_row_field(const struct json_row *row, size_t i)
{
    union {
        const struct json_row *in;
        json_t *out;
    } object = {.in = row}; /* iterators take what they do not change */
    void *at = json_object_iter(object.out);
    while (at != NULL && i-- > 0) {
        at = json_object_iter_next(object.out, at);
    }
    return at != NULL ? json_object_iter_key(at) : NULL;
}

void json_row_print(const struct json_row *row, FILE *out)
{
    json_dumpf((const json_t *)row, out, JSON_COMPACT);
    fputc('\n', out);
}

void json_row_close(struct json_row *row)
{
    json_decref(object_of(row));
}

struct json_row *json_row_open(void)
{
    return (struct json_row *)json_object();
}

void json_row_set_integer(struct json_row *row, const char *field, int64_t value)
{
    json_object_set_new(object_of(row), field, json_integer(value));
}

void json_row_set_text(struct json_row *row, const char *field, const char *value)
{
    json_object_set_new(object_of(row), field, json_string(value));
}

/* ---- Answers --------------------------------------------------------------------------------------------------------------- */

void json_answer_read(const char *text, size_t length, struct json_answer *out)
{
    *out = (struct json_answer){.kind = JSON_STRANGE};
    json_t *line = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    const json_t *id = json_object_get(line, "id");
    json_t *row = json_object_get(line, "row");
    const json_t *rc = json_object_get(line, "rc");
    out->has_id = json_is_integer(id);
    out->id = json_integer_value(id);
    if (json_is_object(row) && out->has_id) {
        out->kind = JSON_ROW;
        out->row = (struct json_row *)json_incref(row);
    } else if (json_is_true(json_object_get(line, "done")) && json_is_integer(rc)) {
        const char *error = json_string_value(json_object_get(line, "error"));
        out->kind = JSON_DONE;
        out->rc = (int)json_integer_value(rc);
        snprintf(out->error, sizeof out->error, "%s", error != NULL ? error : "");
    }
    json_decref(line);
}
