/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h - results of the cache in memcached's words.
 *
 * A look-up that failed for whatever reason is a miss, which may come at any time (kvcache.h) and which every client
 * can deal with. A write that failed says why, as a SERVER_ERROR.
 */
#ifndef SERVICES_KVCACHE_MEMCACHED_ANSWER_H
#define SERVICES_KVCACHE_MEMCACHED_ANSWER_H

#include "services/kvcache/memcached/buffer.h"
#include "services/kvcache/memcached/meta.h"

enum mc_shape {
    MC_ANSWER_VALUE,   /* get, gets, gat, gats: nothing when it is a miss */
    MC_ANSWER_STORED,  /* set and its kin */
    MC_ANSWER_DELETED, /* delete */
    MC_ANSWER_NUMBER,  /* incr, decr */
    MC_ANSWER_TOUCHED, /* touch */
    MC_ANSWER_OK,      /* flush_all */
    MC_ANSWER_META,    /* by the letter of the command and what it wants */
    MC_ANSWER_TEXT,    /* that line, whatever the result */
};

/*
 * How an operation is to be answered. It copies what it needs of the command: the line is gone when the result comes.
 */
struct mc_answer {
    enum mc_shape shape;
    bool with_cas; /* VALUE */
    bool no_reply; /* nothing is answered */
    char meta;     /* META: g s d a e */
    uint8_t key_length;
    const char *text; /* TEXT: static */
    struct mc_meta_wants wants;
    uint8_t key[KV_KEY_MAX];
};

/* Appends the answer to out. False: no memory; then out may end in the middle of an answer. */
CW_MUST_CHECK bool mc_answer_write(const struct mc_answer *a, const struct kv_result *r, struct mc_buffer *out);
/* The same for an operation that did not begin: rc is what kv_do() returned. */
CW_MUST_CHECK bool mc_answer_refuse(const struct mc_answer *a, int rc, struct mc_buffer *out);
/* A line, "\r\n" added. */
CW_MUST_CHECK bool mc_answer_line(const char *text, struct mc_buffer *out);

enum { MC_DIGITS = 20 };
/* Writes n in decimal, gives the characters. */
size_t mc_digits(uint64_t n, uint8_t out[static MC_DIGITS]);

#endif
