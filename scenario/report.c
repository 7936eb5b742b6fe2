/* SPDX-License-Identifier: Apache-2.0 */
#include "scenario/report.h"

#include "base/check.h"
#include "base/quantity.h"
#include "commandline/colour.h"
#include "commandline/units.h"
#include "scenario/cluster.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct report {
    json_t *fields;
};

static const char *const field_names[] = {
    "packets",
    "delivered",
    "dropped",
    "dropped_share",
    "dropped_by_cause",
    "lost",
    "misdelivered",
    "duplicated",
    "held",
    "hops_mean",
    "hops_max",
    "achieved_gbps",
    "goodput_gbps",
    "bound_gbps",
    "ratio",
    "sim_seconds",
    "packet_hops",
    "bytes_per_node",
    "running",
    "active",
    "agreeing",
    "converged",
    "inside",
    "flying",
    "starts",
    "kills",
    "pauses",
    "cuts",
    "delivered_keys",
    "checks",
    "control_bytes_share",
    "tells_failed",
};
enum { FIELDS = sizeof field_names / sizeof *field_names };
static const char causes[] = "dropped_by_cause.";

const char *report_field_nth(size_t i)
{
    return field_names[i];
}

size_t report_field_count(void)
{
    return FIELDS;
}

static bool cause_known(const char *name, size_t length)
{
    for (unsigned i = 0; i < CW_DROP_COUNT; i++) {
        const char *cause = cw_drop_name((cw_drop)i);
        if (strlen(cause) == length && memcmp(cause, name, length) == 0) {
            return true;
        }
    }
    for (unsigned i = 0; i < WORLD_LOSSES; i++) {
        const char *cause = world_loss_name((enum world_loss)i);
        if (strlen(cause) == length && memcmp(cause, name, length) == 0) {
            return true;
        }
    }
    return false;
}

bool report_field_known(const char *name, size_t length)
{
    size_t prefix = sizeof causes - 1;
    if (length > prefix && memcmp(name, causes, prefix) == 0) {
        return cause_known(name + prefix, length - prefix);
    }
    for (size_t i = 0; i < FIELDS; i++) {
        if (strlen(field_names[i]) == length && memcmp(field_names[i], name, length) == 0) {
            return strcmp(field_names[i], "dropped_by_cause") != 0;
        }
    }
    return false;
}

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

static void set(json_t *object, const char *name, json_t *value)
{
    CHECK(value != NULL);
    CHECK(json_object_set_new(object, name, value) == 0);
}

struct report *report_open(const char *command)
{
    struct report *r = malloc(sizeof *r);
    CHECK(r != NULL);
    r->fields = json_object();
    CHECK(r->fields != NULL);
    if (command != NULL) {
        report_text(r, "command", command);
        report_text(r, "commit", report_commit());
    }
    return r;
}

void report_close(struct report *r)
{
    if (r != NULL) {
        json_decref(r->fields);
        free(r);
    }
}

void report_integer(struct report *r, const char *name, int64_t value)
{
    set(r->fields, name, json_integer(value));
}

void report_real(struct report *r, const char *name, double value)
{
    set(r->fields, name, json_real(value));
}

void report_flag(struct report *r, const char *name, bool value)
{
    set(r->fields, name, json_boolean(value));
}

void report_text(struct report *r, const char *name, const char *value)
{
    json_t *text = json_string(value);
    set(r->fields, name, text != NULL ? text : json_string("(not UTF-8)"));
}

void report_hash(struct report *r, const char *name, uint64_t value)
{
    set(r->fields, name, json_sprintf("%016" PRIx64, value));
}

void report_append(struct report *r, const char *name, struct report *child)
{
    json_t *list = json_object_get(r->fields, name);
    if (list == NULL) {
        list = json_array();
        set(r->fields, name, list);
    }
    CHECK(json_array_append(list, child->fields) == 0);
    report_close(child);
}

void report_part(struct report *r, const char *name, const char *count, int64_t value)
{
    json_t *object = json_object_get(r->fields, name);
    if (object == NULL) {
        object = json_object();
        set(r->fields, name, object);
    }
    if (count != NULL) {
        set(object, count, json_integer(value));
    }
}

