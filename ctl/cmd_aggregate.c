/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_aggregate.c - vectors of numbers, and records, that the network combines: a file of each server becomes one. It
 * asks by `cwctl service aggregate`.
 */
#include "base/base64.h"
#include "ctl/commands.h"

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

/* Adds every --of, each of one or several servers, and the options of all reductions. */
static void add_options(const struct call *call, struct request_draft *r)
{
    const struct arguments *a = call->arguments;
    const struct arguments_given *limit = call_given(call, "limit"), *order = call_given(call, "order");
    for (int i = 0; i < a->options; i++) {
        if (strcmp(a->given[i].option->name, "of") != 0) {
            continue;
        }
        char *words = strdup(a->given[i].text), *rest = words;
        for (char *word; words != NULL && (word = strtok_r(rest, " ", &rest)) != NULL;) {
            word_text(r, "of", word);
        }
        free(words);
    }
    if (call_given(call, "without") != NULL) {
        request_draft_word(r, "without=1");
    }
    if (order != NULL) {
        word_text(r, "order", order->text);
    }
    if (limit != NULL) {
        word_number(r, "limit_ms", (limit->number + 999) / 1000); /* in whole ms, at least 1 */
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
    word_text(r, "from", from->text);
    word_text(r, "to", to->text);
    add_options(call, r);
    return ask(call, r, show_end);
}

int run_aggregate_check(struct call *call)
{
    const struct arguments_given *to = call_given(call, "to"), *bytes = call_given(call, "bytes");
    struct request_draft *r = request_of(call, "check");
    if (bytes != NULL) {
        word_number(r, "bytes", bytes->number);
    }
    if (to != NULL) {
        word_text(r, "to", to->text);
    }
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

/* Adds every --to; NULL: they make sense. *caller: the result is for the caller. */
static const char *add_targets(const struct call *call, struct request_draft *r, bool *caller)
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
        char *words = strdup(text), *rest = words;
        for (char *word; words != NULL && (word = strtok_r(rest, " ", &rest)) != NULL;) {
            word_text(r, "to", word);
        }
        free(words);
    }
    return some ? NULL : "to where? --to SERVER:NAME, each:NAME, all:NAME or -, as --to 0,0,0:words.txt";
}

static int run(struct call *call, bool words)
{
    const struct arguments_given *from = call_given(call, "from");
    const struct arguments_given *map = words ? NULL : call_given(call, "map");
    const struct arguments_given *combine = words ? NULL : call_given(call, "combine");
    const struct arguments_given *top = call_given(call, "top"), *parts = words ? NULL : call_given(call, "partitions");
    const struct arguments_given *path = words ? NULL : call_given(call, "path");
    bool caller = false;
    if (from == NULL) {
        return refuse(call, "from which file? --from NAME, below the data folder of each server");
    }
    struct request_draft *r = request_of(call, "run");
    const char *wrong = add_targets(call, r, &caller);
    if (wrong != NULL) {
        request_draft_close(r);
        return refuse(call, wrong);
    }
    word_text(r, "from", from->text);
    if (map != NULL) {
        word_text(r, "map", map->text);
    }
    if (combine != NULL) {
        word_text(r, "combine", combine->text);
    }
    if (top != NULL) {
        word_number(r, "top", top->number);
    }
    if (parts != NULL) {
        word_number(r, "partitions", parts->number);
    }
    if (path != NULL) {
        word_text(r, "path", path->text);
    }
    add_options(call, r);
    return caller ? ask_and_fetch(call, r) : ask(call, r, show_run);
}

int run_aggregate_words(struct call *call)
{
    return run(call, true);
}

int run_aggregate_run(struct call *call)
{
    return run(call, false);
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
    if (rc >= 0) {
        show_done(call, &rows);
    }
    rows_clear(&rows);
    return code;
}
