/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_store.c - the key-value store: values in and out as they are, with versions. It asks by `cwctl service store`. */
#include "ctl/commands.h"

#include "base/base64.h"
#include "ctl/ask/job_number.h"
#include "ctl/ask/value.h"
#include "cubeway/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { CURSOR = 64 }; /* room for a cursor of watch, in words */
enum {
    VALUE_MAX = CW_STORE_VALUE_MAX,
    PIECE = 30 * 1024, /* of a value, in one request */
    WORD = 128,
    LIST_WORD = 4 * CW_STORE_NAME_MAX / 3 + 32,
    EXIT_NONE = 1,
    EXIT_OTHER = 2,
    EXIT_UNKNOWN = 5
};

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

static struct request_draft *request_of(const struct call *call, const char *command, const char *key)
{
    struct request_draft *r = request_draft_open("service", call->server);
    request_draft_word(r, "store");
    request_draft_word(r, command);
    if (key != NULL) {
        request_draft_word(r, key);
    }
    return r;
}

/* Adds NAME=VALUE for an option, if it was given. */
static void word_option(const struct call *call, struct request_draft *r, const char *option, const char *name)
{
    const struct arguments_given *given = call_given(call, option);
    char text[WORD];
    if (given != NULL && given->option->kind == ARGUMENTS_TEXT) {
        snprintf(text, sizeof text, "%s=%.80s", name, given->text);
        request_draft_word(r, text);
    } else if (given != NULL) {
        snprintf(text, sizeof text, "%s=%" PRId64, name, given->number);
        request_draft_word(r, text);
    }
}

/* Sends the request, which it takes. Gives the exit code; EXIT_FINE: there are rows. */
static int ask(const struct call *call, struct request_draft *r, struct rows *rows)
{
    int code = EXIT_FINE;
    int rc = call_ask(call, r, call_patience(call), rows_add, rows, &code);
    request_draft_close(r);
    return rc < 0 ? code : EXIT_FINE;
}

