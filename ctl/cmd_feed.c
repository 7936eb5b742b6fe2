/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_feed.c - standard input goes to the daemon, in pieces: lines for questions about them, or the input of a run.
 */
#define _GNU_SOURCE /* memrchr */
#include "base/base64.h"
#include "ctl/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* A piece is of whole lines; a longer line is cut. What has come waits for more at most REST_MS. */
enum { PIECE = 36 * 1024, REST_MS = 100, RENEW_RESTS = 10, KEEP_MS = 3000 };

struct feeder {
    const struct call *call;
    bool to_run; /* else to questions */
    int64_t keep_ms;
    uint64_t id;         /* to a run: ours among all that feed; */
    bool end;            /* standard input is at its end; */
    bool taken, done;    /* what the daemon has said last: it has room; a run has all; */
    bool has_run, waits; /* a run takes it; that there is none was said */
    uint64_t lines, bytes, cut;
    size_t used;
    bool skips; /* the rest of a line that was too long */
    char piece[PIECE + 1];
    char data[8 + (PIECE + 2) / 3 * 4 + 1];
};

static void word_number(struct request_draft *r, const char *name, uint64_t n)
{
    char text[48];
    snprintf(text, sizeof text, "%s=%" PRIu64, name, n);
    request_draft_word(r, text);
}

/* The request for a piece of so many bytes. */
static struct request_draft *request_of(struct feeder *f, size_t length)
{
    struct request_draft *r = request_draft_open("service", f->call->server);
    request_draft_word(r, "aggregate");
    if (!f->to_run) {
        request_draft_word(r, "query");
    }
    request_draft_word(r, "feed");
    request_draft_word(r, f->call->arguments->word[2]);
    word_number(r, "keep_ms", (uint64_t)f->keep_ms);
    memcpy(f->data, "data=", 5);
    base64_encode((const uint8_t *)f->piece, length, f->data + 5);
    request_draft_word(r, f->data);
    if (f->to_run) {
        word_number(r, "feeder", f->id);
        word_number(r, "at", f->bytes);
    }
    if (f->end) {
        request_draft_word(r, "end=1");
    }
    return r;
}

/* Sends the first `length` bytes, and keeps the others. No bytes: the feed only lives on. */
static int send_piece(struct feeder *f, size_t length)
{
    struct rows rows = {NULL, 0, 0};
    int code = EXIT_FINE;
    struct request_draft *r = request_of(f, length);
    (void)!call_ask(f->call, r, call_patience(f->call), rows_add, &rows, &code);
    request_draft_close(r);
    if (f->to_run && code == EXIT_FINE && rows.count > 0) {
        f->taken = message_get_integer(rows.row[0], "taken", 0) != 0;
        f->done = message_get_integer(rows.row[0], "done", 0) != 0;
        f->has_run = message_get_integer(rows.row[0], "has_run", 0) != 0;
    }
    rows_clear(&rows);
    for (size_t i = 0; i < length; i++) {
        f->lines += f->piece[i] == '\n';
    }
    f->bytes += length;
    f->used -= length;
    memmove(f->piece, f->piece + length, f->used);
    return code;
}

/* How many of the bytes that are there are whole lines. */
static size_t whole(const struct feeder *f)
{
    const char *last = memrchr(f->piece, '\n', f->used);
    return last != NULL ? (size_t)(last + 1 - f->piece) : 0;
}

/* The piece is full, and has no whole line: what is there is sent as one, and what follows is left out. */
static void cut_line(struct feeder *f)
{
    f->piece[f->used++] = '\n';
    f->cut++;
    f->skips = true;
}

/* Leaves out what belongs to a line that was cut. */
static void skip(struct feeder *f, size_t from)
{
    const char *end = memchr(f->piece + from, '\n', f->used - from);
    size_t gone = end != NULL ? (size_t)(end + 1 - f->piece) - from : f->used - from;
    f->skips = end == NULL;
    memmove(f->piece + from, f->piece + from + gone, f->used - from - gone);
    f->used -= gone;
}

/* Reads once. 1; 0: the input has ended; -errno. */
static int read_more(struct feeder *f)
{
    size_t from = f->used;
    ssize_t n = read(STDIN_FILENO, f->piece + f->used, PIECE - f->used);
    if (n <= 0) {
        return n == 0 ? 0 : errno == EINTR || errno == EAGAIN ? 1 : -errno;
    }
    f->used += (size_t)n;
    if (f->skips) {
        skip(f, from);
    }
    return 1;
}

