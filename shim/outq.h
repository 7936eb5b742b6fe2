/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outq.h - the queue between a socket and its wire: it is kept short, and its room is known.
 *
 * The kernel charges a socket for the frames that it has sent and that no device has finished with. Frames in a
 * queueing discipline (tbf) and in a device's ring are charged; frames that a veth pair has handed over are not.
 * SO_SNDBUF bounds that charge, and SIOCOUTQ reads it. Both count memory, not bytes of frames: a frame of 9,000 bytes
 * is charged as some 16 KiB.
 *
 * The queue holds what the medium sends in OUTQ_SPAN_US, or OUTQ_BYTES_UNKNOWN where its speed is not known, and at
 * least OUTQ_FRAMES_MIN frames. The kernel calls a socket writable when half of its charge is gone, and the half that
 * is left must keep the medium busy until the pump has come.
 */
#ifndef SHIM_OUTQ_H
#define SHIM_OUTQ_H

#include <stdint.h>

enum {
    OUTQ_SPAN_US = 200,         /* of the medium's sending, in the queue */
    OUTQ_BYTES_UNKNOWN = 72000, /* in the queue where the medium's speed is not known */
    OUTQ_FRAMES_MIN = 4,        /* in the queue, whatever the medium */
    OUTQ_FRAMES_MAX = 128,
};

struct outq {
    int fd;
    uint32_t limit; /* bytes of charge up to which the kernel takes another frame */
    uint32_t each;  /* charge of one frame of mtu bytes */
};

/*
 * Bounds the queue of a socket (borrowed) that sends frames of at most wire_bytes, headers included. bits_per_second 0:
 * unknown. 0 or -errno.
 */
int outq_open(struct outq *q, int fd, uint32_t wire_bytes, uint64_t bits_per_second);

/* How many frames of wire_bytes a send would take now. */
unsigned outq_room(const struct outq *q);
/* How much more charge the kernel takes now; one system call. */
uint32_t outq_left(const struct outq *q);
/* The largest charge of a frame of so many bytes. */
uint32_t outq_charge(uint32_t wire_bytes);
/* How many frames of wire_bytes fit when so much charge is left. */
static inline unsigned outq_frames(const struct outq *q, uint32_t left)
{
    /* The kernel looks before it charges: the last frame may go above the limit. */
    return (left + q->each - 1) / q->each;
}

#endif
