/* SPDX-License-Identifier: Apache-2.0 */
#include "messenger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct transport_config messenger_config;

static int read_bytes(void *context, void *arg, uint64_t offset, uint8_t *out, size_t length)
{
    struct messenger *k = context;
    (void)arg;
    if (k->resumes && k->stalled != 0) {
        uint64_t incoming = k->stalled;
        k->stalled = 0;
        if (transport_resume(k->t, incoming) < 0) {
            abort();
        }
    }
    if (k->starve && offset + length > k->there) {
        k->starved++;
        return -EAGAIN;
    }
    for (size_t i = 0; i < length; i++) {
        out[i] = messenger_byte(offset + i);
    }
    return 0;
}

static int piece(void *context, void *arg, const struct transport_message *m, uint64_t offset, const uint8_t *bytes,
                 size_t length)
{
    struct messenger *k = context;
    (void)arg;
    if (k->stall > 0) {
        k->stall--;
        k->stalled = m->incoming;
        return -EAGAIN;
    }
    if (offset != k->at || offset + length > MESSENGER_BYTES) {
        abort();
    }
    memcpy(k->buffer + offset, bytes, length);
    k->at += length;
    k->pieces_taken++;
    return 0;
}

static int begin(void *context, const struct transport_message *m, struct transport_accept *accept)
{
    struct messenger *k = context;
    k->began++;
    k->asker = m->asker;
    k->reply_to = m->reply_to;
    if (k->wait > 0) {
        k->wait--;
        if (k->permits && transport_permit(k->t, &k->asker) < 0) {
            abort();
        }
        return -EAGAIN;
    }
    if (k->refuse != 0) {
        return k->refuse;
    }
    k->at = 0;
    accept->piece = k->pieces ? piece : NULL;
    accept->into = k->into ? k->buffer : NULL;
    accept->places = k->place;
    accept->place_count = k->places;
    return 0;
}

static int message(void *context, void *arg, const struct transport_message *m, const uint8_t *bytes, int status)
{
    struct messenger *k = context;
    (void)arg;
    k->last = *m;
    k->last_status = status;
    if (status < 0) {
        k->given_up++;
        return 0;
    }
    k->taken++;
    k->bytes = m->bytes;
    if (k->places > 0 && bytes != NULL) {
        abort();
    }
    if (!k->pieces && !k->into && k->places == 0 && m->bytes > 0) {
        memcpy(k->buffer, bytes, m->bytes);
    }
    if (m->request && !k->silent) {
        const struct transport_data data = {.bytes = k->buffer, .size = m->bytes};
        const struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_COPY, .tag = m->tag + 1,
                                                       .head = m->head, .head_length = m->head_length};
        if (transport_reply(k->t, &m->reply_to, k->result, &data, &options, NULL, NULL) < 0) {
            abort();
        }
        return 0;
    }
    return k->result;
}

static void done(void *context, void *arg, int status)
{
    struct messenger *k = context;
    (void)arg;
    k->ended++;
    k->status = status;
}

static void answered(void *context, void *arg, int status, const uint8_t *bytes, uint64_t size,
                     const struct transport_message *m)
{
    struct messenger *k = context;
    (void)arg;
    k->ended++;
    k->status = status;
    k->answer_bytes = size;
    if (m != NULL) {
        k->last = *m;
    }
    if (bytes != NULL && size > 0) {
        memcpy(k->answer, bytes, size);
    }
}

struct messenger *messenger_of(struct fake_net *net, cw_server s)
{
    return net->server[s]->state;
}

static cw_to address(struct fake_net *net, cw_server to)
{
    return (cw_to){.kind = CW_TO_SERVER,
                   .job = MESSENGER_JOB,
                   .port = MESSENGER_PORT,
                   .server = torus_coord(&net->torus, to),
                   .process = to};
}

int64_t messenger_send(struct fake_net *net, cw_server from, cw_server to, uint64_t size,
                       const struct transport_send_options *options)
{
    const struct transport_data data = {.size = size, .read = read_bytes};
    const cw_to where = address(net, to);
    return transport_send(messenger_of(net, from)->t, &where, &data, options, done, NULL);
}

int64_t messenger_ask(struct fake_net *net, cw_server from, cw_server to, uint64_t size,
                      const struct transport_send_options *options)
{
    const struct transport_data data = {.size = size, .read = read_bytes};
    const cw_to where = address(net, to);
    return transport_request(messenger_of(net, from)->t, &where, &data, options, answered, NULL);
}

bool messenger_got(struct fake_net *net, cw_server s, uint64_t size)
{
    const struct messenger *k = messenger_of(net, s);
    if (k->bytes != size) {
        return false;
    }
    for (uint64_t i = 0; i < size; i++) {
        if (k->buffer[i] != messenger_byte(i)) {
            return false;
        }
    }
    return true;
}

/* ---- Upcalls ----------------------------------------------------------------------------------------------------- */

static int messenger_open(cw_svc *s, void *state)
{
    struct messenger *k = state;
    k->config = messenger_config.size != 0 ? messenger_config : transport_config_default(0, NULL);
    k->config.background |= messenger_config.size == 0;
    k->config.port = MESSENGER_PORT;
    k->config.context = k;
    k->config.begin = begin;
    k->config.message = message;
    k->buffer = malloc(MESSENGER_BYTES);
    k->answer = malloc(MESSENGER_BYTES);
    return transport_open(s, &k->config, &k->t);
}

static void messenger_close(cw_svc *s, void *state)
{
    struct messenger *k = state;
    (void)s;
    transport_close(k->t);
    free(k->buffer);
    free(k->answer);
}

static cw_verdict messenger_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    struct messenger *k = state;
    (void)s;
    return transport_packet(k->t, p, rx);
}

static void messenger_event(cw_svc *s, void *state, const cw_event *ev)
{
    struct messenger *k = state;
    (void)s;
    transport_event(k->t, ev);
}

static void messenger_writable(cw_svc *s, void *state)
{
    struct messenger *k = state;
    (void)s;
    transport_writable(k->t);
}

const cw_service messenger_service = {
    CW_SERVICE_INIT,
    .name = "messenger",
    .version = "1.0",
    .job = MESSENGER_JOB,
    .state_size = sizeof(struct messenger),
    .background = true,
    .open = messenger_open,
    .close = messenger_close,
    .on_packet = messenger_packet,
    .on_event = messenger_event,
    .on_writable = messenger_writable,
};
