/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_query.c - questions to all servers, once or again and again. It asks by `cwctl service aggregate`.
 */
#include "base/nearest.h"
#include "ctl/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORD = 300 };

/* ---- What is asked ----------------------------------------------------------------------------------------------- */

static void word_text(struct request_draft *r, const char *name, const char *value)
{
    char text[WORD];
    snprintf(text, sizeof text, "%s=%.250s", name, value);
    request_draft_word(r, text);
}

static void add_options(const struct call *call, struct request_draft *r)
{
    const struct arguments *a = call->arguments;
    const struct arguments_given *by = call_given(call, "by"), *within = call_given(call, "within");
    const struct arguments_given *every = call_given(call, "every");
    int64_t us = within != NULL ? within->number : every != NULL && every->number < 1000 * 1000 ? every->number : 0;
    for (int i = 0; i < a->options; i++) {
        if (strcmp(a->given[i].option->name, "on") != 0) {
            continue;
        }
        char *words = strdup(a->given[i].text), *rest = words;
        for (char *word; words != NULL && (word = strtok_r(rest, " ", &rest)) != NULL;) {
            word_text(r, "on", word);
        }
        free(words);
    }
    if (by != NULL) {
        word_text(r, "by", by->text);
    }
    if (us > 0) {
        char text[24];
        snprintf(text, sizeof text, "%" PRId64, us / 1000);
        word_text(r, "within_ms", text);
    }
}

static struct request_draft *request_of(const struct call *call, const char *op)
{
    struct request_draft *r = request_draft_open("service", call->server);
    request_draft_word(r, "aggregate");
    request_draft_word(r, "query");
    request_draft_word(r, op);
    return r;
}

static int refuse(const char *why, const struct call *call)
{
    fprintf(call->errors, "cwctl: query: %s\n", why);
    return EXIT_USAGE;
}

/* OP, then K for top, P.. for quantile, then SOURCE. */
static int check_words(const struct call *call)
{
    static const char *const ops[] = {"count", "sum",      "mean",     "min",       "max",
                                      "top",   "distinct", "quantile", "histogram", NULL};
    const struct arguments *a = call->arguments;
    const char *op = a->word[1];
    for (unsigned i = 0; ops[i] != NULL; i++) {
        bool more = strcmp(op, "top") == 0 || strcmp(op, "quantile") == 0;
        if (strcmp(ops[i], op) != 0) {
            continue;
        }
        if (more && a->words < 4) {
            return refuse(strcmp(op, "top") == 0 ? "top how many of what? As: query top 10 clients"
                                                 : "which quantile of what? As: query quantile 0.99 kvcache.get_root",
                          call);
        }
        return a->words > (strcmp(op, "top") == 0 ? 4 : more ? 18 : 3) ? refuse("too many words", call) : EXIT_FINE;
    }
    const char *near = nearest_word(op, ops);
    fprintf(call->errors,
            "cwctl: query: %s is none of count, sum, mean, min, max, top, distinct, quantile, histogram%s%s%s\n", op,
            near != NULL ? "; did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
    return EXIT_USAGE;
}

static struct request_draft *request_of_words(const struct call *call)
{
    const struct arguments *a = call->arguments;
    struct request_draft *r = request_of(call, a->word[1]);
    bool top = strcmp(a->word[1], "top") == 0;
    request_draft_word(r, a->word[a->words - 1]);
    for (int i = 2; i < a->words - 1; i++) {
        word_text(r, top ? "k" : "p", a->word[i]);
    }
    add_options(call, r);
    return r;
}

/* ---- What is said ------------------------------------------------------------------------------------------------ */

/* A text that is a decimal number becomes one. Whole numbers that are too large for a line of JSON stay texts. */
static void type_numbers(const struct rows *rows)
{
    static const char *const fields[] = {"value", "above", "up_to", "quantile"};
    for (size_t i = 0; i < rows->count; i++) {
        for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
            const char *text = message_get_text(rows->row[i], fields[k], "");
            char *end;
            double v = strtod(text, &end);
            if (strchr(text, '.') != NULL && *end == '\0') {
                message_real(rows->row[i], fields[k], v);
            } else if (strcmp(fields[k], "quantile") == 0 && text[0] != '\0') {
                message_real(rows->row[i], fields[k], v);
            }
        }
    }
}

