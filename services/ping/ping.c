/* SPDX-License-Identifier: Apache-2.0 */
#include "services/ping/ping.h"

#include "base/bytes.h"
#include "base/words.h"
#include "services/ping/detour.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 *  0       4      5  6       8       10      12      16
 *  | magic | kind |0 | there |   0   | seen  | seq   | ...   network order; there: counted on the way, if asked for;
 *                                                            seen: what the runtime of the one that answers counted
 */
enum { AT_MAGIC = 0, AT_KIND = 4, AT_THERE = 6, AT_SEEN = 10, AT_SEQ = 12, PING_BYTES = 16 };
enum { REQUEST = 1, ANSWER = 2 };
static const uint32_t magic = 0x43575069; /* "CWPi" */

enum {
    RUNS_MAX = 8,
    FLYING_MAX = 16, /* packets of one run on their way */
    COUNT_MAX = 10 * 1000 * 1000,
    FAR_HOPS = 15,     /* the longest way between two servers of the paper's 10x10x10 */
    FAR_HOPS_MAX = 60, /* within the hop budget of a server's default */
};
static const uint64_t time_max_us = UINT64_C(3600) * 1000 * 1000;

struct probe {
    struct run *run; /* NULL: free */
    cw_time sent;
    uint32_t seq;
    cw_coord to;
};

struct range {
    uint64_t least, most, sum;
};

/* One command under way. */
struct run {
    struct ping *ping;
    struct run *next;
    cw_request *request;
    cw_to to;
    bool all, keyed, rows, answered, row_open;
    cw_send_options send;
    cw_coord via[DETOUR_LEGS_MAX];
    cw_server cursor; /* all: the next server to ask */
    uint64_t count, interval_us, size, timeout_us;
    unsigned window, flying;
    cw_time due; /* of the next packet, when there is an interval */
    cw_timer *timer;
    int error;
    uint64_t sent, received, lost, miscounted;
    uint64_t unreachable; /* all: servers that are not in view, to which nothing was sent */
    cw_coord last;
    struct range rtt, there, back;
    struct probe probe[FLYING_MAX];
};

struct ping {
    struct run *runs;
    unsigned open;
    uint64_t timeout_us; /* option of that name: of commands that do not say */
};

/* ---- On the way -------------------------------------------------------------------------------------------------- */

static void count_one(uint8_t *counter)
{
    put_be16(counter, (uint16_t)(get_be16(counter) + 1));
}

static cw_verdict ping_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)state;
    size_t length;
    uint8_t *data = cw_packet_data(p, &length);
    if (length < PING_BYTES || get_be32(data + AT_MAGIC) != magic) {
        return CW_DROP;
    }
    if (rx->where == CW_TRANSIT) {
        count_one(data + AT_THERE);
        return CW_FORWARD;
    }
    if (rx->call == 0 || data[AT_KIND] != REQUEST) {
        return CW_DROP;
    }
    if (rx->in != CW_LINK_SELF) {
        count_one(data + AT_THERE);
    }
    data[AT_KIND] = ANSWER;
    put_be16(data + AT_SEEN, (uint16_t)rx->hops);
    cw_reply(s, rx->call, 0, p);
    return CW_TAKE;
}

/* ---- What came of it --------------------------------------------------------------------------------------------- */

static void range_add(struct range *r, uint64_t value, bool first)
{
    r->least = first || value < r->least ? value : r->least;
    r->most = first || value > r->most ? value : r->most;
    r->sum += value;
}

static void open_row(struct run *run)
{
    if (run->row_open) {
        cw_request_row(run->request);
    }
    run->row_open = true;
}

static void tell_number(struct run *run, const char *name, uint64_t value)
{
    cw_request_int(run->request, name, (int64_t)value);
}

static void tell_summary(struct run *run)
{
    open_row(run);
    if (run->answered) {
        tell_server(run->request, "server", run->last);
    }
    tell_number(run, "sent", run->sent);
    tell_number(run, "received", run->received);
    tell_number(run, "lost", run->lost);
    if (run->all) {
        tell_number(run, "unreachable", run->unreachable);
    }
    tell_number(run, "miscounted", run->miscounted);
    if (run->received > 0) {
        tell_number(run, "rtt_min_ns", run->rtt.least);
        tell_number(run, "rtt_mean_ns", run->rtt.sum / run->received);
        tell_number(run, "rtt_max_ns", run->rtt.most);
        tell_number(run, "hops_there_min", run->there.least);
        tell_number(run, "hops_there_max", run->there.most);
        tell_number(run, "hops_back_min", run->back.least);
        tell_number(run, "hops_back_max", run->back.most);
    }
}

