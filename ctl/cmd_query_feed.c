/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_query_feed.c - lines of standard input go to the daemon, in pieces, for questions about them.
 */
#define _GNU_SOURCE /* memrchr */
#include "base/base64.h"
#include "ctl/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A piece is of whole lines; a longer line is cut. What has come waits for more at most REST_MS. */
enum { PIECE = 36 * 1024, REST_MS = 100, RENEW_RESTS = 10, KEEP_MS = 3000 };

struct feeder {
    const struct call *call;
    int64_t keep_ms;
    uint64_t lines, bytes, cut;
    size_t used;
    bool skips; /* the rest of a line that was too long */
    char piece[PIECE + 1];
    char data[8 + (PIECE + 2) / 3 * 4 + 1];
};

/* Sends the first `length` bytes, and keeps the others. No bytes: the feed only lives on. */
static int send_piece(struct feeder *f, size_t length)
{
    struct rows rows = {NULL, 0, 0};
    char keep[40];
    int code = EXIT_FINE;
    struct request_draft *r = request_draft_open("service", f->call->server);
    const char *const words[] = {"aggregate", "query", "feed", f->call->arguments->word[2]};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        request_draft_word(r, words[i]);
    }
    snprintf(keep, sizeof keep, "keep_ms=%" PRId64, f->keep_ms);
    request_draft_word(r, keep);
    memcpy(f->data, "data=", 5);
    base64_encode((const uint8_t *)f->piece, length, f->data + 5);
    request_draft_word(r, f->data);
    (void)!call_ask(f->call, r, call_patience(f->call), rows_add, &rows, &code);
    request_draft_close(r);
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

/* Until the input ends. Gives the exit code. */
static int feed(struct feeder *f)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    int code = send_piece(f, 0), more = 1; /* the name is refused before anything is read */
    for (unsigned rests = 0; code == EXIT_FINE && more > 0 && !*f->call->stop;) {
        int ready = poll(&input, 1, REST_MS);
        more = ready > 0 ? read_more(f) : 1;
        if (f->used == PIECE && whole(f) == 0) {
            cut_line(f);
        }
        rests = ready > 0 ? rests : rests + 1;
        bool full = f->used >= PIECE / 2, waited = ready <= 0 && whole(f) > 0;
        if (whole(f) > 0 && (full || waited)) {
            code = send_piece(f, whole(f));
            rests = 0;
        } else if (rests >= RENEW_RESTS) {
            code = send_piece(f, 0);
            rests = 0;
        }
    }
    if (more < 0) {
        fprintf(f->call->errors, "cwctl: standard input: %s\n", strerror(-more));
        return EXIT_NO;
    }
    if (code == EXIT_FINE && f->used > 0 && more == 0) {
        if (f->piece[f->used - 1] != '\n') {
            f->piece[f->used++] = '\n';
        }
        code = send_piece(f, f->used);
    }
    return code;
}

int run_query_feed(struct call *call)
{
    static struct feeder f;
    const struct arguments_given *keep = call_given(call, "keep-for");
    f = (struct feeder){.call = call, .keep_ms = keep != NULL ? keep->number / 1000 : KEEP_MS};
    int code = feed(&f);
    if (code != EXIT_FINE) {
        return code;
    }
    if (call->arguments->json) {
        struct message *m = message_open();
        message_text(m, "feed", call->arguments->word[2]);
        message_integer(m, "lines", (int64_t)f.lines);
        message_integer(m, "bytes", (int64_t)f.bytes);
        message_integer(m, "cut", (int64_t)f.cut);
        message_print(m, call->out);
        message_close(m);
    } else {
        fprintf(call->out, "%" PRIu64 " lines", f.lines);
        if (f.cut > 0) {
            fprintf(call->out, ", %" PRIu64 " of them cut after %d bytes", f.cut, PIECE);
        }
        fputc('\n', call->out);
    }
    return EXIT_FINE;
}
