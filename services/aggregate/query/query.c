/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/query.h"

#include "services/aggregate/query/internal.h"
#include "services/aggregate/query/lines.h"
#include "services/reply/metrics.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct metric counts[QUERY_COUNTS] = {
    [QUERY_ASKED] = {"query_asked", "Questions to all servers that were asked here."},
    [QUERY_SERVED] = {"query_served", "Questions that this server had to do with, its own among them."},
    [QUERY_PARTS] = {"query_parts", "Parts of answers that came here and were put together."},
    [QUERY_OVERLAPS] = {"query_overlaps",
                        "Parts of answers that were left out since a server of theirs was in already."},
    [QUERY_STRANGE] = {"query_strange",
                       "Letters that could not be read or made no sense, and parts of answers to no question."},
    [QUERY_LARGE] = {"query_large", "Parts of answers that were left out since together they would be too large."},
    [QUERY_LINES] = {"query_feed_bytes", "Bytes of lines that programs fed in here."},
};

/* ---- Sets -------------------------------------------------------------------------------------------------------- */

size_t query_words(const struct query *q)
{
    return ((size_t)q->torus.servers + 63) / 64;
}

bool query_has(const uint64_t *set, cw_server s)
{
    return (set[s / 64] >> s % 64 & 1) != 0;
}

void query_put(uint64_t *set, cw_server s)
{
    set[s / 64] |= UINT64_C(1) << s % 64;
}

void query_take(uint64_t *set, cw_server s)
{
    set[s / 64] &= ~(UINT64_C(1) << s % 64);
}

unsigned query_size(const struct query *q, const uint64_t *set)
{
    unsigned n = 0;
    for (size_t i = 0; i < query_words(q); i++) {
        n += (unsigned)__builtin_popcountll(set[i]);
    }
    return n;
}

bool query_is_empty(const struct query *q, const uint64_t *set)
{
    return query_size(q, set) == 0;
}

void query_count(struct query *q, enum query_count what, uint64_t n)
{
    cw_counter_add(q->counter[what], n);
}

/* ---- Letters ----------------------------------------------------------------------------------------------------- */

/* An ASK on its way: what post_lost() is told when it does not arrive. */
struct errand {
    struct letter_name name;
    cw_server to;
    enum letter_round round;
};

static void asked(void *context, void *arg, int status)
{
    struct query *q = context;
    struct errand *e = arg;
    if (status < 0 && !q->closing) {
        post_lost(q, &e->name, e->to, e->round);
    }
    free(e);
}

int query_send(struct query *q, const struct query_letter *l, cw_server to)
{
    const cw_to whom = to_server(q->s, cw_job_of(q->s), QUERY_PORT, to);
    struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_COPY};
    struct transport_data data = {.size = query_letter_size(l)};
    uint8_t *bytes = malloc(data.size);
    bool ask = l->kind == LETTER_ASK;
    struct errand *e = ask ? malloc(sizeof *e) : NULL;
    if (bytes == NULL || (ask && e == NULL)) {
        free(bytes);
        free(e);
        return -ENOMEM;
    }
    if (ask) {
        *e = (struct errand){l->name, to, l->round};
    }
    query_letter_encode(l, bytes);
    data.bytes = bytes;
    options.timeout = CW_US(2 * (int64_t)l->within_us); /* later than that nobody waits for it */
    int64_t rc = transport_send(q->transport, &whom, &data, &options, ask ? asked : NULL, e);
    free(bytes);
    if (rc < 0) {
        free(e);
        return (int)rc;
    }
    return 0;
}

static int take(void *context, void *arg, const struct transport_message *m, const uint8_t *bytes, int status)
{
    struct query *q = context;
    struct query_letter l;
    (void)arg;
    if (status < 0 || q->closing) {
        return 0;
    }
    if (query_letter_decode(bytes, (size_t)m->bytes, &l) < 0) {
        query_count(q, QUERY_STRANGE, 1);
        return -EPROTO;
    }
    cw_server from = torus_id(&q->torus, m->src_server);
    if (l.kind == LETTER_PART) {
        return post_part(q, &l, from);
    }
    int rc = post_begin(q, &l, from, NULL, NULL);
    query_count(q, QUERY_STRANGE, rc == -EPROTO);
    return rc;
}

/* ---- Feeds ------------------------------------------------------------------------------------------------------- */

struct sources query_sources(struct query *q)
{
    tallies_sweep(&q->feeds, cw_now(q->s));
    return (struct sources){q->host, &q->feeds, cw_self(q->s), q->self, &q->work->a};
}

static void sweep(cw_svc *s, void *state, void *arg);

static void wake(struct query *q)
{
    cw_time due = tallies_wake(&q->feeds);
    cw_timer_stop(q->s, q->sweep);
    q->sweep = due.ns == CW_NEVER.ns ? NULL : cw_timer_start(q->s, cw_time_since(due, cw_now(q->s)), sweep, q);
}

