/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meta.h - memcached's meta commands (mn, mg, ms, md, ma, me: "Meta Commands" in its doc/protocol.txt), read into
 * operations of the cache. Flags of a proxy (P, L) are accepted and mean nothing. Pure; borrows the line: pointers into
 * it live as long as it does.
 */
#ifndef SERVICES_KVCACHE_MEMCACHED_META_H
#define SERVICES_KVCACHE_MEMCACHED_META_H

#include "services/kvcache/memcached/text.h"

enum { MC_OPAQUE_MAX = 31, MC_META_FLAGS = 12 };

/* What the answer tells besides its code: c, f, h, k, l, O, s, t in the order they were asked for. */
struct mc_meta_wants {
    uint8_t flags, opaque_length;
    bool quiet;  /* q */
    bool value;  /* v */
    bool binary; /* b: the key is in base64 */
    char flag[MC_META_FLAGS];
    uint8_t opaque[MC_OPAQUE_MAX];
};

struct mc_meta {
    char name; /* n g s d a e: the command's second letter */
    struct kv_request request;
    struct mc_meta_wants wants;
    struct mc_word key; /* as it was sent */
    uint64_t bytes;     /* ms: of the block that follows */
    bool swallow;       /* an error, and a block of `bytes` bytes follows */
    const char *error;  /* NULL: none; else the whole line */
    uint8_t decoded[KV_KEY_MAX];
};

/* Reads the line of MC_META: name is its first word, rest what follows. */
void mc_meta_read(struct mc_meta *m, struct mc_word name, struct mc_word rest, const struct mc_clock *clock);

#endif
