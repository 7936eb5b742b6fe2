/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - asking somebody on a Unix socket: a request, rows, and how it ended. Blocks, but never for ever.
 */
#ifndef TESTBED_PEER_H
#define TESTBED_PEER_H

#include "cubeway/time.h"
#include "cubeway/types.h"
#include "message/message.h"
#include "message/request_line.h"

enum { PEER_WHY = 256, PEER_FDS = 2 };

struct peer {
    int fd;
    int64_t id;
    char *bytes; /* read, not yet used */
    size_t used, room;
    int passed[PEER_FDS]; /* descriptors that came with the last answer, the caller's to close; -1: none */
};

/* -ENOENT, -ECONNREFUSED: nobody is there. */
CW_MUST_CHECK int peer_open(struct peer *p, const char *path);
void peer_close(struct peer *p);

/* Gives a request: the command and its words. */
struct request_draft *peer_request(const char *command, int argc, const char *const *argv);
/*
 * Takes the request, numbers it, waits for its end. Each row is borrowed for the call of row(), which may be NULL. What
 * the other side said at the end (0 or -errno, and why), or -ETIMEDOUT, -ECONNRESET, -EPROTO with why in our words: ask
 * no more then.
 */
int peer_ask(struct peer *p, struct request_draft *request, cw_span patience,
             void (*row)(void *context, const struct message *row), void *context, char why[static PEER_WHY]);

/* The clock of this machine that all its processes share: CLOCK_MONOTONIC. */
cw_time peer_clock(void);

#endif