static void sweep(cw_svc *s, void *state, void *arg)
{
    struct query *q = arg;
    (void)state;
    q->sweep = NULL;
    tallies_sweep(&q->feeds, cw_now(s));
    wake(q);
}

/* feed NAME keep_ms=N data=BASE64 */
static int feed_command(struct query *q, cw_request *r, int argc, const char *const *argv)
{
    struct lines lines;
    if (argc != 2 + LINES_WORDS) {
        return refuse_request(r, "expected: query feed NAME keep_ms=N data=BASE64");
    }
    int rc = lines_read(r, argv + 2, &lines);
    if (rc < 0) {
        return rc;
    }
    tallies_sweep(&q->feeds, cw_now(q->s));
    cw_time until = cw_time_add(cw_now(q->s), lines.keep);
    rc = tallies_take(&q->feeds, lines.name, (const char *)lines.bytes, lines.length, until);
    free(lines.bytes);
    query_count(q, QUERY_LINES, rc == 0 ? (uint64_t)lines.length : 0);
    wake(q);
    return rc == -ENOSPC
               ? refuse_with(r, rc, "%d feeds are kept at this server: there is no room for another one", TALLIES_MOST)
               : rc;
}

/* ---- Upcalls ----------------------------------------------------------------------------------------------------- */

int query_command(struct query *q, cw_request *r, int argc, const char *const *argv)
{
    struct wish w;
    if (argc >= 2 && strcmp(argv[1], "feed") == 0) {
        return feed_command(q, r, argc, argv);
    }
    int rc = wish_read(q, r, argc, argv, &w);
    rc = rc < 0 ? rc : asker_begin(q, r, &w);
    return rc == -EBUSY ? refuse_with(r, rc, "%d questions are under way at this server", QUERY_POSTS) : rc;
}

unsigned query_under_way(const struct query *q)
{
    return q->posts_count;
}

cw_verdict query_packet(struct query *q, cw_packet *p, const cw_rx *rx)
{
    return transport_packet(q->transport, p, rx);
}

void query_event(struct query *q, const cw_event *ev)
{
    transport_event(q->transport, ev);
    if (ev->kind == CW_EVENT_SERVER_DOWN) {
        post_server_down(q, torus_id(&q->torus, ev->server));
    }
}

void query_writable(struct query *q)
{
    transport_writable(q->transport);
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static int open_parts(struct query *q)
{
    int rc = torus_init(&q->torus, cw_torus(q->s));
    if (rc == 0 && q->torus.servers > LETTER_SERVERS_MOST) {
        cw_log(q->s, CW_LOG_ERROR,
               "questions need a torus of at most 4096 servers: their messages have no room for more");
        rc = -E2BIG;
    }
    rc = rc < 0 ? rc : spread_open(&q->tree, q->torus.servers);
    q->work = malloc(sizeof *q->work);
    q->bytes = malloc(PART_BYTES_MOST);
    q->merged = malloc(PART_BYTES_MOST);
    return rc == 0 && (q->work == NULL || q->bytes == NULL || q->merged == NULL) ? -ENOMEM : rc;
}

static void free_parts(struct query *q)
{
    spread_close(&q->tree);
    tallies_close(&q->feeds);
    free(q->work);
    free(q->bytes);
    free(q->merged);
    free(q);
}

int query_open(struct query **out, cw_svc *s)
{
    struct query *q = calloc(1, sizeof *q);
    if (q == NULL) {
        return -ENOMEM;
    }
    q->s = s;
    q->host = cw_find(s, FIGURES_HOST_NAME, FIGURES_HOST_VERSION, NULL);
    q->life = cw_random(s) | 1;
    list_init(&q->posts);
    int rc = open_parts(q);
    if (rc == 0) {
        q->self = torus_id(&q->torus, cw_self(s));
        tallies_open(&q->feeds, q->self);
        metrics_counters(s, counts, QUERY_COUNTS, q->counter);
        struct transport_config config = transport_config_default(QUERY_PORT, q);
        config.message = take;
        config.message_max = LETTER_PART_MOST;
        config.messages_max = 4 * q->torus.servers + 256;
        config.peers_max = q->torus.servers + 16;
        rc = transport_open(s, &config, &q->transport);
    }
    if (rc < 0) {
        free_parts(q);
        return rc;
    }
    *out = q;
    return 0;
}

void query_close(struct query *q)
{
    if (q == NULL) {
        return;
    }
    q->closing = true;
    transport_close(q->transport);
    while (!list_is_empty(&q->posts)) {
        struct post *p = container_of(list_first(&q->posts), struct post, link);
        if (p->asker != NULL) {
            cw_request_done(p->asker->request, -ECANCELED);
        }
        free(p->asker);
        post_free(p);
    }
    free_parts(q);
}
