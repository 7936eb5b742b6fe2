/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - looks at all lots of a job once, and drops those that no object needs: of puts that were broken off, of
 * servers that died in the middle, of drops that were.
 *
 * A lot is garbage when it is older than any put may be, twice S3_PUT_MOST_S; the upload that it is a part of is gone,
 * if it is of one; and the object that it is for does not name it. Looked at in this order, since an upload goes only
 * after its object names the lots. Where the store does not answer, the lot stays until the next time.
 */
#ifndef SERVICES_S3_OBJECT_SWEEP_H
#define SERVICES_S3_OBJECT_SWEEP_H

#include "services/s3/object/desk.h"

/*
 * Begins; done() comes once, never from within this call, when all have been looked at, and not after s3_desk_close().
 * One question at a time: it is in nobody's way. S3_SLOW_DOWN: it did not begin.
 */
CW_MUST_CHECK s3_fault s3_sweep(struct s3_desk *d, cw_job job, void (*done)(void *arg), void *arg);

#endif