int report_number(const struct report *r, const char *name, double *out)
{
    char head[64];
    const char *dot = strchr(name, '.');
    size_t length = dot != NULL ? (size_t)(dot - name) : strlen(name);
    if (length >= sizeof head) {
        return -ENOENT;
    }
    memcpy(head, name, length);
    head[length] = '\0';
    const json_t *value = json_object_get(r->fields, head);
    if (dot != NULL && json_is_object(value)) {
        value = json_object_get(value, dot + 1);
        if (value == NULL && cause_known(dot + 1, strlen(dot + 1))) {
            *out = 0;
            return 0;
        }
    }
    if (json_is_boolean(value)) {
        *out = json_is_true(value) ? 1 : 0;
        return 0;
    }
    if (!json_is_number(value)) {
        return -ENOENT;
    }
    *out = json_number_value(value);
    return 0;
}

double report_value(const struct report *r, const char *name)
{
    double value;
    return report_number(r, name, &value) == 0 ? value : 0;
}

uint64_t report_hash_value(const struct report *r, const char *name)
{
    const char *text = json_string_value(json_object_get(r->fields, name));
    return text != NULL ? strtoull(text, NULL, 16) : 0;
}

/* ---- Out --------------------------------------------------------------------------------------------------------- */

static int finish(FILE *out)
{
    return fflush(out) == 0 && ferror(out) == 0 ? 0 : -EIO;
}

static int print_line(const json_t *object, FILE *out)
{
    if (json_dumpf(object, out, JSON_COMPACT | JSON_REAL_PRECISION(10)) != 0) {
        return -EIO;
    }
    fputc('\n', out);
    return 0;
}

int report_print_json(const struct report *r, FILE *out)
{
    int rc = print_line(r->fields, out);
    return rc < 0 ? rc : finish(out);
}

int report_print_lines(const struct report *r, FILE *out)
{
    const char *key;
    json_t *value, *rest = json_object();
    int rc = 0;
    CHECK(rest != NULL);
    json_object_foreach(r->fields, key, value)
    {
        for (size_t i = 0; i < json_array_size(value) && rc == 0; i++) {
            rc = print_line(json_array_get(value, i), out);
        }
        if (!json_is_array(value)) {
            set(rest, key, json_incref(value));
        }
    }
    rc = rc == 0 && json_object_size(rest) > 0 ? print_line(rest, out) : rc;
    json_decref(rest);
    return rc < 0 ? rc : finish(out);
}

/* ---- Tables for people ------------------------------------------------------------------------------------------- */

/* Green for what is well, red for what is not, yellow for what is on its way; "" for all other words. */
static const char *tint_of(const json_t *value)
{
    static const char *const words[][2] = {
        {"running", "\033[32m"},  {"serving", "\033[32m"},
        {"all", "\033[32m"},      {"up", "\033[32m"},
        {"fine", "\033[32m"},     {"dead", "\033[31m"},
        {"missing", "\033[31m"},  {"fenced", "\033[31m"},
        {"not fine", "\033[31m"}, {"does not answer", "\033[31m"},
        {"paused", "\033[33m"},   {"joining", "\033[33m"},
        {"leaving", "\033[33m"},  {"starting", "\033[33m"},
    };
    const char *text = json_string_value(value);
    for (size_t i = 0; text != NULL && i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i][0], text) == 0) {
            return words[i][1];
        }
    }
    return "";
}

/* ---- Numbers as people read them (commandline/units.h) ----------------------------------------------------------- */

enum { SHOWN = 64 };

/* What the end of a field's name says of its number. */
static const struct unit {
    const char *suffix;
    enum { SPAN, BYTES, RATE, SHARE, PERCENT } kind;
    double scale; /* to nanoseconds, bytes, bits per second, parts of a million */
} units[] = {
    {"_ns", SPAN, 1},     {"_us", SPAN, 1e3}, {"_ms", SPAN, 1e6},     {"seconds", SPAN, 1e9},   {"_bytes", BYTES, 1},
    {"_gbps", RATE, 1e9}, {"_ppm", SHARE, 1}, {"_share", SHARE, 1e6}, {"_percent", PERCENT, 1},
};

