/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messenger.h - the smallest user of the transport, for tests on fake hosts: it keeps what came, echoes requests, and
 * notes how its own messages ended. One instance on every server of a fake_net.
 */
#ifndef KIT_MESSENGER_H
#define KIT_MESSENGER_H

#include "fake_net.h"
#include "services/transport/transport.h"

enum { MESSENGER_JOB = 3000, MESSENGER_PORT = 4, MESSENGER_BYTES = 4 << 20 };

struct messenger {
    struct transport *t;
    struct transport_config config;
    /* How the next messages that arrive are treated. */
    int refuse;    /* what begin() returns */
    unsigned wait; /* how many times begin() says -EAGAIN first; asker is then who asked */
    struct transport_asker asker;
    bool permits; /* begin() permits what it has just told to wait */
    int result;   /* what message() returns */
    bool pieces, into;
    unsigned places; /* > 0: into so many stretches of the buffer */
    struct transport_place place[TRANSPORT_PLACES_MAX + 1];
    unsigned stall; /* how many pieces are refused at first */
    bool silent;    /* requests are not answered */
    /* What has arrived. */
    unsigned began, taken, given_up, pieces_taken;
    int last_status;
    struct transport_message last;
    uint64_t bytes;
    uint8_t *buffer; /* of the last one */
    uint64_t at;
    uint64_t stalled;                   /* to be resumed */
    bool resumes;                       /* its read() resumes that one first */
    struct transport_reply_to reply_to; /* of the last one that began */
    /* Where its read() has bytes: only before `there`, when starve is set. */
    bool starve;
    uint64_t there;
    unsigned starved; /* how often read() said -EAGAIN */
    /* How the messages that were sent have ended. */
    unsigned ended;
    int status;
    uint64_t answer_bytes;
    uint8_t *answer;
};

/* The configuration of the instances of the next net; to be set before fake_net_open(). */
extern struct transport_config messenger_config;
extern const cw_service messenger_service;

struct messenger *messenger_of(struct fake_net *net, cw_server s);
/*
 * Sends size bytes of messenger_byte() from one server to another; done() notes how that ended. Returns what
 * transport_send() returned.
 */
int64_t messenger_send(struct fake_net *net, cw_server from, cw_server to, uint64_t size,
                       const struct transport_send_options *options);
int64_t messenger_ask(struct fake_net *net, cw_server from, cw_server to, uint64_t size,
                      const struct transport_send_options *options);
/* True when the last message that arrived at s has so many bytes, and the bytes of messenger_byte(). */
bool messenger_got(struct fake_net *net, cw_server s, uint64_t size);

static inline uint8_t messenger_byte(uint64_t at)
{
    return (uint8_t)(at * 11 + (at >> 7));
}

#endif
