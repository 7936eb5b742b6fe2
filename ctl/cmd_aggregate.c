/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_aggregate.c - vectors of numbers, and records, that the network combines: a file of each server becomes one. It
 * asks by `cwctl service aggregate`.
 */
#include "base/base64.h"
#include "ctl/commands.h"
#include "ctl/run_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 300 };

static struct request_draft *request_of(const struct call *call, const char *command)
{
    struct request_draft *r = request_draft_open("service", call->server);
    request_draft_word(r, "aggregate");
    request_draft_word(r, command);
    return r;
}

static void word_text(struct request_draft *r, const char *name, const char *value)
{
    char text[WORD];
    snprintf(text, sizeof text, "%s=%.250s", name, value);
    request_draft_word(r, text);
}

static void word_number(struct request_draft *r, const char *name, int64_t n)
{
    char text[WORD];
    snprintf(text, sizeof text, "%s=%" PRId64, name, n);
    request_draft_word(r, text);
}

/* Adds an option as the daemon reads it; one of several servers or targets becomes several words. */
static void add_option(struct request_draft *r, const struct arguments_given *g)
{
    const char *name = g->option->name;
    if (strcmp(name, "without") == 0) {
        request_draft_word(r, "without=1");
    } else if (strcmp(name, "limit") == 0) {
        word_number(r, "limit_ms", (g->number + 999) / 1000); /* in whole ms, at least 1 */
    } else if (g->option->kind == ARGUMENTS_NUMBER) {
        word_number(r, name, g->number);
    } else if (g->option->list) {
        char *words = strdup(g->text), *rest = words;
        for (char *word; words != NULL && (word = strtok_r(rest, " ", &rest)) != NULL;) {
            word_text(r, name, word);
        }
        free(words);
    } else {
        word_text(r, name, g->text);
    }
}

static void add_options(const struct call *call, struct request_draft *r)
{
    for (int i = 0; i < call->arguments->options; i++) {
        add_option(r, &call->arguments->given[i]);
    }
}

/* ---- The end of a reduction -------------------------------------------------------------------------------------- */

/* The servers that are not in the result, or have none, each with the reason; and those that have one all the same. */
static void show_servers(const struct call *call, const struct rows *rows, FILE *out)
{
    static const struct table_column columns[] = {
        {"server", "SERVER", TABLE_TEXT},
        {"state", "STATE", TABLE_TEXT},
        {"reason", "REASON", TABLE_TEXT},
        {NULL, NULL, TABLE_TEXT},
    };
    if (rows->count > 1) {
        table_print(rows->row + 1, rows->count - 1, columns, call->style, out);
    }
}

static void show_end(const struct call *call, const struct rows *rows)
{
    const struct message *sum = rows->row[0];
    static const struct table_column figures[] = {
        {"bytes", "", TABLE_BYTES}, {"took_ns", "", TABLE_SPAN}, {"bits_per_second", "", TABLE_RATE}};
    char bytes[TABLE_CELL], took[TABLE_CELL], rate[TABLE_CELL];
    table_cell(sum, &figures[0], bytes);
    table_cell(sum, &figures[1], took);
    table_cell(sum, &figures[2], rate);
    fprintf(call->out, "%s of %s: %s from each of %" PRId64 " of %" PRId64 " servers in %s (%s), at %s",
            message_get_text(sum, "operation", "?"), message_get_text(sum, "type", "?"), bytes,
            message_get_integer(sum, "counted", 0), message_get_integer(sum, "members", 0), took, rate,
            strcmp(message_get_text(sum, "to", ""), "all") == 0 ? "all" : message_get_text(sum, "root", "?"));
    if (message_has(sum, "file")) {
        fprintf(call->out, " in %s", message_get_text(sum, "file", "?"));
    }
    if (message_has(sum, "wrong_elements")) {
        int64_t wrong = message_get_integer(sum, "wrong_elements", 0);
        if (wrong == 0) {
            fprintf(call->out, "; every element is right");
        } else {
            fprintf(call->out, "; %" PRId64 " elements are wrong", wrong);
        }
    }
    int64_t counted = message_get_integer(sum, "counted", 0);
    int64_t have = message_get_integer(sum, "with_result", counted); /* is there when the result is for all */
    if (have < counted) {
        fprintf(call->out, "; %" PRId64 " of %" PRId64 " servers have it", have, counted);
    }
    if (message_has(sum, "cancelled_late")) {
        fprintf(call->out, "; the cancel came too late");
    }
    if (message_get_integer(sum, "attempts", 1) > 1) {
        fprintf(call->out, "; %" PRId64 " attempts", message_get_integer(sum, "attempts", 1));
    }
    fputc('\n', call->out);
    show_servers(call, rows, call->out);
}

