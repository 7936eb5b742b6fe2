/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hitcount.c - a first service: every server counts the packets that pass it, by who sent them, and answers questions.
 *
 *   walk SERVER   sends a packet there; each server it passes, and that one, counts it
 *   ask SERVER    asks a server how many of our packets it has seen
 *   show          what this server has seen, a row for each sender
 *
 * docs/writing-a-service.md goes through it step by step.
 */
#include <cubeway/service.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOB = 4096, PORT_WALK = 1, PORT_ASK = 2, ANSWER_BYTES = 8 };

/* One instance on every server, zeroed by the host. */
struct hitcount {
    uint64_t *seen; /* packets, by the id of the sender */
    cw_server servers;
    cw_counter *hits;
    unsigned patience_ms; /* option of that name: how long an answer may take */
};

static int hitcount_open(cw_svc *s, void *state)
{
    struct hitcount *h = state;
    cw_dims dims = cw_torus(s);
    h->servers = (cw_server)dims.x * dims.y * dims.z;
    h->seen = calloc(h->servers, sizeof *h->seen);
    h->hits = cw_counter_new(s, "hits", "Packets seen, passing or arriving.");
    h->patience_ms = 200;
    const char *patience = cw_option(s, "patience_ms"); /* service "hitcount" { options { patience_ms = 500 } } */
    char end;
    if (patience != NULL && (sscanf(patience, "%u%c", &h->patience_ms, &end) != 1 || h->patience_ms - 1 >= 60000)) {
        cw_log(s, CW_LOG_ERROR, "option patience_ms is a whole number from 1 to 60000");
        free(h->seen);
        return -EINVAL;
    }
    return h->seen != NULL ? 0 : -ENOMEM;
}

static void hitcount_close(cw_svc *s, void *state)
{
    (void)s;
    struct hitcount *h = state;
    free(h->seen);
}

static cw_verdict hitcount_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    struct hitcount *h = state;
    if (rx->port == PORT_WALK && rx->src_process < h->servers) {
        h->seen[rx->src_process]++; /* the runtime vouches for the sender; the payload would not */
        cw_counter_add(h->hits, 1);
        return CW_FORWARD;
    }
    if (rx->where == CW_TRANSIT) {
        return CW_FORWARD; /* a question, or an answer, on its way to another server */
    }
    size_t length;
    uint8_t *data = cw_packet_data(p, &length);
    if (rx->call == 0 || rx->src_process >= h->servers || length != ANSWER_BYTES) {
        return CW_DROP; /* a packet is what somebody sent: look at its length before its bytes */
    }
    /* The question becomes the answer. In network order, byte by byte: servers need not be alike. */
    for (int i = 0; i < ANSWER_BYTES; i++) {
        data[i] = (uint8_t)(h->seen[rx->src_process] >> (56 - 8 * i));
    }
    cw_reply(s, rx->call, 0, p);
    return CW_TAKE; /* by the call above the packet is no longer ours, and not the runtime's to dispose of */
}

static void asked(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)s, (void)state, (void)rx;
    size_t length = 0;
    const uint8_t *data = status == 0 ? cw_packet_data(reply, &length) : NULL;
    uint64_t hits = 0;
    for (size_t i = 0; i < length && i < ANSWER_BYTES; i++) {
        hits = hits << 8 | data[i];
    }
    if (length == ANSWER_BYTES) {
        cw_request_int(arg, "hits", (int64_t)hits);
    }
    cw_request_done(arg, status == 0 && length != ANSWER_BYTES ? -EBADMSG : status);
}

static int walk(cw_svc *s, const cw_to *to)
{
    cw_packet *p = cw_packet_new(s, 0);
    int rc = p != NULL ? cw_send(s, p, to, NULL) : -ENOMEM;
    if (rc < 0) {
        cw_packet_free(s, p); /* what was not sent is still ours */
    }
    return rc < 0 ? rc : 0;
}

static int ask(cw_svc *s, const struct hitcount *h, cw_request *r, const cw_to *to)
{
    const cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(h->patience_ms), .retries = 2};
    cw_packet *p = cw_packet_new(s, ANSWER_BYTES); /* as long as the answer, which will be in it */
    int64_t call = p != NULL ? cw_call(s, p, to, &options, asked, r) : -ENOMEM;
    if (call < 0) {
        cw_packet_free(s, p);
    }
    return call < 0 ? (int)call : 1; /* 1: asked() answers the command */
}

static int show(cw_svc *s, const struct hitcount *h, cw_request *r)
{
    unsigned rows = 0;
    for (cw_server id = 0; id < h->servers; id++) {
        char text[16];
        if (h->seen[id] == 0) {
            continue;
        }
        if (rows++ > 0) {
            cw_request_row(r); /* between two rows */
        }
        cw_coord c = cw_server_coord(s, id);
        snprintf(text, sizeof text, "%u,%u,%u", c.x, c.y, c.z);
        cw_request_text(r, "sender", text);
        cw_request_int(r, "hits", (int64_t)h->seen[id]);
    }
    return 0;
}

static int hitcount_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    cw_coord c;
    if (argc == 1 && strcmp(argv[0], "show") == 0) {
        return show(s, state, r);
    }
    bool walks = argc == 2 && strcmp(argv[0], "walk") == 0;
    if (!walks && (argc != 2 || strcmp(argv[0], "ask") != 0)) {
        cw_request_text(r, "error",
                        "commands are walk SERVER, ask SERVER, show"); /* a field of this name says why it failed */
        return -EINVAL;
    }
    if (sscanf(argv[1], "%3hhu,%3hhu,%3hhu", &c.x, &c.y, &c.z) != 3 || !cw_server_valid(s, c)) {
        cw_request_text(r, "error", "no such server: one is written x,y,z, as 1,2,0");
        return -EINVAL;
    }
    cw_to to = {.kind = CW_TO_SERVER, .job = JOB, .server = c, .process = cw_server_id(s, c)};
    to.port = walks ? PORT_WALK : PORT_ASK;
    return walks ? walk(s, &to) : ask(s, state, r, &to);
}

static const cw_command commands[] = {
    {"walk", "SERVER", "send a packet there; each server that it passes, and that one, counts it"},
    {"ask", "SERVER", "how many of our packets has that server seen?"},
    {"show", "", "what this server has seen, a row for each sender"},
    {NULL, NULL, NULL},
};

static const cw_service hitcount = {
    CW_SERVICE_INIT,
    .name = "hitcount",
    .version = "1.0",
    .job = JOB, /* 1024 and above are free for services that are loaded */
    .state_size = sizeof(struct hitcount),
    .on_path = CW_PATH_ALL, /* packets that pass by are shown to it, too */
    .open = hitcount_open,
    .close = hitcount_close,
    .on_packet = hitcount_packet,
    .on_command = hitcount_command,
    .commands = commands, /* for help, for completion, and for what is said of a word that is none */
};

const cw_service *cw_service_entry(void)
{
    return &hitcount;
}
