/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bulk.c - the built-in service `transport`: exports the functions to services that come as files, and measures itself
 * for operators.
 *
 *   bulk SERVER BYTES [count=1]    sends `count` messages of BYTES, one after the other, and says how fast that was
 *   echo SERVER [bytes=1000] [count=10] [timeout_us=...]
 *                                  sends requests, has the same bytes sent back, and compares them
 *   stats                          what this instance has done
 *   path SERVER                    what this instance knows of the way there
 */
#include "base/words.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"
#include "services/transport/pattern.h"
#include "services/transport/transport.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BULK_PORT = 0,
    RUNS = 4,
    TAG_BULK = 1,
    TAG_ECHO = 2,
    ECHO_MOST = 1 << 20,
};
#define BULK_MOST (UINT64_C(1) << 40)
#define BULK_TIMEOUT CW_SEC(3600)

struct bulk;
/* A command under way. */
struct run {
    cw_request *request; /* NULL: free */
    struct bulk *bulk;
    cw_to to;
    bool echo;
    uint64_t bytes, count, done, wrong;
    cw_span timeout;
    cw_time begun, sent;
    int64_t least_ns, most_ns;
    struct transport_stats before;
};

struct bulk {
    cw_svc *s;
    struct transport *t;
    struct run run[RUNS];
    uint64_t bytes_taken, bytes_wrong;
};

static int read_bytes(void *context, void *arg, uint64_t offset, uint8_t *out, size_t length)
{
    (void)context;
    (void)arg;
    pattern_fill(offset, out, length);
    return 0;
}

/* ---- What comes -------------------------------------------------------------------------------------------------- */

static int piece(void *context, void *arg, const struct transport_message *m, uint64_t offset, const uint8_t *bytes,
                 size_t length)
{
    struct bulk *b = context;
    (void)arg;
    (void)m;
    uint64_t wrong = pattern_wrong(offset, bytes, length);
    b->bytes_taken += length;
    b->bytes_wrong += wrong;
    return wrong == 0 ? 0 : -EBADMSG;
}

static int begin(void *context, const struct transport_message *m, struct transport_accept *accept)
{
    (void)context;
    if (m->tag == TAG_BULK) {
        accept->piece = piece;
        return 0;
    }
    return m->tag != TAG_ECHO || !m->request ? -EPROTO : m->bytes > ECHO_MOST ? -EMSGSIZE : 0;
}

static int message(void *context, void *arg, const struct transport_message *m, const uint8_t *bytes, int status)
{
    struct bulk *b = context;
    (void)arg;
    if (status < 0 || !m->request) {
        return 0;
    }
    const struct transport_data data = {.bytes = bytes, .size = m->bytes};
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .tag = TAG_ECHO, .flags = TRANSPORT_COPY};
    int64_t rc = transport_reply(b->t, &m->reply_to, 0, &data, &options, NULL, NULL);
    return rc < 0 ? (int)rc : 0;
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static const char *why(int rc)
{
    switch (rc) {
    case -ENETUNREACH:
        return "the server is not in view";
    case -ETIMEDOUT:
        return "no answer in time";
    case -ECONNRESET:
        return "the server began anew";
    case -ESTALE:
        return "the key's root is gone";
    case -EACCES:
        return "no privilege";
    default:
        return "refused";
    }
}

static void finish(struct run *run, int rc)
{
    struct transport_stats now;
    struct bulk *b = run->bulk;
    transport_stats(b->t, &now);
    int64_t took = cw_time_since(cw_now(b->s), run->begun).ns;
    cw_request_int(run->request, "done", (int64_t)run->done);
    cw_request_int(run->request, "bytes", (int64_t)(run->done * run->bytes));
    cw_request_int(run->request, "took_ns", took);
    if (took > 0 && run->done > 0) {
        unsigned __int128 bits = (unsigned __int128)run->done * run->bytes * 8;
        cw_request_int(run->request, "bits_per_s", (int64_t)(bits * 1000000000 / (uint64_t)took));
    }
    if (run->done > 0) {
        cw_request_int(run->request, "least_ns", run->least_ns);
        cw_request_int(run->request, "mean_ns", took / (int64_t)run->done);
        cw_request_int(run->request, "most_ns", run->most_ns);
    }
    cw_request_int(run->request, "wrong", (int64_t)run->wrong);
    cw_request_int(run->request, "repeated", (int64_t)(now.repeated - run->before.repeated));
    cw_request_int(run->request, "needless", (int64_t)(now.needless - run->before.needless));
    cw_request_int(run->request, "probes", (int64_t)(now.probes - run->before.probes));
    if (rc < 0) {
        char text[120];
        snprintf(text, sizeof text, "message %llu of %llu: %s (%d)", (unsigned long long)run->done + 1,
                 (unsigned long long)run->count, why(rc), -rc);
        cw_request_text(run->request, "error", text);
    }
    cw_request *request = run->request;
    run->request = NULL;
    cw_request_done(request, rc);
}

