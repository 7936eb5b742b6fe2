/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svc_calls.c - a request that is answered once or times out (NMU 4.2), for requester and responder.
 *
 *   cw_call     opens a call (calls.h); the request says where the answer goes, and the number of the call. When a
 *               third party is to have the answer, nothing stays open here
 *   arrival     of a request: opens a right to answer it once (response.h), named by a handle that the responder gets
 *   cw_reply    uses the right up; the answer retraces the request's path if that was recorded and is still there
 *   arrival     of the answer: ends the call; done() is called with the answer exactly once, whatever retries and late
 *               answers come. A third party gets the answer as a packet that names the server which asked
 */
#include "core/node_internal.h"

#include "base/check.h"
#include "keyspace/key.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum {
    CALL_RETRIES_MAX = 1000,
    STATUS_MAX = 4095, /* the errors of Linux */
};
static const cw_span timeout_default = CW_SEC(1);
static const cw_span timeout_max = CW_SEC(3600);
/* Of a right to answer, whatever its request says, and when that says nothing (nmu rule 4). */
static const cw_span right_max = CW_SEC(30);

/* ---- The requester ----------------------------------------------------------------------------------------------- */

/* How long an answer is of use, from now on: what the responder keeps its right for. */
static uint32_t limit_us(cw_span timeout, unsigned attempts)
{
    uint64_t us = ((uint64_t)timeout.ns + 999) / 1000 * attempts;
    return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

static struct call *start_call(struct cw_svc *svc, const cw_call_options *options)
{
    struct node *n = svc->node;
    if (svc->guest == NULL) {
        return calls_start(&n->calls, svc->index, options->timeout, options->retries, n->now);
    }
    struct call *call =
        calls_start_guest(&n->calls, svc->index, svc->guest->calls, options->timeout, options->retries, n->now);
    svc->guest->calls += call != NULL;
    return call;
}

static void end_call(struct cw_svc *svc, struct call *call)
{
    if (svc->guest != NULL) {
        svc->guest->calls--;
    }
    calls_end(&svc->node->calls, call);
}

/* Ends the call and tells who made it: exactly once for every call. Borrows reply. */
static void finish(struct node *n, struct call *call, int status, struct cw_packet *reply, const cw_rx *rx)
{
    struct call last = *call;
    struct cw_svc *svc = node_speaker(n, last.speaker);
    end_call(svc, call);
    pkt_release(last.again);
    struct node_outer outer = node_upcall_begin(svc, UPCALL_REPLY);
    last.done(svc, svc->state, last.arg, status, reply, rx);
    node_upcall_end(svc, UPCALL_REPLY, outer);
}

static int check_call(const cw_call_options *options, cw_call_options *out)
{
    /* Before there was a third party the structure ended there. */
    size_t least = offsetof(cw_call_options, reply_to);
    if (options != NULL && !node_adopt(out, sizeof *out, least, options)) {
        return -EINVAL;
    }
    if (out->send.size == 0) {
        out->send.size = sizeof out->send;
    }
    if (out->timeout.ns == 0) {
        out->timeout = timeout_default;
    }
    bool sound = out->timeout.ns > 0 && out->timeout.ns <= timeout_max.ns && out->retries <= CALL_RETRIES_MAX;
    return sound ? 0 : -EINVAL;
}

static bool is_caller(const struct cw_svc *svc, const cw_to *to)
{
    const struct node *n = svc->node;
    return to->kind == CW_TO_SERVER && to->job == svc->job && torus_holds(&n->torus, to->server) &&
           torus_id(&n->torus, to->server) == n->self && to->process == svc->process;
}

/* Addresses p as the call's request and sends it; keeps a copy in the call when there may be another attempt. */
static int send_request(struct cw_svc *svc, struct cw_packet *p, const cw_to *to, const cw_call_options *options,
                        struct call *call)
{
    struct node *n = svc->node;
    const cw_to *told = options->reply_to;
    struct ext_request request = {
        .port = told != NULL ? told->port : to->port,
        .server = told != NULL ? told->server : n->place,
        .job = told != NULL ? told->job : svc->job,
        .process = told != NULL ? told->process : svc->process,
        .call = call->item.handle,
        .limit_us = limit_us(options->timeout, options->retries + 1),
    };
    struct node_address address = {.to = to, .options = &options->send, .request = &request};
    struct cw_packet *addressed;
    int rc = node_address_packet(svc, p, &address, &addressed);
    if (rc < 0) {
        return rc;
    }
    if (options->retries > 0) {
        call->again = pkt_copy(addressed);
        if (call->again == NULL) {
            if (addressed != p) {
                pkt_release(addressed);
            }
            return -ENOMEM;
        }
    }
    call->links = addressed->links;
    call->background = addressed->marks & PKT_BACKGROUND;
    return node_hand_over(svc, p, addressed);
}

int64_t cw_call(cw_svc *s, cw_packet *p, const cw_to *to, const cw_call_options *options, cw_reply_fn done, void *arg)
{
    cw_call_options chosen = {.size = sizeof chosen};
    int rc = node_must_hold(s, p, "cw_call") && to != NULL ? check_call(options, &chosen) : -EINVAL;
    if (rc < 0) {
        return rc;
    }
    bool third = chosen.reply_to != NULL && !is_caller(s, chosen.reply_to);
    if (third ? done != NULL || chosen.retries > 0 : done == NULL) {
        return -EINVAL;
    }
    rc = third ? node_may_be_told(s, chosen.reply_to) : 0;
    if (rc < 0) {
        return rc;
    }
    struct call *call = start_call(s, &chosen);
    if (call == NULL) {
        return -ENOBUFS;
    }
    call->done = done;
    call->arg = arg;
    call->job = to->job;
    uint32_t number = call->item.handle;
    rc = send_request(s, p, to, &chosen, call);
    if (rc < 0 || third) { /* a number is all that the caller has of what another is to hear */
        pkt_release(call->again);
        end_call(s, call);
    }
    return rc < 0 ? rc : (int64_t)number;
}

int cw_call_cancel(cw_svc *s, int64_t number)
{
    struct node *n = s->node;
    struct call *call = number > 0 && number <= UINT32_MAX ? calls_find(&n->calls, (uint32_t)number) : NULL;
    if (call == NULL || call->speaker != s->index) {
        return -ENOENT;
    }
    finish(n, call, -ECANCELED, NULL, NULL);
    return 0;
}

void node_cancel_calls(struct cw_svc *svc)
{
    const struct guest *guest = svc->guest;
    for (struct call *call;
         (guest == NULL || guest->calls > 0) && (call = calls_of(&svc->node->calls, svc->index)) != NULL;) {
        finish(svc->node, call, -ECANCELED, NULL, NULL);
    }
}

/* The next attempt of a call that has retries left. What cannot be sent now is an attempt that failed. */
static void try_again(struct node *n, struct call *call)
{
    struct cw_packet *p = call->again;
    struct cw_svc *svc = node_speaker(n, call->speaker);
    if (node_may_still_send(svc, &p->head) < 0) {
        finish(n, call, -EACCES, NULL, NULL); /* what was allowed is not any more */
        return;
    }
    if (call->retries > 1) {
        p = pkt_copy(call->again);
    } else {
        call->again = NULL;
    }
    calls_try_again(&n->calls, call, n->now);
    if (p == NULL) {
        return;
    }
    uint8_t *ext = packet_ext(p->data, &p->exts, EXT_REQUEST);
    struct ext_request request = ext_request_read(ext);
    request.limit_us = limit_us(call->timeout, call->retries + 1u);
    ext_request_write(&request, ext);
    p->links = call->links;
    p->marks = call->background ? PKT_BACKGROUND : 0;
    p->in = CW_LINK_SELF;
    p->speaker = svc->index;
    int rc = node_launch(svc, p);
    if (rc < 0) {
        n->sent++;
        node_drop(n, p, node_drop_of(rc));
    }
}

void node_run_calls(struct node *n)
{
    response_expire(&n->nmu.responses, n->now);
    for (struct call *call; (call = calls_due(&n->calls, n->now)) != NULL;) {
        if (call->retries > 0) {
            try_again(n, call);
        } else {
            finish(n, call, -ETIMEDOUT, NULL, NULL);
        }
    }
}

/* The call of svc that this response answers, or NULL: it has ended, or the response is not what it seems. */
static struct call *answered_call(const struct cw_svc *svc, const struct cw_packet *p,
                                  const struct ext_response *response)
{
    struct call *call = calls_find(&svc->node->calls, response->call);
    bool ours = call != NULL && call->speaker == svc->index && call->job == p->head.source_job;
    return ours ? call : NULL;
}

/* Did svc, for which p is, ask for it itself? */
static bool asked_itself(const struct cw_svc *svc, const struct cw_packet *p, const struct ext_response *response)
{
    const struct node *n = svc->node;
    return response->job == p->head.job && response->process == svc->process &&
           torus_holds(&n->torus, response->server) && torus_id(&n->torus, response->server) == n->self;
}

bool node_take_response(struct node *n, struct cw_svc *svc, struct cw_packet *p)
{
    struct ext_response response = ext_response_read(packet_ext(p->data, &p->exts, EXT_RESPONSE));
    if (!asked_itself(svc, p, &response)) {
        return false;
    }
    struct call *call = answered_call(svc, p, &response);
    if (call == NULL) {
        node_drop(n, p, CW_DROP_REPLY_DEAD);
        return true;
    }
    n->delivered++;
    node_point(n, NODE_DELIVERED, p, CW_DROP_COUNT);
    cw_rx rx;
    node_fill_rx(n, p, CW_ARRIVED, &rx);
    node_lend(svc, p);
    finish(n, call, rx.status, p, &rx);
    if (node_lend_end(svc, p, CW_FORWARD)) {
        node_retire(svc, p, "the function of cw_call");
    }
    return true;
}

/* ---- The responder ----------------------------------------------------------------------------------------------- */

uint32_t node_open_handle(struct cw_svc *svc, const struct cw_packet *p)
{
    struct node *n = svc->node;
    struct ext_request request = ext_request_read(packet_ext(p->data, &p->exts, EXT_REQUEST));
    if (!torus_holds(&n->torus, p->head.source) || !torus_holds(&n->torus, request.server)) {
        return 0;
    }
    struct response_requester requester = {
        .job = p->head.source_job,
        .process = p->head.source_process,
        .server = torus_id(&n->torus, p->head.source),
    };
    cw_span asked = CW_US(request.limit_us);
    cw_span limit = asked.ns == 0 || asked.ns > right_max.ns ? right_max : asked;
    struct response_right *right =
        response_open_right(&n->nmu.responses, svc->index, &requester, &request, cw_time_add(n->now, limit));
    if (right == NULL) {
        return 0;
    }
    const uint8_t *path = packet_ext(p->data, &p->exts, EXT_PATH);
    bool back = torus_id(&n->torus, request.server) == requester.server; /* a third party is not where it came from */
    if (path != NULL && back && ext_path_mode(path) == EXT_PATH_RECORD && ext_path_hops(path) > 0) {
        right->path_bytes = (uint8_t)ext_bytes(path);
        memcpy(right->path, path, right->path_bytes);
        ext_path_turn(right->path);
    }
    return right->item.handle;
}

void node_close_handle(struct node *n, uint32_t handle)
{
    struct response_right *right = expiry_find(&n->nmu.responses.table, handle);
    if (right != NULL) {
        response_end(&n->nmu.responses, right);
    }
}

int node_send_answer(struct cw_svc *svc, const struct response_right *right, int status, struct cw_packet *p)
{
    const struct node *n = svc->node;
    const struct ext_request *request = &right->request;
    struct ext_response response = {
        .status = (uint16_t)(status < 0 ? -status : status),
        .server = torus_coord(&n->torus, right->requester.server),
        .job = right->requester.job,
        .process = right->requester.process,
        .call = request->call,
    };
    cw_to to = {
        .kind = CW_TO_SERVER,
        .job = request->job,
        .port = request->port,
        .server = request->server,
        .process = request->process,
    };
    struct node_address address = {.to = &to, .response = &response};
    address.path = right->path_bytes > 0 ? right->path : NULL;
    struct cw_packet *addressed;
    int rc = node_address_packet(svc, p, &address, &addressed);
    return rc < 0 ? rc : node_hand_over(svc, p, addressed);
}

/* A right that has run out is no fault of the service's; one that it has used is, as far as that is remembered. */
static void look_at_misuse(struct cw_svc *svc, uint32_t handle)
{
    if (handle == 0) {
        node_misuse(svc, "cw_reply: the packet was no request: cw_rx.call is 0");
        return;
    }
    for (unsigned i = 0; i < NODE_ANSWERED; i++) {
        if (svc->answered[i] == handle) {
            node_misuse(svc, "cw_reply: the request was answered before");
            return;
        }
    }
    if (!expiry_was_given(&svc->node->nmu.responses.table, handle)) {
        node_misuse(svc, "cw_reply: no request came with this right: it is none that cw_rx.call ever was");
    }
}

int cw_reply(cw_svc *s, uint32_t handle, int status, cw_packet *p)
{
    struct node *n = s->node;
    if (p == NULL) {
        p = cw_packet_new(s, 0);
        if (p == NULL) {
            return -ENOMEM;
        }
    }
    if (!node_must_hold(s, p, "cw_reply")) {
        return -EINVAL;
    }
    struct response_right *right = response_find(&n->nmu.responses, s->index, handle);
    if (right == NULL) {
        look_at_misuse(s, handle);
        node_drop_unsent(s, p, CW_DROP_REPLY_DEAD);
        return -ENOENT;
    }
    int rc = status >= -STATUS_MAX && status <= STATUS_MAX ? node_send_answer(s, right, status, p) : -EINVAL;
    if (rc < 0) {
        node_drop_unsent(s, p, node_drop_of(rc));
        return rc;
    }
    response_end(&n->nmu.responses, right);
    s->answered[s->answers++ % NODE_ANSWERED] = handle;
    return 0;
}
