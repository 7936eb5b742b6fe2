/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requests.c - the ways in from the service: messages, requests and answers are begun, cancelled and resumed.
 */
#include "services/transport/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ERRNO_MOST = 4095 };

/* Bytes of one part: what a packet has room for behind the heads. */
static uint32_t part_for(const struct transport *t, enum outgoing_kind kind, const cw_to *to, size_t head)
{
    struct segment s = {.kind = SEGMENT_SEGMENT, .flags = FLAG_DATA};
    s.data.flags |= kind != OUTGOING_SEND ? DATA_REQUEST : 0;
    s.data.flags |= to->kind == CW_TO_KEY ? DATA_KEY : 0;
    s.data.head_bytes = (uint8_t)head;
    return (uint32_t)(t->mtu - segment_head(&s));
}

static struct outgoing *make(struct transport *t, enum outgoing_kind kind, const cw_to *to,
                             const struct transport_data *data, const struct transport_send_options *options, int *why)
{
    *why = -EINVAL;
    if (to->kind != CW_TO_SERVER && to->kind != CW_TO_KEY) {
        return NULL;
    }
    if (options->head_length > TRANSPORT_HEAD_MAX || (options->head_length > 0 && options->head == NULL)) {
        return NULL;
    }
    uint64_t reply_max = options->reply_max != 0 ? options->reply_max : t->config.message_max;
    if (!places_hold(&options->accept, reply_max)) {
        return NULL;
    }
    uint32_t part = part_for(t, kind, to, options->head_length);
    if (options->size < sizeof *options || options->timeout.ns < 0 ||
        (data->size > 0 && data->bytes == NULL && data->read == NULL) ||
        ((options->flags & TRANSPORT_COPY) && data->read != NULL) ||
        ((options->flags & TRANSPORT_BACKGROUND) && !t->config.background) ||
        segment_parts(data->size, part) > SEGMENT_PARTS_MAX ||
        (to->kind == CW_TO_SERVER && !cw_server_valid(t->user, to->server))) {
        return NULL;
    }
    *why = -ESHUTDOWN;
    if (t->closing) {
        return NULL;
    }
    *why = -ENOBUFS;
    if (t->outgoing_count >= t->config.messages_max) {
        return NULL;
    }
    uint32_t parts = (uint32_t)segment_parts(data->size, part);
    size_t words = ((size_t)parts + 63) / 64;
    bool copies = (options->flags & TRANSPORT_COPY) && data->size > 0;
    if (copies && data->size > t->config.memory_max) {
        return NULL;
    }
    size_t need = (copies ? (size_t)data->size : 0) + (words > 1 ? words * 2 * sizeof(uint64_t) : 0);
    if (!transport_charge(t, need)) {
        return NULL;
    }
    struct outgoing *m = calloc(1, sizeof *m);
    uint64_t *bits = words > 1 && m != NULL ? calloc(words * 2, sizeof *bits) : NULL;
    void *copy = copies && m != NULL ? malloc((size_t)data->size) : NULL;
    struct transport_accept accept = options->accept;
    struct transport_place *places = NULL;
    if (m == NULL || (words > 1 && bits == NULL) || (copies && copy == NULL) || !places_copy(&accept, &places)) {
        transport_uncharge(t, need);
        free(copy);
        free(bits);
        free(m);
        return NULL;
    }
    m->came_bits = words > 1 ? bits : m->few;
    m->lost_bits = m->came_bits + (words > 1 ? words : 1);
    m->data = *data;
    if (copies) {
        memcpy(copy, data->bytes, (size_t)data->size);
        m->copy = copy;
        m->data.bytes = copy;
    }
    unsigned index = t->free_slot[t->outgoing_count++];
    m->id = (int64_t)((++t->generation & INT64_MAX >> 17) << 16 | index);
    t->slot[index] = m;
    m->due = (struct due){.kind = DUE_MESSAGE, .order = ++t->orders};
    m->to = *to;
    m->flags = options->flags;
    m->tag = options->tag;
    m->head_bytes = (uint8_t)options->head_length;
    if (options->head_length > 0) {
        memcpy(m->head, options->head, options->head_length);
    }
    m->deadline = cw_time_add(t->now, options->timeout.ns > 0 ? options->timeout : t->config.timeout);
    m->part = part;
    m->parts = parts;
    m->kind = kind;
    m->limit = outgoing_first(m);
    m->charged = need;
    m->reply_max = reply_max;
    m->accept = accept;
    m->places = places;
    return m;
}

