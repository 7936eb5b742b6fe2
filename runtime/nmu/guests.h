/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guests.h - the desk by which a service lets attached processes speak (NMU 4.1: resident processes; docs/attach.md).
 *
 * An attached process is a *guest* of the service that serves it, its host. It has a cw_svc of its own, with its own
 * job and process: cw_send(), cw_call(), cw_reply() and the functions about packets and places do for it what they do
 * for services, in its name and by its own job's grants. A guest has no timers, no offloaded work, no place and no
 * queue of its own: its host has these.
 *
 * The host gets the desk by cw_find(s, GUESTS_DESK_NAME, GUESTS_DESK_VERSION, NULL), where the server takes guests; it
 * lives as long as the host. Legal in upcalls of the host and of its guests; the node's thread only. What a guest sends
 * waits in the turn of its job (core/turns.h).
 */
#ifndef NMU_GUESTS_H
#define NMU_GUESTS_H

#include "cubeway/service.h"
#include "wire/extension.h"

#define GUESTS_DESK_NAME "guests"
enum { GUESTS_DESK_VERSION = 1 };

/* The upcalls of a guest; `state` is what guests_desk.open() was given. */
struct guest_table {
    /* A packet for it, as cw_service.on_packet() gets it; always CW_ARRIVED. */
    cw_verdict (*on_packet)(cw_svc *guest, void *state, cw_packet *p, const cw_rx *rx);
    /* There may be room again after -EAGAIN. May be NULL. */
    void (*on_writable)(cw_svc *guest, void *state);
    /*
     * It may not be here any more: -ENOENT: its job was destroyed, or its record is not held here any more; -ESTALE:
     * its job is of another generation; -EADDRNOTAVAIL: its process lives elsewhere. From the record that said so on it
     * neither sends nor gets anything; the host closes it, now or later. May be NULL.
     */
    void (*on_end)(cw_svc *guest, void *state, int why);
};

/* What daemons say to one another of a packet between processes (EXT_GUEST). */
struct guest_said {
    enum ext_guest_what what;
    uint32_t life; /* of the process that sent it; 0: it was a service */
};

struct guests_desk {
    void *node;
    /*
     * Lets a process of a job speak; *out is its cw_svc. The table is borrowed as long as the guest is open.
     * -EINVAL, also for jobs of built-in services, here or not; -EBUSY: that process is here already; -EEXIST: the job
     * is a service's here; -ENOENT: there is no record of the job; -EADDRNOTAVAIL: by its record the process does not
     * live on this server; -ENOSPC: too many guests, or too many jobs, of which services that may still be loaded have
     * theirs kept free; -EAGAIN: tables of the NMU were tampered with and are about to be written anew; -ENOMEM.
     */
    int (*open)(void *node, cw_svc *host, cw_job job, cw_process process, const struct guest_table *table, void *state,
                cw_svc **out);
    /*
     * The process is gone. Before this returns its calls end with -ECANCELED, by their functions. Requests that it has
     * not answered are answered with -ECONNRESET, as far as there is room; its packets that wait for a link are
     * dropped, those in its hands are freed, but for one that an upcall of it lends: that stays lent until the upcall
     * returns. The cw_svc may still be looked at until the upcall under way has returned; to close it again does
     * nothing, and no packet is made for it. What it has sent to this server, or what is held here, still comes. A host
     * that closes has its guests closed before its close() is called.
     */
    void (*close)(cw_svc *guest);
    /* Which attachment it is: another number for each, never 0. */
    uint32_t (*life)(const cw_svc *guest);
    cw_process (*process)(const cw_svc *guest);
    /*
     * From now on packets to keys, for that port of its job, may be handed to this guest, or not any more. Of several
     * that said so, a key's packets go to one, and to another only when that one goes or one comes that the key prefers
     * (guests_for_key()). -ENOBUFS: it has said so of too many ports; -ENOMEM.
     */
    int (*keys)(cw_svc *guest, cw_port port, bool serves);
    /*
     * What the packets that the guest sends from now on say: what they are, and which attachment of their destination
     * they are meant for (0: any). A server where that one is not any more refuses them. Answers are for whoever asked
     * and mean no attachment.
     */
    void (*mean)(cw_svc *guest, enum ext_guest_what what, uint32_t life);
    /* What the packet said, which an upcall lends. */
    struct guest_said (*said)(cw_packet *p);
};

#endif