/* The end of a run of records. */
static void show_run(const struct call *call, const struct rows *rows)
{
    const struct message *end = rows->row[0];
    static const struct table_column took = {"took_ns", "", TABLE_SPAN}, bytes = {"bytes", "", TABLE_BYTES};
    char cell[2][TABLE_CELL];
    table_cell(end, &took, cell[0]);
    table_cell(end, &bytes, cell[1]);
    fprintf(call->out,
            "%s of %s: %" PRId64 " records of %" PRId64 " of %" PRId64 " servers became %" PRId64
            " lines (%s) in %s, at %s in %s",
            message_get_text(end, "operation", "?"), message_get_text(end, "type", "?"),
            message_get_integer(end, "records", 0), message_get_integer(end, "counted", 0),
            message_get_integer(end, "members", 0), message_get_integer(end, "keys", 0), cell[1], cell[0],
            message_get_text(end, "root", message_get_text(end, "to", "?")), message_get_text(end, "file", "?"));
    int64_t parts = message_get_integer(end, "parts", 1), have = message_get_integer(end, "with_result", parts);
    if (strcmp(message_get_text(end, "to", ""), "all") != 0 && (parts > 1 || have < parts)) {
        fprintf(call->out, "; %" PRId64 " of %" PRId64 " parts", have, parts);
    } else if (strcmp(message_get_text(end, "to", ""), "all") == 0) {
        fprintf(call->out, "; %" PRId64 " servers have it", have);
    }
    if (message_has(end, "stood_in")) {
        fprintf(call->out, "; stood in for from copies: %s", message_get_text(end, "stood_in", ""));
    }
    if (message_has(end, "cancelled_late")) {
        fprintf(call->out, "; the cancel came too late");
    }
    if (message_get_integer(end, "attempts", 1) > 1) {
        fprintf(call->out, "; %" PRId64 " attempts", message_get_integer(end, "attempts", 1));
    }
    fputc('\n', call->out);
    show_servers(call, rows, call->out);
}

/* Asks, and takes r. A reduction ends by its own limit; the answer is waited for as long as that takes. */
static int ask(struct call *call, struct request_draft *r,
               void (*show)(const struct call *call, const struct rows *rows))
{
    struct rows rows = {NULL, 0, 0};
    const cw_span patience = call->arguments->timeout.ns > 0 ? call->arguments->timeout : CW_HOURS(24);
    int code = EXIT_FINE;
    int rc = call_ask(call, r, patience, rows_add, &rows, &code);
    request_draft_close(r);
    for (size_t i = 0; call->arguments->json && i < rows.count; i++) {
        message_print(rows.row[i], call->out);
    }
    if (rc >= 0 && rows.count > 0) {
        const struct message *sum = rows.row[0];
        bool all = message_get_integer(sum, "counted", 0) == message_get_integer(sum, "members", 0);
        code = all && rows.count == 1 ? EXIT_FINE : EXIT_INCOMPLETE;
        if (!call->arguments->json) {
            show(call, &rows);
        }
    }
    if (rc < 0 && rows.count > 2 && !call->arguments->json) {
        show_servers(call, &rows, call->errors); /* the sentence has named one only */
    }
    rows_clear(&rows);
    return code;
}

static int refuse(const struct call *call, const char *why)
{
    fprintf(call->errors, "cwctl: %s: %s\n", call->command->name, why);
    return EXIT_USAGE;
}

