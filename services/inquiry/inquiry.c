/* SPDX-License-Identifier: Apache-2.0 */
#include "services/inquiry/inquiry.h"

#include "base/bytes.h"
#include "base/words.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 *  question  0 magic  4 topic:8 0:24   8 from:64
 *  answer    0 magic  4 topic:8 0:24   8 next:64   16 rows (rows.h)
 */
enum { AT_MAGIC = 0, AT_TOPIC = 4, AT_PLACE = 8, HEAD_BYTES = 16 };
enum {
    RUNS_MAX = 4,
    WINDOW = 32,         /* servers that one command asks at a time */
    ATTEMPTS_MORE = 2,   /* after the first */
    ANSWER_ROOM = 1300,  /* bytes of an answer; every torus carries such a packet */
    ANSWERS_MOST = 1000, /* of one server to one command */
};
static const uint32_t magic = 0x4357496e; /* "CWIn" */

struct run;

/* A server that is being asked. */
struct asked {
    struct run *run;
    cw_coord server;
    unsigned answers;
    bool busy;
};

struct run {
    struct inquiry *inquiry;
    cw_request *request; /* NULL: free */
    unsigned topic;
    uint64_t from;
    cw_span timeout;
    cw_server next, end; /* servers that are still to be asked */
    unsigned asked, answered, open;
    bool away; /* servers that are not in view get a row, too */
    bool rows; /* a row was told */
    struct asked slot[WINDOW];
};

struct inquiry {
    cw_svc *svc;
    const struct inquiry_host *host; /* NULL: none */
    struct run run[RUNS_MAX];
};

/* ---- Our own rows, for others ------------------------------------------------------------------------------------ */

static size_t write_answer(const struct inquiry *q, unsigned topic, uint64_t from, uint8_t out[static ANSWER_ROOM])
{
    struct rows_writer w = rows_begin(out + HEAD_BYTES, ANSWER_ROOM - HEAD_BYTES);
    uint64_t next = q->host != NULL ? q->host->rows(q->host->context, cw_self(q->svc), topic, from, &w) : 0;
    memset(out, 0, HEAD_BYTES);
    put_be32(out + AT_MAGIC, magic);
    out[AT_TOPIC] = (uint8_t)topic;
    put_be64(out + AT_PLACE, next);
    return HEAD_BYTES + w.used;
}

static cw_verdict inquiry_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    const struct inquiry *q = state;
    uint8_t bytes[ANSWER_ROOM];
    size_t length;
    const uint8_t *data = cw_packet_data(p, &length);
    if (rx->where != CW_ARRIVED || rx->call == 0 || length != HEAD_BYTES || get_be32(data + AT_MAGIC) != magic) {
        return CW_DROP;
    }
    size_t size = write_answer(q, data[AT_TOPIC], get_be64(data + AT_PLACE), bytes);
    cw_packet *answer = cw_packet_new(s, size);
    if (answer != NULL) {
        memcpy(cw_packet_data(answer, NULL), bytes, size);
        (void)cw_reply(s, rx->call, 0, answer); /* an answer that is lost is asked for again */
    }
    return CW_FORWARD;
}

/* ---- The rows of others, for us ---------------------------------------------------------------------------------- */

static void begin_row(struct run *run)
{
    if (run->rows) {
        cw_request_row(run->request);
    }
    run->rows = true;
}

/* Reads rows into a request: a row begins with its first field. */
struct telling {
    struct run *run;
    bool under_way;
};

static void open_row(struct telling *t)
{
    if (!t->under_way) {
        begin_row(t->run);
        t->under_way = true;
    }
}

static void tell_integer(void *context, const char *name, int64_t value)
{
    struct telling *t = context;
    open_row(t);
    cw_request_int(t->run->request, name, value);
}

static void tell_text(void *context, const char *name, const char *text)
{
    struct telling *t = context;
    open_row(t);
    cw_request_text(t->run->request, name, text);
}

static void end_row(void *context)
{
    struct telling *t = context;
    t->under_way = false;
}

static void go_on(struct run *run);

