/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rpc.c - asks and answers on their way. What fits a packet is a call, one packet each way; what does not goes by the
 * transport.
 */
#include "services/kvcache/rpc.h"

#include "base/check.h"
#include "services/kvcache/common.h"
#include "services/kvcache/reader.h"
#include "services/kvcache/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_ROOM = 160 }; /* bytes of headers and extensions that the runtime may put beside a call's payload */

static size_t packet_room(const struct kvcache *k)
{
    return cw_mtu(k->svc) - CALL_ROOM;
}

bool rpc_fits(const struct kvcache *k, size_t length)
{
    return KV_ANSWER_BYTES + length <= packet_room(k);
}

static void end(struct question *q, int status, const uint8_t *bytes, size_t size, cw_server from)
{
    struct kv_answer answer;
    q->call = 0;
    q->message = 0;
    if (status == 0 && !kv_answer_decode(bytes, size, &answer)) {
        kv_count(q->k, KV_COUNT_MALFORMED);
        status = -EBADMSG;
    }
    reader_replied(q, status, &answer, from);
}

static void call_ended(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)s;
    (void)state;
    size_t size = 0;
    const uint8_t *bytes = status == 0 && reply != NULL ? cw_packet_data(reply, &size) : NULL;
    const struct question *q = arg;
    struct kvcache *k = q->k;
    bool nested = q->finished; /* from within rpc_cancel() */
    end(arg, status, bytes, size, status == 0 ? rx->src_process : CW_SERVER_NONE);
    CHECK_SLOW(nested || walk_sometimes(k));
}

static void message_ended(void *context, void *arg, int status, const uint8_t *bytes, uint64_t size,
                          const struct transport_message *m)
{
    (void)context;
    end(arg, status, bytes, (size_t)size, status == 0 ? m->src_process : CW_SERVER_NONE);
}

static int ask_by_call(struct question *q, const cw_to *to, const struct kv_ask *ask, cw_span timeout)
{
    cw_svc *s = q->k->svc;
    cw_packet *p = cw_packet_new(s, kv_ask_size(ask));
    if (p == NULL) {
        return -ENOMEM;
    }
    kv_ask_encode(ask, cw_packet_data(p, NULL));
    const cw_call_options options = {CW_CALL_INIT, .timeout = timeout};
    int64_t call = cw_call(s, p, to, &options, call_ended, q);
    if (call < 0) {
        cw_packet_free(s, p);
        return (int)call;
    }
    q->call = call;
    return 0;
}

static int ask_by_message(struct question *q, const cw_to *to, const struct kv_ask *ask, cw_span timeout)
{
    size_t size = kv_ask_size(ask);
    uint8_t *bytes = malloc(size);
    if (bytes == NULL) {
        return -ENOMEM;
    }
    kv_ask_encode(ask, bytes);
    cw_to where = *to;
    where.port = KV_BULK_PORT;
    const struct transport_data data = {.bytes = bytes, .size = size};
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_COPY, .timeout = timeout};
    int64_t number = transport_request(q->k->transport, &where, &data, &options, message_ended, q);
    free(bytes);
    if (number < 0) {
        return (int)number;
    }
    kv_count(q->k, KV_COUNT_BULK);
    q->message = number;
    return 0;
}

bool rpc_by_message(const struct question *q, const struct kv_ask *ask)
{
    return q->bulk || kv_ask_size(ask) > packet_room(q->k);
}

int rpc_ask(struct question *q, const cw_to *to, const struct kv_ask *ask, cw_span timeout)
{
    if (rpc_by_message(q, ask)) {
        return ask_by_message(q, to, ask, timeout);
    }
    return ask_by_call(q, to, ask, timeout);
}

void rpc_cancel(struct question *q)
{
    int64_t call = q->call, message = q->message;
    q->finished = true; /* cancelling calls reader_replied() from within: it must find the question over */
    if (call > 0) {
        cw_call_cancel(q->k->svc, call);
    }
    if (message > 0) {
        transport_cancel(q->k->transport, message);
    }
}

static void answer_call(struct kvcache *k, uint32_t call, struct kv_answer *answer)
{
    if (!rpc_fits(k, answer->length)) {
        *answer = (struct kv_answer){.state = KV_LARGE, .instance = k->instance};
    }
    cw_packet *p = cw_packet_new(k->svc, kv_answer_size(answer));
    if (p != NULL) {
        kv_answer_encode(answer, cw_packet_data(p, NULL));
        cw_reply(k->svc, call, 0, p);
    }
}

static void answer_message(struct kvcache *k, const struct transport_reply_to *to, const struct kv_answer *answer)
{
    size_t size = kv_answer_size(answer);
    uint8_t *bytes = malloc(size);
    if (bytes == NULL) {
        return; /* the asker asks again */
    }
    kv_answer_encode(answer, bytes);
    const struct transport_data data = {.bytes = bytes, .size = size};
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_COPY};
    if (transport_reply(k->transport, to, 0, &data, &options, NULL, NULL) < 0) {
        kv_count(k, KV_COUNT_TIMED_OUT);
    }
    free(bytes);
}

void rpc_answer(struct kvcache *k, const struct asker *asker, struct kv_answer *answer)
{
    answer->instance = k->instance;
    switch (asker->kind) {
    case ASKER_HERE:
        if (asker->question != NULL) {
            reader_answer(asker->question, answer);
        }
        break;
    case ASKER_CALL:
        answer_call(k, asker->call, answer);
        break;
    case ASKER_BULK:
        answer_message(k, &asker->bulk, answer);
        break;
    }
}
