/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.h - an object, or a part of an upload, that is made of the bytes of another object: a get and a put, bytes from
 * one to the other within this server. It has the memory for a chunk of each before it begins, so that copies never
 * wait for one another.
 */
#ifndef SERVICES_S3_OBJECT_COPY_H
#define SERVICES_S3_OBJECT_COPY_H

#include "services/s3/object/get.h"
#include "services/s3/object/put.h"

struct s3_copy;

struct s3_copy_hooks {
    /*
     * What the source is: S3_OK, with which bytes of it are wanted in *first and *count (all of them are there); or a
     * fault, which ends the copy. May change the order: metas of its own, or those of the source, which are borrowed
     * until the hook returns and are copied then.
     */
    s3_fault (*judge)(void *arg, const struct s3_manifest *source, struct s3_put_order *order, uint64_t *first,
                      uint64_t *count);
    /* Once, as of a put. */
    void (*done)(void *arg, const struct s3_put_outcome *outcome);
};

/* Copies both orders. NULL: no memory. */
struct s3_copy *s3_copy_open(struct s3_desk *d, const struct s3_get_order *from, const struct s3_put_order *to,
                             struct s3_copy_hooks hooks, void *arg);
/* The client went away: done() does not come. */
void s3_copy_cancel(struct s3_copy *c);

#endif
