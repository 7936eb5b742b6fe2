/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary.h - what a client of memcached's binary protocol is told: that only text is spoken here.
 *
 * Such a client's first byte is 0x80, with which no command of the text protocol begins. Without an answer in its own
 * protocol it would wait until its own time limit (5 s in libmemcached), as a head without a line's end looks like a
 * text command whose rest is still to come. Pure.
 */
#ifndef SERVICES_KVCACHE_MEMCACHED_BINARY_H
#define SERVICES_KVCACHE_MEMCACHED_BINARY_H

#include <stddef.h>
#include <stdint.h>

enum {
    MC_BINARY_REQUEST = 0x80, /* the first byte of every request */
    MC_BINARY_HEAD = 24,      /* bytes of the head of a request, and of an answer */
    MC_BINARY_MOST = 128,     /* bytes of the answer, at most */
};

/*
 * Writes the answer to the request with this head, and gives its length: "unknown command" (0x81), the status that all
 * clients know, with a sentence that says why.
 */
size_t mc_binary_refuse(const uint8_t head[static MC_BINARY_HEAD], uint8_t out[static MC_BINARY_MOST]);

#endif
