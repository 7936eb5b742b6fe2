/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/outq.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* What a frame costs beside its bytes, each a little above what it is (Linux 6): room must never be promised twice. */
enum {
    /* Room for the device's header and for the shared info behind the data; then the allocator rounds up. */
    DATA_EXTRA = 448,
    SKB_BYTES = 320,  /* struct sk_buff */
    HEAD_BYTES = 512, /* of a frame that is longer than a page: its bytes lie in pages, and its head beside them */
    PAGE_BYTES = 4096,
};

uint32_t outq_charge(uint32_t wire_bytes)
{
    uint32_t size = 1024;
    while (size < wire_bytes + DATA_EXTRA) {
        size *= 2;
    }
    return size + SKB_BYTES + (wire_bytes > PAGE_BYTES ? HEAD_BYTES : 0);
}

int outq_open(struct outq *q, int fd, uint32_t wire_bytes, uint64_t bits_per_second)
{
    uint64_t bytes = bits_per_second != 0 ? bits_per_second / 8 * OUTQ_SPAN_US / 1000000 : OUTQ_BYTES_UNKNOWN;
    uint64_t frames = bytes / wire_bytes;
    frames = frames < OUTQ_FRAMES_MIN ? OUTQ_FRAMES_MIN : frames;
    frames = frames > OUTQ_FRAMES_MAX ? OUTQ_FRAMES_MAX : frames;
    uint32_t each = outq_charge(wire_bytes);
    int half = (int)((uint32_t)frames * each / 2); /* the kernel doubles what it is given, and gives back the double */
    int set;
    socklen_t size = sizeof set;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &half, sizeof half) < 0 ||
        getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &set, &size) < 0) {
        return -errno;
    }
    *q = (struct outq){.fd = fd, .limit = (uint32_t)set, .each = each};
    return 0;
}

uint32_t outq_left(const struct outq *q)
{
    int charged;
    if (ioctl(q->fd, SIOCOUTQ, &charged) < 0 || (uint32_t)charged >= q->limit) {
        return 0;
    }
    return q->limit - (uint32_t)charged;
}

unsigned outq_room(const struct outq *q)
{
    return outq_frames(q, outq_left(q));
}