static int next(struct run *run);

static void ended(struct run *run, int status)
{
    int64_t took = cw_time_since(cw_now(run->bulk->s), run->sent).ns;
    run->least_ns = run->done == 0 || took < run->least_ns ? took : run->least_ns;
    run->most_ns = took > run->most_ns ? took : run->most_ns;
    run->done += status == 0;
    if (status == 0 && run->done < run->count) {
        status = next(run);
        if (status == 0) {
            return;
        }
    }
    finish(run, status);
}

static void bulk_done(void *context, void *arg, int status)
{
    (void)context;
    ended(arg, status);
}

static void echo_done(void *context, void *arg, int status, const uint8_t *bytes, uint64_t size,
                      const struct transport_message *m)
{
    struct run *run = arg;
    (void)context;
    (void)m;
    if (status == 0) {
        run->wrong += size == run->bytes ? pattern_wrong(0, bytes, size) : run->bytes;
    }
    ended(run, status);
}

/* Sends the next message of a run: 0 or -errno. */
static int next(struct run *run)
{
    const struct transport_data data = {.size = run->bytes, .read = read_bytes};
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .tag = run->echo ? TAG_ECHO : TAG_BULK,
                                                   .timeout = run->timeout};
    run->sent = cw_now(run->bulk->s);
    int64_t rc = run->echo ? transport_request(run->bulk->t, &run->to, &data, &options, echo_done, run)
                           : transport_send(run->bulk->t, &run->to, &data, &options, bulk_done, run);
    return rc < 0 ? (int)rc : 0;
}

static int start(struct bulk *b, cw_request *r, bool echo, int argc, const char *const *argv)
{
    uint64_t bytes = 1000, count = echo ? 10 : 1, timeout = 0;
    const struct words_option options[] = {
        {"count", 1, UINT32_MAX, &count},
        {"timeout_us", 1, UINT32_MAX, &timeout},
        {"bytes", 0, ECHO_MOST, &bytes},
    };
    cw_coord server;
    int used = echo ? 2 : 3;
    if (argc < used) {
        return refuse_request(r, "%s: '%s'", echo ? "echo needs a server" : "bulk needs a server and a number of bytes",
                              argv[0]);
    }
    if (read_server(b->s, r, argv[1], &server) < 0) {
        return -EINVAL;
    }
    if (!echo && words_number(argv[2], 0, BULK_MOST, &bytes) < 0) {
        return refuse_request(r, "not a number of bytes, up to 1 TiB: '%s'", argv[2]);
    }
    int good = words_options(argc - used, argv + used, options, echo ? 3 : 2);
    if (good < argc - used) {
        return refuse_option(r, argv[used + good], options, echo ? 3 : 2);
    }
    struct run *run = NULL;
    for (unsigned i = 0; i < RUNS && run == NULL; i++) {
        run = b->run[i].request == NULL ? &b->run[i] : NULL;
    }
    if (run == NULL) {
        return refuse_with(r, -EBUSY, "%d transfers are under way here already: try again when one has ended", RUNS);
    }
    *run = (struct run){
        .request = r,
        .bulk = b,
        .to = to_server(b->s, TRANSPORT_JOB, BULK_PORT, cw_server_id(b->s, server)),
        .echo = echo,
        .bytes = bytes,
        .count = count,
        .timeout = timeout > 0 ? CW_US(timeout)
                   : echo      ? CW_NS(0)
                               : BULK_TIMEOUT,
        .begun = cw_now(b->s),
    };
    transport_stats(b->t, &run->before);
    int rc = next(run);
    if (rc < 0) {
        run->request = NULL;
        return rc == -ENETUNREACH ? refuse_with(r, rc, "the server is not in view: '%s'", argv[1]) : rc;
    }
    return 1;
}