/* Once: nobody takes it, and that is no mistake yet. */
static void say_that_it_waits(struct feeder *f)
{
    if (!f->has_run && !f->waits) {
        const char *name = f->call->arguments->word[2];
        fprintf(f->call->errors, "cwctl: waiting for a run: cwctl aggregate run --from feed:%s ..\n", name);
        f->waits = true;
    }
}

/* Sends a piece, and waits until the run has taken it. Until then nothing is read, so the program before us waits. */
static int push(struct feeder *f, size_t length)
{
    int code = send_piece(f, length);
    while (code == EXIT_FINE && !*f->call->stop && (f->end ? !f->done : !f->taken)) {
        say_that_it_waits(f);
        code = send_piece(f, 0);
    }
    return code;
}

/* What may go now: whole lines to questions; all bytes to a run, which puts lines together itself. */
static size_t ready_bytes(const struct feeder *f)
{
    return f->to_run ? f->used : whole(f);
}

static int pass(struct feeder *f, size_t length)
{
    return f->to_run ? push(f, length) : send_piece(f, length);
}

/* The input has ended: what is left goes, with its end. */
static int pass_rest(struct feeder *f)
{
    f->end = f->to_run;
    if (!f->to_run && f->used > 0 && f->piece[f->used - 1] != '\n') {
        f->piece[f->used++] = '\n';
    }
    return f->to_run || f->used > 0 ? pass(f, f->used) : EXIT_FINE;
}

/* Until the input ends, and a run has all of it. Gives the exit code. */
static int feed(struct feeder *f)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    int code = send_piece(f, 0), more = 1; /* the name is refused before anything is read */
    for (unsigned rests = 0; code == EXIT_FINE && more > 0 && !*f->call->stop;) {
        int ready = poll(&input, 1, REST_MS);
        more = ready > 0 ? read_more(f) : 1;
        if (!f->to_run && f->used == PIECE && whole(f) == 0) {
            cut_line(f);
        }
        rests = ready > 0 ? rests : rests + 1;
        bool due = ready_bytes(f) > 0 && (f->used >= PIECE / 2 || ready <= 0);
        if (due || rests >= RENEW_RESTS) {
            code = pass(f, due ? ready_bytes(f) : 0);
            rests = 0;
        }
    }
    if (more < 0) {
        fprintf(f->call->errors, "cwctl: standard input: %s\n", strerror(-more));
        return EXIT_NO;
    }
    code = code == EXIT_FINE && more == 0 ? pass_rest(f) : code;
    if (code == EXIT_FINE && f->to_run && !f->done) {
        fprintf(f->call->errors, "cwctl: stopped before the run had all of the input: the run ends, too\n");
        return EXIT_NO;
    }
    return code;
}

static void tell_end(const struct feeder *f)
{
    const struct call *call = f->call;
    if (call->arguments->json) {
        struct message *m = message_open();
        message_text(m, "feed", call->arguments->word[2]);
        message_integer(m, "lines", (int64_t)f->lines);
        message_integer(m, "bytes", (int64_t)f->bytes);
        if (!f->to_run) {
            message_integer(m, "cut", (int64_t)f->cut);
        }
        message_print(m, call->out);
        message_close(m);
        return;
    }
    fprintf(call->out, "%" PRIu64 " lines", f->lines);
    if (f->cut > 0) {
        fprintf(call->out, ", %" PRIu64 " of them cut after %d bytes", f->cut, PIECE);
    }
    fputc('\n', call->out);
}

int run_query_feed(struct call *call)
{
    static struct feeder f;
    const struct arguments_given *keep = call_given(call, "keep-for");
    f = (struct feeder){.call = call, .keep_ms = keep != NULL ? keep->number / 1000 : KEEP_MS};
    int code = feed(&f);
    if (code == EXIT_FINE) {
        tell_end(&f);
    }
    return code;
}

int run_aggregate_feed(struct call *call)
{
    static struct feeder f;
    f = (struct feeder){.call = call, .to_run = true, .keep_ms = KEEP_MS};
    if (getrandom(&f.id, sizeof f.id, 0) != (ssize_t)sizeof f.id) {
        fprintf(call->errors, "cwctl: no random bytes: %s\n", strerror(errno));
        return EXIT_NO;
    }
    f.id = f.id % INT64_MAX + 1;
    int code = feed(&f);
    if (code == EXIT_FINE) {
        tell_end(&f);
    }
    return code;
}