static void show_head(const struct call *call, const struct message *sum)
{
    static const struct table_column span = {"value_ns", "", TABLE_SPAN}, took = {"took_ns", "", TABLE_SPAN};
    char cell[TABLE_CELL];
    int64_t count = message_get_integer(sum, "count", -1), none = message_get_integer(sum, "no_numbers", 0);
    const char *operation = message_get_text(sum, "operation", "?");
    fprintf(call->out, "%s", strcmp(operation, "list") == 0 ? "what can be asked about" : operation);
    if (message_has(sum, "source")) {
        fprintf(call->out, " of %s", message_get_text(sum, "source", "?"));
    }
    if (message_has(sum, "value_ns")) {
        table_cell(sum, &span, cell);
        fprintf(call->out, ": %s", cell);
    } else if (message_show(sum, "value", cell, sizeof cell)) {
        fprintf(call->out, ": %s", cell);
    } else if (count >= 0) {
        fprintf(call->out, ": of %" PRId64, count);
    } else if (none > 0) {
        fprintf(call->out, ": no line is a number");
    }
    if (message_has(sum, "at")) {
        fprintf(call->out, " at %s", message_get_text(sum, "at", "?"));
    }
    if (message_has(sum, "error_ppm")) {
        bool distinct = strcmp(message_get_text(sum, "operation", ""), "distinct") == 0;
        fprintf(call->out, " (%s%.1f %%)", distinct ? "standard error " : "each value within ",
                (double)message_get_integer(sum, "error_ppm", 0) / 10000);
    }
    if (none > 0 && message_has(sum, "value")) {
        fprintf(call->out, " (%" PRId64 " lines are no numbers)", none);
    }
    if (message_get_integer(sum, "others_most", 0) > 0) {
        fprintf(call->out, " (no other one came more than %" PRId64 " times)",
                message_get_integer(sum, "others_most", 0));
    }
    table_cell(sum, &took, cell);
    int64_t asked = message_get_integer(sum, "asked", 0), answered = message_get_integer(sum, "answered", 0),
            with = message_get_integer(sum, "with_source", answered);
    fprintf(call->out, "; %" PRId64 " of %" PRId64 " server%s", answered, asked, asked == 1 ? "" : "s");
    if (with < answered) {
        fprintf(call->out, ", %" PRId64 " of them with such a source", with);
    }
    fprintf(call->out, ", in %s\n", cell);
    if (message_has(sum, "note")) {
        fprintf(call->out, "%s\n", message_get_text(sum, "note", ""));
    }
}

/* The rows of one kind, which follow one another. */
static size_t some(const struct rows *rows, size_t from, const char *what)
{
    size_t n = 0;
    while (from + n < rows->count && strcmp(message_get_text(rows->row[from + n], "what", ""), what) == 0) {
        n++;
    }
    return n;
}

static void show_answer(const struct call *call, const struct rows *rows)
{
    static const struct table_column columns[] = {
        {"group", "GROUP", TABLE_TEXT},
        {"source", "SOURCE", TABLE_TEXT},
        {"kind", "KIND", TABLE_TEXT},
        {"servers", "SERVERS", TABLE_COUNT},
        {"item", "ITEM", TABLE_TEXT},
        {"quantile", "QUANTILE", TABLE_TEXT},
        {"above_ns", "ABOVE", TABLE_SPAN},
        {"up_to_ns", "UP TO", TABLE_SPAN},
        {"above", "ABOVE", TABLE_TEXT},
        {"up_to", "UP TO", TABLE_TEXT},
        {"value_ns", "VALUE", TABLE_SPAN},
        {"value", "VALUE", TABLE_TEXT},
        {"at", "AT", TABLE_TEXT},
        {"count", "COUNT", TABLE_COUNT},
        {"error_most", "TOO MANY", TABLE_COUNT},
        {"no_numbers", "NO NUMBERS", TABLE_COUNT},
        {NULL, NULL, TABLE_TEXT},
    };
    static const struct table_column missing[] = {
        {"server", "MISSING", TABLE_TEXT}, {"reason", "REASON", TABLE_TEXT}, {NULL, NULL, TABLE_TEXT}};
    show_head(call, rows->row[0]);
    size_t n = some(rows, 1, "row"), m = some(rows, 1 + n, "missing");
    if (n > 0) {
        table_print(rows->row + 1, n, columns, call->style, call->out);
    }
    if (m > 0) {
        table_print(rows->row + 1 + n, m, missing, call->style, call->out);
    }
}

/* Asks, and takes r. Gives the exit code. */
static int ask(const struct call *call, struct request_draft *r)
{
    struct rows rows = {NULL, 0, 0};
    const struct arguments_given *within = call_given(call, "within");
    cw_span patience = call_patience(call);
    int code = EXIT_FINE;
    if (within != NULL) {
        patience = (cw_span){patience.ns + 2 * CW_US(within->number).ns};
    }
    int rc = call_ask(call, r, patience, rows_add, &rows, &code);
    request_draft_close(r);
    if (call->arguments->json) {
        type_numbers(&rows);
    }
    for (size_t i = 0; rc >= 0 && call->arguments->json && i < rows.count; i++) {
        message_print(rows.row[i], call->out);
    }
    if (rc >= 0 && rows.count > 0) {
        const struct message *sum = rows.row[0];
        bool all = message_get_integer(sum, "answered", 0) == message_get_integer(sum, "asked", 0);
        code = all ? EXIT_FINE : EXIT_INCOMPLETE;
        if (!call->arguments->json) {
            show_answer(call, &rows);
        }
    }
    rows_clear(&rows);
    return code;
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * CW_NS_PER_SEC + t.tv_nsec;
}

int run_query(struct call *call)
{
    const struct arguments_given *every = call_given(call, "every"), *span = call_given(call, "for");
    int code = check_words(call);
    if (code != EXIT_FINE) {
        return code;
    }
    if (every == NULL) {
        return span != NULL ? refuse("--for belongs to --every TIME", call) : ask(call, request_of_words(call));
    }
    int64_t begun = now_ns(), next = begun;
    do {
        call_wipe(call);
        code = ask(call, request_of_words(call));
        fflush(call->out);
        next += CW_US(every->number).ns;
        int64_t now = now_ns();
        next = next < now ? now : next; /* an answer took longer: there is nothing to catch up with */
        if ((code != EXIT_FINE && code != EXIT_INCOMPLETE) ||
            (span != NULL && next - begun >= CW_US(span->number).ns)) {
            break;
        }
        call_rest(call, (cw_span){next - now});
    } while (!*call->stop);
    return code;
}

int run_query_list(struct call *call)
{
    struct request_draft *r = request_of(call, "list");
    add_options(call, r);
    return ask(call, r);
}
