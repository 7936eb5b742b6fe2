/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_kv.c - the key-value cache: values in and out as they are, and the caches of the whole torus at a glance. It asks
 * by `cwctl service kvcache`.
 */
#include "ctl/commands.h"

#include "ctl/ask/job_number.h"
#include "ctl/ask/value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    VALUE_MAX = 1024 * 1024,
    WORD = 64,
    GETS = 20, /* times that a value is begun to be read */
};

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

static struct request_draft *request_of(const struct call *call, const char *command)
{
    struct request_draft *r = request_draft_open("service", call->server);
    request_draft_word(r, "kvcache");
    request_draft_word(r, command);
    return r;
}

static void word_number(struct request_draft *r, const char *name, int64_t n)
{
    char text[WORD];
    snprintf(text, sizeof text, "%s%" PRId64, name, n);
    request_draft_word(r, text);
}

/* Sends the request, which it takes. Gives the exit code; EXIT_FINE: there are rows. */
static int ask(const struct call *call, struct request_draft *r, struct rows *rows)
{
    int code = EXIT_FINE;
    int rc = call_ask(call, r, call_patience(call), rows_add, rows, &code);
    request_draft_close(r);
    return rc < 0 ? code : EXIT_FINE;
}

/* By kv_status of the cache, which says it in words, too. */
static int code_of(const struct call *call, const struct message *row, const char *key)
{
    static const int codes[] = {EXIT_FINE, EXIT_NO,     EXIT_NO,      EXIT_NO,      EXIT_NO, EXIT_NO,
                                EXIT_NO,   EXIT_NOBODY, EXIT_TIMEOUT, EXIT_TIMEOUT, EXIT_NO};
    int64_t status = message_get_integer(row, "code", -1);
    int code = status >= 0 && status < (int64_t)(sizeof codes / sizeof *codes) ? codes[status] : EXIT_NO;
    if (code != EXIT_FINE) {
        fprintf(call->errors, "cwctl: '%s': %s\n", key, message_get_text(row, "status", "no result"));
    }
    return code;
}

/* The same for the values of the job that --job names. */
static int ask_of_job(const struct call *call, struct request_draft *r, struct rows *rows)
{
    int code = job_number_word(call, r);
    if (code == EXIT_FINE) {
        return ask(call, r, rows);
    }
    request_draft_close(r);
    return code;
}

static int show(const struct call *call, struct rows *rows, int code)
{
    for (size_t i = 0; code == EXIT_FINE && call->arguments->json && i < rows->count; i++) {
        message_print(rows->row[i], call->out);
    }
    rows_clear(rows);
    return code;
}

/* ---- get --------------------------------------------------------------------------------------------------------- */

/* Asks for the piece behind what is there; of the same value, if it is there still. */
static int ask_piece(const struct call *call, const char *key, const struct value *v, struct rows *rows)
{
    char word[WORD];
    struct request_draft *r = request_of(call, "get");
    request_draft_word(r, key);
    request_draft_word(r, "form=base64");
    word_number(r, "from=", (int64_t)v->length);
    if (v->row != NULL) {
        snprintf(word, sizeof word, "cas=%.24s", message_get_text(v->row, "cas", ""));
        request_draft_word(r, word);
    }
    int code = ask_of_job(call, r, rows);
    return code == EXIT_FINE && rows->count > 0 ? code_of(call, rows->row[0], key) : code;
}

/* All pieces. *again: the key has another value by now. */
static int get_once(const struct call *call, const char *key, struct value *v, bool *again)
{
    bool more = true;
    int code = EXIT_FINE;
    *again = false;
    while (code == EXIT_FINE && more && !*again) {
        struct rows rows = {NULL, 0, 0};
        code = ask_piece(call, key, v, &rows);
        *again = code == EXIT_FINE && v->row != NULL && rows.count > 0 &&
                 strcmp(message_get_text(rows.row[0], "cas", ""), message_get_text(v->row, "cas", "")) != 0;
        if (code == EXIT_FINE && !*again) {
            code = value_add(call, key, VALUE_MAX, v, &rows, &more);
        }
        rows_clear(&rows);
    }
    return code;
}

