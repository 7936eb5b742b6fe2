/* SPDX-License-Identifier: Apache-2.0 */
/* rpc.h - asks and answers on their way: what fits a packet is a call, what does not goes by the transport. */
#ifndef SERVICES_KVCACHE_RPC_H
#define SERVICES_KVCACHE_RPC_H

#include "services/kvcache/internal.h"

struct question;

/* Who is to be answered. */
struct asker {
    enum {
        ASKER_HERE, /* a question of this server's: question, NULL once it is over */
        ASKER_CALL, /* a call of the runtime's: call */
        ASKER_BULK, /* a request by the transport: bulk */
    } kind;
    struct question *question;
    uint32_t call;
    struct transport_reply_to bulk;
    cw_server server;
};

/* Sends the ask of a question's latest attempt; reader_replied() follows. 0, or -errno: nothing was sent. */
CW_MUST_CHECK int rpc_ask(struct question *q, const cw_to *to, const struct kv_ask *ask, cw_span timeout);
/* True when the ask goes by the transport, which repeats what is lost: asking again makes it later, not surer. */
bool rpc_by_message(const struct question *q, const struct kv_ask *ask);
/* Ends the attempt that is under way; reader_replied() does not follow. */
void rpc_cancel(struct question *q);
/* True when a value of so many bytes fits an answer by a call. */
bool rpc_fits(const struct kvcache *k, size_t length);
/* Answers, once. A value that does not fit an answer by a call becomes KV_LARGE. Sets answer->instance. */
void rpc_answer(struct kvcache *k, const struct asker *asker, struct kv_answer *answer);

#endif
