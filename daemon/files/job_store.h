/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_store.h - signed job records that outlive a restart: state_dir/<name>.jobs/<number>.job, a file for each job, as
 * it was signed.
 *
 * Each file is replaced whole: written beside, synced, renamed, and the folder synced. A crash at any instant leaves
 * the old or the new one. Whoever may write there cannot forge a record, because it is signed, but could put an older
 * one in its place, or remove it; so a folder or a file that others may write is refused.
 *
 * job_store_put() may be called by any thread, and by several at a time.
 */
#ifndef DAEMON_FILES_JOB_STORE_H
#define DAEMON_FILES_JOB_STORE_H

#include "cubeway/types.h"

#include <pthread.h>

/* of a file */
enum { JOB_STORE_WHY = 768, JOB_STORE_PATH = 640, JOB_STORE_BYTES = 1 << 20 };

struct job_store {
    char folder[JOB_STORE_PATH];
    int fd; /* of the folder */
    uint32_t user;
    pthread_mutex_t lock;
};

/*
 * Makes the folder when it is missing and gives it to the user (user "": to us), so that a daemon that gives up root
 * can still write there. -EPERM: it belongs neither to root nor to us nor to the user, or others may write there; or
 * another -errno; and why.
 */
CW_MUST_CHECK int job_store_open(struct job_store *s, const char *state_dir, const char *name, const char *user,
                                 char why[static JOB_STORE_WHY]);
void job_store_close(struct job_store *s);

/*
 * When this returns 0, the bytes are on the disk, in place of what was kept of the job. -errno: what was kept is still
 * there.
 */
CW_MUST_CHECK int job_store_put(struct job_store *s, cw_job job, const uint8_t *bytes, size_t size);

/*
 * Calls each for every job that is kept, in no order; bytes are lent. A file that cannot be read or trusted is left
 * out, and tell is given a sentence about it; the first such error is returned at the end.
 */
CW_MUST_CHECK int job_store_each(struct job_store *s, void (*each)(void *arg, const uint8_t *bytes, size_t size),
                                 void *arg, void (*tell)(void *context, const char *why), void *context);

#endif
