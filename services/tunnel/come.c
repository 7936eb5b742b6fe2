/* SPDX-License-Identifier: Apache-2.0 */
/* come.c - what comes from other servers: judged, put in order, joined, and given to the door. */
#include "services/tunnel/internal.h"

#include "services/tunnel/head.h"
#include "services/tunnel/judge.h"
#include "services/tunnel/mutant.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Memory of all strands; a piece counts as a frame, since packets in a service's hands are counted (service.h). */
/* Where a piece's kind stands in its head (head.h); and, here only, that of a piece to be dropped in its turn. */
enum { KIND_AT = 6, KIND_DROPPED = 0xff };
enum { WAITING_MOST = 16 * 1024 * 1024, PIECE_COUNTS = 9000 };

/* ---- In order: joined -------------------------------------------------------------------------------------------- */

static void write_join(struct tunnel *t, struct join *j)
{
    struct ip_packet p;
    struct offload offload;
    if (join_take(j, &p, &offload)) {
        tunnel_write(t, &p, &offload);
    }
}

void come_flush(struct tunnel *t)
{
    t->flush_asked = false;
    for (unsigned i = 0; i < TUNNEL_JOINS; i++) {
        write_join(t, &t->join[i]);
    }
}

/* come_packet() has judged the piece: what is read again here is as it was there. */
static void deliver(void *context, cw_server from, void *piece)
{
    struct tunnel *t = context;
    size_t length;
    struct piece_head head;
    struct ip_packet p;
    const uint8_t *data = cw_packet_data(piece, &length);
    head.strand = data[7];
    head.gso_size = (uint16_t)(data[8] << 8 | data[9]);
    if (data[KIND_AT] == KIND_DROPPED) {
        cw_counter_add(t->count[COUNT_DEAF], 1);
        cw_packet_free(t->s, piece);
        return;
    }
    struct offload offload = {data[KIND_AT] == PIECE_PARTIAL, head.gso_size};
    CHECK(ip_read(data + TUNNEL_HEAD_BYTES, length - TUNNEL_HEAD_BYTES, &p) == TUNNEL_GOOD);
    struct join *j = &t->join[(head.strand + from) % TUNNEL_JOINS];
    if (!join_add(j, &p, &offload)) {
        write_join(t, j);
        CHECK(join_add(j, &p, &offload));
    } else {
        cw_counter_add(t->count[COUNT_JOINED], 1);
    }
    cw_packet_free(t->s, piece);
    if (!t->flush_asked) {
        t->flush_asked = true;
        t->door.flush_soon(t->door.context);
    }
}

static void drop_piece(void *context, void *piece)
{
    struct tunnel *t = context;
    cw_packet_free(t->s, piece);
}

