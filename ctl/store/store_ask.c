/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/store/store_ask.h"

#include "base/base64.h"
#include "ctl/ask/job_number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORD = 128,
    FETCHES = 20, /* times that a value is begun to be read */
};

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

struct request_draft *store_request(const struct call *call, const char *command, const char *key)
{
    struct request_draft *r = request_draft_open("service", call->server);
    request_draft_word(r, "store");
    request_draft_word(r, command);
    if (key != NULL) {
        request_draft_word(r, key);
    }
    return r;
}

void store_option(const struct call *call, struct request_draft *r, const char *option, const char *name)
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

int store_ask(const struct call *call, struct request_draft *r, struct rows *rows)
{
    int code = EXIT_FINE;
    int rc = call_ask(call, r, call_patience(call), rows_add, rows, &code);
    request_draft_close(r);
    return rc >= 0 ? EXIT_FINE : code != EXIT_FINE ? code : EXIT_NO; /* it was interrupted: there is no answer */
}

/* By cw_store_status, which the answer says in words, too. Of `expected` nothing is said. */
static int code_of(const struct call *call, const struct message *row, const char *key, cw_store_status expected)
{
    static const int codes[] = {EXIT_FINE,   EXIT_NONE,    EXIT_OTHER, EXIT_NO,      EXIT_NO,      EXIT_NO,
                                EXIT_NOBODY, EXIT_TIMEOUT, EXIT_NO,    EXIT_TIMEOUT, EXIT_UNKNOWN, EXIT_NO};
    int64_t status = message_get_integer(row, "code", -1);
    int code = status >= 0 && status < (int64_t)(sizeof codes / sizeof *codes) ? codes[status] : EXIT_NO;
    if (code == EXIT_FINE || status == (int64_t)expected) {
        return code;
    }
    bool insert = code == EXIT_OTHER && strcmp(call->command->name, "store insert") == 0;
    const char *said = message_get_text(row, "status", "no result");
    fprintf(call->errors, "cwctl: '%s': %s", key, insert ? "there is a value already, its version" : said);
    int64_t version = message_get_integer(row, "version", 0);
    if (code == EXIT_OTHER && version != 0) {
        fprintf(call->errors, ": %" PRId64, version);
    } else if (code == EXIT_OTHER) {
        fprintf(call->errors, ": there is no value");
    }
    fputc('\n', call->errors);
    return code;
}

bool store_says(const struct rows *rows, cw_store_status status)
{
    return rows->count > 0 && message_get_integer(rows->row[rows->count - 1], "code", -1) == (int64_t)status;
}

int store_try(const struct call *call, struct request_draft *r, const char *key, cw_store_status expected,
              struct rows *rows)
{
    int code = job_number_word(call, r);
    if (code != EXIT_FINE) {
        request_draft_close(r);
        return code;
    }
    code = store_ask(call, r, rows);
    return code == EXIT_FINE && rows->count > 0 ? code_of(call, rows->row[rows->count - 1], key, expected) : code;
}

int store_operate(const struct call *call, struct request_draft *r, const char *key, struct rows *rows)
{
    return store_try(call, r, key, CW_STORE_OK, rows);
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

void store_name_text(const uint8_t *bytes, size_t length, char out[static STORE_NAME_TEXT])
{
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < length && i < CW_STORE_NAME_MAX; i++) {
        bool plain = bytes[i] >= ' ' && bytes[i] <= '~' && bytes[i] != '\\';
        at += (size_t)snprintf(out + at, STORE_NAME_TEXT - at, plain ? "%c" : "\\x%02x", bytes[i]);
    }
}

void store_name_row(struct message *row)
{
    const char *text = message_get_text(row, "base64", "");
    uint8_t bytes[CW_STORE_NAME_MAX + 3];
    char name[STORE_NAME_TEXT];
    int length = base64_decode(text, bytes, sizeof bytes);
    store_name_text(bytes, length > 0 ? (size_t)length : 0, name);
    message_text(row, "name", name);
}

