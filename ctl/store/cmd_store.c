/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_store.c - the key-value store: values in and out as they are, with versions. It asks by `cwctl service store`. */
#include "ctl/store/store.h"

#include "base/base64.h"
#include "ctl/ask/job_number.h"
#include "ctl/ask/value.h"
#include "ctl/store/store_ask.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CURSOR = 64 }; /* room for a cursor of watch, in words */
enum { VALUE_MAX = CW_STORE_VALUE_MAX, WORD = 128 };

static int show(const struct call *call, struct rows *rows, int code)
{
    for (size_t i = 0; code == EXIT_FINE && call->arguments->json && i < rows->count; i++) {
        message_print(rows->row[i], call->out);
    }
    rows_clear(rows);
    return code;
}

static void say_version(const struct call *call, const struct rows *rows)
{
    if (!call->arguments->json && rows->count > 0) {
        fprintf(call->out, "version %" PRId64 "\n", message_get_integer(rows->row[0], "version", 0));
    }
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

int run_store_get(struct call *call)
{
    const char *key = call->arguments->word[2];
    const struct store_key asked = {key, key, false};
    struct value v;
    int code = store_fetch(call, &asked, CW_STORE_OK, &v, NULL);
    if (code == EXIT_FINE) {
        code = value_show(call, &v);
        value_close(&v);
    }
    return code;
}

static const struct table_column head_columns[] = {
    {"version", "VERSION", TABLE_TEXT},
    {"bytes", "BYTES", TABLE_TEXT},
    {"flags", "FLAGS", TABLE_TEXT},
    {NULL, NULL, TABLE_TEXT},
};

int run_store_head(struct call *call)
{
    const char *key = call->arguments->word[2];
    struct rows rows = {NULL, 0, 0};
    int code = store_operate(call, store_request(call, "head", key), key, &rows);
    if (code == EXIT_FINE && !call->arguments->json) {
        table_print(rows.row, rows.count, head_columns, call->style, call->out);
    }
    return show(call, &rows, code);
}

static const struct table_column list_columns[] = {
    {"name", "NAME", TABLE_TEXT},   {"version", "VERSION", TABLE_TEXT}, {"bytes", "BYTES", TABLE_TEXT},
    {"flags", "FLAGS", TABLE_TEXT}, {NULL, NULL, TABLE_TEXT},
};

int run_store_list(struct call *call)
{
    const struct arguments *a = call->arguments;
    const struct arguments_given *behind = call_given(call, "after"), *most = call_given(call, "most");
    const char *prefix = a->words > 2 ? a->word[2] : "";
    char after[STORE_CURSOR] = "";
    struct rows rows = {NULL, 0, 0};
    int64_t left = most != NULL ? most->number : INT64_MAX;
    int code = EXIT_FINE;
    bool more = true;
    if (behind != NULL && strlen(behind->text) > CW_STORE_NAME_MAX) {
        fprintf(call->errors, "cwctl: a name has at most %d bytes\n", CW_STORE_NAME_MAX);
        return EXIT_USAGE;
    }
    if (behind != NULL) {
        base64_encode((const uint8_t *)behind->text, strlen(behind->text), after);
    }
    while (code == EXIT_FINE && more && left > 0) {
        size_t before = rows.count;
        code = store_page(call, prefix, after, left < CW_STORE_LIST_MAX ? left : CW_STORE_LIST_MAX, &rows, &more);
        left -= (int64_t)(rows.count - before);
    }
    if (code == EXIT_FINE && !call->arguments->json && rows.count > 0) {
        table_print(rows.row, rows.count, list_columns, call->style, call->out);
    }
    return show(call, &rows, code);
}

/* A line for each change. */
static void show_changes(const struct call *call, const struct rows *page, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        store_name_row(page->row[i]);
        if (call->arguments->json) {
            message_print(page->row[i], call->out);
            continue;
        }
        fprintf(call->out, "%s version %" PRId64, message_get_text(page->row[i], "name", "?"),
                message_get_integer(page->row[i], "version", 0));
        if (message_get_integer(page->row[i], "deleted", 0) != 0) {
            fprintf(call->out, " deleted\n");
        } else {
            fprintf(call->out, ", %" PRId64 " bytes\n", message_get_integer(page->row[i], "bytes", 0));
        }
    }
    fflush(call->out);
}