static void was_late(void *context, cw_span late)
{
    struct tunnel *t = context;
    cw_histogram_note(t->lateness, late);
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

static void arm(struct tunnel *t);

static void on_timer(cw_svc *s, void *state, void *arg)
{
    struct tunnel *t = arg;
    (void)state;
    t->timer = NULL;
    strands_tick(&t->strands, cw_now(s));
    arm(t);
}

static void arm(struct tunnel *t)
{
    cw_time due = strands_due(&t->strands);
    if (t->timer != NULL && (due.ns == CW_NEVER.ns || cw_time_before(due, t->timer_at))) {
        cw_timer_stop(t->s, t->timer);
        t->timer = NULL;
    }
    if (t->timer == NULL && due.ns != CW_NEVER.ns) {
        t->timer = cw_timer_start(t->s, cw_time_since(due, cw_now(t->s)), on_timer, t);
        t->timer_at = due;
    }
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

/*
 * A straight way has one shortest path, and frames do not overtake one another on a link. Where longer paths are asked
 * for, they are on all servers.
 */
static bool has_one_path(const struct tunnel *t, cw_coord from)
{
    if (t->spread) {
        return false;
    }
    cw_coord self = cw_self(t->s);
    cw_links links = cw_links_to(t->s, from);
    unsigned axes = (self.x != from.x) + (self.y != from.y) + (self.z != from.z);
    return axes == 1 && (links & (links - 1)) == 0;
}

static enum tunnel_cause judge(const struct tunnel *t, cw_server from, const uint8_t *data, size_t length,
                               struct piece_head *head)
{
    struct ip_packet p;
    int rc = piece_decode(data, length, from, t->self, head);
    if (rc < 0) {
        return rc == -EBADMSG ? TUNNEL_DAMAGED : TUNNEL_OFFLOAD;
    }
    enum tunnel_cause cause = ip_read(data + TUNNEL_HEAD_BYTES, length - TUNNEL_HEAD_BYTES, &p);
    if (cause != TUNNEL_GOOD) {
        return cause;
    }
    if (!offload_fits(&p, &(struct offload){head->kind == PIECE_PARTIAL, head->gso_size})) {
        return TUNNEL_OFFLOAD;
    }
    return judge_came(&t->plan, t->self, from, &p);
}

/*
 * A server that sends from addresses outside our subnets has another plan (address.h), and no program of it can speak
 * with ours. That is said once a minute, with what to write.
 */
static void note_unlike(struct tunnel *t, cw_server from, const uint8_t *packet, size_t length)
{
    struct ip_packet p;
    struct ip_address source;
    char address[ADDRESS_TEXT_BYTES], own[ADDRESS_TEXT_BYTES], text[240];
    cw_time now = cw_now(t->s);
    if (ip_read(packet, length, &p) != TUNNEL_GOOD) {
        return;
    }
    ip_source(&p, &source);
    if (address_inside(&t->plan, &source) || (t->unlike && cw_time_since(now, t->unlike_at).ns < CW_SEC(60).ns)) {
        return;
    }
    const cw_coord c = cw_server_coord(t->s, from);
    struct ip_address mine;
    t->unlike = true;
    t->unlike_at = now;
    address_of(&t->plan, t->self, source.version, &mine);
    snprintf(text, sizeof text,
             "server %u,%u,%u sends from %s, which is in no subnet of this network, where we have %s: write the same "
             "option %s on all servers",
             c.x, c.y, c.z, address_text(&source, address), address_text(&mine, own),
             source.version == 4 ? "subnet" : "subnet6");
    cw_log(t->s, CW_LOG_WARN, text);
}

/*
 * A packet that cannot be marked, and came marked or not: is it to be dropped, so that whoever sent it hears of a full
 * link? RFC 6040 would drop each that is marked, which behind a standing queue is every one. So marks of a strand are
 * signals only as often as CoDel's law makes them so, as if the packet had waited here for as long as the mark says.
 */
static bool is_deaf_signal(struct tunnel *t, cw_server from, uint8_t strand, bool marked)
{
    struct codel(**deaf)[TUNNEL_STRANDS] = &t->deaf[from];
    if (*deaf == NULL && marked) {
        *deaf = calloc(1, sizeof **deaf);
    }
    if (*deaf == NULL) {
        return false; /* nothing was marked yet, or there is no memory */
    }
    const struct codel_limits limits = leave_codel(t);
    const cw_span waited = marked ? limits.target : CW_NS(0);
    return codel_leaves(&(**deaf)[strand], &limits, waited, false, cw_now(t->s));
}

/*
 * A server on the way kept the packet for long, or did not: TCP hears of it, if it can (RFC 6040). False: the packet is
 * to be dropped, when it is in its turn.
 */
static bool hear_mark(struct tunnel *t, cw_server from, uint8_t strand, uint8_t *packet, bool marked)
{
    if (ip_ecn(packet) == ECN_NOT) {
        return !is_deaf_signal(t, from, strand, marked);
    }
    if (marked && !TUNNEL_MUTANT(MARK_UNHEARD)) {
        ip_mark(packet);
        cw_counter_add(t->count[COUNT_MARKED], 1);
    }
    return true;
}

cw_verdict come_packet(struct tunnel *t, cw_packet *p, const cw_rx *rx)
{
    size_t length;
    struct piece_head head;
    cw_server from = cw_server_id(t->s, rx->src_server);
    uint8_t *data = cw_packet_data(p, &length);
    cw_counter_add(t->count[COUNT_PIECES_CAME], 1);
    if (rx->src_job != cw_job_of(t->s) || rx->src_process != from || from >= t->servers) {
        tunnel_drop(t, TUNNEL_SOURCE);
        return CW_DROP;
    }
    enum tunnel_cause cause = judge(t, from, data, length, &head);
    if (cause != TUNNEL_GOOD) {
        tunnel_drop(t, cause);
        if (cause == TUNNEL_SOURCE) {
            note_unlike(t, from, data + TUNNEL_HEAD_BYTES, length - TUNNEL_HEAD_BYTES);
        }
        return CW_DROP;
    }
    if (!hear_mark(t, from, head.strand, data + TUNNEL_HEAD_BYTES, rx->marked)) {
        data[KIND_AT] = KIND_DROPPED; /* its number has come all the same: nobody is to wait for it */
    }
    cw_packet_keep(p);
    strands_take(&t->strands, from, &head, p, PIECE_COUNTS, has_one_path(t, rx->src_server), cw_now(t->s));
    arm(t);
    return CW_TAKE;
}

void come_event(struct tunnel *t, const cw_event *ev)
{
    if (ev->kind == CW_EVENT_SERVER_DOWN) {
        strands_forget(&t->strands, cw_server_id(t->s, ev->server));
    }
    /* Ways have changed: what is late now may have been on a link that is gone. */
    strands_hurry(&t->strands, cw_time_add(cw_now(t->s), CW_MS(2)));
    arm(t);
}

static cw_span longer(cw_span a, cw_span b)
{
    return a.ns > b.ns ? a : b;
}

int come_open(struct tunnel *t)
{
    /*
     * Queues that TCP is not told of make pieces late by as much, whatever was seen before, and on slow links by more
     * than is waited for elsewhere: with less than this, pieces were given up where nothing fails.
     */
    const int64_t target = leave_target(t).ns;
    const struct strands_config config = {
        .servers = t->servers,
        .bounds = {.first = longer(CW_MS(5), CW_NS(2 * target)),
                   .least = CW_NS(target),
                   .most = longer(CW_MS(20), CW_NS(8 * target))},
        .memory_most = WAITING_MOST,
        .deliver = deliver,
        .drop = drop_piece,
        .was_late = was_late,
        .context = t,
    };
    t->join = calloc(TUNNEL_JOINS, sizeof *t->join);
    t->deaf = calloc(t->servers, sizeof *t->deaf);
    int rc = t->join == NULL || t->deaf == NULL ? -ENOMEM : strands_open(&t->strands, &config);
    if (rc < 0) {
        free(t->join);
        free(t->deaf);
        t->join = NULL;
        t->deaf = NULL;
        return rc;
    }
    for (unsigned i = 0; i < TUNNEL_JOINS; i++) {
        t->join[i].udp = t->door.udp;
    }
    return 0;
}

void come_close(struct tunnel *t)
{
    cw_timer_stop(t->s, t->timer);
    t->timer = NULL;
    strands_close(&t->strands);
    for (cw_server i = 0; i < t->servers; i++) {
        free(t->deaf[i]);
    }
    free(t->deaf);
    t->deaf = NULL;
    free(t->join);
    t->join = NULL;
}
