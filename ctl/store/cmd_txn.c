/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_txn.c - a transaction of the key-value store: clauses of the command line or of a file, one each. */
#include "ctl/store/store.h"

#include "base/base64.h"
#include "ctl/store/store_ask.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CLAUSES_MOST = CW_STORE_TXN_GUARDS_MAX + CW_STORE_TXN_STEPS_MAX, FILE_MOST = 1 << 20 };
enum { LINE_MOST = 60 << 10 }; /* a request is one line of 64 KiB, with names and values in base64 */

/* What was given: each clause is borrowed, and shown as it is. */
struct deal {
    const char *guard[CLAUSES_MOST], *step[CLAUSES_MOST];
    unsigned guards, steps;
    size_t bytes; /* of the request */
    char *file;   /* what was read; owned */
};

/* ---- Clauses ----------------------------------------------------------------------------------------------------- */

/* The next word at *at, and its length; *at is behind it, and behind one blank. */
static const char *word_of(const char **at, size_t *length)
{
    const char *word = *at + strspn(*at, " \t");
    *length = strcspn(word, " \t");
    *at = word + *length + (word[*length] != '\0');
    return word;
}

static bool is(const char *word, size_t length, const char *text)
{
    return length == strlen(text) && memcmp(word, text, length) == 0;
}

/* Adds " BASE64". */
static size_t add_base64(char *to, const char *bytes, size_t length)
{
    to[0] = ' ';
    base64_encode((const uint8_t *)bytes, length, to + 1);
    return strlen(to);
}

static int refuse(const struct call *call, const char *clause, const char *why)
{
    fprintf(call->errors, "cwctl: %s: '%.80s'\n", why, clause);
    return EXIT_USAGE;
}

/*
 * The clause as the daemon takes it, with what it names and puts in base64. What is wrong with it beyond that the
 * daemon says.
 */
static int add_clause(const struct call *call, struct deal *d, struct request_draft *r, const char *clause)
{
    const char *at = clause;
    size_t length, named, used;
    const char *word = word_of(&at, &length), *name = word_of(&at, &named);
    const bool guard = is(word, length, "if"), put = is(word, length, "put");
    if (!guard && !put && !is(word, length, "delete") && !is(word, length, "get")) {
        return refuse(call, clause, "a clause begins with if, put, delete or get");
    }
    if (named < 1 || named > CW_STORE_NAME_MAX) {
        return refuse(call, clause, "a clause has a name of 1 to 1024 bytes behind its first word");
    }
    if (put && name[named] == '\0') {
        return refuse(call, clause, "a put has a value behind its name, or a blank for one without bytes");
    }
    const size_t rest = strlen(at);
    if (put && rest > CW_STORE_TXN_VALUE_MAX) {
        return refuse(call, clause, "a transaction puts values of at most 4096 bytes");
    }
    if (guard ? d->guards == CW_STORE_TXN_GUARDS_MAX : d->steps == CW_STORE_TXN_STEPS_MAX) {
        return refuse(call, clause, "a transaction has at most 16 guards and 16 other clauses");
    }
    char *text = malloc(length + 2 * (named + rest) + 32);
    if (text == NULL) {
        return EXIT_NO;
    }
    memcpy(text, word, length);
    used = length + add_base64(text + length, name, named);
    if (put) {
        add_base64(text + used, at, rest);
    } else {
        at += strspn(at, " \t");
        snprintf(text + used, rest + 8, "%s%s", at[0] != '\0' ? " " : "", at);
    }
    d->bytes += strlen(text) + 8;
    if (d->bytes > LINE_MOST) {
        free(text);
        return refuse(call, clause, "the clauses of a transaction have at most some 44 KB together, up to this one");
    }
    request_draft_word(r, text);
    free(text);
    if (guard) {
        d->guard[d->guards++] = clause;
    } else {
        d->step[d->steps++] = clause;
    }
    return EXIT_FINE;
}

/* Lines of the file; empty ones, and those that begin with #, are none. */
static int add_file(const struct call *call, struct deal *d, struct request_draft *r, const char *path)
{
    size_t length = 0;
    uint8_t *bytes = value_read(call, path, FILE_MOST, "1 MiB", &length);
    int code = EXIT_FINE;
    d->file = bytes != NULL ? malloc(length + 1) : NULL;
    if (d->file == NULL) {
        free(bytes);
        return EXIT_NO;
    }
    memcpy(d->file, bytes, length);
    d->file[length] = '\0';
    free(bytes);
    if (strlen(d->file) != length) {
        return refuse(call, path, "a file of clauses is a text");
    }
    for (char *line = d->file, *next; line != NULL && code == EXIT_FINE; line = next) {
        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        line[strcspn(line, "\r")] = '\0';
        if (line[strspn(line, " \t")] != '\0' && line[0] != '#') {
            code = add_clause(call, d, r, line);
        }
    }
    return code;
}