int run_kv_get(struct call *call)
{
    const char *key = call->arguments->word[2];
    struct value v = {.bytes = NULL};
    bool again = true;
    int code = EXIT_FINE;
    for (unsigned i = 0; again && i < GETS; i++) {
        value_close(&v);
        code = get_once(call, key, &v, &again);
    }
    if (again) {
        fprintf(call->errors,
                "cwctl: '%s': it was set anew each time before all of it was read: try again in a while\n", key);
        code = EXIT_NO;
    }
    code = code == EXIT_FINE ? value_show(call, &v) : code;
    value_close(&v);
    return code;
}

/* ---- set --------------------------------------------------------------------------------------------------------- */

static int set(const struct call *call, const char *key, const uint8_t *bytes, size_t length)
{
    const struct arguments_given *flags = call_given(call, "flags"), *expire = call_given(call, "expire");
    struct rows rows = {NULL, 0, 0};
    uint64_t id = 0;
    int code = length > VALUE_PIECE ? value_bring(call, "kvcache", bytes, length, &id) : EXIT_FINE;
    if (code != EXIT_FINE) {
        return code;
    }
    struct request_draft *r = request_of(call, "set");
    request_draft_word(r, key);
    if (id != 0) {
        request_draft_word(r, "");
        word_number(r, "stage=", (int64_t)id);
    } else {
        value_word(r, bytes, length);
        request_draft_word(r, "form=base64");
    }
    if (flags != NULL) {
        word_number(r, "flags=", flags->number);
    }
    if (expire != NULL) {
        word_number(r, "expire_us=", expire->number);
    }
    code = ask_of_job(call, r, &rows);
    if (code == EXIT_FINE && rows.count > 0) {
        code = code_of(call, rows.row[0], key);
    }
    if (code == EXIT_FINE) {
        call_say_done(call);
    }
    return show(call, &rows, code);
}

int run_kv_set(struct call *call)
{
    const struct arguments *a = call->arguments;
    const struct arguments_given *file = call_given(call, "file");
    const char *from = file != NULL ? file->text : a->words > 3 && strcmp(a->word[3], "-") == 0 ? "-" : NULL;
    size_t length;
    if ((file != NULL) == (a->words > 3)) {
        fprintf(call->errors, "cwctl: kv set takes a VALUE, - for standard input, or --file FILE: one of them\n");
        return EXIT_USAGE;
    }
    if (from == NULL) {
        const char *text = a->word[3];
        return set(call, a->word[2], (const uint8_t *)text, strlen(text));
    }
    uint8_t *bytes = value_read(call, from, VALUE_MAX, "1 MiB", &length);
    int code = bytes != NULL ? set(call, a->word[2], bytes, length) : EXIT_NO;
    free(bytes);
    return code;
}

/* ---- delete, flush ----------------------------------------------------------------------------------------------- */

int run_kv_delete(struct call *call)
{
    const char *key = call->arguments->word[2];
    struct rows rows = {NULL, 0, 0};
    struct request_draft *r = request_of(call, "delete");
    request_draft_word(r, key);
    int code = ask_of_job(call, r, &rows);
    if (code == EXIT_FINE && rows.count > 0) {
        code = code_of(call, rows.row[0], key);
    }
    if (code == EXIT_FINE) {
        call_say_done(call);
    }
    return show(call, &rows, code);
}

int run_kv_flush(struct call *call)
{
    struct rows rows = {NULL, 0, 0};
    struct request_draft *r = request_of(call, "flush");
    int code = ask_of_job(call, r, &rows);
    if (code == EXIT_FINE && rows.count > 0) {
        const char *status = message_get_text(rows.row[0], "status", "no result");
        int64_t missing = message_get_integer(rows.row[0], "missing", 0),
                told = message_get_integer(rows.row[0], "servers", 0);
        if (strcmp(status, "done") != 0) {
            code = told > 0 ? EXIT_INCOMPLETE : EXIT_NOBODY;
            fprintf(call->errors, "cwctl: %s", status);
            if (missing > 0) {
                fprintf(call->errors, ": %" PRId64 " of them, %s the first; flush again", missing,
                        message_get_text(rows.row[0], "first_missing", "?"));
            }
            fprintf(call->errors, "\n");
        } else if (!call->arguments->json) {
            fprintf(call->out, "%" PRId64 " servers have dropped all values\n", told);
        }
    }
    return show(call, &rows, code);
}