/* Tells what an answer holds, and gives the place to ask from next; 0: that was all. */
static uint64_t take_answer(struct run *run, const uint8_t *data, size_t length)
{
    struct telling t = {run, false};
    const struct rows_reader reader = {&t, tell_integer, tell_text, end_row};
    if (length < HEAD_BYTES || get_be32(data + AT_MAGIC) != magic || data[AT_TOPIC] != run->topic ||
        rows_read(data + HEAD_BYTES, length - HEAD_BYTES, &reader) < 0) {
        return 0;
    }
    return get_be64(data + AT_PLACE);
}

static void leave_slot(struct asked *a, bool answered)
{
    struct run *run = a->run;
    if (!answered) {
        begin_row(run);
        tell_server(run->request, "server", a->server);
        cw_request_int(run->request, "unanswered", 1);
        if (!cw_reachable(run->inquiry->svc, a->server)) {
            cw_request_int(run->request, "away", 1); /* its neighbours may have answered before they missed it */
        }
    }
    run->answered += answered;
    run->open--;
    a->busy = false;
}

static int send_question(struct asked *a, uint64_t from);

static void answered(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    struct asked *a = arg;
    struct run *run = a->run;
    size_t length = 0;
    const uint8_t *data = reply != NULL ? cw_packet_data(reply, &length) : NULL;
    (void)s;
    (void)state;
    (void)rx;
    if (run->request == NULL || status == -ECANCELED) {
        return;
    }
    uint64_t next = status == 0 && data != NULL ? take_answer(run, data, length) : 0;
    if (next != 0 && ++a->answers < ANSWERS_MOST && send_question(a, next) == 0) {
        return;
    }
    leave_slot(a, status == 0);
    go_on(run);
}

static int send_question(struct asked *a, uint64_t from)
{
    struct run *run = a->run;
    cw_svc *s = run->inquiry->svc;
    cw_packet *p = cw_packet_new(s, HEAD_BYTES);
    if (p == NULL) {
        return -ENOMEM;
    }
    uint8_t *data = cw_packet_data(p, NULL);
    put_be32(data + AT_MAGIC, magic);
    data[AT_TOPIC] = (uint8_t)run->topic;
    put_be64(data + AT_PLACE, from);
    const cw_to to = to_server(s, INQUIRY_JOB, INQUIRY_PORT, cw_server_id(s, a->server));
    const cw_call_options options = {CW_CALL_INIT, .timeout = run->timeout, .retries = ATTEMPTS_MORE};
    int64_t call = cw_call(s, p, &to, &options, answered, a);
    if (call < 0) {
        cw_packet_free(s, p);
        return (int)call;
    }
    return 0;
}

/* What this server has to say itself goes by no packet. */
static void tell_own(struct run *run)
{
    uint8_t bytes[ANSWER_ROOM];
    uint64_t from = run->from;
    unsigned answers = 0;
    do {
        size_t size = write_answer(run->inquiry, run->topic, from, bytes);
        from = take_answer(run, bytes, size);
    } while (from != 0 && ++answers < ANSWERS_MOST);
    run->answered++;
}

static struct asked *free_slot(struct run *run)
{
    for (unsigned i = 0; i < WINDOW; i++) {
        if (!run->slot[i].busy) {
            return &run->slot[i];
        }
    }
    return NULL;
}

static void ask(struct run *run, struct asked *a, cw_coord server)
{
    *a = (struct asked){.run = run, .server = server, .busy = true};
    run->open++;
    if (send_question(a, run->from) < 0) {
        leave_slot(a, false);
    }
}

static void tell_unasked(struct run *run, cw_coord server)
{
    if (run->away) {
        begin_row(run);
        tell_server(run->request, "server", server);
        cw_request_int(run->request, "unasked", 1);
    }
}

