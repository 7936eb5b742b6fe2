/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/stream/stream.h"

#include "base/words.h"
#include "services/aggregate/stream/internal.h"
#include "services/aggregate/stream/lead.h"
#include "services/reply/metrics.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPOOL_LIMIT (UINT64_C(10) << 30)
#define MEMORY_LEAST (UINT64_C(1) << 20)
#define MEMORY_MOST (UINT64_C(1) << 40)

static const struct metric counts[STREAM_COUNTS] = {
    [STREAM_COUNT_BEGUN] = {"sorted_begun", "Runs of the sorted engine with this server as root."},
    [STREAM_COUNT_DONE] = {"sorted_done", "Runs with this server as root that ended well."},
    [STREAM_COUNT_FAILED] = {"sorted_failed", "Runs with this server as root that ended with an error."},
    [STREAM_COUNT_ATTEMPTS] = {"sorted_attempts", "Attempts that this server has announced as a root."},
    [STREAM_COUNT_VOIDED] = {"sorted_voided", "Attempts of this server as a root that had to be begun again."},
    [STREAM_COUNT_BLOCKS] = {"sorted_blocks", "Blocks of children that were merged here."},
    [STREAM_COUNT_BYTES] = {"sorted_bytes", "Bytes of the blocks that were merged here."},
    [STREAM_COUNT_READ] = {"sorted_read_bytes", "Bytes of own records that were merged here, in each attempt anew."},
    [STREAM_COUNT_KEPT] = {"sorted_kept_bytes", "Bytes of partitions under way that another attempt went on behind."},
    [STREAM_COUNT_STALE] = {"sorted_stale", "Messages of runs or attempts that are not under way here."},
    [STREAM_COUNT_REFUSED] = {"sorted_refused",
                              "Messages that came from the wrong server, or made no sense in their run."},
    [STREAM_COUNT_MALFORMED] = {"sorted_malformed", "Messages that could not be read."},
};

void stream_note(struct stream *st, enum stream_count which, uint64_t n)
{
    cw_counter_add(st->counter[which], n);
    st->counted[which] += n;
}

bool stream_sees(const struct stream *st, cw_server server)
{
    return cw_reachable(st->s, torus_coord(&st->torus, server));
}

/* ---- Messages that leave ----------------------------------------------------------------------------------------- */

/* A message that was sent, until its end is known. */
struct sent {
    enum letter_kind kind;
    struct run_name run;
    uint32_t attempt, partition;
    uint8_t tree;
    cw_server to;
};

/* The root, or the lead, does not know this run any more, or is gone. */
static void junction_answered(struct stream *st, const struct sent *n, int status)
{
    struct junction *j = junction_find(st, &n->run);
    if (status == 0 || status == -ETIMEDOUT || status == -ENOBUFS) {
        return;
    }
    if (j != NULL && j->collector == NULL) {
        junction_free(j);
    }
    stream_forget(st, &n->run, 0, true);
}

static void said(void *context, void *arg, int status)
{
    struct sent n = *(struct sent *)arg;
    struct stream *st = context;
    free(arg);
    if (st->closing) {
        return;
    }
    struct collector *c = collector_of_run(st, &n.run);
    const struct letter l = {.run = n.run, .attempt = n.attempt, .tree = n.tree, .partition = n.partition};
    if (n.kind == LETTER_GRANT) {
        junction_told(st, &l, n.to, status);
    } else if (n.kind == LETTER_ANNOUNCE && c != NULL) {
        attempt_announced(c, n.attempt, n.to, status);
    } else if (n.kind == LETTER_PROBE && c != NULL) {
        attempt_probed(c, n.attempt, n.to, status);
    } else if (n.kind == LETTER_PROBE) {
        junction_answered(st, &n, status);
    }
}

int stream_say(struct stream *st, cw_server to, const struct letter *l)
{
    uint8_t bytes[LETTER_BYTES_MOST];
    struct sent *n = malloc(sizeof *n);
    if (n == NULL) {
        return -ENOMEM;
    }
    *n = (struct sent){l->kind, l->run, l->attempt, l->partition, l->tree, to};
    letter_encode(l, bytes);
    const struct transport_data data = {.bytes = bytes, .size = letter_size(l)};
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_COPY};
    cw_to address = to_server(st->s, AGGREGATE_JOB, AGGREGATE_PORT_STREAM_CALL, to);
    int64_t id = transport_send(st->call, &address, &data, &options, said, n);
    if (id < 0) {
        free(n);
    }
    return id < 0 ? (int)id : 0;
}

