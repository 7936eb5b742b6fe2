/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - asks a keeper or a daemon on a Unix socket: a request, the rows of the answer, and its end. Blocks, with a
 * limit.
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
    char *bytes; /* read, but not parsed yet */
    size_t used, room;
    int passed[PEER_FDS]; /* descriptors that came with the last answer, the caller's to close; -1: none */
};

/* -ENOENT, -ECONNREFUSED: nobody listens there. */
CW_MUST_CHECK int peer_open(struct peer *p, const char *path);
void peer_close(struct peer *p);

/* Gives a request of this command with these words. */
struct request_draft *peer_request(const char *command, int argc, const char *const *argv);
/*
 * Takes the request, numbers and sends it, and waits for the end of the answer. Each row is borrowed for the call of
 * row(), which may be NULL. Returns what the other side said at the end: 0, or -errno and why. Or -ETIMEDOUT,
 * -ECONNRESET or -EPROTO, with why in our own words; the connection is then of no use any more.
 */
int peer_ask(struct peer *p, struct request_draft *request, cw_span patience,
             void (*row)(void *context, const struct message *row), void *context, char why[static PEER_WHY]);

/* The clock of this machine that all its processes share, and by which daemons live: CLOCK_BOOTTIME. */
cw_time peer_clock(void);

#endif