static void tell_stats(const struct bulk *b, cw_request *r)
{
    struct transport_stats s;
    transport_stats(b->t, &s);
    const struct {
        const char *name;
        uint64_t value;
    } fields[] = {
        {"sent", s.sent},
        {"done", s.done},
        {"failed", s.failed},
        {"taken", s.taken},
        {"refused", s.refused},
        {"given_up", s.given_up},
        {"bytes_sent", s.bytes_sent},
        {"bytes_taken", b->bytes_taken},
        {"bytes_wrong", b->bytes_wrong},
        {"packets", s.packets},
        {"acks", s.acks},
        {"repeated", s.repeated},
        {"needless", s.needless},
        {"doubled", s.doubled},
        {"probes", s.probes},
        {"restarts", s.restarts},
        {"waits", s.waits},
        {"malformed", s.malformed},
        {"strange", s.strange},
        {"peers", s.peers},
        {"forgotten", s.forgotten},
        {"memory", s.memory},
        {"memory_most", s.memory_most},
        {"held", s.held},
        {"permits", s.permits},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        cw_request_int(r, fields[i].name, (int64_t)fields[i].value);
    }
}

static int tell_path(const struct bulk *b, cw_request *r, const char *word)
{
    struct transport_path path;
    cw_coord server;
    if (read_server(b->s, r, word, &server) < 0) {
        return -EINVAL;
    }
    int rc = transport_path_get(b->t, TRANSPORT_JOB, cw_server_id(b->s, server), BULK_PORT, &path);
    if (rc < 0) {
        cw_request_text(r, "error", "nothing was sent there lately");
        return rc;
    }
    cw_request_int(r, "rtt_ns", path.rtt.ns);
    cw_request_int(r, "rtt_least_ns", path.rtt_least.ns);
    cw_request_int(r, "rto_ns", path.rto.ns);
    cw_request_int(r, "window", (int64_t)path.window);
    cw_request_int(r, "in_flight", (int64_t)path.in_flight);
    return 0;
}

static int bulk_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct bulk *b = state;
    const char *word = argc >= 1 ? argv[0] : "";
    (void)s;
    if (strcmp(word, "bulk") == 0 || strcmp(word, "echo") == 0) {
        return start(b, r, strcmp(word, "echo") == 0, argc, argv);
    }
    if (strcmp(word, "stats") == 0 && argc == 1) {
        tell_stats(b, r);
        return 0;
    }
    if (strcmp(word, "path") == 0 && argc == 2) {
        return tell_path(b, r, argv[1]);
    }
    return refuse_request(r, "commands are bulk SERVER BYTES, echo SERVER, path SERVER, stats; not: '%s'", word);
}

/* ---- Upcalls ----------------------------------------------------------------------------------------------------- */

static int bulk_open(cw_svc *s, void *state)
{
    struct bulk *b = state;
    struct transport_config config = transport_config_default(BULK_PORT, b);
    config.begin = begin;
    config.message = message;
    config.counters = true;
    config.peers_max = 128; /* a torus of thousands has one of us on every server */
    config.messages_max = 64;
    b->s = s;
    return transport_open(s, &config, &b->t);
}

static void bulk_close(cw_svc *s, void *state)
{
    struct bulk *b = state;
    (void)s;
    transport_close(b->t);
}

static cw_verdict bulk_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    struct bulk *b = state;
    (void)s;
    return rx->port == BULK_PORT ? transport_packet(b->t, p, rx) : CW_DROP;
}

static void bulk_event(cw_svc *s, void *state, const cw_event *ev)
{
    struct bulk *b = state;
    (void)s;
    transport_event(b->t, ev);
}

static void bulk_writable(cw_svc *s, void *state)
{
    struct bulk *b = state;
    (void)s;
    transport_writable(b->t);
}

static const struct transport_api api = {
    .size = sizeof api,
    .config_default = transport_config_default,
    .open = transport_open,
    .close = transport_close,
    .packet = transport_packet,
    .event = transport_event,
    .writable = transport_writable,
    .send = transport_send,
    .request = transport_request,
    .reply = transport_reply,
    .cancel = transport_cancel,
    .resume = transport_resume,
    .stats = transport_stats,
    .permit = transport_permit,
    .more = transport_more,
};

static const cw_command commands[] = {
    {"bulk", "SERVER BYTES [count=N] [timeout_us=N]", "send that many bytes as messages, and measure"},
    {"echo", "SERVER [count=N] [timeout_us=N] [bytes=N]", "the round trip of a small message"},
    {"path", "SERVER", "what is known of the way there: round trip, window"},
    {"stats", "", "what the transport has counted"},
    {NULL, NULL, NULL},
};

const cw_service transport_service = {
    CW_SERVICE_INIT,
    .name = "transport",
    .version = "1.0",
    .job = TRANSPORT_JOB,
    .state_size = sizeof(struct bulk),
    .open = bulk_open,
    .close = bulk_close,
    .on_packet = bulk_packet,
    .on_event = bulk_event,
    .on_command = bulk_command,
    .on_writable = bulk_writable,
    .exports = &api,
    .exports_version = TRANSPORT_API_VERSION,
    .commands = commands,
};