static const struct unit *unit_of(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t suffix = strlen(units[i].suffix);
        if (suffix <= length && strcmp(name + length - suffix, units[i].suffix) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

/* Numbers that only name something have no thousands. */
static bool is_name(const char *name)
{
    return strcmp(name, "pid") == 0 || strcmp(name, "keeper") == 0 || strncmp(name, "seed", 4) == 0;
}

static void show_with_unit(const struct unit *unit, double value, char out[static SHOWN])
{
    double scaled = value * unit->scale + 0.5;
    double most = 9e18;
    scaled = scaled < 0 ? 0 : scaled < most ? scaled : most;
    switch (unit->kind) {
    case SPAN:
        units_span((int64_t)scaled, out);
        break;
    case BYTES:
        units_bytes((uint64_t)scaled, out);
        break;
    case RATE:
        units_rate((uint64_t)scaled, out);
        break;
    case SHARE:
        quantity_share_format((uint32_t)(scaled < 1e9 ? scaled : 1e9), out);
        break;
    default:
        snprintf(out, SHOWN, "%.3g %%", value);
    }
}

/* A number of that name; a real without a unit has three digits that matter. */
static void show_number(const char *name, const json_t *value, char out[static SHOWN])
{
    const struct unit *unit = unit_of(name);
    double real = json_number_value(value);
    if (json_is_integer(value) && is_name(name)) {
        snprintf(out, SHOWN, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        if (strcmp(name, "pid") == 0 && json_integer_value(value) == 0) {
            snprintf(out, SHOWN, "-"); /* there is no process */
        }
    } else if (unit != NULL) {
        show_with_unit(unit, real, out);
    } else if (json_is_integer(value)) {
        units_count(json_integer_value(value), out);
    } else if (real >= 1000 && real < 9e18) {
        units_count((int64_t)(real + 0.5), out);
    } else {
        snprintf(out, SHOWN, "%.3g", real);
    }
}

/*
 * "rtt_max_us" as a title: "rtt max", for the unit stands behind the number; "sim_seconds": "sim time". Where another
 * field has the title already ("kept_waiting" beside "kept_waiting_ns"): "kept waiting for".
 */
static void title_of(const json_t *among, const char *name, char out[static SHOWN])
{
    const struct unit *unit = unit_of(name);
    const char *last = strrchr(name, '_'), *more = "";
    size_t length = strlen(name);
    if (unit != NULL && unit->kind == SPAN && strcmp(unit->suffix, "seconds") == 0) {
        length -= strlen(unit->suffix);
        more = "time";
    } else if (unit != NULL && strcmp(unit->suffix, "_share") != 0 && last != NULL) {
        snprintf(out, SHOWN, "%.*s", (int)(last - name), name);
        more = json_object_get(among, out) != NULL ? " for" : "";
        length = (size_t)(last - name);
    }
    snprintf(out, SHOWN, "%.*s%s", (int)length, name, more);
    for (char *at = out; *at != '\0'; at++) {
        *at = *at == '_' ? ' ' : *at;
    }
}

static void show_value(const char *name, const json_t *value, FILE *out)
{
    char text[SHOWN];
    if (json_is_object(value)) {
        const char *comma = "";
        for (void *at = json_object_iter((json_t *)(uintptr_t)value); at != NULL;
             at = json_object_iter_next((json_t *)(uintptr_t)value, at)) {
            fprintf(out, "%s%s ", comma, json_object_iter_key(at));
            show_value(json_object_iter_key(at), json_object_iter_value(at), out);
            comma = ", ";
        }
        fputs(comma[0] == '\0' ? "none" : "", out);
    } else if (json_is_number(value)) {
        show_number(name, value, text);
        fputs(text, out);
    } else {
        fputs(json_is_string(value) ? json_string_value(value) : json_is_true(value) ? "yes" : "no", out);
    }
}

/* "rtt_max_ns": where a row has none, it was not measured. */
static bool is_span(const char *name)
{
    const struct unit *unit = unit_of(name);
    return unit != NULL && unit->kind == SPAN;
}

/* How wide a value prints. */
static int width_of(const char *name, const json_t *value)
{
    char text[SHOWN];
    if (json_is_string(value)) {
        return (int)json_string_length(value);
    }
    if (json_is_number(value)) {
        show_number(name, value, text);
        return (int)strlen(text);
    }
    return 3;
}

/* The names of all elements, each in the place where it was first seen; its value: how wide its column is. */
static json_t *columns_of(const json_t *list)
{
    json_t *columns = json_object(), *all = json_object();
    CHECK(columns != NULL && all != NULL);
    for (size_t i = 0; i < json_array_size(list); i++) {
        CHECK(json_object_update(all, json_array_get(list, i)) == 0);
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *key;
        json_t *value;
        json_object_foreach(json_array_get(list, i), key, value)
        {
            json_int_t width = json_integer_value(json_object_get(columns, key));
            char title[SHOWN];
            title_of(all, key, title);
            json_int_t name = (json_int_t)strlen(title), wide = width_of(key, value);
            width = width > name ? width : name;
            set(columns, key, json_integer(width > wide ? width : wide));
        }
    }
    json_decref(all);
    return columns;
}

/* A list of elements that are much alike: names across the top. Objects and lists inside are for JSON. */
static void print_list(const json_t *list, FILE *out)
{
    json_t *columns = columns_of(list);
    bool colour = colour_wanted(out);
    for (size_t row = 0; row <= json_array_size(list); row++) {
        const char *key;
        json_t *width;
        int blank = 0; /* columns to the left in which this row has nothing; none are printed behind its last value */
        fputs(colour && row == 0 ? "\033[1m" : "", out);
        json_object_foreach(columns, key, width)
        {
            const json_t *value = row > 0 ? json_object_get(json_array_get(list, row - 1), key) : NULL;
            int room = (int)json_integer_value(width);
            bool plain = value != NULL && !json_is_object(value) && !json_is_array(value);
            if (row == 0) {
                char title[SHOWN];
                title_of(columns, key, title);
                fprintf(out, "  %*s", room, title);
            }
            bool unmeasured = row > 0 && value == NULL && is_span(key);
            if (unmeasured) {
                fprintf(out, "%*s  %*s", blank, "", room, "-");
            }
            blank = unmeasured ? 0 : blank;
            blank += plain || unmeasured ? 0 : room + 2;
            if (plain) {
                fprintf(out, "%*s  %*s", blank, "", room - width_of(key, value), "");
                blank = 0;
                const char *tint = colour ? tint_of(value) : "";
                fputs(tint, out);
                show_value(key, value, out);
                fputs(tint[0] != '\0' ? "\033[0m" : "", out);
            }
        }
        fputs(colour && row == 0 ? "\033[0m\n" : "\n", out);
    }
    json_decref(columns);
}

int report_print_table(const struct report *r, FILE *out)
{
    const char *key;
    json_t *value;
    bool alone = json_object_size(r->fields) == 1; /* a list with nothing beside it needs no heading */
    json_object_foreach(r->fields, key, value)
    {
        if (!json_is_array(value)) {
            char title[SHOWN];
            title_of(r->fields, key, title);
            fprintf(out, "%-24s ", title);
            show_value(key, value, out);
            fputc('\n', out);
        }
    }
    json_object_foreach(r->fields, key, value)
    {
        if (json_is_array(value)) {
            if (!alone) {
                fprintf(out, "\n%s\n", key);
            }
            print_list(value, out);
        }
    }
    return finish(out);
}

static void print_raw(const json_t *value, FILE *out)
{
    if (json_is_integer(value)) {
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_real(value)) {
        fprintf(out, "%.6g", json_real_value(value));
    } else {
        fputs(json_is_true(value) ? "yes" : "no", out);
    }
}

static void print_csv_value(const json_t *value, FILE *out)
{
    if (!json_is_string(value)) {
        if (value != NULL && !json_is_object(value)) {
            print_raw(value, out);
        }
        return;
    }
    const char *text = json_string_value(value);
    if (strpbrk(text, ",\"\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        fputs(*text == '"' ? "\"" : "", out);
        fputc(*text, out);
    }
    fputc('"', out);
}

int report_print_csv(const struct report *r, const char *name, const char *const columns[], size_t count_of, FILE *out)
{
    const json_t *list = json_object_get(r->fields, name);
    for (size_t c = 0; c < count_of; c++) {
        fprintf(out, "%s%s", c > 0 ? "," : "", columns[c]);
    }
    fputc('\n', out);
    for (size_t i = 0; i < json_array_size(list); i++) {
        for (size_t c = 0; c < count_of; c++) {
            fputs(c > 0 ? "," : "", out);
            print_csv_value(json_object_get(json_array_get(list, i), columns[c]), out);
        }
        fputc('\n', out);
    }
    return finish(out);
}
