/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/control/json.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Requests ------------------------------------------------------------------------------------------------------ */

static int refuse(char why[static CONTROL_WHY], const char *what)
{
    snprintf(why, CONTROL_WHY, "%s; a request is one line, {\"id\": 1, \"command\": \"status\"}", what);
    return -EINVAL;
}

static int read_argument(struct control_line *line, const json_t *value)
{
    char *number = line->number[line->argc];
    if (json_is_string(value)) {
        line->argv[line->argc++] = json_string_value(value);
        return 0;
    }
    if (json_is_integer(value)) {
        snprintf(number, sizeof line->number[0], "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_boolean(value)) {
        snprintf(number, sizeof line->number[0], "%s", json_is_true(value) ? "true" : "false");
    } else {
        return -EINVAL;
    }
    line->argv[line->argc++] = number;
    return 0;
}

static int read_arguments(struct control_line *line, const json_t *args, char why[static CONTROL_WHY])
{
    if (args == NULL) {
        return 0;
    }
    if (!json_is_array(args)) {
        return refuse(why, "args is no list");
    }
    if (json_array_size(args) > CONTROL_ARGS) {
        return refuse(why, "args has more than 64 words");
    }
    for (size_t i = 0; i < json_array_size(args); i++) {
        if (read_argument(line, json_array_get(args, i)) < 0) {
            return refuse(why, "args holds something that is no text, no whole number and no truth value");
        }
    }
    return 0;
}

static int read_members(struct control_line *line, json_t *root, char why[static CONTROL_WHY])
{
    const char *name;
    json_t *value;
    json_object_foreach(root, name, value)
    {
        if (strcmp(name, "id") == 0) {
            if (!json_is_integer(value)) {
                return refuse(why, "id is no whole number");
            }
        } else if (strcmp(name, "command") == 0 || strcmp(name, "server") == 0) {
            if (!json_is_string(value)) {
                return refuse(why, "command or server is no text");
            }
        } else if (strcmp(name, "options") == 0) {
            if (!json_is_object(value)) {
                return refuse(why, "options is no object");
            }
        } else if (strcmp(name, "args") != 0) {
            char what[160];
            snprintf(what, sizeof what, "unknown member '%.80s'", name);
            return refuse(why, what);
        }
    }
    if (!line->has_id) {
        return refuse(why, "the request has no id");
    }
    if (line->command == NULL) {
        return refuse(why, "the request has no command");
    }
    return 0;
}

int control_line_open(struct control_line *out, const char *text, size_t length, char why[static CONTROL_WHY])
{
    json_error_t error;
    memset(out, 0, offsetof(struct control_line, number));
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    out->json = root;
    if (root == NULL) {
        char what[JSON_ERROR_TEXT_LENGTH + 64];
        snprintf(what, sizeof what, "not JSON: %s, at byte %d", error.text, error.position);
        return refuse(why, what);
    }
    if (!json_is_object(root)) {
        return refuse(why, "not a JSON object");
    }
    const json_t *id = json_object_get(root, "id");
    out->has_id = json_is_integer(id);
    out->id = json_integer_value(id); /* 0 when it is none */
    out->command = json_string_value(json_object_get(root, "command"));
    out->server = json_string_value(json_object_get(root, "server"));
    int rc = read_members(out, root, why);
    return rc < 0 ? rc : read_arguments(out, json_object_get(root, "args"), why);
}

void control_line_close(struct control_line *line)
{
    json_decref(line->json);
    line->json = NULL;
}

static const json_t *option(const struct control_line *line, const char *name)
{
    return json_object_get(json_object_get(line->json, "options"), name);
}

static bool among(const char *name, const char *names)
{
    size_t length = strlen(name);
    while (*names != '\0') {
        size_t word = strcspn(names, " ");
        if (word == length && memcmp(name, names, word) == 0) {
            return true;
        }
        names += word + (names[word] == ' ');
    }
    return false;
}

const char *control_line_strange(const struct control_line *line, const char *names)
{
    json_t *options = json_object_get(line->json, "options");
    for (void *i = json_object_iter(options); i != NULL; i = json_object_iter_next(options, i)) {
        if (!among(json_object_iter_key(i), names)) {
            return json_object_iter_key(i);
        }
    }
    return NULL;
}

int control_line_number(const struct control_line *line, const char *name, int64_t least, int64_t most, int64_t *out)
{
    const json_t *value = option(line, name);
    if (value == NULL) {
        return 0;
    }
    if (!json_is_integer(value)) {
        return -EINVAL;
    }
    int64_t number = json_integer_value(value);
    if (number < least || number > most) {
        return -ERANGE;
    }
    *out = number;
    return 1;
}

int control_line_flag(const struct control_line *line, const char *name, bool *out)
{
    const json_t *value = option(line, name);
    if (value == NULL) {
        return 0;
    }
    if (!json_is_boolean(value)) {
        return -EINVAL;
    }
    *out = json_is_true(value);
    return 1;
}

int control_line_text(const struct control_line *line, const char *name, const char **out)
{
    const json_t *value = option(line, name);
    if (value == NULL) {
        return 0;
    }
    if (!json_is_string(value)) {
        return -EINVAL;
    }
    *out = json_string_value(value);
    return 1;
}

const char *control_line_element(const struct control_line *line, const char *name, size_t i)
{
    const json_t *value = option(line, name);
    if (json_is_string(value)) {
        return i == 0 ? json_string_value(value) : NULL;
    }
    return json_string_value(json_array_get(value, i));
}

/* ---- Answers ------------------------------------------------------------------------------------------------------- */

/* A row is a JSON object; the names it has are its own. */
static json_t *json_of(struct control_row *row)
{
    return (json_t *)row;
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

struct control_row *control_row_open(void)
{
    return (struct control_row *)json_object();
}

void control_row_integer(struct control_row *row, const char *name, int64_t value)
{
    json_object_set_new(json_of(row), name, json_integer(value));
}

void control_row_flag(struct control_row *row, const char *name, bool value)
{
    json_object_set_new(json_of(row), name, json_boolean(value));
}

void control_row_text(struct control_row *row, const char *name, const char *value)
{
    json_object_set_new(json_of(row), name, text_of(value));
}

void control_row_element(struct control_row *row, const char *name, const char *value)
{
    json_t *list = json_object_get(json_of(row), name);
    if (list == NULL) {
        list = json_array();
        json_object_set_new(json_of(row), name, list);
    }
    if (value != NULL) {
        json_array_append_new(list, text_of(value));
    }
}

static char *line_of(json_t *json, size_t *length)
{
    char *text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    if (text == NULL) {
        return NULL;
    }
    size_t size = strlen(text);
    char *line = realloc(text, size + 2);
    if (line == NULL) {
        free(text);
        return NULL;
    }
    line[size] = '\n';
    line[size + 1] = '\0';
    *length = size + 1;
    return line;
}

char *control_row_line(struct control_row *row, int64_t id, size_t *length)
{
    json_t *line = json_object();
    json_object_set_new(line, "id", json_integer(id));
    if (line == NULL || row == NULL || json_object_set_new(line, "row", json_of(row)) < 0) {
        json_decref(line);
        return NULL;
    }
    return line_of(line, length);
}

void control_row_drop(struct control_row *row)
{
    json_decref(json_of(row));
}

char *control_done_line(bool has_id, int64_t id, int rc, const char *error, size_t *length)
{
    json_t *line = json_object();
    json_object_set_new(line, "id", has_id ? json_integer(id) : json_null());
    json_object_set_new(line, "done", json_true());
    json_object_set_new(line, "rc", json_integer(rc));
    if (error != NULL) {
        json_object_set_new(line, "error", text_of(error));
    }
    return line_of(line, length);
}
