/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/run_file.h"

#include "base/nearest.h"
#include "setting/setting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MOST = 1 << 20 };

void run_file_mistake(struct run_file *f, unsigned line, const char *why)
{
    if (f->mistakes < RUN_FILE_MISTAKES) {
        f->mistake[f->mistakes].line = line;
        snprintf(f->mistake[f->mistakes].why, RUN_FILE_WHY, "%s", why);
    }
    f->mistakes++;
}

static int by_line(const void *a, const void *b)
{
    const unsigned *x = a, *y = b; /* the line comes first */
    return *x < *y ? -1 : *x > *y;
}

void run_file_tell(struct run_file *f, FILE *errors)
{
    unsigned n = f->mistakes < RUN_FILE_MISTAKES ? f->mistakes : RUN_FILE_MISTAKES;
    qsort(f->mistake, n, sizeof *f->mistake, by_line);
    for (unsigned i = 0; i < n; i++) {
        if (f->mistake[i].line > 0) {
            fprintf(errors, "cwctl: %s:%u: %s\n", f->path, f->mistake[i].line, f->mistake[i].why);
        } else {
            fprintf(errors, "cwctl: %s: %s\n", f->path, f->mistake[i].why);
        }
    }
    if (f->mistakes > n) {
        fprintf(errors, "cwctl: %s: and %u more\n", f->path, f->mistakes - n);
    }
}

/* ---- Keys and values --------------------------------------------------------------------------------------------- */

/* What is known of a key while the file is read. */
struct reading {
    struct run_file *f;
    const struct command *run;
    const struct arguments *given;
    unsigned seen[ARGUMENTS_TABLE]; /* the line of each option; 0: none */
};

static const struct arguments_option *find(const struct command *run, const char *key)
{
    for (const struct arguments_option *o = commands_options(); o->name != NULL; o++) {
        if (strcmp(o->name, key) == 0 && commands_takes(run, o)) {
            return o;
        }
    }
    return NULL;
}

static void tell_unknown(const struct reading *r, const struct conf_item *item)
{
    const char *names[ARGUMENTS_TABLE];
    char why[RUN_FILE_WHY];
    size_t n = 0;
    for (const struct arguments_option *o = commands_options(); o->name != NULL; o++) {
        if (commands_takes(r->run, o)) {
            names[n++] = o->name;
        }
    }
    names[n] = NULL;
    const char *near = nearest_word(item->key, names);
    if (near != NULL) {
        snprintf(why, sizeof why, "unknown \"%.80s\"; did you mean \"%s\"?", item->key, near);
    } else {
        snprintf(why, sizeof why, "unknown \"%.80s\"; there are %s", item->key, r->run->options);
    }
    run_file_mistake(r->f, item->line, why);
}

/* Numbers and times as on the command line. A flag is given, or (false) not: *given. */
static bool read_value(const struct arguments_option *o, const char *text, struct arguments_given *out, bool *given,
                       char why[static RUN_FILE_WHY])
{
    struct value {
        int64_t count;
        cw_span span;
        bool flag;
    } v = {.flag = true};
    const struct setting settings[] = {
        [ARGUMENTS_FLAG] = {.kind = SETTING_BOOL, SETTING_FIELD(struct value, flag), .most = SETTING_ANY},
        [ARGUMENTS_NUMBER] = {.kind = SETTING_COUNT, SETTING_FIELD(struct value, count), .least = 1, .most = INT64_MAX},
        [ARGUMENTS_SPAN] = {.kind = SETTING_SPAN, SETTING_FIELD(struct value, span), .most = INT64_MAX},
    };
    *out = (struct arguments_given){.option = o, .text = text};
    *given = true;
    if (o->kind == ARGUMENTS_TEXT) {
        return true;
    }
    char expected[SETTING_WHY];
    const char *range = NULL;
    int rc = setting_read(&settings[o->kind], text, strlen(text), &v);
    setting_expected(&settings[o->kind], expected);
    if (o->kind == ARGUMENTS_NUMBER) {
        snprintf(expected, sizeof expected, "a whole number from 1 on, as 1000 or 10k");
    }
    if (rc == 0) {
        *given = v.flag;
        out->number = o->kind == ARGUMENTS_SPAN ? v.span.ns / 1000 : v.count;
        range = commands_refusal(out);
    }
    if (rc < 0 || range != NULL) {
        snprintf(why, RUN_FILE_WHY, "%s = \"%.100s\": expected %s", o->name, text, range != NULL ? range : expected);
        return false;
    }
    return true;
}

