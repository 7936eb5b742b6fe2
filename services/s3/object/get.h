/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get.h - an object that is read: first its manifest, then, if they are wanted, bytes of it, as a stream: a window of
 * chunks is asked for ahead, and no more until they are taken.
 *
 *     get = s3_get_open(desk, &order, hooks, arg)
 *     hooks.head(arg, fault, manifest)    once, never from within open; the manifest is borrowed until the get is
 *                                         closed. After a fault there is nothing but to close
 *     s3_get_range(get, first, count)     from then on, once: these bytes are wanted
 *     s3_get_peek(get, &length)           borrows those that are there; NULL: none now, or there never will be any,
 *                                         which s3_get_fault() tells; hooks.ready() comes when that has changed
 *     s3_get_take(get, length)            so many of them are done with
 *     s3_get_close(get)                   at any time, also from within hooks
 *
 * What is read is one version of the object, whole. One that is replaced while it is read can be read on for
 * S3_GRACE_S; then the bytes end with a fault.
 */
#ifndef SERVICES_S3_OBJECT_GET_H
#define SERVICES_S3_OBJECT_GET_H

#include "services/s3/object/desk.h"

struct s3_get;

struct s3_get_order {
    cw_job job;
    const char *bucket, *key; /* judged; borrowed for the call */
    size_t bucket_length, key_length;
    bool lent; /* memory for two chunks is the caller's already: for copies */
};

struct s3_get_hooks {
    void (*head)(void *arg, s3_fault fault, const struct s3_manifest *manifest);
    void (*ready)(void *arg);
};

/* NULL: no memory, or the store takes no questions now: S3_SLOW_DOWN. */
struct s3_get *s3_get_open(struct s3_desk *d, const struct s3_get_order *order, struct s3_get_hooks hooks, void *arg);
void s3_get_range(struct s3_get *g, uint64_t first, uint64_t count);
const uint8_t *s3_get_peek(const struct s3_get *g, size_t *length);
void s3_get_take(struct s3_get *g, size_t length);
/* How many bytes of the range were not taken yet. */
uint64_t s3_get_left(const struct s3_get *g);
s3_fault s3_get_fault(const struct s3_get *g);
void s3_get_close(struct s3_get *g);

#endif