/* By cw_store_status, which the answer says in words, too. */
static int code_of(const struct call *call, const struct message *row, const char *key)
{
    static const int codes[] = {EXIT_FINE,   EXIT_NONE,    EXIT_OTHER, EXIT_NO,      EXIT_NO,      EXIT_NO,
                                EXIT_NOBODY, EXIT_TIMEOUT, EXIT_NO,    EXIT_TIMEOUT, EXIT_UNKNOWN, EXIT_NO};
    int64_t status = message_get_integer(row, "code", -1);
    int code = status >= 0 && status < (int64_t)(sizeof codes / sizeof *codes) ? codes[status] : EXIT_NO;
    if (code == EXIT_FINE) {
        return code;
    }
    fprintf(call->errors, "cwctl: '%s': %s", key, message_get_text(row, "status", "no result"));
    int64_t version = message_get_integer(row, "version", 0);
    if (code == EXIT_OTHER && version != 0) {
        fprintf(call->errors, ": %" PRId64, version);
    } else if (code == EXIT_OTHER) {
        fprintf(call->errors, ": there is no value");
    }
    fputc('\n', call->errors);
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

/* An operation on a key: asks, and says what is wrong. */
static int operate(const struct call *call, struct request_draft *r, const char *key, struct rows *rows)
{
    job_number_word(call, r);
    int code = ask(call, r, rows);
    return code == EXIT_FINE && rows->count > 0 ? code_of(call, rows->row[0], key) : code;
}

/* The same where the last row says how it ended. */
static int operate_last(const struct call *call, struct request_draft *r, const char *key, struct rows *rows)
{
    job_number_word(call, r);
    int code = ask(call, r, rows);
    return code == EXIT_FINE && rows->count > 0 ? code_of(call, rows->row[rows->count - 1], key) : code;
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
    struct rows rows = {NULL, 0, 0};
    struct request_draft *r = request_of(call, "get", key);
    request_draft_word(r, "form=base64");
    int code = operate(call, r, key, &rows);
    if (code == EXIT_FINE && rows.count > 0 && !call->arguments->json) {
        code = value_write(call, rows.row[0]);
    }
    return show(call, &rows, code);
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
    int code = operate(call, request_of(call, "head", key), key, &rows);
    if (code == EXIT_FINE && !call->arguments->json) {
        table_print(rows.row, rows.count, head_columns, call->style, call->out);
    }
    return show(call, &rows, code);
}

static const struct table_column list_columns[] = {
    {"name", "NAME", TABLE_TEXT},   {"version", "VERSION", TABLE_TEXT}, {"bytes", "BYTES", TABLE_TEXT},
    {"flags", "FLAGS", TABLE_TEXT}, {NULL, NULL, TABLE_TEXT},
};

/* The bytes of a name, those that are no plain letters as \\xNN: it is shown so, and kept in base64 beside it. */
static void name_row(struct message *row)
{
    const char *text = message_get_text(row, "base64", "");
    uint8_t bytes[CW_STORE_NAME_MAX + 3];
    char name[4 * CW_STORE_NAME_MAX + 1] = "";
    int length = base64_decode(text, bytes, sizeof bytes);
    size_t at = 0;
    for (int i = 0; i < length && i < CW_STORE_NAME_MAX; i++) {
        bool plain = bytes[i] >= ' ' && bytes[i] <= '~' && bytes[i] != '\\';
        at += (size_t)snprintf(name + at, sizeof name - at, plain ? "%c" : "\\x%02x", bytes[i]);
    }
    message_text(row, "name", name);
}

/* A page behind the name `after` (base64; ""). *more: there are other names, behind what `after` is then. */
static int list_page(const struct call *call, const char *prefix, char *after, size_t room, int64_t limit,
                     struct rows *rows, bool *more)
{
    char text[LIST_WORD];
    struct rows page = {NULL, 0, 0};
    struct request_draft *r = request_of(call, "list", prefix);
    request_draft_word(r, "form=base64");
    if (after[0] != '\0') {
        snprintf(text, sizeof text, "after=%s", after);
        request_draft_word(r, text);
    }
    snprintf(text, sizeof text, "limit=%" PRId64, limit);
    request_draft_word(r, text);
    int code = operate_last(call, r, prefix, &page);
    *more = false;
    if (page.count > 0) {
        *more = message_get_integer(page.row[page.count - 1], "more", 0) != 0;
        message_close(page.row[--page.count]);
    }
    for (size_t i = 0; i < page.count; i++) {
        name_row(page.row[i]);
        snprintf(after, room, "%s", message_get_text(page.row[i], "base64", ""));
        rows_add(rows, page.row[i]);
    }
    *more = *more && page.count > 0;
    free(page.row);
    return code;
}

int run_store_list(struct call *call)
{
    const struct arguments *a = call->arguments;
    const struct arguments_given *behind = call_given(call, "after"), *most = call_given(call, "most");
    const char *prefix = a->words > 2 ? a->word[2] : "";
    char after[LIST_WORD - 16] = "";
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
        code = list_page(call, prefix, after, sizeof after, left < CW_STORE_LIST_MAX ? left : CW_STORE_LIST_MAX, &rows,
                         &more);
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
        name_row(page->row[i]);
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
    struct request_draft *r = request_of(call, "watch", key);
    request_draft_word(r, "form=base64");
    request_draft_word(r, "wait_ms=2000");
    if (call_given(call, "prefix") != NULL) {
        request_draft_word(r, "prefix=1");
    }
    if (cursor[0] != '\0') {
        snprintf(text, sizeof text, "cursor=%s", cursor);
        request_draft_word(r, text);
    }
    int code = operate_last(call, r, key, &page);
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
    return code;
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

static void word_base64(struct request_draft *r, const uint8_t *bytes, size_t length)
{
    char text[PIECE / 3 * 4 + 8];
    base64_encode(bytes, length, text);
    request_draft_word(r, text);
}

/* Brings a value that is too long for one request, in pieces, under a number that is drawn. */
static int bring(const struct call *call, const uint8_t *bytes, size_t length, uint64_t *id)
{
    char number[WORD];
    int code = EXIT_FINE;
    do {
        if (getrandom(id, sizeof *id, 0) != (ssize_t)sizeof *id) {
            return EXIT_NO;
        }
        *id >>= 1; /* it is written as a number with a sign */
    } while (*id == 0);
    snprintf(number, sizeof number, "%" PRIu64, *id);
    for (size_t at = 0; at < length && code == EXIT_FINE; at += PIECE) {
        struct rows rows = {NULL, 0, 0};
        struct request_draft *r = request_of(call, "stage", number);
        word_base64(r, bytes + at, length - at < PIECE ? length - at : PIECE);
        code = ask(call, r, &rows);
        rows_clear(&rows);
    }
    return code;
}

/* Sends the bytes behind the words that the command begins with; takes the request. */
static int send_value(const struct call *call, struct request_draft *r, const char *key, const uint8_t *bytes,
                      size_t length)
{
    struct rows rows = {NULL, 0, 0};
    char word[WORD];
    uint64_t id = 0;
    int brought = length > PIECE ? bring(call, bytes, length, &id) : EXIT_FINE;
    if (brought != EXIT_FINE) {
        request_draft_close(r);
        return brought;
    }
    if (id != 0) {
        snprintf(word, sizeof word, "stage=%" PRIu64, id);
        request_draft_word(r, "");
        request_draft_word(r, word);
    } else {
        word_base64(r, bytes, length);
        request_draft_word(r, "form=base64");
    }
    word_option(call, r, "flags", "flags");
    word_option(call, r, "if-version", "version");
    word_ttl(call, r);
    int code = operate(call, r, key, &rows);
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
    struct request_draft *r = request_of(call, command, key);
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
    struct request_draft *r = request_of(call, "delete", key);
    word_option(call, r, "if-version", "version");
    int code = operate(call, r, key, &rows);
    if (code == EXIT_FINE) {
        say_version(call, &rows);
    }
    return show(call, &rows, code);
}

/* ---- The store itself -------------------------------------------------------------------------------------------- */

int run_store_create(struct call *call)
{
    struct rows rows = {NULL, 0, 0};
    struct request_draft *r = request_of(call, "create", call->arguments->word[2]);
    word_option(call, r, "r", "copies");
    int code = ask(call, r, &rows);
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
    int code = ask(call, r, &rows);
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
    return run_table(call, request_of(call, "status", NULL), columns);
}

int run_store_explain(struct call *call)
{
    static const struct table_column columns[] = {
        {"shard", "SHARD", TABLE_TEXT}, {"member", "MEMBER", TABLE_TEXT},   {"state", "STATE", TABLE_TEXT},
        {"role", "ROLE", TABLE_TEXT},   {"version", "VERSION", TABLE_TEXT}, {"holds", "HOLDS", TABLE_TEXT},
        {NULL, NULL, TABLE_TEXT},
    };
    struct request_draft *r = request_of(call, "explain", call->arguments->word[2]);
    job_number_word(call, r);
    return run_table(call, r, columns);
}
