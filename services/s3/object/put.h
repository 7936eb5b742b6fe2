/* SPDX-License-Identifier: Apache-2.0 */
/*
 * put.h - an object that comes: its bytes go to the store as they come, and the object is there, all of it, with the
 * last step, which puts its manifest in the place of the one that was there. Whatever goes wrong before leaves the
 * object as it was, and nothing that is not dropped later.
 *
 *     put = s3_put_open(desk, &order, hooks, arg)
 *     s3_put_feed(put, bytes, length)     takes some of them; 0: none now, hooks.room() follows
 *     s3_put_end(put)                     all have come
 *     hooks.done(arg, &outcome)           once, at any time after open, and never from within one of these calls but
 *                                         feed and end; the put is over then
 *     s3_put_cancel(put)                  instead: the client went away; done() does not come
 *
 * Of two puts of one object at the same time the last one to end stays, whole.
 */
#ifndef SERVICES_S3_OBJECT_PUT_H
#define SERVICES_S3_OBJECT_PUT_H

#include "services/s3/object/desk.h"

struct s3_put;

struct s3_put_order {
    cw_job job;
    struct s3_words_of {
        const char *text;
        size_t length;
    } bucket, key;      /* judged (name.h) */
    const char *upload; /* a part of this upload; NULL: an object */
    unsigned part;
    uint64_t size;  /* of all the bytes that will come */
    unsigned metas; /* of an object; copied */
    const struct s3_meta *meta;
    s3_put_if put_if; /* of an object; match: the ETags it may have, borrowed until done() */
    const char *match;
    const uint8_t *md5; /* what the bytes have to have; NULL: anything. Borrowed until done() */
    const uint8_t *sha256;
    bool lent; /* memory for two chunks is the caller's already: for copies */
};

struct s3_put_outcome {
    s3_fault fault;
    struct s3_etag etag;
    int64_t changed_s;
};

struct s3_put_hooks {
    void (*room)(void *arg);
    void (*done)(void *arg, const struct s3_put_outcome *outcome);
};

/* Copies the order. NULL: no memory. */
struct s3_put *s3_put_open(struct s3_desk *d, const struct s3_put_order *order, struct s3_put_hooks hooks, void *arg);
/* Not more than order.size in all. */
size_t s3_put_feed(struct s3_put *p, const void *bytes, size_t length);
void s3_put_end(struct s3_put *p);
void s3_put_cancel(struct s3_put *p);

#endif
