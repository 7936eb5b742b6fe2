/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - what the service jobs needs of the program it runs in: signatures checked, and bytes that outlive a restart.
 *
 * The program offers a struct jobs_host under JOBS_HOST_NAME, version JOBS_HOST_VERSION, to cw_find(). Without it there
 * are no signed jobs on that server: the service takes in no record, and says so to whoever puts one.
 *
 * Threads: verify and store are called away from the server's thread (cw_offload()), each possibly at the same time as
 * itself and the other: they touch nothing of the server. load is called on the server's thread, once, while the
 * service opens.
 */
#ifndef SERVICES_JOBS_HOST_H
#define SERVICES_JOBS_HOST_H

#include "cubeway/types.h"

#define JOBS_HOST_NAME "jobs"
enum { JOBS_HOST_VERSION = 1 };

/*
 * What the operator signs: these 14 bytes (with the NUL), the cluster's id (32 bits, network order), the record
 * (nmu/job_record.h). A record signed for one cluster is thus a forgery in every other.
 */
#define JOBS_SIGN_PREFIX "cubeway job 1"
enum { JOBS_SIGN_PREFIX_BYTES = sizeof JOBS_SIGN_PREFIX, JOBS_SIGNATURE_BYTES = 64 };

struct jobs_host {
    size_t size; /* of this struct, as the host knows it */
    void *context;
    uint32_t cluster;
    /*
     * Gives 1 when the operator signed that record for this cluster, 0 when not, -errno when that cannot be found out
     * now: it will be asked again. Borrows the bytes.
     */
    int (*verify)(void *context, const uint8_t *record, size_t size,
                  const uint8_t signature[static JOBS_SIGNATURE_BYTES]);
    /*
     * Stores the record, with its signature behind it, in place of what was stored of the job. 0: load will give it,
     * whatever happens to the program and its machine. -errno: what was stored before is still there. Borrows the
     * bytes. NULL: this host stores nothing.
     */
    int (*store)(void *context, cw_job job, const uint8_t *signed_record, size_t size);
    /*
     * Calls each() for all that is stored, in any order, lending the bytes. < 0: some of it could not be read. NULL:
     * this host stores nothing.
     */
    int (*load)(void *context, void (*each)(void *arg, const uint8_t *signed_record, size_t size), void *arg);
};

#endif
