/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - one client's conversation: bytes come in; commands are read, asked of the cache, and answered in the
 * order in which they came. Knows no sockets and no clock: a gateway (gateway.c), or a test, brings bytes and takes
 * answers.
 *
 * - Operations run beside one another, MC_WINDOW at most, so that a multi-get asks all roots at once and a pipeline
 *   does not wait for every answer. But an operation waits for an earlier write of the same key, and a write for any
 *   earlier operation on its key: a client sees its own commands happen in their order.
 * - A look-up that is answered at once (kv_do() calls back before it returns) costs no allocation: its answer goes
 *   straight behind the others.
 * - No client keeps the server to itself: after MC_STEPS commands or keys feed and resume return, and a later resume
 *   goes on.
 * - Bounded: while a client has not taken config->output bytes of answers, nothing more is read from it. While the
 *   answers of all sessions are above config->memory, or as many operations are under way as could fill it with values
 *   of the greatest length, each session asks for one value at a time. Of what a client sends only the command that is
 *   not whole is kept: a line of 2 KiB (1 MiB for the keys of get), or a value of KV_VALUE_MAX, which takes memory as
 *   it comes.
 *
 * Threading: that of the server. feed and resume, which ask the cache, are called where kv_do() may be called.
 */
#ifndef SERVICES_KVCACHE_MEMCACHED_SESSION_H
#define SERVICES_KVCACHE_MEMCACHED_SESSION_H

#include "services/kvcache/mc_config.h"
#include "services/kvcache/memcached/buffer.h"
#include "services/kvcache/memcached/stats.h"
#include "services/kvcache/memcached/text.h"

enum { MC_WINDOW = 64, MC_STEPS = 256, MC_LINE_MAX = 2048, MC_KEYS_MAX = 1024 * 1024 };

struct mc_session;
struct mc_slot;

/*
 * What sessions of a gateway share. The owner fills the first part and keeps it for as long as sessions live, closed
 * ones too.
 */
struct mc_hub {
    const struct mc_config *config;
    void *context;
    /* kv_do() of the server. */
    int (*run)(void *context, const struct kv_request *r, kv_done_fn done, void *arg);
    /*
     * Drops all values, after the delay; done is called exactly once, at once if there is a delay. 0 or -errno, then it
     * is not called.
     */
    int (*flush)(void *context, cw_span delay, kv_done_fn done, void *arg);
    /*
     * Not from within feed or resume: there are answers to take, or room to go on. Resume the owner's session soon, not
     * from here.
     */
    void (*ready)(void *context, void *owner);
    /* What `stats` shows besides the tally. */
    void (*facts)(void *context, struct mc_facts *out);
    /* The last session is freed, and the cache owes none of them an answer. May be NULL. */
    void (*gone)(void *context);
    struct mc_clock clock; /* the owner sets it before each feed and resume */

    struct mc_tally tally;
    size_t answers;     /* bytes of answers, of all sessions, that were not taken yet */
    uint64_t steps;     /* commands and keys so far: what a turn has cost */
    unsigned under_way; /* operations of all sessions that the cache has not answered */
    struct mc_slot *spare;
    unsigned spares;
    unsigned sessions; /* open ones, and closed ones that wait for the cache */
};

/* Borrows the hub. NULL: no memory. */
struct mc_session *mc_session_open(struct mc_hub *hub, void *owner);
/*
 * The client is gone: its owner is not told anything any more, and memory goes when the cache has answered what it was
 * asked.
 */
void mc_session_close(struct mc_session *s);
/* Frees what the hub keeps, when there are no sessions. */
void mc_hub_close(struct mc_hub *hub);

/*
 * Borrows bytes that the client sent. Those that cannot be read yet are kept. Nothing is read behind the first line of
 * an HTTP request: a browser can be made to send one, with commands in its body.
 */
void mc_session_feed(struct mc_session *s, const uint8_t *bytes, size_t length);
/* Goes on reading: after ready(), and after answers were taken while mc_session_wants() was false. */
void mc_session_resume(struct mc_session *s);
/* True: more bytes of the client may be read. */
bool mc_session_wants(const struct mc_session *s);
/* The answers, borrowed. Whoever takes some bytes of them says so with mc_session_taken(). */
const struct mc_buffer *mc_session_answers(const struct mc_session *s);
void mc_session_taken(struct mc_session *s, size_t length);
/*
 * True: to be hung up on once its answers have been taken: it said quit, or what cannot be read, or speaks the binary
 * protocol or HTTP; or an answer was lost for want of memory.
 */
bool mc_session_over(const struct mc_session *s);
/* True: the client began something it has not ended, or has answers to take: it is not idle but slow. */
bool mc_session_owes(const struct mc_session *s);
/* True: the cache was asked and has not answered yet. */
bool mc_session_waits(const struct mc_session *s);

#endif
