/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - runs: datagrams of one length, one behind the other, that pass the kernel as one message and are cut there
 * (UDP_SEGMENT), or are put together there (UDP_GRO). What a datagram costs is mostly the way through the kernel, and a
 * run takes that way once (docs/shims.md, "udp").
 */
#ifndef SHIM_RUN_H
#define SHIM_RUN_H

#include "shim/shim.h"

#include <stdalign.h>
#include <sys/socket.h>

enum {
    RUN_BYTES = 65536,      /* room for one message: a run of several datagrams, or one that may be as long */
    RUN_BYTES_SENT = 65487, /* of a run that is sent: what IPv4 and UDP can say, less options that a path may add */
    RUN_MESSAGES = 4,       /* that one call receives */
};

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

struct run_note {
    alignas(struct cmsghdr) char bytes[CMSG_SPACE(sizeof(int))]; /* 16 bits to the kernel, an int from it */
};

/* As struct mmsghdr, which headers only have for GNU's extensions. */
struct run_message {
    struct msghdr head;
    unsigned length;
};

struct run_outbox {
    struct run_message messages[SHIM_BATCH];
    unsigned frames[SHIM_BATCH]; /* of each message */
    struct run_note notes[SHIM_BATCH];
};

/*
 * Lines up the frames vectors[count] (1..SHIM_BATCH; borrowed until they are sent) as messages, in order: frames of one
 * length that follow one another are a run, when runs are wanted. Returns how many messages there are.
 */
unsigned run_line_up(struct run_outbox *out, struct iovec *vectors, unsigned count, bool runs);
/* Sends the first `messages` messages: how many left, or -errno. */
int run_send(struct run_outbox *out, int fd, unsigned messages);
/* How many frames are in the first `messages` messages. */
unsigned run_frames(const struct run_outbox *out, unsigned messages);

/* ---- Receiving --------------------------------------------------------------------------------------------------- */

struct run_inbox {
    uint8_t *memory; /* RUN_MESSAGES times RUN_BYTES; pages that nothing was received into cost nothing */
    struct run_message messages[RUN_MESSAGES];
    struct iovec vectors[RUN_MESSAGES];
    struct run_note notes[RUN_MESSAGES];
    unsigned count; /* messages received */
    unsigned at;    /* the message that the next datagram is in */
    uint32_t offset;
    uint32_t each; /* bytes of each datagram of that message; its last one may be shorter */
};

/* 0 or -ENOMEM. */
CW_MUST_CHECK int run_inbox_open(struct run_inbox *in);
/* One that was never opened, and is all zero, may be closed. */
void run_inbox_close(struct run_inbox *in);
/* Receives messages; all that were received before have been taken. How many, or -errno. */
int run_receive(struct run_inbox *in, int fd);
/* Is there a datagram to take? */
static inline bool run_is_left(const struct run_inbox *in)
{
    return in->at < in->count;
}
/* Takes the next datagram, which must be there: its bytes, valid until the next run_receive(), and their number. */
const uint8_t *run_take(struct run_inbox *in, uint32_t *length);

#endif