int store_page(const struct call *call, const char *prefix, char after[static STORE_CURSOR], int64_t limit,
               struct rows *rows, bool *more)
{
    char text[STORE_CURSOR + 8];
    struct rows page = {NULL, 0, 0};
    struct request_draft *r = store_request(call, "list", prefix);
    request_draft_word(r, "form=base64");
    if (after[0] != '\0') {
        snprintf(text, sizeof text, "after=%s", after);
        request_draft_word(r, text);
    }
    snprintf(text, sizeof text, "limit=%" PRId64, limit);
    request_draft_word(r, text);
    int code = store_operate(call, r, prefix, &page);
    *more = false;
    if (page.count > 0) {
        *more = message_get_integer(page.row[page.count - 1], "more", 0) != 0;
        message_close(page.row[--page.count]);
    }
    for (size_t i = 0; i < page.count; i++) {
        store_name_row(page.row[i]);
        snprintf(after, STORE_CURSOR, "%s", message_get_text(page.row[i], "base64", ""));
        rows_add(rows, page.row[i]);
    }
    *more = *more && page.count > 0;
    free(page.row);
    return code;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

int store_value(const struct call *call, struct request_draft *r, const uint8_t *bytes, size_t length)
{
    char word[WORD];
    uint64_t id = 0;
    if (length <= VALUE_PIECE) {
        value_word(r, bytes, length);
        request_draft_word(r, "form=base64");
        return EXIT_FINE;
    }
    int code = value_bring(call, "store", bytes, length, &id);
    snprintf(word, sizeof word, "stage=%" PRIu64, id);
    request_draft_word(r, "");
    request_draft_word(r, word);
    return code;
}

/*
 * Asks for the piece behind what is there; of the version that the pieces before it were of, which is 0 for the first.
 * Nothing is said where it ends as `expected`.
 */
static int ask_piece(const struct call *call, const struct store_key *key, const struct value *v, int64_t version,
                     cw_store_status expected, struct rows *rows)
{
    char word[WORD];
    struct request_draft *r = store_request(call, "get", key->word);
    if (key->base64) {
        request_draft_word(r, STORE_KEY_BASE64);
    }
    request_draft_word(r, "form=base64");
    snprintf(word, sizeof word, "from=%zu", v->length);
    request_draft_word(r, word);
    if (version != 0) {
        snprintf(word, sizeof word, "version=%" PRId64, version);
        request_draft_word(r, word);
    }
    return store_try(call, r, key->shown, expected, rows);
}

/* All pieces of one version. *again: it is another one by now. */
static int fetch_once(const struct call *call, const struct store_key *key, cw_store_status expected, struct value *v,
                      bool *again, bool *met)
{
    bool more = true;
    int code = EXIT_FINE;
    while (code == EXIT_FINE && more) {
        struct rows rows = {NULL, 0, 0};
        int64_t version = v->row != NULL ? message_get_integer(v->row, "version", 0) : 0;
        code = ask_piece(call, key, v, version, version != 0 ? CW_STORE_CONFLICT : expected, &rows);
        *again = version != 0 && store_says(&rows, CW_STORE_CONFLICT);
        *met = code != EXIT_FINE && store_says(&rows, expected);
        code = code == EXIT_FINE ? value_add(call, key->shown, CW_STORE_VALUE_MAX, v, &rows, &more) : code;
        rows_clear(&rows);
    }
    return code;
}

int store_fetch(const struct call *call, const struct store_key *key, cw_store_status expected, struct value *v,
                bool *met)
{
    bool again = true, as_expected = false;
    int code = EXIT_NO;
    for (unsigned i = 0; again && i < FETCHES; i++) {
        *v = (struct value){.bytes = NULL};
        code = fetch_once(call, key, expected, v, &again, &as_expected);
        if (code != EXIT_FINE) {
            value_close(v);
        }
    }
    if (again) {
        fprintf(call->errors,
                "cwctl: '%s': it was put anew each time before all of it was read: try again in a while\n", key->shown);
        code = EXIT_NO;
    }
    if (met != NULL) {
        *met = as_expected && !again;
    }
    return code;
}
