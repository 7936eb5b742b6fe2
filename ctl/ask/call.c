/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* vasprintf */
#include "ctl/ask/call.h"
#include "ctl/ask/remedy.h"
#include "ctl/ask/unanswered.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { REST_MS = 100 }; /* while resting, *stop is looked at so often */

static const cw_span patience_default = CW_SEC(10);

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

void rows_add(void *context, struct message *row)
{
    struct rows *rows = context;
    if (rows->count == rows->room) {
        size_t room = rows->room == 0 ? 64 : 2 * rows->room;
        struct message **more = realloc(rows->row, room * sizeof(struct message *));
        if (more == NULL) {
            message_close(row);
            return;
        }
        rows->row = more;
        rows->room = room;
    }
    rows->row[rows->count++] = row;
}

void rows_clear(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        message_close(rows->row[i]);
    }
    free(rows->row);
    *rows = (struct rows){NULL, 0, 0};
}

/* The next word of a text with spaces between; "": there is none. */
static const char *next_word(const char *at, char *out, size_t room)
{
    at += strspn(at, " ");
    size_t length = strcspn(at, " ");
    snprintf(out, room, "%.*s", (int)length, at);
    return at + length;
}

/* The text as a list of its words. */
static void split_field(struct message *row, const char *field)
{
    const char *text = message_get_text(row, field, NULL);
    char *copy = text != NULL ? strdup(text) : NULL, word[64];
    if (copy == NULL) {
        return;
    }
    message_element(row, field, NULL); /* makes the text a list */
    for (const char *at = next_word(copy, word, sizeof word); word[0] != '\0'; at = next_word(at, word, sizeof word)) {
        message_element(row, field, word);
    }
    free(copy);
}

void rows_type(const struct rows *rows, const char *flags, const char *lists)
{
    char name[64];
    for (size_t i = 0; i < rows->count; i++) {
        struct message *row = rows->row[i];
        for (const char *at = next_word(flags, name, sizeof name); name[0] != '\0';
             at = next_word(at, name, sizeof name)) {
            if (message_kind(row, name) == MESSAGE_INTEGER) {
                message_flag(row, name, message_get_integer(row, name, 0) != 0);
            }
        }
        for (const char *at = next_word(lists, name, sizeof name); name[0] != '\0';
             at = next_word(at, name, sizeof name)) {
            split_field(row, name);
        }
    }
}

struct place {
    uint64_t server; /* its coordinate, the x first */
    size_t at;       /* where the row was */
    struct message *row;
};

static struct place place_of(struct message *row, size_t at)
{
    unsigned x, y, z;
    const char *server = message_get_text(row, "server", "");
    bool one = sscanf(server, "%u,%u,%u", &x, &y, &z) == 3;
    return (struct place){one ? (uint64_t)(x & 0xffff) << 32 | (y & 0xffff) << 16 | (z & 0xffff) : UINT64_MAX, at, row};
}

static int by_place(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    if (p->server != q->server) {
        return p->server < q->server ? -1 : 1;
    }
    return p->at < q->at ? -1 : p->at > q->at;
}

