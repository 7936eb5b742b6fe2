/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outq.h - the queue between a socket and its wire, kept short and told honestly.
 *
 * The kernel charges a socket for the frames that it sent and that no device has finished with: those in a queueing discipline
 * (tbf) and in a device's ring count, those that a veth pair has handed over do not. SO_SNDBUF bounds that charge and SIOCOUTQ
 * reads it. Both count memory, not bytes of frames: a frame of 9,000 bytes is charged as some 16 KiB.
 *
 * The queue holds what the medium sends in OUTQ_SPAN_US, or OUTQ_BYTES_UNKNOWN where its speed is not known, and at least
 * OUTQ_FRAMES_MIN frames: a socket is called writable when half of its charge is gone, and the half that is left must keep the medium
 * busy until the pump has come.
 */
#ifndef SHIM_OUTQ_H
#define SHIM_OUTQ_H

#include <stdint.h>

enum { OUTQ_SPAN_US = 200, OUTQ_BYTES_UNKNOWN = 72000, OUTQ_FRAMES_MIN = 4, OUTQ_FRAMES_MAX = 128 };

struct outq {
    int fd;
    uint32_t limit; /* bytes of charge up to which the kernel takes another frame */
    uint32_t each;  /* charge of one frame of mtu bytes */
};

/*
 * Bounds the queue of a socket (borrowed) that sends frames of wire_bytes at most, its own header included. bits_per_second 0:
 * unknown. 0 or -errno.
 */
int outq_open(struct outq *q, int fd, uint32_t wire_bytes, uint64_t bits_per_second);

/* Frames of wire_bytes that a send would take now. */
unsigned outq_room(const struct outq *q);
/* Charge that a send would take now, by one question to the system. Not below 0. */
uint32_t outq_left(const struct outq *q);
/* What a frame of so many bytes is charged as at most. */
uint32_t outq_charge(uint32_t wire_bytes);
/* Frames of wire_bytes that so much takes. */
static inline unsigned outq_frames(const struct outq *q, uint32_t left)
{
    /* The kernel looks before it charges: the last frame may go above the limit. */
    return (left + q->each - 1) / q->each;
}

#endif