int64_t stream_ask(struct stream *st, cw_server to, const struct letter *l, transport_answer_fn heard, void *arg)
{
    uint8_t bytes[LETTER_BYTES_MOST];
    letter_encode(l, bytes);
    const struct transport_data data = {.bytes = bytes, .size = letter_size(l)};
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_COPY,
                                                   .timeout = STREAM_PATIENCE};
    cw_to address = to_server(st->s, AGGREGATE_JOB, AGGREGATE_PORT_STREAM_CALL, to);
    return transport_request(st->call, &address, &data, &options, heard, arg);
}

void stream_answer(struct stream *st, const struct transport_reply_to *reply, int status, const struct letter *l)
{
    uint8_t bytes[LETTER_BYTES_MOST];
    letter_encode(l, bytes);
    const struct transport_data data = {.bytes = bytes, .size = letter_size(l)};
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_COPY};
    int64_t id = transport_reply(st->call, reply, status, &data, &options, NULL, NULL);
    (void)id; /* who does not hear of it is gone */
}

/* ---- Messages that come ------------------------------------------------------------------------------------------ */

/* Counts what is refused; gives rc. What could not be read is counted as such. */
static int judged(struct stream *st, int rc)
{
    if (rc == -ESTALE) {
        stream_note(st, STREAM_COUNT_STALE, 1);
    } else if (rc == -EPROTO) {
        stream_note(st, STREAM_COUNT_REFUSED, 1);
    }
    return rc;
}

static int take_block(void *context, void *arg, const struct transport_message *t, const uint8_t *bytes, int status)
{
    struct stream *st = context;
    struct letter l;
    (void)arg;
    if (status < 0) {
        return 0;
    }
    if (letter_decode(t->head, t->head_length, &l) < 0 || l.kind != LETTER_BLOCK) {
        stream_note(st, STREAM_COUNT_MALFORMED, 1);
        return -EPROTO;
    }
    return judged(st, junction_block(st, &l, bytes, (size_t)t->bytes, torus_id(&st->torus, t->src_server)));
}

static int take_end(struct stream *st, const struct letter *l)
{
    struct junction *j = junction_find(st, &l->run);
    if (j != NULL && j->collector == NULL) {
        junction_free(j);
    } else {
        stream_forget(st, &l->run, l->attempt, false);
    }
    return 0;
}

/* The root asks a junction for an attempt. A junction, or a task, asks the root for the run. */
static int take_probe(struct stream *st, const struct letter *l)
{
    if (l->run.root == st->self) {
        return collector_of_run(st, &l->run) != NULL || lead_of_run(st, &l->run) != NULL ? 0 : -ESTALE;
    }
    const struct junction *j = junction_find(st, &l->run);
    return j != NULL && j->attempt == l->attempt && !j->broken ? 0 : -ESTALE;
}

static int take_void(struct stream *st, const struct letter *l)
{
    struct collector *c = collector_of_run(st, &l->run);
    if (c != NULL) {
        attempt_void(c, l);
    } else {
        stream_note(st, STREAM_COUNT_STALE, 1);
    }
    return 0;
}

/* reply: of the lead; NULL: somebody else who writes passes it on. */
static int take_commit(struct stream *st, const struct letter *l, const struct transport_reply_to *reply)
{
    if (l->servers != st->torus.servers || !trees_set_has(l->members, st->self)) {
        return -EPROTO;
    }
    int rc = collector_commit(st, l, reply);
    return rc == -ESTALE ? copy_commit(st, l, reply) : rc;
}

static int take_kind(struct stream *st, const struct letter *l, const struct transport_message *t, cw_server from)
{
    bool from_root = l->run.root == from, at_root = l->run.root == st->self;
    switch (l->kind) {
    case LETTER_ORDER:
        return t->request && from_root ? collector_open(st, l, &t->reply_to) : -EPROTO;
    case LETTER_COPY:
        return t->request ? copy_open(st, l, from, &t->reply_to) : -EPROTO;
    case LETTER_COMMIT:
        return from_root == t->request ? take_commit(st, l, t->request ? &t->reply_to : NULL) : -EPROTO;
    case LETTER_PREPARE:
        return t->request && from_root ? task_begin(st, l, &t->reply_to) : -EPROTO;
    case LETTER_ANNOUNCE:
        return from_root ? junction_begin(st, l, NULL) : -EPROTO;
    case LETTER_GRANT:
        return junction_grant(st, l, from);
    case LETTER_END:
        return from_root ? take_end(st, l) : -EPROTO;
    case LETTER_VOID:
        return at_root ? take_void(st, l) : -EPROTO;
    case LETTER_COLLECTED:
        return lead_collected(st, l, from);
    case LETTER_PROBE:
        return from_root || at_root ? take_probe(st, l) : -EPROTO;
    case LETTER_BLOCK:
    case LETTER_ORDERED:
    case LETTER_PREPARED:
        break;
    }
    return -EPROTO;
}

