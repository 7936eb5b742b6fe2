/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tunnel_turns.h - the door of the service `ip` (services/tunnel/tunnel.h) in the simulator: in place of a device and
 * programs it has a service of a test, which is given what was written a turn of the daemon's loop later, as by a
 * kernel.
 */
#ifndef KIT_TUNNEL_TURNS_H
#define KIT_TUNNEL_TURNS_H

#include "services/tunnel/tunnel.h"

struct tunnel_turns_packet;

struct tunnel_turns {
    /* Of the test's service. */
    cw_svc *s;
    /* Borrows a packet that was written, which has a virtio head and may be written to. */
    void (*take)(void *context, const uint8_t *head, uint8_t *bytes, size_t length);
    void *context;
    /* The network on this server. */
    cw_svc *tunnel;
    const struct tunnel_api *api;
    struct tunnel_place place;
    bool turning, flush;
    struct tunnel_turns_packet *first, **last;
};

/* To be called in open() of the test's service, which is listed behind the tunnel. -ENOENT: there is none; -ENOMEM. */
CW_MUST_CHECK int tunnel_turns_open(struct tunnel_turns *t, cw_svc *s,
                                    void (*take)(void *context, const uint8_t *head, uint8_t *bytes, size_t length),
                                    void *context);
/* In close(). What was not taken is forgotten. */
void tunnel_turns_close(struct tunnel_turns *t);

#endif
