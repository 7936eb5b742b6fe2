/* SPDX-License-Identifier: Apache-2.0 */
/*
 * desk.h - what the service that governs job protection (services/jobs, NMU 4.5) may ask of the NMU of its server.
 *
 * A built-in service gets it by cw_find(s, "nmu", NMU_DESK_VERSION, NULL); it lives as long as the service. Legal in
 * upcalls, as all that services call; the node's thread only.
 */
#ifndef NMU_DESK_H
#define NMU_DESK_H

#include "cubeway/types.h"

struct nmu; /* nmu/nmu.h */

#define NMU_DESK_NAME "nmu"
enum { NMU_DESK_VERSION = 1 };

/*
 * Where a node finds the records that it needs. Asked when a service comes, and when a record that names new jobs was
 * taken in.
 */
struct nmu_source {
    void *context;
    /* Lends the record of the job until the next call; NULL: there is none. Must not send, nor call the desk. */
    const uint8_t *(*record)(void *context, cw_job job, size_t *size);
};

struct nmu_desk {
    void *node;
    /* As node_job_put(). */
    int (*put)(void *node, const uint8_t *record, size_t size);
    /* As nmu_job_drop(): the job may do nothing until a record of it is put, even one older than the record before. */
    void (*drop)(void *node, cw_job job);
    /* Writes up to max jobs whose records this server needs and lacks; gives how many there are in all. */
    size_t (*missing)(void *node, cw_job *out, size_t max);
    /* Lends the NMU, to read, until the next put or the coming or going of a service. */
    const struct nmu *(*nmu)(void *node);
    /*
     * Sets the source in which records are looked for, before those that the server was started with; NULL: none. It is
     * asked at once for what is missing, and whenever a service comes, so that no service speaks by an older record
     * than the source has.
     */
    void (*source)(void *node, const struct nmu_source *source);
    /*
     * False when that server can send nothing to any server that we reach: it is neither in view nor about to enter it,
     * and left it so long ago that it is fenced (the optimistic view, semantics 4.2). Holds until the next event.
     */
    bool (*in_reach)(void *node, cw_server server);
    /*
     * False while this server is in no view, or fenced: then the others may speak to one another without its knowledge
     * (semantics 4.2).
     */
    bool (*serving)(void *node);
};

#endif