int run_aggregate_reduce(struct call *call)
{
    const struct arguments *a = call->arguments;
    const struct arguments_given *from = call_given(call, "from"), *to = call_given(call, "to");
    if (from == NULL) {
        return refuse(call, "from which file? --from NAME, below the data folder of each server");
    }
    if (to == NULL || strchr(to->text, ':') == NULL) {
        return refuse(call, "to where? --to SERVER:NAME or --to all:NAME, as --to 0,0,0:sum.f32");
    }
    struct request_draft *r = request_of(call, "reduce");
    request_draft_word(r, a->word[2]);
    request_draft_word(r, a->word[3]);
    add_options(call, r);
    return ask(call, r, show_end);
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

enum { DATA_MOST = 48 * 1024 };

/* Writes what a row has of the result. 0, or -1: it is damaged, or cannot be written. */
static int put_data(const struct call *call, const struct message *row)
{
    static uint8_t bytes[DATA_MOST];
    int length = base64_decode(message_get_text(row, "data", ""), bytes, sizeof bytes);
    return length >= 0 && fwrite(bytes, 1, (size_t)length, call->out) == (size_t)length ? 0 : -1;
}

/* Fetches the result of a run for this caller, and writes it to standard output. Gives the exit code. */
static int fetch(const struct call *call, int64_t id)
{
    int code = EXIT_FINE;
    for (bool last = false; !last && code == EXIT_FINE;) {
        struct rows rows = {NULL, 0, 0};
        char word[24];
        struct request_draft *r = request_of(call, "take");
        snprintf(word, sizeof word, "%" PRId64, id);
        request_draft_word(r, word);
        int rc = call_ask(call, r, CW_SEC(60), rows_add, &rows, &code);
        request_draft_close(r);
        for (size_t i = 0; rc >= 0 && i < rows.count; i++) {
            if (put_data(call, rows.row[i]) < 0) {
                fprintf(call->errors, "cwctl: the result cannot be written\n");
                code = EXIT_NO;
                break;
            }
            last = last || message_get_integer(rows.row[i], "last", 0) != 0;
        }
        code = code == EXIT_FINE && (rc < 0 || rows.count == 0) ? EXIT_NO : code;
        rows_clear(&rows);
    }
    return code;
}

/* The result is for this caller: it goes to standard output, and what is said of it to standard error. */
static int ask_and_fetch(struct call *call, struct request_draft *r)
{
    struct rows rows = {NULL, 0, 0};
    const cw_span patience = call->arguments->timeout.ns > 0 ? call->arguments->timeout : CW_HOURS(24);
    int code = EXIT_FINE;
    int rc = call_ask(call, r, patience, rows_add, &rows, &code);
    request_draft_close(r);
    if (rc >= 0 && rows.count > 0) {
        code = fetch(call, message_get_integer(rows.row[0], "id", 0));
        code = code == EXIT_FINE && rows.count > 1 ? EXIT_INCOMPLETE : code;
    }
    for (size_t i = 0; call->arguments->json && i < rows.count; i++) {
        message_print(rows.row[i], call->errors);
    }
    if (!call->arguments->json) {
        show_servers(call, &rows, call->errors);
    }
    rows_clear(&rows);
    return code;
}

/* NULL: every --to makes sense. *caller: the result is for the caller. */
static const char *look_at_targets(const struct call *call, bool *caller)
{
    const struct arguments *a = call->arguments;
    bool some = false;
    for (int i = 0; i < a->options; i++) {
        const char *text = a->given[i].text;
        if (strcmp(a->given[i].option->name, "to") != 0) {
            continue;
        }
        some = true;
        *caller = strcmp(text, "-") == 0;
        if (!*caller && strchr(text, ':') == NULL) {
            some = false;
            break;
        }
    }
    return some ? NULL : "to where? --to SERVER:NAME, each:NAME, all:NAME or -, as --to 0,0,0:words.txt";
}

static int run(struct call *call)
{
    bool caller = false;
    if (call_given(call, "from") == NULL) {
        return refuse(call, "from which file? --from NAME, below the data folder of each server");
    }
    const char *wrong = look_at_targets(call, &caller);
    if (wrong != NULL) {
        return refuse(call, wrong);
    }
    struct request_draft *r = request_of(call, "run");
    add_options(call, r);
    return caller ? ask_and_fetch(call, r) : ask(call, r, show_run);
}

int run_aggregate_words(struct call *call)
{
    return run(call);
}

/* ---- A run in a file --------------------------------------------------------------------------------------------- */

/* Asks the daemon whether it takes an option (NULL: all of them together). 0, or a line is added to the mistakes. */
static int judge(const struct call *call, struct run_file *f, int option)
{
    char why[CLIENT_WHY];
    struct request_draft *r = request_of(call, "run");
    request_draft_word(r, option < 0 ? "check=run" : "check=word");
    for (int i = option < 0 ? 0 : option; i < (option < 0 ? f->arguments.options : option + 1); i++) {
        add_option(r, &f->arguments.given[i]);
    }
    struct rows rows = {NULL, 0, 0};
    int rc = client_ask(call->client, r, call_patience(call), rows_add, &rows, why);
    request_draft_close(r);
    rows_clear(&rows);
    if (rc < 0) {
        run_file_mistake(f, option < 0 ? 0 : f->line[option], why[0] != '\0' ? why : strerror(-rc));
    }
    return client_failed(call->client) ? rc : 0;
}

/* Reads the file, and tells everything that is wrong with it, here and for the daemon. Gives the exit code. */
static int read_run(const struct call *call, const char *path, struct run_file *f)
{
    int used, rc = run_file_open(f, commands_find((const char *const[]){"aggregate", "run"}, 2, &used), call->arguments,
                                 path);
    if (rc < 0) {
        fprintf(call->errors, "cwctl: %s: %s\n", path, strerror(-rc));
        return EXIT_NO;
    }
    for (int i = 0; i < f->arguments.options && rc == 0; i++) {
        rc = judge(call, f, i);
    }
    if (rc == 0 && f->mistakes == 0) {
        rc = judge(call, f, -1);
    }
    run_file_tell(f, call->errors);
    return rc < 0 ? EXIT_NOBODY : f->mistakes > 0 ? EXIT_USAGE : EXIT_FINE;
}

int run_aggregate_run(struct call *call)
{
    static struct run_file f;
    const char *path = call->arguments->words > 2 ? call->arguments->word[2] : NULL;
    if (path == NULL) {
        return run(call);
    }
    int code = read_run(call, path, &f);
    if (code == EXIT_FINE) {
        struct call whole = *call;
        whole.arguments = &f.arguments;
        code = run(&whole);
    }
    run_file_close(&f);
    return code;
}

static int check_file(const struct call *call, const char *path)
{
    static struct run_file f;
    if (call->arguments->options > 0) {
        return refuse(call, "a run in a FILE says everything itself; no options are expected");
    }
    int code = read_run(call, path, &f);
    if (code == EXIT_FINE && call->arguments->json) {
        struct message *m = message_open();
        message_text(m, "file", path);
        message_integer(m, "mistakes", 0);
        message_print(m, call->out);
        message_close(m);
    } else if (code == EXIT_FINE) {
        fprintf(call->out, "%s: no mistake\n", path);
    }
    run_file_close(&f);
    return code;
}

int run_aggregate_check(struct call *call)
{
    if (call->arguments->words > 2) {
        return check_file(call, call->arguments->word[2]);
    }
    struct request_draft *r = request_of(call, "check");
    add_options(call, r);
    return ask(call, r, show_end);
}

/* ---- What is under way ------------------------------------------------------------------------------------------- */

int run_aggregate_status(struct call *call)
{
    static const struct table_column columns[] = {
        {"id", "ID", TABLE_COUNT},
        {"role", "ROLE", TABLE_TEXT},
        {"root", "ROOT", TABLE_TEXT},
        {"job", "JOB", TABLE_COUNT},
        {"name", "NAME", TABLE_TEXT},
        {"operation", "OPERATION", TABLE_TEXT},
        {"type", "TYPE", TABLE_TEXT},
        {"state", "STATE", TABLE_TEXT},
        {"bytes", "BYTES", TABLE_BYTES},
        {"settled_bytes", "SETTLED", TABLE_BYTES},
        {"memory_bytes", "MEMORY", TABLE_BYTES},
        {"spool_bytes", "SPOOL", TABLE_BYTES},
        {"settled_partitions", "PARTITIONS", TABLE_COUNT},
        {"members", "MEMBERS", TABLE_COUNT},
        {"attempts", "ATTEMPTS", TABLE_COUNT},
        {"still_ns", "STILL FOR", TABLE_SPAN},
        {"waits_for", "WAITS FOR", TABLE_TEXT},
        {NULL, NULL, TABLE_TEXT},
    };
    struct rows rows = {NULL, 0, 0};
    int code = EXIT_FINE;
    struct request_draft *r = request_of(call, "status");
    int rc = call_ask(call, r, call_patience(call), rows_add, &rows, &code);
    request_draft_close(r);
    bool none = rows.count == 1 && !message_has(rows.row[0], "role");
    if (none) {
        rows_clear(&rows);
    }
    rows_type(&rows, "", "waits_for");
    for (size_t i = 0; rc >= 0 && call->arguments->json && i < rows.count; i++) {
        message_print(rows.row[i], call->out);
    }
    if (rc >= 0 && !call->arguments->json && rows.count > 0) {
        table_print(rows.row, rows.count, columns, call->style, call->out);
    } else if (rc >= 0 && !call->arguments->json) {
        fprintf(call->out, "no reduction is under way at this server\n");
    }
    rows_clear(&rows);
    return code;
}

int run_aggregate_cancel(struct call *call)
{
    struct rows rows = {NULL, 0, 0};
    int code = EXIT_FINE;
    struct request_draft *r = request_of(call, "cancel");
    request_draft_word(r, call->arguments->word[2]);
    int rc = call_ask(call, r, call_patience(call), rows_add, &rows, &code);
    request_draft_close(r);
    if (rc >= 0 && call->arguments->json) {
        call_tell_done(call);
    }
    rows_clear(&rows);
    return code;
}
