/* SPDX-License-Identifier: Apache-2.0 */
/*
 * desk.h - where the distributed operating system's side of job protection meets the NMU of one server (NMU 4.5).
 *
 * A built-in service gets it by cw_find(s, "nmu", NMU_DESK_VERSION, NULL), good as long as the service. Legal in
 * upcalls, as all that services call; the node's thread only.
 */
#ifndef NMU_DESK_H
#define NMU_DESK_H

#include "cubeway/types.h"

struct nmu; /* nmu/nmu.h */

#define NMU_DESK_NAME "nmu"
enum { NMU_DESK_VERSION = 1 };

/*
 * Where a node finds records it needs, asked when a service comes and whenever a record was taken in that names new
 * jobs.
 */
struct nmu_source {
    void *context;
    /*
     * Lends the record of the job until the next call, or NULL: it has none. Must not send, nor call the desk. NULL: no
     * source.
     */
    const uint8_t *(*record)(void *context, cw_job job, size_t *size);
};

struct nmu_desk {
    void *node;
    /* node_job_put() */
    int (*put)(void *node, const uint8_t *record, size_t size);
    /* nmu_job_drop(): the job may do nothing until a record of it is put, be it older than the one before. */
    void (*drop)(void *node, cw_job job);
    /* Up to max jobs whose records this server needs and has not: gives how many there are. */
    size_t (*missing)(void *node, cw_job *out, size_t max);
    /* What the NMU holds, to look at: borrowed, until the next put or the coming or going of a service. */
    const struct nmu *(*nmu)(void *node);
    /*
     * Names where records are looked for before those the server was started with, NULL: nowhere any more. At once for
     * what is missing, and whenever a service comes, so that it never speaks by an older record than the source has.
     */
    void (*source)(void *node, const struct nmu_source *source);
    /*
     * False when that server can send nothing to anybody we reach: it is not in view, nor about to come in, and left it
     * so long ago that it is fenced (the optimistic view, semantics 4.2). Until the next event.
     */
    bool (*in_reach)(void *node, cw_server server);
    /*
     * False while this server is in no view, or fenced: then others may speak to one another, and it knows nothing of
     * them (semantics 4.2).
     */
    bool (*serving)(void *node);
};

#endif