static int take_call(void *context, void *arg, const struct transport_message *t, const uint8_t *bytes, int status)
{
    struct stream *st = context;
    struct letter l;
    (void)arg;
    if (status < 0) {
        return 0;
    }
    cw_server from = torus_id(&st->torus, t->src_server);
    if (letter_decode(bytes, (size_t)t->bytes, &l) < 0) {
        stream_note(st, STREAM_COUNT_MALFORMED, 1);
        return -EPROTO;
    }
    return judged(st, take_kind(st, &l, t, from));
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

static bool busy(const struct stream *st)
{
    return !list_is_empty(&st->tasks) || !list_is_empty(&st->junctions) || !list_is_empty(&st->collectors) ||
           !list_is_empty(&st->copies) || !list_is_empty(&st->leads) || !list_is_empty(&st->feeds);
}

/* A lead's tick may end that lead, and all else of its run. */
static void tick_leads(struct stream *st)
{
    for (struct list_node *n = list_first(&st->leads), *next; n != NULL; n = next) {
        next = list_next(&st->leads, n);
        lead_tick((struct lead *)(void *)n);
    }
}

/* A collector's tick may end that collector, and no other one. */
static void tick_collectors(struct stream *st)
{
    for (struct list_node *n = list_first(&st->collectors), *next; n != NULL; n = next) {
        next = list_next(&st->collectors, n);
        collector_tick((struct collector *)(void *)n);
    }
}

static void tick(cw_svc *s, void *state, void *arg)
{
    struct stream *st = arg;
    (void)s;
    (void)state;
    st->tick = NULL;
    for (struct list_node *n = list_first(&st->junctions), *next; n != NULL; n = next) {
        next = list_next(&st->junctions, n);
        junction_tick(container_of(n, struct junction, link));
    }
    for (struct list_node *n = list_first(&st->tasks), *next; n != NULL; n = next) {
        next = list_next(&st->tasks, n);
        task_tick((struct task *)(void *)n);
    }
    intake_tick(st);
    copy_tick(st);
    tick_collectors(st);
    tick_leads(st);
    stream_wake(st);
}

/* The next tick is early when a collector pauses. */
void stream_wake(struct stream *st)
{
    cw_span after = STREAM_TICK;
    for (struct list_node *n = list_first(&st->collectors); n != NULL; n = list_next(&st->collectors, n)) {
        cw_span due = collector_due((const struct collector *)(const void *)n);
        after = due.ns < after.ns ? due : after;
    }
    if (st->tick != NULL && after.ns < STREAM_TICK.ns) {
        cw_timer_stop(st->s, st->tick);
        st->tick = NULL;
    }
    if (st->tick == NULL && !st->closing && busy(st)) {
        st->tick = cw_timer_start(st->s, after, tick, st);
    }
}

static void soon(cw_svc *s, void *state, void *arg)
{
    struct stream *st = arg;
    (void)s;
    (void)state;
    st->soon = NULL;
    for (struct list_node *n = list_first(&st->junctions); n != NULL; n = list_next(&st->junctions, n)) {
        junction_sweep(container_of(n, struct junction, link));
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        flow_go_on(st, link);
    }
    tick_collectors(st);
    tick_leads(st);
    stream_wake(st);
}

void stream_soon(struct stream *st)
{
    if (st->soon == NULL && !st->closing) {
        st->soon = cw_timer_start(st->s, CW_NS(0), soon, st);
    }
}

void stream_forget(struct stream *st, const struct run_name *lead, uint32_t round, bool gone)
{
    collector_drop(st, lead, round, gone);
    copy_drop(st, lead, round, gone);
    if (round != 0) {
        return;
    }
    for (struct list_node *n = list_first(&st->junctions), *next; n != NULL; n = next) {
        struct junction *j = container_of(n, struct junction, link);
        next = list_next(&st->junctions, n);
        if (run_name_equal(&j->lead, lead) && j->collector == NULL) {
            junction_free(j); /* it reads the task */
        }
    }
    for (struct task *t; (t = task_next(st, lead, NULL)) != NULL;) {
        task_drop(t); /* it is none of the run's any more */
    }
}

/* ---- Upcalls ----------------------------------------------------------------------------------------------------- */

static void server_down(struct stream *st, cw_server server)
{
    for (struct list_node *n = list_first(&st->junctions), *next; n != NULL; n = next) {
        struct junction *j = container_of(n, struct junction, link);
        next = list_next(&st->junctions, n);
        if ((j->run.root == server || j->lead.root == server) && j->collector == NULL) {
            junction_free(j);
        }
    }
    for (struct list_node *n = list_first(&st->collectors), *next; n != NULL; n = next) {
        next = list_next(&st->collectors, n);
        collector_down((struct collector *)(void *)n, server);
    }
    copy_down(st, server);
    task_lead_down(st, server); /* whose junctions are gone */
    for (struct list_node *n = list_first(&st->leads), *next; n != NULL; n = next) {
        next = list_next(&st->leads, n);
        lead_down((struct lead *)(void *)n, server);
    }
}

void stream_event(struct stream *st, const cw_event *ev)
{
    transport_event(st->edge, ev);
    transport_event(st->call, ev);
    if (ev->kind == CW_EVENT_SERVER_DOWN) {
        server_down(st, torus_id(&st->torus, ev->server));
    }
}

cw_verdict stream_packet(struct stream *st, cw_packet *p, const cw_rx *rx)
{
    return transport_packet(rx->port == AGGREGATE_PORT_STREAM ? st->edge : st->call, p, rx);
}

void stream_writable(struct stream *st)
{
    transport_writable(st->call);
    transport_writable(st->edge);
}

int stream_command(struct stream *st, cw_request *r, int argc, const char *const *argv, uint32_t number)
{
    return asker_command(st, r, argc, argv, number);
}

int stream_feed(struct stream *st, cw_request *r, int argc, const char *const *argv)
{
    return intake_command(st, r, argc, argv);
}

int stream_take(struct stream *st, cw_request *r, uint32_t number)
{
    return asker_take(st, r, number);
}

int stream_cancel(struct stream *st, uint32_t number)
{
    return asker_cancel(st, number);
}

void stream_look(const struct stream *st, struct stream_overview *out)
{
    *out = (struct stream_overview){.tasks = st->task_count, .junctions = st->junction_count, .memory = st->memory};
    out->feeds = st->feed_count;
    out->moved = st->counted[STREAM_COUNT_BYTES];
    out->kept = st->counted[STREAM_COUNT_KEPT];
    out->read = st->counted[STREAM_COUNT_READ];
    for (const struct list_node *n = list_first(&st->collectors); n != NULL; n = list_next(&st->collectors, n)) {
        out->collectors++;
    }
}

void stream_status(const struct stream *st, cw_request *r, bool *first)
{
    asker_status(st, r, first);
    intake_status(st, r, first);
    for (struct list_node *n = list_first(&st->junctions); n != NULL; n = list_next(&st->junctions, n)) {
        const struct junction *j = container_of(n, struct junction, link);
        if (j->collector != NULL) {
            continue;
        }
        if (!*first) {
            cw_request_row(r);
        }
        *first = false;
        cw_request_text(r, "role", j->owns > 0 ? "member" : "on the way");
        tell_server_id(st->s, r, "root", j->run.root);
        cw_request_int(r, "job", j->account->job);
        cw_request_text(r, "operation", j->combine);
        cw_request_text(r, "type", "records");
        cw_request_text(r, "state", "runs");
        cw_request_int(r, "attempts", j->attempt);
    }
    for (struct list_node *n = list_first(&st->collectors); n != NULL; n = list_next(&st->collectors, n)) {
        if (!*first) {
            cw_request_row(r);
        }
        *first = false;
        asker_collector((const struct collector *)(const void *)n, r);
    }
    account_status(st, r, first);
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static int read_folder(struct stream *st, const char *option, char out[static STREAM_FOLDER])
{
    const char *value = cw_option(st->s, option);
    char self[TORUS_TEXT];
    if (value == NULL || value[0] == '\0') {
        return 0;
    }
    torus_format(cw_self(st->s), self);
    bool own = st->host != NULL && st->host->several;
    int n = snprintf(out, STREAM_FOLDER, own ? "%s/%s" : "%s", value, self);
    if (value[0] != '/' || n >= STREAM_FOLDER) {
        return refuse_setting(st->s, option, value, "a folder's whole path, from / on, of less than 500 bytes");
    }
    return 0;
}

static int read_options(struct stream *st)
{
    const char *memory = cw_option(st->s, "memory"), *limit = cw_option(st->s, "spool_limit");
    char spool[STREAM_FOLDER] = "";
    uint64_t most = SPOOL_LIMIT;
    st->memory_most = STREAM_MEMORY;
    const char *job_memory = cw_option(st->s, "job_memory"), *job_spool = cw_option(st->s, "job_spool");
    if (memory != NULL && words_number(memory, MEMORY_LEAST, MEMORY_MOST, &st->memory_most) < 0) {
        return refuse_setting(st->s, "memory", memory, "a number of bytes from 1048576 on, as 256M (M is 1,000,000)");
    }
    if (limit != NULL && words_number(limit, MEMORY_LEAST, MEMORY_MOST, &most) < 0) {
        return refuse_setting(st->s, "spool_limit", limit, "a number of bytes from 1048576 on, as 10G");
    }
    st->job_memory = st->memory_most / 2;
    st->job_spool = most / 2;
    if (job_memory != NULL && words_number(job_memory, MEMORY_LEAST, MEMORY_MOST, &st->job_memory) < 0) {
        return refuse_setting(st->s, "job_memory", job_memory, "a number of bytes from 1048576 on, as 128M");
    }
    if (job_spool != NULL && words_number(job_spool, MEMORY_LEAST, MEMORY_MOST, &st->job_spool) < 0) {
        return refuse_setting(st->s, "job_spool", job_spool, "a number of bytes from 1048576 on, as 5G");
    }
    int rc = read_folder(st, "data", st->folder);
    rc = rc < 0 ? rc : read_folder(st, "spool", spool);
    spool_open(&st->spool, cw_find(st->s, SPOOL_HOST_NAME, SPOOL_HOST_VERSION, NULL), spool, most);
    return rc;
}

static int open_transports(struct stream *st)
{
    struct transport_config edge = transport_config_default(AGGREGATE_PORT_STREAM, st);
    edge.message = take_block;
    edge.message_max = STREAM_BLOCK;
    edge.messages_max = 2 * STREAM_WINDOW_MOST * CW_LINK_COUNT * STREAM_OPEN * STREAM_RUNS;
    edge.peers_max = st->torus.servers + 1024;
    edge.timeout = STREAM_LIMIT;
    edge.rto_min = STREAM_REPEAT;
    struct transport_config call = transport_config_default(AGGREGATE_PORT_STREAM_CALL, st);
    call.message = take_call;
    call.message_max = LETTER_BYTES_MOST;
    call.messages_max = 4 * st->torus.servers + 4096;
    call.peers_max = st->torus.servers + 1024;
    int rc = transport_open(st->s, &edge, &st->edge);
    return rc < 0 ? rc : transport_open(st->s, &call, &st->call);
}

int stream_open(struct stream **out, cw_svc *s, struct dense *dense)
{
    struct stream *st = calloc(1, sizeof *st);
    if (st == NULL) {
        return -ENOMEM;
    }
    st->s = s;
    st->dense = dense;
    st->host = cw_find(s, VECTORS_HOST_NAME, VECTORS_HOST_VERSION, NULL);
    int rc = torus_init(&st->torus, cw_torus(s));
    rc = rc == 0 && st->torus.servers > MESSAGE_SERVERS_MOST ? -E2BIG : rc;
    rc = rc < 0 ? rc : read_options(st);
    rc = rc < 0 ? rc : functions_open(st);
    if (rc < 0) {
        free(st);
        return rc;
    }
    st->self = torus_id(&st->torus, cw_self(s));
    st->life = cw_random(s) | 1;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        list_init(&st->waiting[link]);
    }
    list_init(&st->holding);
    list_init(&st->tasks);
    list_init(&st->junctions);
    list_init(&st->collectors);
    list_init(&st->copies);
    list_init(&st->leads);
    list_init(&st->feeds);
    list_init(&st->accounts);
    metrics_counters(s, counts, STREAM_COUNTS, st->counter);
    rc = open_transports(st);
    if (rc < 0) {
        transport_close(st->edge);
        modules_close(&st->modules);
        free(st);
        return rc;
    }
    *out = st;
    return 0;
}

void stream_close(struct stream *st)
{
    if (st == NULL) {
        return;
    }
    st->closing = true;
    collector_close(st);
    copy_close(st);
    while (!list_is_empty(&st->junctions)) {
        junction_free(container_of(list_first(&st->junctions), struct junction, link));
    }
    task_close(st);
    intake_close(st);
    lead_close(st);
    transport_close(st->edge);
    transport_close(st->call);
    modules_close(&st->modules);
    trees_close(st->trees);
    free(st);
}
