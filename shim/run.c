/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sendmmsg, recvmmsg */
#include "shim/run.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct run_message) == sizeof(struct mmsghdr) &&
                   offsetof(struct run_message, length) == offsetof(struct mmsghdr, msg_len),
               "a message is what the system calls take");

static struct mmsghdr *system_of(struct run_message *messages)
{
    return (struct mmsghdr *)(void *)messages;
}

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

static void note_length(struct msghdr *m, struct run_note *note, size_t each)
{
    uint16_t length = (uint16_t)each;
    m->msg_control = note->bytes;
    m->msg_controllen = CMSG_SPACE(sizeof length);
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    c->cmsg_level = IPPROTO_UDP;
    c->cmsg_type = UDP_SEGMENT;
    c->cmsg_len = CMSG_LEN(sizeof length);
    memcpy(CMSG_DATA(c), &length, sizeof length);
}

unsigned run_line_up(struct run_outbox *out, struct iovec *vectors, unsigned count, bool runs)
{
    unsigned messages = 0;
    for (unsigned i = 0; i < count; messages++) {
        size_t each = vectors[i].iov_len;
        unsigned frames = 1;
        while (runs && i + frames < count && vectors[i + frames].iov_len == each &&
               (frames + 1) * each <= RUN_BYTES_SENT) {
            frames++;
        }
        struct msghdr *m = &out->messages[messages].head;
        *m = (struct msghdr){.msg_iov = &vectors[i], .msg_iovlen = frames};
        if (frames > 1) {
            note_length(m, &out->notes[messages], each);
        }
        out->frames[messages] = frames;
        i += frames;
    }
    return messages;
}

int run_send(struct run_outbox *out, int fd, unsigned messages)
{
    int sent = sendmmsg(fd, system_of(out->messages), messages, MSG_DONTWAIT);
    return sent < 0 ? -errno : sent;
}

unsigned run_frames(const struct run_outbox *out, unsigned messages)
{
    unsigned frames = 0;
    for (unsigned i = 0; i < messages; i++) {
        frames += out->frames[i];
    }
    return frames;
}

/* ---- Receiving --------------------------------------------------------------------------------------------------- */

int run_inbox_open(struct run_inbox *in)
{
    *in = (struct run_inbox){.memory = malloc((size_t)RUN_MESSAGES * RUN_BYTES)};
    for (unsigned i = 0; in->memory != NULL && i < RUN_MESSAGES; i++) {
        in->vectors[i] = (struct iovec){in->memory + (size_t)i * RUN_BYTES, RUN_BYTES};
    }
    return in->memory == NULL ? -ENOMEM : 0;
}

void run_inbox_close(struct run_inbox *in)
{
    free(in->memory);
    in->memory = NULL;
}

/* The length of each datagram of message `at`: as the kernel says, or that of the only one. */
static void open_message(struct run_inbox *in)
{
    struct msghdr *m = &in->messages[in->at].head;
    in->offset = 0;
    in->each = in->messages[in->at].length;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
        int each;
        if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
            memcpy(&each, CMSG_DATA(c), sizeof each);
            in->each = each > 0 && (uint32_t)each < in->each ? (uint32_t)each : in->each;
        }
    }
}

int run_receive(struct run_inbox *in, int fd)
{
    for (unsigned i = 0; i < RUN_MESSAGES; i++) {
        in->messages[i].head = (struct msghdr){.msg_iov = &in->vectors[i],
                                               .msg_iovlen = 1,
                                               .msg_control = in->notes[i].bytes,
                                               .msg_controllen = sizeof in->notes[i].bytes};
    }
    int received = recvmmsg(fd, system_of(in->messages), RUN_MESSAGES, MSG_DONTWAIT, NULL);
    in->count = received < 0 ? 0 : (unsigned)received;
    in->at = 0;
    if (received > 0) {
        open_message(in);
    }
    return received < 0 ? -errno : received;
}

const uint8_t *run_take(struct run_inbox *in, uint32_t *length)
{
    const uint8_t *bytes = (const uint8_t *)in->vectors[in->at].iov_base + in->offset;
    uint32_t left = in->messages[in->at].length - in->offset;
    *length = left < in->each ? left : in->each;
    in->offset += *length;
    if (*length == left && ++in->at < in->count) {
        open_message(in);
    }
    return bytes;
}