static int add_all(const struct call *call, struct deal *d, struct request_draft *r)
{
    const struct arguments *a = call->arguments;
    const struct arguments_given *file = call_given(call, "file");
    int code = EXIT_FINE;
    if ((file != NULL) == (a->words > 2)) {
        fprintf(call->errors, "cwctl: store txn takes clauses, or --file FILE with one in each line\n");
        return EXIT_USAGE;
    }
    if (file != NULL) {
        code = add_file(call, d, r, file->text);
    }
    for (int i = 2; i < a->words && code == EXIT_FINE; i++) {
        code = add_clause(call, d, r, a->word[i]);
    }
    request_draft_word(r, STORE_KEY_BASE64);
    request_draft_word(r, "form=base64");
    return code;
}

/* ---- What came of it --------------------------------------------------------------------------------------------- */

/* Adds the name as it is shown, by the name that is in base64. */
static void name_row(struct message *row)
{
    uint8_t bytes[CW_STORE_NAME_MAX + 3];
    char name[STORE_NAME_TEXT] = "";
    int length = base64_decode(message_get_text(row, "name_base64", ""), bytes, sizeof bytes);
    store_name_text(bytes, length > 0 ? (size_t)length : 0, name);
    message_text(row, "name", name);
}

static void show_value(const struct call *call, const struct message *row)
{
    const char *text = message_get_text(row, "base64", NULL);
    const int64_t bytes = message_get_integer(row, "bytes", 0);
    uint8_t *value = text != NULL ? malloc(strlen(text) + 3) : NULL;
    int length = value != NULL ? base64_decode(text, value, strlen(text) + 3) : -1;
    if (length >= 0) {
        fputs(": ", call->out);
        fwrite(value, 1, (size_t)length, call->out);
    } else {
        fprintf(call->out, ", %" PRId64 " bytes: too long to be told here", bytes);
    }
    free(value);
}

/* A line for each step, in their order. */
static void show_step(const struct call *call, const struct message *row)
{
    const char *step = message_get_text(row, "step", ""), *name = message_get_text(row, "name", "?");
    const int64_t version = message_get_integer(row, "version", 0), code = message_get_integer(row, "code", 0);
    fprintf(call->out, "%s ", name);
    if (code == CW_STORE_UNKNOWN) {
        fprintf(call->out, "was written since, and nobody knows what it was");
    } else if (code == CW_STORE_NOT_FOUND || (strcmp(step, "delete") == 0 && version == 0)) {
        fprintf(call->out, "not found");
    } else {
        fprintf(call->out, "version %" PRId64 "%s", version, strcmp(step, "delete") == 0 ? " deleted" : "");
    }
    if (strcmp(step, "get") == 0 && code == CW_STORE_OK) {
        show_value(call, row);
    }
    fputc('\n', call->out);
}

/* The last row says which guard does not hold. */
static void show_conflict(const struct call *call, const struct deal *d, const struct message *row)
{
    const int64_t guard = message_get_integer(row, "guard", 0), version = message_get_integer(row, "version", 0);
    fprintf(call->errors, "cwctl: '%s': ", guard >= 1 && guard <= d->guards ? d->guard[guard - 1] : "?");
    if (version != 0) {
        fprintf(call->errors, "the version there is another: %" PRId64 "\n", version);
    } else {
        fprintf(call->errors, "there is no value\n");
    }
}

static int ask(const struct call *call, const struct deal *d, struct request_draft *r)
{
    struct rows rows = {NULL, 0, 0};
    int code = store_try(call, r, "txn", CW_STORE_CONFLICT, &rows);
    const bool conflict = store_says(&rows, CW_STORE_CONFLICT);
    for (size_t i = 0; i < rows.count; i++) {
        if (message_get_text(rows.row[i], "name_base64", NULL) != NULL) {
            name_row(rows.row[i]);
        }
        if (call->arguments->json && (code == EXIT_FINE || conflict)) {
            message_print(rows.row[i], call->out);
        } else if (code == EXIT_FINE && i + 1 < rows.count) {
            show_step(call, rows.row[i]);
        }
    }
    if (conflict) {
        show_conflict(call, d, rows.row[rows.count - 1]);
    }
    rows_clear(&rows);
    return code;
}

int run_store_txn(struct call *call)
{
    struct deal d = {.guards = 0};
    struct request_draft *r = store_request(call, "txn", NULL);
    int code = add_all(call, &d, r);
    if (code == EXIT_FINE) {
        code = ask(call, &d, r);
    } else {
        request_draft_close(r);
    }
    free(d.file);
    return code;
}