static bool is_on_command_line(const struct arguments *given, const struct arguments_option *o)
{
    for (int i = 0; i < given->options; i++) {
        if (given->given[i].option == o) {
            return true;
        }
    }
    return false;
}

static void read_item(struct reading *r, const struct conf_item *item)
{
    struct run_file *f = r->f;
    const struct arguments_option *o = find(r->run, item->key);
    struct arguments_given value;
    char why[RUN_FILE_WHY];
    bool given;
    if (o == NULL) {
        tell_unknown(r, item);
        return;
    }
    unsigned *seen = &r->seen[o - commands_options()];
    if (item->value == NULL) {
        snprintf(why, sizeof why, "\"%s\" is no section, but %s = VALUE: %s", o->name, o->name,
                 commands_option_help(r->run, o));
        run_file_mistake(f, item->line, why);
    } else if (*seen != 0 && !o->list) {
        snprintf(why, sizeof why, "\"%s\" stands in line %u already", o->name, *seen);
        run_file_mistake(f, item->line, why);
    } else if (!read_value(o, item->value, &value, &given, why)) {
        run_file_mistake(f, item->line, why);
    } else if (f->arguments.options == ARGUMENTS_OPTIONS) {
        run_file_mistake(f, item->line,
                         "that is more than a command can take; several servers may stand in one value, "
                         "as of = \"0,0,0 1,0,0\"");
    } else if (given && !is_on_command_line(r->given, o)) {
        f->line[f->arguments.options] = item->line;
        f->arguments.given[f->arguments.options++] = value;
    }
    *seen = item->line;
}

/* Without these there is no run. */
static void tell_missing(const struct reading *r)
{
    static const char *const needed[] = {"from", "to"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        const struct arguments_option *o = find(r->run, needed[i]);
        char why[RUN_FILE_WHY];
        if (o != NULL && r->seen[o - commands_options()] == 0 && !is_on_command_line(r->given, o)) {
            snprintf(why, sizeof why, "\"%s\" is missing: %s", o->name, commands_option_help(r->run, o));
            run_file_mistake(r->f, 0, why);
        }
    }
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static int read_text(const char *path, char **out, size_t *length)
{
    FILE *in = fopen(path, "re");
    if (in == NULL) {
        return -errno;
    }
    char *text = malloc(BYTES_MOST);
    *length = text != NULL ? fread(text, 1, BYTES_MOST, in) : 0;
    int rc = text == NULL ? -ENOMEM : 0;
    if (rc == 0 && ferror(in)) {
        rc = -EIO;
    } else if (rc == 0 && *length == BYTES_MOST) {
        rc = -EFBIG;
    }
    fclose(in);
    if (rc < 0) {
        free(text);
        return rc;
    }
    *out = text;
    return 0;
}

static void tell(void *context, unsigned line, const char *why)
{
    run_file_mistake(context, line, why);
}

int run_file_open(struct run_file *f, const struct command *run, const struct arguments *given, const char *path)
{
    char *text = NULL;
    size_t length = 0;
    int rc = read_text(path, &text, &length);
    if (rc < 0) {
        return rc;
    }
    *f = (struct run_file){.arguments = *given};
    snprintf(f->path, sizeof f->path, "%s", path);
    rc = conf_open_most(&f->tree, text, length, tell, f);
    free(text);
    if (rc < 0) {
        return rc;
    }
    struct reading r = {.f = f, .run = run, .given = given};
    for (uint32_t i = f->tree.item[0].first; i != CONF_NONE; i = f->tree.item[i].next) {
        read_item(&r, &f->tree.item[i]);
    }
    tell_missing(&r);
    return 0;
}

void run_file_close(struct run_file *f)
{
    conf_close(&f->tree);
}
