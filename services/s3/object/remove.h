/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remove.h - what is asked of names alone: an object is deleted, a bucket made, looked at, or deleted. done() comes
 * once, never from within the call that began it. Nothing here can be given up: it is short.
 */
#ifndef SERVICES_S3_OBJECT_REMOVE_H
#define SERVICES_S3_OBJECT_REMOVE_H

#include "services/s3/object/desk.h"

typedef void (*s3_remove_done)(void *arg, s3_fault fault);

/*
 * Each gives S3_OK, and then done() comes; or a fault, and it does not. Names were judged, and are borrowed for the
 * call.
 */

/* Deletes an object, if it is there: S3_OK also when it is not. Its bytes go after S3_GRACE_S. */
CW_MUST_CHECK s3_fault s3_remove_object(struct s3_desk *d, cw_job job, const char *bucket, size_t bucket_length,
                                        const char *key, size_t key_length, s3_remove_done done, void *arg);
/* S3_BUCKET_EXISTS. */
CW_MUST_CHECK s3_fault s3_bucket_create(struct s3_desk *d, cw_job job, const char *bucket, size_t length,
                                        s3_remove_done done, void *arg);
/* S3_NO_BUCKET. */
CW_MUST_CHECK s3_fault s3_bucket_look(struct s3_desk *d, cw_job job, const char *bucket, size_t length,
                                      s3_remove_done done, void *arg);
/* S3_NO_BUCKET, S3_BUCKET_NOT_EMPTY. A put that ends at the same instant may leave an object without a bucket. */
CW_MUST_CHECK s3_fault s3_bucket_delete(struct s3_desk *d, cw_job job, const char *bucket, size_t length,
                                        s3_remove_done done, void *arg);

#endif