/* Sends m, which make() made, on its way. */
static int64_t begin(struct transport *t, struct outgoing *m)
{
    int64_t id = m->id;
    t->stats.sent++;
    outgoing_route(t, m);
    return id;
}

static int64_t start(struct transport *t, enum outgoing_kind kind, const cw_to *to, const struct transport_data *data,
                     const struct transport_send_options *options, struct outgoing **out)
{
    static const struct transport_send_options none = {TRANSPORT_SEND_INIT};
    static const struct transport_data nothing = {.bytes = NULL};
    const struct transport_send_options *chosen = options != NULL ? options : &none;
    int why;
    cw_coord root;
    if (to->kind == CW_TO_SERVER && cw_server_valid(t->user, to->server) && !cw_reachable(t->user, to->server) &&
        !(chosen->flags & TRANSPORT_WAIT)) {
        return -ENETUNREACH;
    }
    if (to->kind == CW_TO_KEY && cw_servers_for_key(t->user, &to->key, 1, &root) != 1) {
        return -ENOENT;
    }
    *out = make(t, kind, to, data != NULL ? data : &nothing, chosen, &why);
    return *out == NULL ? why : 0;
}

int64_t transport_send(struct transport *t, const cw_to *to, const struct transport_data *data,
                       const struct transport_send_options *options, transport_done_fn done, void *arg)
{
    struct outgoing *m;
    transport_enter(t);
    int64_t rc = start(t, OUTGOING_SEND, to, data, options, &m);
    if (rc == 0) {
        m->done = done;
        m->arg = arg;
        rc = begin(t, m);
    }
    transport_leave(t, false);
    return rc;
}

int64_t transport_request(struct transport *t, const cw_to *to, const struct transport_data *data,
                          const struct transport_send_options *options, transport_answer_fn done, void *arg)
{
    struct outgoing *m;
    if (done == NULL) {
        return -EINVAL;
    }
    transport_enter(t);
    int64_t rc = start(t, OUTGOING_REQUEST, to, data, options, &m);
    if (rc == 0) {
        m->answer = done;
        m->arg = arg;
        m->request = (uint64_t)m->id ^ t->salt;
        rc = begin(t, m);
    }
    transport_leave(t, false);
    return rc;
}

int64_t transport_reply(struct transport *t, const struct transport_reply_to *to, int status,
                        const struct transport_data *data, const struct transport_send_options *options,
                        transport_done_fn done, void *arg)
{
    struct outgoing *m;
    const cw_to where = {
        .kind = CW_TO_SERVER, .job = to->job, .port = to->port, .server = to->server, .process = to->process};
    if (status > ERRNO_MOST || status < -ERRNO_MOST) {
        return -EINVAL;
    }
    transport_enter(t);
    int64_t rc = start(t, OUTGOING_ANSWER, &where, data, options, &m);
    if (rc == 0) {
        m->done = done;
        m->arg = arg;
        m->request = to->request;
        m->answer_status = (uint16_t)(status < 0 ? -status : status);
        rc = begin(t, m);
    }
    transport_leave(t, false);
    return rc;
}

int transport_cancel(struct transport *t, int64_t number)
{
    struct outgoing *m = outgoing_find(t, number);
    if (m == NULL || m->reading) {
        return m == NULL ? -ENOENT : -EINVAL;
    }
    transport_enter(t);
    outgoing_give_up(t, m, -ECANCELED); /* one that has ended untold keeps its end */
    list_remove(&m->link);
    transport_tell_end(t, m);
    transport_leave(t, false);
    return 0;
}

int transport_more(struct transport *t, int64_t number)
{
    struct outgoing *m = outgoing_find(t, number);
    if (m == NULL || m->state == OUTGOING_FINISHED) {
        return -ENOENT;
    }
    if (m->reading) {
        return -EINVAL;
    }
    transport_enter(t);
    outgoing_feed(t, m);
    transport_leave(t, false);
    return 0;
}

int transport_resume(struct transport *t, uint64_t incoming)
{
    transport_enter(t);
    int rc = incoming_resume(t, incoming);
    transport_leave(t, false);
    return rc;
}

int transport_permit(struct transport *t, const struct transport_asker *asker)
{
    transport_enter(t);
    const struct peer_name name = {asker->job, asker->process, asker->port, asker->background};
    struct peer *p = peer_find(t, name);
    bool known = p != NULL && p->in_open;
    if (known) {
        const struct segment s = {.kind = SEGMENT_PERMIT, .out = p->in_out, .in = p->in_name, .number = asker->message};
        peer_touch(t, p);
        sending_control(t, p, &s);
    }
    transport_leave(t, false);
    return known ? 0 : -ENOENT;
}