/* Ends the run, whose packets have all been answered or lost: tells the result and frees it. */
static void finish(cw_svc *s, struct run *run)
{
    struct ping *ping = run->ping;
    struct run **at = &ping->runs;
    while (*at != run) {
        at = &(*at)->next;
    }
    *at = run->next;
    ping->open--;
    cw_timer_stop(s, run->timer);
    tell_summary(run);
    cw_request_done(run->request, run->error);
    free(run);
}

static void tell_lost(struct run *run, const struct probe *probe)
{
    run->lost++;
    if (run->rows) {
        open_row(run);
        tell_number(run, "seq", probe->seq);
        if (!run->keyed) {
            tell_server(run->request, "server", probe->to);
        }
        cw_request_int(run->request, "lost", 1);
    }
}

static void tell_answer(struct run *run, const struct probe *probe, cw_time now, const uint8_t *data, const cw_rx *rx)
{
    bool first = run->received++ == 0;
    uint64_t rtt = (uint64_t)cw_time_since(now, probe->sent).ns;
    unsigned there = get_be16(data + AT_SEEN);
    unsigned back = rx->hops;
    run->answered = true;
    run->last = rx->src_server;
    run->miscounted += run->send.trace && get_be16(data + AT_THERE) != there;
    range_add(&run->rtt, rtt, first);
    range_add(&run->there, there, first);
    range_add(&run->back, back, first);
    if (run->rows) {
        open_row(run);
        tell_number(run, "seq", probe->seq);
        tell_server(run->request, "server", rx->src_server);
        tell_number(run, "rtt_ns", rtt);
        tell_number(run, "hops_there", there);
        tell_number(run, "hops_back", back);
    }
}

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

static void go_on(cw_svc *s, struct run *run);

static void ping_answered(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)state;
    struct probe *probe = arg;
    struct run *run = probe->run;
    size_t length = 0;
    const uint8_t *data = status == 0 && reply != NULL ? cw_packet_data(reply, &length) : NULL;
    if (length >= PING_BYTES && get_be32(data + AT_MAGIC) == magic && data[AT_KIND] == ANSWER &&
        get_be32(data + AT_SEQ) == probe->seq) {
        tell_answer(run, probe, cw_now(s), data, rx);
    } else {
        tell_lost(run, probe);
    }
    if (status == -ECANCELED) {
        run->error = -ECANCELED;
    }
    probe->run = NULL;
    run->flying--;
    go_on(s, run);
}

/* Finds the server that the next packet of `all` goes to. False: all have been asked. */
static bool aim_next(cw_svc *s, struct run *run)
{
    for (;;) {
        cw_coord c = cw_server_coord(s, run->cursor);
        if (cw_server_id(s, c) != run->cursor) {
            return false;
        }
        bool self = run->cursor == cw_server_id(s, cw_self(s));
        if (!self && cw_reachable(s, c)) {
            run->to.server = c;
            run->to.process = run->cursor;
            return true;
        }
        run->unreachable += !self;
        run->cursor++;
    }
}

static bool more(cw_svc *s, struct run *run)
{
    return run->error == 0 && (run->all ? aim_next(s, run) : run->sent < run->count);
}

/* Sends one packet. Gives 0, -EAGAIN when it must wait, or why it cannot be sent. */
static int send_probe(cw_svc *s, struct run *run)
{
    struct probe *probe = run->probe;
    while (probe->run != NULL) {
        probe++;
    }
    cw_packet *p = cw_packet_new(s, (size_t)run->size);
    if (p == NULL) {
        return -EAGAIN;
    }
    *probe = (struct probe){.run = run, .sent = cw_now(s), .seq = (uint32_t)run->sent, .to = run->to.server};
    uint8_t *data = cw_packet_data(p, NULL);
    put_be32(data + AT_MAGIC, magic);
    data[AT_KIND] = REQUEST;
    put_be32(data + AT_SEQ, probe->seq);
    const cw_call_options options = {
        CW_CALL_INIT,
        .timeout = CW_US(run->timeout_us),
        .send = run->send,
    };
    int64_t call = cw_call(s, p, &run->to, &options, ping_answered, probe);
    if (call < 0) {
        cw_packet_free(s, p);
        probe->run = NULL;
        return call == -ENOBUFS || call == -ENOMEM ? -EAGAIN : (int)call;
    }
    run->sent++;
    run->flying++;
    return 0;
}