/* Asks once behind the cursor, and sets it anew. *seen: changes. */
/* Shows what has changed, until `most` were seen. */
static int watch_once(const struct call *call, const char *key, char cursor[static CURSOR], int64_t *seen, int64_t most)
{
    char text[CURSOR + 16];
    struct rows page = {NULL, 0, 0};
    struct request_draft *r = store_request(call, "watch", key);
    request_draft_word(r, "form=base64");
    request_draft_word(r, "wait_ms=2000");
    if (call_given(call, "prefix") != NULL) {
        request_draft_word(r, "prefix=1");
    }
    if (cursor[0] != '\0') {
        snprintf(text, sizeof text, "cursor=%s", cursor);
        request_draft_word(r, text);
    }
    int code = store_operate(call, r, key, &page);
    if (code == EXIT_FINE && page.count > 0) {
        snprintf(cursor, CURSOR, "%s", message_get_text(page.row[page.count - 1], "cursor", ""));
        size_t count = page.count - 1;
        count = most - *seen < (int64_t)count ? (size_t)(most - *seen) : count;
        show_changes(call, &page, count);
        *seen += (int64_t)count;
    }
    rows_clear(&page);
    return code;
}

int run_store_watch(struct call *call)
{
    const struct arguments_given *most = call_given(call, "most");
    char cursor[CURSOR] = "";
    int64_t seen = 0, last = most != NULL ? most->number : INT64_MAX;
    int code = EXIT_FINE;
    while (code == EXIT_FINE && *call->stop == 0 && seen < last) {
        code = watch_once(call, call->arguments->word[2], cursor, &seen, last);
    }
    return *call->stop != 0 ? EXIT_FINE : code;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void word_ttl(const struct call *call, struct request_draft *r)
{
    const struct arguments_given *expire = call_given(call, "expire");
    char text[WORD];
    if (expire != NULL) {
        snprintf(text, sizeof text, "ttl_ms=%" PRId64, (expire->number + 999) / 1000);
        request_draft_word(r, text);
    }
}

/* Sends the bytes behind the words that the command begins with; takes the request. */
static int send_value(const struct call *call, struct request_draft *r, const char *key, const uint8_t *bytes,
                      size_t length)
{
    struct rows rows = {NULL, 0, 0};
    int brought = store_value(call, r, bytes, length);
    if (brought != EXIT_FINE) {
        request_draft_close(r);
        return brought;
    }
    store_option(call, r, "flags", "flags");
    store_option(call, r, "if-version", "version");
    word_ttl(call, r);
    int code = store_operate(call, r, key, &rows);
    if (code == EXIT_FINE) {
        say_version(call, &rows);
    }
    return show(call, &rows, code);
}

/* put, cas and insert: the value is the word at that place, standard input, or a file. */
static int run_writing(const struct call *call, const char *command, int place)
{
    const struct arguments *a = call->arguments;
    const struct arguments_given *file = call_given(call, "file");
    const char *word = a->words > place ? a->word[place] : NULL, *key = a->word[2];
    const char *from = file != NULL ? file->text : word != NULL && strcmp(word, "-") == 0 ? "-" : NULL;
    size_t length = word != NULL ? strlen(word) : 0;
    if ((file != NULL) == (word != NULL)) {
        fprintf(call->errors, "cwctl: store %s takes a VALUE, - for standard input, or --file FILE: one of them\n",
                command);
        return EXIT_USAGE;
    }
    if (from == NULL && length > VALUE_MAX) {
        fprintf(call->errors, "cwctl: a value has at most 4 MiB: the one for '%s' has %zu bytes\n", key, length);
        return EXIT_USAGE;
    }
    uint8_t *read = from != NULL ? value_read(call, from, VALUE_MAX, "4 MiB", &length) : NULL;
    if (from != NULL && read == NULL) {
        return EXIT_NO;
    }
    struct request_draft *r = store_request(call, command, key);
    if (place > 3) {
        request_draft_word(r, a->word[3]);
    }
    int code = send_value(call, r, key, read != NULL ? read : (const uint8_t *)word, length);
    free(read);
    return code;
}

int run_store_put(struct call *call)
{
    return run_writing(call, "put", 3);
}

int run_store_cas(struct call *call)
{
    return run_writing(call, "cas", 4);
}

int run_store_insert(struct call *call)
{
    return run_writing(call, "insert", 3);
}

int run_store_delete(struct call *call)
{
    const char *key = call->arguments->word[2];
    struct rows rows = {NULL, 0, 0};
    struct request_draft *r = store_request(call, "delete", key);
    store_option(call, r, "if-version", "version");
    int code = store_operate(call, r, key, &rows);
    if (code == EXIT_FINE) {
        say_version(call, &rows);
    }
    return show(call, &rows, code);
}

/* ---- The store itself -------------------------------------------------------------------------------------------- */

int run_store_create(struct call *call)
{
    struct rows rows = {NULL, 0, 0};
    struct request_draft *r = store_request(call, "create", call->arguments->word[2]);
    store_option(call, r, "r", "copies");
    int code = store_ask(call, r, &rows);
    if (code == EXIT_FINE && rows.count > 0 && !call->arguments->json) {
        int64_t servers = message_get_integer(rows.row[0], "servers", 0);
        int64_t new_at = message_get_integer(rows.row[0], "new_at", servers);
        fprintf(call->out, "the store '%s' is made: %" PRId64 " copies of each value, on %" PRId64 " servers",
                message_get_text(rows.row[0], "store", "?"), message_get_integer(rows.row[0], "copies", 0), servers);
        if (new_at < servers) {
            fprintf(call->out, "; %" PRId64 " of them had missed it the first time", new_at);
        }
        fputc('\n', call->out);
    }
    return show(call, &rows, code);
}

static int run_table(const struct call *call, struct request_draft *r, const struct table_column *columns)
{
    struct rows rows = {NULL, 0, 0};
    int code = store_ask(call, r, &rows);
    if (code == EXIT_FINE && !call->arguments->json) {
        table_print(rows.row, rows.count, columns, call->style, call->out);
    }
    return show(call, &rows, code);
}

int run_store_status(struct call *call)
{
    static const struct table_column columns[] = {
        {"server", "SERVER", TABLE_TEXT},
        {"store", "STORE", TABLE_TEXT},
        {"copies", "COPIES", TABLE_TEXT},
        {"member_of", "MEMBER OF", TABLE_SHORT},
        {"leading", "LEADS", TABLE_SHORT},
        {"short", "SHORT", TABLE_SHORT},
        {"members_lost", "LOST", TABLE_SHORT},
        {"registers", "REGISTERS", TABLE_SHORT},
        {"copies_missing", "MISSING", TABLE_SHORT},
        {"bytes", "MEMORY", TABLE_BYTES},
        {"waiting", "WAITING", TABLE_SHORT},
        {"disk", "DISK", TABLE_TEXT},
        {NULL, NULL, TABLE_TEXT},
    };
    return run_table(call, store_request(call, "status", NULL), columns);
}

int run_store_scrub(struct call *call)
{
    static const struct table_column columns[] = {
        {"server", "SERVER", TABLE_TEXT},    {"pace", "PACE", TABLE_TEXT},      {"read", "READ", TABLE_SHORT},
        {"records", "RECORDS", TABLE_SHORT}, {"passes", "PASSES", TABLE_SHORT}, {"verified", "VERIFIED", TABLE_SHORT},
        {"damaged", "DAMAGED", TABLE_SHORT}, {NULL, NULL, TABLE_TEXT},
    };
    const struct arguments *a = call->arguments;
    return run_table(call, store_request(call, "scrub", a->words > 2 ? a->word[2] : NULL), columns);
}

int run_store_explain(struct call *call)
{
    static const struct table_column columns[] = {
        {"shard", "SHARD", TABLE_TEXT}, {"member", "MEMBER", TABLE_TEXT},   {"state", "STATE", TABLE_TEXT},
        {"role", "ROLE", TABLE_TEXT},   {"version", "VERSION", TABLE_TEXT}, {"holds", "HOLDS", TABLE_TEXT},
        {NULL, NULL, TABLE_TEXT},
    };
    struct request_draft *r = store_request(call, "explain", call->arguments->word[2]);
    int code = job_number_word(call, r);
    if (code != EXIT_FINE) {
        request_draft_close(r);
        return code;
    }
    return run_table(call, r, columns);
}