void rows_sort(const struct rows *rows)
{
    struct place *place = calloc(rows->count + 1, sizeof *place);
    if (place == NULL) {
        return;
    }
    for (size_t i = 0; i < rows->count; i++) {
        place[i] = place_of(rows->row[i], i);
    }
    qsort(place, rows->count, sizeof *place, by_place);
    for (size_t i = 0; i < rows->count; i++) {
        rows->row[i] = place[i].row;
    }
    free(place);
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

struct request_draft *call_request(const struct call *call, const char *name)
{
    const struct arguments *a = call->arguments;
    struct request_draft *r = request_draft_open(name, call->server);
    for (int i = 0; i < a->options; i++) {
        const struct arguments_option *o = a->given[i].option;
        if (o->member == NULL) {
            continue; /* this option is for cwctl and not for the daemon */
        }
        if (o->kind == ARGUMENTS_FLAG) {
            request_draft_flag(r, o->member);
        } else if (o->kind != ARGUMENTS_TEXT) {
            request_draft_integer(r, o->member, a->given[i].number);
        } else if (o->list) {
            request_draft_element(r, o->member, a->given[i].text);
        } else {
            request_draft_text(r, o->member, a->given[i].text);
        }
    }
    return r;
}

cw_span call_patience(const struct call *call)
{
    return call->arguments->timeout.ns > 0 ? call->arguments->timeout : patience_default;
}

const struct arguments_given *call_given(const struct call *call, const char *name)
{
    const struct arguments *a = call->arguments;
    for (int i = a->options; i > 0; i--) {
        if (strcmp(a->given[i - 1].option->name, name) == 0) {
            return &a->given[i - 1];
        }
    }
    return NULL;
}

static int code_of(const struct call *call, int rc)
{
    if (client_failed(call->client)) {
        return rc == -ETIME ? EXIT_TIMEOUT : rc == -EINTR ? EXIT_FINE : EXIT_NOBODY;
    }
    return rc == -EINVAL ? EXIT_USAGE : EXIT_NO;
}

/* A line on errors; what is to be typed is put as it is typed for that daemon. */
static void say(const struct call *call, const char *sentence)
{
    char text[REMEDY_TEXT];
    /* Of several daemons, what they all say is told once, so that it stays the same. */
    bool fits = call->client != NULL && strlen(sentence) < REMEDY_TEXT / 2 && call->arguments->lab == NULL;
    fprintf(call->errors, "cwctl: %s\n",
            fits ? remedy_in_sentence(call->client, call->server, sentence, text) : sentence);
}

void call_vcomplain(const struct call *call, const char *format, va_list args)
{
    char *sentence = NULL;
    if (vasprintf(&sentence, format, args) >= 0) {
        say(call, sentence);
        free(sentence);
    }
}

void call_complain(const struct call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    call_vcomplain(call, format, args);
    va_end(args);
}

int call_ask(const struct call *call, struct request_draft *request, cw_span patience,
             void (*row)(void *context, struct message *row), void *context, int *code)
{
    char why[CLIENT_WHY];
    int rc = client_ask(call->client, request, patience, row, context, why);
    if (rc < 0) {
        *code = code_of(call, rc);
        if (*code == EXIT_TIMEOUT) {
            unanswered_explain(call->client, call->server, patience, why);
        }
        if (*code != EXIT_FINE) {
            say(call, why[0] != '\0' ? why : strerror(-rc));
        }
    }
    return rc;
}

bool call_is_server(const char *word)
{
    unsigned commas = 0;
    for (const char *c = word; *c != '\0'; c++) {
        if (*c == ',') {
            commas++;
        } else if (*c < '0' || *c > '9') {
            return false;
        }
    }
    return commas == 2;
}

/* ---- One answer, shown ------------------------------------------------------------------------------------------- */

void call_tell_done(const struct call *call)
{
    struct message *m = message_open();
    message_flag(m, "done", true);
    message_print(m, call->out);
    message_close(m);
}

static void show(const struct call *call, const struct rows *rows)
{
    const struct command *c = call->command;
    bool of_service = c->request != NULL && strcmp(c->request, "service") == 0; /* without rows it may be a list */
    if (call->arguments->json && rows->count == 0 && c->columns == NULL && !of_service) {
        call_tell_done(call);
    } else if (call->arguments->json) {
        for (size_t i = 0; i < rows->count; i++) {
            message_print(rows->row[i], call->out);
        }
    } else if (c->show != NULL) {
        c->show(call, rows);
    } else {
        table_print(rows->row, rows->count, c->columns, call->style, call->out);
    }
}

static int words_of_name(const struct command *c)
{
    return strchr(c->name, ' ') != NULL ? 2 : 1;
}

int call_plain(struct call *call)
{
    const struct arguments *a = call->arguments;
    struct rows rows = {NULL, 0, 0};
    struct request_draft *request = call_request(call, call->command->request);
    int code = EXIT_FINE;
    for (int i = words_of_name(call->command); i < a->words; i++) {
        request_draft_word(request, a->word[i]);
    }
    int rc = call_ask(call, request, call_patience(call), rows_add, &rows, &code);
    if (rc >= 0 || rows.count > 0) {
        show(call, &rows);
    }
    rows_clear(&rows);
    request_draft_close(request);
    return rc < 0 ? code : rc > 0 ? EXIT_NO : EXIT_FINE;
}

/* ---- Again and again --------------------------------------------------------------------------------------------- */

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * CW_NS_PER_SEC + t.tv_nsec;
}

static void rest_until(const struct call *call, int64_t end)
{
    for (int64_t left; !*call->stop && (left = end - now_ns()) > 0;) {
        cw_span most = left > CW_MS(REST_MS).ns ? CW_MS(REST_MS) : CW_NS(left);
        struct keys none = {.on = false};
        if (keys_wait(call->keys != NULL ? call->keys : &none, most)) {
            *call->stop = 1;
        }
    }
}

void call_rest(const struct call *call, cw_span span)
{
    rest_until(call, now_ns() + span.ns);
}

void call_say_done(const struct call *call)
{
    if (!call->arguments->json && isatty(fileno(call->out))) {
        fputs("done\n", call->out);
    }
}

void call_wipe(const struct call *call)
{
    if (call->style.colour && !call->arguments->json) {
        fputs("\033[H\033[2J", call->out);
    }
}

static void begin_round(const struct call *call, uint64_t round)
{
    if (!call->wipes) {
        call_wipe(call);
    }
    if (!call->style.colour && !call->arguments->json && round > 0) {
        fputc('\n', call->out);
    }
}

int call_run(struct call *call)
{
    const struct arguments *a = call->arguments;
    int (*run)(struct call *) = call->command->run != NULL ? call->command->run : call_plain;
    if (!a->watch) {
        return run(call);
    }
    int code = EXIT_FINE;
    int64_t next = now_ns();
    for (uint64_t round = 0; !*call->stop && (a->rounds == 0 || round < a->rounds); round++) {
        begin_round(call, round);
        code = run(call);
        fflush(call->out);
        if (code == EXIT_NOBODY || code == EXIT_TIMEOUT || code == EXIT_USAGE) {
            break;
        }
        next += a->every.ns;
        if (a->rounds == 0 || round + 1 < a->rounds) {
            rest_until(call, next);
        }
    }
    return code;
}