static void ping_timer(cw_svc *s, void *state, void *arg)
{
    (void)state;
    struct run *run = arg;
    run->timer = NULL;
    go_on(s, run);
}

static void wake_after(cw_svc *s, struct run *run, cw_span after)
{
    if (run->timer == NULL) {
        run->timer = cw_timer_start(s, after, ping_timer, run);
    }
    if (run->timer == NULL && run->error == 0) {
        run->error = -EAGAIN;
    }
}

/* Sends what is due; the rest waits for an answer or for a timer. The run may have ended, and be freed, afterwards. */
static void go_on(cw_svc *s, struct run *run)
{
    while (run->flying < run->window && more(s, run)) {
        if (run->interval_us > 0 && cw_time_before(cw_now(s), run->due)) {
            wake_after(s, run, cw_time_since(run->due, cw_now(s)));
            break;
        }
        int rc = send_probe(s, run);
        if (rc == -EAGAIN) {
            wake_after(s, run, CW_MS(1));
            break;
        }
        if (rc < 0 && !run->all) {
            run->error = rc;
            break;
        }
        if (rc < 0) { /* all: it has gone out of view */
            run->sent++;
            run->lost++;
        }
        run->cursor++;
        run->due = cw_time_add(run->due, CW_US(run->interval_us));
    }
    if (run->flying == 0 && !more(s, run)) {
        finish(s, run);
    }
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static void aim(const cw_svc *s, struct run *run, cw_coord server)
{
    run->to = to_server(s, cw_job_of(s), 0, cw_server_id(s, server));
}

/* Reads where the packets of the run go. Gives the number of words read, or -errno. */
static int read_target(const cw_svc *s, struct run *run, int argc, const char *const *argv)
{
    cw_coord server;
    cw_request *r = run->request;
    if (strcmp(argv[0], "all") == 0) {
        run->all = true;
        run->window = FLYING_MAX;
        run->to.kind = CW_TO_SERVER;
        return 1;
    }
    if (strcmp(argv[0], "to") == 0 && argc >= 2) {
        int rc = read_server(s, r, argv[1], &server);
        if (rc < 0) {
            return rc;
        }
        aim(s, run, server);
        return 2;
    }
    if (strcmp(argv[0], "key") == 0 && argc >= 2) {
        run->keyed = true;
        run->to.kind = CW_TO_KEY;
        run->to.key = read_key(s, argv[1]);
        return 2;
    }
    if (strcmp(argv[0], "far") != 0) {
        return refuse_request(r, "commands are to SERVER, key KEY, all, far [hops=N | via SERVER..]; not: '%s'",
                              argv[0]);
    }
    int words = 1;
    int legs = 0;
    uint64_t hops = FAR_HOPS;
    if (argc >= 2 && strcmp(argv[1], "via") == 0) {
        for (words = 2; words < argc && strchr(argv[words], '=') == NULL; words++) {
            if (legs == DETOUR_LEGS_MAX) {
                return refuse_request(r, "too many servers to go through: '%s'", argv[words]);
            }
            int rc = read_server(s, r, argv[words], &run->via[legs++]);
            if (rc < 0) {
                return rc;
            }
        }
        if (legs == 0) {
            return refuse_request(r, "names no server: '%s'", argv[1]);
        }
    } else {
        const struct words_option option = {"hops", 1, FAR_HOPS_MAX, &hops};
        if (argc >= 2 && words_value(argv[1], "hops") != NULL) {
            if (words_options(1, argv + 1, &option, 1) < 1) {
                return refuse_option(r, argv[1], &option, 1);
            }
            words++;
        }
        legs = detour_plan(s, (unsigned)hops, run->via);
        if (legs < 0) {
            cw_request_text(r, "error", "no such path here: too long for its way-points, or servers are down");
            return legs;
        }
    }
    aim(s, run, run->via[legs - 1]);
    run->send.record_path = true;
    run->send.waypoints = (unsigned)legs - 1;
    run->send.waypoint = run->via;
    return words;
}

static int read_command(const cw_svc *s, struct run *run, int argc, const char *const *argv)
{
    uint64_t rows = 0, counted = 0;
    const struct words_option options[] = {
        {"interval", 0, time_max_us, &run->interval_us},
        {"size", PING_BYTES, cw_mtu(s), &run->size},
        {"timeout", 1, time_max_us, &run->timeout_us},
        {"rows", 0, 1, &rows},
        {"counted", 0, 1, &counted},
        {"count", 1, COUNT_MAX, &run->count},
    };
    size_t n = sizeof options / sizeof *options;
    int words = read_target(s, run, argc, argv);
    if (words < 0) {
        return words;
    }
    n -= run->all; /* asks every server once: no count */
    words += words_options(argc - words, argv + words, options, n);
    if (words < argc) {
        return refuse_option(run->request, argv[words], options, n);
    }
    run->rows = rows != 0;
    run->send.trace = counted != 0;
    if (run->interval_us > 0) {
        run->window = FLYING_MAX;
    }
    return 0;
}

static int ping_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct ping *ping = state;
    if (ping->open == RUNS_MAX) {
        return -EBUSY;
    }
    struct run *run = calloc(1, sizeof *run);
    if (run == NULL) {
        return -ENOMEM;
    }
    *run = (struct run){
        .ping = ping,
        .request = r,
        .to = {.job = cw_job_of(s)},
        .send = {CW_SEND_INIT},
        .count = 1,
        .size = PING_BYTES,
        .timeout_us = ping->timeout_us,
        .window = 1,
        .due = cw_now(s),
    };
    int rc = argc < 1 ? refuse_request(r, "a command is missing: '%s'", "to, key, all, far")
                      : read_command(s, run, argc, argv);
    if (rc < 0) {
        free(run);
        return rc;
    }
    run->next = ping->runs;
    ping->runs = run;
    ping->open++;
    go_on(s, run);
    return 1;
}

