/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ask/value.h"

#include "base/base64.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { NUMBER = 32, DROP_MS = 1000 };

uint8_t *value_read(const struct call *call, const char *file, size_t most, const char *most_text, size_t *length)
{
    bool input = strcmp(file, "-") == 0;
    FILE *in = input ? stdin : fopen(file, "rb");
    uint8_t *bytes = malloc(most + 1);
    *length = in != NULL && bytes != NULL ? fread(bytes, 1, most + 1, in) : 0;
    bool failed = in == NULL || bytes == NULL || ferror(in);
    int error = errno;
    if (in != NULL && !input) {
        fclose(in);
    }
    if (!failed && *length <= most) {
        return bytes;
    }
    fprintf(call->errors, "cwctl: %s: ", input ? "standard input" : file);
    fprintf(call->errors, failed ? "%s\n" : "a value has at most %s\n", failed ? strerror(error) : most_text);
    free(bytes);
    return NULL;
}

/* ---- To the daemon ----------------------------------------------------------------------------------------------- */

void value_word(struct request_draft *r, const uint8_t *bytes, size_t length)
{
    char text[VALUE_PIECE / 3 * 4 + 8];
    base64_encode(bytes, length, text);
    request_draft_word(r, text);
}

static struct request_draft *stage(const struct call *call, const char *service, uint64_t id)
{
    char number[NUMBER];
    struct request_draft *r = request_draft_open("service", call->server);
    snprintf(number, sizeof number, "%" PRIu64, id);
    request_draft_word(r, service);
    request_draft_word(r, "stage");
    request_draft_word(r, number);
    return r;
}

/* By a connection of its own: the other one is of no more use once the command was interrupted. */
static void forget(const struct call *call, const char *service, uint64_t id)
{
    char why[CLIENT_WHY];
    struct client *client = NULL;
    struct rows rows = {NULL, 0, 0};
    if (client_open(&client, client_path(call->client), why) < 0) {
        return; /* the service forgets it by itself, half a minute later */
    }
    struct request_draft *r = stage(call, service, id);
    request_draft_word(r, "");
    request_draft_word(r, "drop=1");
    (void)!client_ask(client, r, CW_MS(DROP_MS), rows_add, &rows, why);
    request_draft_close(r);
    rows_clear(&rows);
    client_close(client);
}

static int bring_piece(const struct call *call, struct request_draft *r, const uint8_t *bytes, size_t length, size_t at)
{
    char from[NUMBER];
    struct rows rows = {NULL, 0, 0};
    int code = EXIT_FINE;
    value_word(r, bytes + at, length - at < VALUE_PIECE ? length - at : VALUE_PIECE);
    snprintf(from, sizeof from, "from=%zu", at);
    request_draft_word(r, from);
    int rc = call_ask(call, r, call_patience(call), rows_add, &rows, &code);
    request_draft_close(r);
    rows_clear(&rows);
    if (rc == -EINTR) {
        fprintf(call->errors, "cwctl: stopped: the value is not all there, and was not put\n");
        return EXIT_NO;
    }
    return rc < 0 ? code : EXIT_FINE;
}

int value_bring(const struct call *call, const char *service, const uint8_t *bytes, size_t length, uint64_t *id)
{
    int code = EXIT_FINE;
    do {
        if (getrandom(id, sizeof *id, 0) != (ssize_t)sizeof *id) {
            return EXIT_NO;
        }
        *id >>= 1; /* it is written as a number with a sign */
    } while (*id == 0);
    for (size_t at = 0; at < length && code == EXIT_FINE; at += VALUE_PIECE) {
        code = bring_piece(call, stage(call, service, *id), bytes, length, at);
    }
    if (code != EXIT_FINE) {
        forget(call, service, *id);
    }
    return code;
}

/* ---- From the daemon --------------------------------------------------------------------------------------------- */

void value_close(struct value *v)
{
    free(v->bytes);
    message_close(v->row);
    *v = (struct value){.bytes = NULL};
}

static int say(const struct call *call, const char *shown, const char *what)
{
    fprintf(call->errors, "cwctl: '%s': %s\n", shown, what);
    return EXIT_NO;
}

int value_add(const struct call *call, const char *shown, size_t most, struct value *v, struct rows *rows, bool *more)
{
    static const char none[] = "the daemon told a value that is none";
    if (rows->count == 0) {
        return say(call, shown, "stopped");
    }
    struct message *row = rows->row[rows->count - 1];
    int64_t bytes = message_get_integer(v->row != NULL ? v->row : row, "bytes", -1);
    if (bytes < 0 || (uint64_t)bytes > most) {
        return say(call, shown, none);
    }
    if (v->bytes == NULL && (v->bytes = malloc((size_t)bytes + 1)) == NULL) {
        return say(call, shown, strerror(ENOMEM));
    }
    int n = base64_decode(message_get_text(row, "base64", ""), v->bytes + v->length, (size_t)bytes - v->length);
    if (n < 0 || (n == 0 && v->length < (size_t)bytes)) {
        return say(call, shown, none);
    }
    v->length += (size_t)n;
    *more = v->length < (size_t)bytes;
    if (v->row == NULL) {
        v->row = row;
        rows->count--;
    }
    return EXIT_FINE;
}

/* The row with all of the value. */
static int show_row(const struct call *call, const struct value *v)
{
    char *text = malloc(base64_length(v->length) + 1);
    if (text == NULL) {
        fprintf(call->errors, "cwctl: %s\n", strerror(ENOMEM));
        return EXIT_NO;
    }
    base64_encode(v->bytes, v->length, text);
    message_text(v->row, "base64", text);
    free(text);
    message_print(v->row, call->out);
    return EXIT_FINE;
}

int value_show(const struct call *call, const struct value *v)
{
    if (call->arguments->json) {
        return show_row(call, v);
    }
    fwrite(v->bytes, 1, v->length, call->out);
    if (isatty(fileno(call->out)) && (v->length == 0 || v->bytes[v->length - 1] != '\n')) {
        fputc('\n', call->out);
    }
    return EXIT_FINE;
}