/* ---- stats, hot -------------------------------------------------------------------------------------------------- */

static struct message *sum_of(const struct rows *rows)
{
    static const char *const fields[] = {"values",    "value_bytes", "gets",   "hits_here", "hits_copy",
                                         "hits_root", "misses",      "writes", "evicted"};
    struct message *sum = message_open();
    message_text(sum, "server", "all");
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        int64_t n = 0;
        for (size_t i = 0; i < rows->count; i++) {
            n += message_get_integer(rows->row[i], fields[f], 0);
        }
        message_integer(sum, fields[f], n);
    }
    return sum;
}

int run_kv_stats(struct call *call)
{
    static const struct table_column columns[] = {
        {"server", "SERVER", TABLE_TEXT},
        {"values", "VALUES", TABLE_SHORT},
        {"value_bytes", "MEMORY", TABLE_BYTES},
        {"gets", "GETS", TABLE_SHORT},
        {"hits_here", "HERE", TABLE_SHORT},
        {"hits_copy", "COPY", TABLE_SHORT},
        {"hits_root", "ROOT", TABLE_SHORT},
        {"misses", "MISSES", TABLE_SHORT},
        {"writes", "WRITES", TABLE_SHORT},
        {"evicted", "EVICTED", TABLE_SHORT},
        {"get_root_median_ns", "GET", TABLE_SPAN},
        {"get_root_p99_ns", "P99", TABLE_SPAN},
        {"set_median_ns", "SET", TABLE_SPAN},
        {"set_p99_ns", "P99", TABLE_SPAN},
        {"state", "", TABLE_TEXT},
        {NULL, NULL, TABLE_TEXT},
    };
    struct rows rows = {NULL, 0, 0};
    struct request_draft *r = request_of(call, "stats");
    request_draft_word(r, "all");
    int code = ask(call, r, &rows);
    rows_sort(&rows); /* they came in the order in which the servers answered */
    if (code == EXIT_FINE && !call->arguments->json) {
        if (rows.count > 1) {
            rows_add(&rows, sum_of(&rows));
        }
        table_print(rows.row, rows.count, columns, call->style, call->out);
    }
    return show(call, &rows, code);
}

int run_kv_hot(struct call *call)
{
    static const struct table_column columns[] = {
        {"per_second", "PER SECOND", TABLE_SHORT},
        {"error_per_second", "ERROR", TABLE_SHORT},
        {"at_root_per_second", "AT ROOT", TABLE_SHORT},
        {"root", "ROOT", TABLE_TEXT},
        {"key", "KEY", TABLE_TEXT},
        {"job", "JOB", TABLE_TEXT},
        {"copies", "COPIES AT", TABLE_TEXT},
        {NULL, NULL, TABLE_TEXT},
    };
    struct rows rows = {NULL, 0, 0};
    struct request_draft *r = request_of(call, "hot");
    if (call->arguments->words > 2) {
        request_draft_word(r, call->arguments->word[2]);
    }
    int code = ask(call, r, &rows);
    rows_type(&rows, "", "copies");
    bool none = rows.count == 1 && !message_has(rows.row[0], "key");
    if (none) {
        rows_clear(&rows);
    }
    if (code == EXIT_FINE && rows.count == 0) {
        fprintf(call->errors, "cwctl: nothing has been asked for lately\n");
        code = EXIT_NO;
    } else if (code == EXIT_FINE && !call->arguments->json) {
        table_print(rows.row, rows.count, columns, call->style, call->out);
    }
    return show(call, &rows, code);
}
