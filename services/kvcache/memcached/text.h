/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - command lines of memcached's classic text protocol (its doc/protocol.txt), read into operations of the
 * cache.
 *
 * Pure: bytes in; a struct, or the error in memcached's own words, out. What is an error, and which one, is as
 * memcached 1.6 has it (tests/net/test_memcached.py compares). Words are separated by one or more spaces; a line ends
 * with \n, before which one \r is ignored. Keys are 1..250 bytes without spaces; control characters are let in, as
 * memcached lets them. Borrows the line: pointers into it live as long as it does.
 */
#ifndef SERVICES_KVCACHE_MEMCACHED_TEXT_H
#define SERVICES_KVCACHE_MEMCACHED_TEXT_H

#include "services/kvcache/kvcache.h"

enum mc_kind {
    MC_WRITE,  /* a block of `bytes` bytes and \r\n follows: the value of request */
    MC_GET,    /* request for each of keys: op GET or GAT */
    MC_SIMPLE, /* request, complete: delete, incr, decr, touch */
    MC_FLUSH,
    MC_STATS,
    MC_VERSION,
    MC_VERBOSITY,
    MC_QUIT,  /* quit, or the first line of an HTTP request */
    MC_META,  /* mn, mg, ms, md, ma, me: meta.h reads the line */
    MC_ERROR, /* says what; when swallow is set, so many bytes and \r\n of a block follow that nobody wants */
};

struct mc_word {
    const uint8_t *at;
    size_t length;
};

struct mc_command {
    enum mc_kind kind;
    struct kv_request request; /* its value is not set; key is not for MC_GET */
    struct mc_word keys; /* MC_GET: the keys, to be taken by mc_word(). MC_STATS, MC_META: what follows the name */
    bool with_cas;       /* gets, gats: answers tell the cas */
    bool no_reply;
    uint64_t bytes;    /* MC_WRITE; MC_ERROR: of the block to swallow */
    bool swallow;      /* MC_ERROR */
    cw_span delay;     /* MC_FLUSH */
    const char *error; /* MC_ERROR: the whole line, without \r\n */
};

/*
 * Of this moment, for expiries that are dates: seconds since 1970. Times up to 30 days are spans, as memcached has it.
 */
struct mc_clock {
    int64_t unix_seconds;
};

/* Reads one line (without its \n). Never fails: what cannot be read is an MC_ERROR. */
struct mc_command mc_read(const uint8_t *line, size_t length, const struct mc_clock *clock);
/*
 * True when none of the words is too long for a key: asked before the first of them is looked up, as one bad key
 * refuses them all.
 */
bool mc_keys_fit(struct mc_word keys);

/* Takes the next word off *rest; empty at its end. */
struct mc_word mc_word(struct mc_word *rest);
bool mc_is(struct mc_word w, const char *text);
/* Decimal digits alone. */
bool mc_number(struct mc_word w, uint64_t most, uint64_t *out);
/* An exptime: decimal, perhaps negative; a date up to 2^32 - 1. */
bool mc_expiry(struct mc_word w, const struct mc_clock *clock, cw_span *out);

extern const char mc_error_unknown[], mc_error_format[], mc_error_chunk[], mc_error_expiry[], mc_error_too_large[];

#endif