static int ping_open(cw_svc *s, void *state)
{
    struct ping *ping = state;
    const char *timeout = cw_option(s, "timeout_us");
    ping->timeout_us = UINT64_C(1000) * 1000;
    if (timeout != NULL && words_number(timeout, 1, time_max_us, &ping->timeout_us) < 0) {
        char text[160];
        snprintf(text, sizeof text, "option timeout_us = \"%.60s\": expected a whole number from 1 to 3600000000",
                 timeout);
        cw_log(s, CW_LOG_ERROR, text);
        return -EINVAL;
    }
    return 0;
}

/* Runs with calls have ended, since their calls were cancelled. Those that wait for a timer are left. */
static void ping_close(cw_svc *s, void *state)
{
    struct ping *ping = state;
    while (ping->runs != NULL) {
        ping->runs->error = -ECANCELED;
        finish(s, ping->runs);
    }
}

static const cw_command commands[] = {
    {"to", "SERVER [count=N] [interval=US] [size=BYTES] [timeout=US] [rows=1] [counted=1]", "round trips to a server"},
    {"key", "KEY [count=N] [interval=US] [size=BYTES] [timeout=US] [rows=1] [counted=1]",
     "round trips to the root of a key"},
    {"all", "[interval=US] [size=BYTES] [timeout=US] [rows=1] [counted=1]", "one round trip to each server"},
    {"far", "[hops=N | via SERVER..] [count=N] [interval=US] [size=BYTES] [timeout=US] [rows=1] [counted=1]",
     "round trips by a long way, through servers that are named or chosen"},
    {NULL, NULL, NULL},
};

const cw_service ping_service = {
    CW_SERVICE_INIT,
    .name = "ping",
    .version = "1.0",
    .job = PING_JOB,
    .state_size = sizeof(struct ping),
    .on_path = CW_PATH_TRACED,
    .open = ping_open,
    .close = ping_close,
    .on_packet = ping_packet,
    .on_command = ping_command,
    .commands = commands,
};