/* Asks as many servers as there is room for, and ends the request after the last one. */
static void go_on(struct run *run)
{
    cw_svc *s = run->inquiry->svc;
    for (struct asked *a; run->next < run->end && (a = free_slot(run)) != NULL;) {
        cw_coord server = cw_server_coord(s, run->next++);
        if (!cw_reachable(s, server)) {
            tell_unasked(run, server);
            continue;
        }
        run->asked++;
        if (cw_server_id(s, server) == cw_server_id(s, cw_self(s))) {
            tell_own(run);
        } else {
            ask(run, a, server);
        }
    }
    if (run->open == 0) {
        cw_request *request = run->request;
        begin_row(run);
        cw_request_int(request, "asked", run->asked);
        cw_request_int(request, "answered", run->answered);
        cw_request_int(request, "servers", servers_of(cw_torus(s)));
        run->request = NULL;
        cw_request_done(request, 0);
    }
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static int read_topic(cw_request *r, int argc, const char *const *argv, unsigned *topic)
{
    static const char *const names[] = {
        [INQUIRY_DOCTOR] = "doctor", [INQUIRY_EVENTS] = "events", [INQUIRY_PICTURE] = "picture"};
    for (unsigned i = INQUIRY_DOCTOR; argc >= 2 && i <= INQUIRY_PICTURE; i++) {
        if (strcmp(argv[0], "about") == 0 && strcmp(argv[1], names[i]) == 0) {
            *topic = i;
            return 0;
        }
    }
    return refuse_request(r, "commands are about doctor, about events, about picture; not: '%s %s'",
                          argc > 0 ? argv[0] : "", argc > 1 ? argv[1] : "");
}

static int inquiry_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct inquiry *q = state;
    struct run *run = q->run;
    uint64_t from = 0, timeout_us = 1000 * 1000, away = 0;
    const struct words_option options[] = {
        {"from", 0, UINT64_MAX, &from},
        {"timeout", 1, UINT64_C(3600) * 1000 * 1000, &timeout_us},
        {"away", 0, 1, &away},
    };
    unsigned topic = 0;
    cw_coord only = cw_self(s);
    int rc = read_topic(r, argc, argv, &topic);
    if (rc < 0) {
        return rc;
    }
    bool one = argc > 2 && strchr(argv[2], '=') == NULL;
    rc = one ? read_server(s, r, argv[2], &only) : 0;
    if (rc < 0) {
        return rc;
    }
    int words = 2 + one;
    words += words_options(argc - words, argv + words, options, sizeof options / sizeof *options);
    if (words < argc) {
        return refuse_option(r, argv[words], options, sizeof options / sizeof *options);
    }
    while (run < q->run + RUNS_MAX && run->request != NULL) {
        run++;
    }
    if (run == q->run + RUNS_MAX) {
        return -EBUSY;
    }
    *run = (struct run){
        .inquiry = q, .request = r, .topic = topic, .from = from, .timeout = CW_US(timeout_us), .away = away != 0};
    run->next = one ? cw_server_id(s, only) : 0;
    run->end = one ? run->next + 1 : servers_of(cw_torus(s));
    go_on(run);
    return 1;
}

static int inquiry_open(cw_svc *s, void *state)
{
    struct inquiry *q = state;
    q->svc = s;
    q->host = cw_find(s, INQUIRY_HOST_NAME, INQUIRY_HOST_VERSION, NULL);
    return 0;
}

static void inquiry_close(cw_svc *s, void *state)
{
    struct inquiry *q = state;
    (void)s;
    for (unsigned i = 0; i < RUNS_MAX; i++) {
        cw_request *request = q->run[i].request;
        q->run[i].request = NULL;
        cw_request_done(request, -ECANCELED);
    }
}

static const cw_command commands[] = {
    {"about doctor", "[SERVER] [from=N] [timeout=US] [away=1]",
     "what is wrong with every server in view, or with that one"},
    {"about events", "[SERVER] [from=US] [timeout=US]", "what has happened on every server in view, or on that one"},
    {NULL, NULL, NULL},
};

const cw_service inquiry_service = {
    CW_SERVICE_INIT,
    .name = "inquiry",
    .version = "1.0",
    .job = INQUIRY_JOB,
    .state_size = sizeof(struct inquiry),
    .open = inquiry_open,
    .close = inquiry_close,
    .on_packet = inquiry_packet,
    .on_command = inquiry_command,
    .commands = commands,
};
