/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_capture.c - frames of a link into a capture file, with an interface for each direction that is named after its
 * sender, as cwsim does.
 */
#include "ctl/commands.h"

#include "base/base64.h"
#include "capture/pcapng.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_MAX = 16384, ETHERTYPE = 0x88b5 /* of a daemon that does not say */ };

struct taking {
    const struct call *call;
    struct pcapng *file;
    uint8_t near[6], far[6]; /* made-up addresses of the two ends, for frames have none here */
    uint64_t frames, lost;
    bool bad;
    uint8_t bytes[FRAME_MAX];
};

static void take_frame(void *context, struct message *row)
{
    struct taking *t = context;
    bool out = message_get_flag(row, "out");
    int length = base64_decode(message_get_text(row, "frame", ""), t->bytes, sizeof t->bytes);
    t->lost += (uint64_t)message_get_integer(row, "lost", 0);
    if (length < 0) {
        t->bad = true;
    } else {
        struct pcapng_frame frame = {
            .at = {message_get_integer(row, "t_ns", 0)},
            .type = (uint16_t)message_get_integer(row, "ethertype", ETHERTYPE),
            .bytes = t->bytes,
            .length = (uint32_t)length,
        };
        memcpy(frame.to, out ? t->far : t->near, sizeof frame.to);
        memcpy(frame.from, out ? t->near : t->far, sizeof frame.from);
        pcapng_frame(t->file, out ? 0 : 1, &frame);
        t->frames++;
    }
    message_close(row);
}

/* 02:link:00:x:y:z, as local as an address can be. */
static void make_address(uint8_t out[6], unsigned link, const char *server)
{
    unsigned x = 0, y = 0, z = 0;
    (void)sscanf(server, "%3u,%3u,%3u", &x, &y, &z);
    const uint8_t address[6] = {2, (uint8_t)link, 0, (uint8_t)x, (uint8_t)y, (uint8_t)z};
    memcpy(out, address, sizeof address);
}

/* Asks the daemon who is at the two ends: names of interfaces, addresses. */
static int open_file(struct taking *t, const char *link, const char *path, int *code)
{
    static const char *const names[] = {"+x", "-x", "+y", "-y", "+z", "-z"};
    const struct call *call = t->call;
    struct rows rows = {NULL, 0, 0};
    char near[64], far[64];
    struct request_draft *request = request_draft_open("links", call->server);
    request_draft_word(request, link);
    int rc = call_ask(call, request, call_patience(call), rows_add, &rows, code);
    request_draft_close(request);
    if (rc < 0 || rows.count == 0) {
        *code = rc < 0 ? *code : EXIT_NO;
        rows_clear(&rows);
        return rc < 0 ? rc : -ENODEV;
    }
    unsigned id = 0;
    while (id < 5 && strcmp(names[id], link) != 0) {
        id++;
    }
    const char *server = message_get_text(rows.row[0], "server", "?");
    const char *neighbour = message_get_text(rows.row[0], "neighbour", "?");
    make_address(t->near, id, server);
    make_address(t->far, id ^ 1, neighbour);
    snprintf(near, sizeof near, "%.40s %s", server, names[id]);
    snprintf(far, sizeof far, "%.40s %s", neighbour, names[id ^ 1]);
    uint64_t speed = (uint64_t)message_get_integer(rows.row[0], "bits_per_second", 0);
    rows_clear(&rows);
    rc = pcapng_open(&t->file, strcmp(path, "-") == 0 ? "/dev/stdout" : path, "cwctl");
    if (rc == 0) {
        rc = pcapng_interface(t->file, near, speed);
    }
    if (rc >= 0) {
        rc = pcapng_interface(t->file, far, speed);
    }
    if (rc < 0) {
        fprintf(call->errors, "cwctl: %s: %s\n", path, strerror(-rc));
        *code = EXIT_NO;
        (void)pcapng_close(t->file);
    }
    return rc;
}

static void say_result(const struct taking *t, const char *path)
{
    const struct call *call = t->call;
    FILE *out = strcmp(path, "-") == 0 ? call->errors : call->out;
    if (call->arguments->json) {
        fprintf(out, "{\"frames\":%" PRIu64 ",\"lost\":%" PRIu64 "}\n", t->frames, t->lost);
    } else {
        fprintf(out, "%" PRIu64 " frames in %s", t->frames, path);
        if (t->lost > 0) {
            fprintf(out, "; %" PRIu64 " came faster than they could be written, and are missing", t->lost);
        }
        fputc('\n', out);
    }
}

int run_capture(struct call *call)
{
    const struct arguments *a = call->arguments;
    struct taking *t = calloc(1, sizeof *t);
    int code = EXIT_FINE;
    if (t == NULL) {
        fprintf(call->errors, "cwctl: out of memory\n");
        return EXIT_NO;
    }
    t->call = call;
    if (open_file(t, a->word[1], a->word[2], &code) < 0) {
        free(t);
        return code;
    }
    struct request_draft *request = call_request(call, "capture");
    request_draft_word(request, a->word[1]);
    if (call->keys != NULL && call->keys->on) {
        fprintf(call->errors, "cwctl: frames of %s are captured; q ends it\n", a->word[1]);
    }
    (void)!call_ask(call, request, a->timeout, take_frame, t, &code); /* for ever, unless --timeout says otherwise */
    request_draft_close(request);
    int rc = pcapng_close(t->file);
    if (rc < 0 || t->bad) {
        fprintf(call->errors, "cwctl: %s: %s\n", a->word[2], rc < 0 ? strerror(-rc) : "frames that could not be read");
        code = EXIT_NO;
    } else if (code == EXIT_FINE || t->frames > 0) {
        say_result(t, a->word[2]);
    }
    free(t);
    return code;
}
