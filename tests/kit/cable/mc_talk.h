/* SPDX-License-Identifier: Apache-2.0 */
/* mc_talk.h - a session of the memcached front end over a stand-in: what the client says and gets back, as text. */
#ifndef KIT_MC_TALK_H
#define KIT_MC_TALK_H

#include "kv_standin.h"
#include "services/kvcache/memcached/session.h"

#include <stdlib.h>
#include <string.h>

struct talk {
    struct standin cache;
    struct mc_config config;
    struct mc_hub hub;
    struct mc_session *session;
    unsigned readied, gone;
    char *heard; /* of the last hear() */
};

static inline void talk_ready(void *context, void *owner)
{
    struct talk *t = context;
    (void)owner;
    t->readied++;
}

static inline void talk_facts(void *context, struct mc_facts *out)
{
    struct talk *t = context;
    *out = (struct mc_facts){.config = &t->config};
}

static inline void talk_gone(void *context)
{
    ((struct talk *)context)->gone++;
}

static inline int talk_run(void *context, const struct kv_request *r, kv_done_fn done, void *arg)
{
    return standin_run(&((struct talk *)context)->cache, r, done, arg);
}

static inline int talk_flush(void *context, cw_span delay, kv_done_fn done, void *arg)
{
    return standin_flush(&((struct talk *)context)->cache, delay, done, arg);
}

static inline void talk_open(struct talk *t)
{
    memset(t, 0, sizeof *t);
    standin_open(&t->cache, 64 * 1024 * 1024);
    t->config = mc_config_default("");
    t->hub = (struct mc_hub){.config = &t->config,
                             .context = t,
                             .run = talk_run,
                             .flush = talk_flush,
                             .ready = talk_ready,
                             .facts = talk_facts,
                             .gone = talk_gone,
                             .clock = {1000000000}};
    t->session = mc_session_open(&t->hub, t);
}

static inline void talk_close(struct talk *t)
{
    if (t->session != NULL) {
        mc_session_close(t->session);
    }
    standin_close(&t->cache);
    mc_hub_close(&t->hub);
    free(t->heard);
}

/* True when the session has more to do, and only waits for its next turn. */
static inline bool talk_yields(const struct talk *t)
{
    return !mc_session_wants(t->session) && !mc_session_waits(t->session) && !mc_session_over(t->session) &&
           mc_buffer_length(mc_session_answers(t->session)) <= t->config.output;
}

static inline void say(struct talk *t, const char *text)
{
    mc_session_feed(t->session, (const uint8_t *)text, strlen(text));
    while (talk_yields(t)) {
        mc_session_resume(t->session);
    }
}

/* All answers that are there, as text. */
static inline const char *hear(struct talk *t)
{
    const struct mc_buffer *out = mc_session_answers(t->session);
    size_t length = mc_buffer_length(out);
    free(t->heard);
    t->heard = calloc(1, length + 1);
    if (length > 0) {
        memcpy(t->heard, mc_buffer_bytes(out), length);
    }
    mc_session_taken(t->session, length);
    return t->heard;
}

#endif
