/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing.h - a page of a bucket's keys, in order, with what a client is told of each; or of the buckets. Keys that
 * have a delimiter behind the prefix are told as one row, up to the delimiter.
 *
 * A list of the store says which names there are; what they hold, a window of questions for manifests does. A key that
 * went in between is left out.
 */
#ifndef SERVICES_S3_OBJECT_LISTING_H
#define SERVICES_S3_OBJECT_LISTING_H

#include "services/s3/object/desk.h"
#include "services/s3/protocol/reply.h"

struct s3_listing;

struct s3_listing_order {
    cw_job job;
    /* Borrowed for the call; judged, where they are bucket and key. */
    struct s3_words bucket;    /* of length 0: the buckets are wanted, all of them, and nothing else here counts */
    struct s3_words prefix;    /* any UTF-8 */
    struct s3_words delimiter; /* length 0: none */
    struct s3_words after;     /* only keys, and common beginnings, behind this one */
    unsigned most;             /* rows, 0..1,000 */
};

struct s3_listing_page {
    s3_fault fault;
    const struct s3_row *row; /* borrowed for the call; of buckets the name, and changed_s: when it was made */
    size_t count;
    bool more;
    struct s3_words next; /* with `more`: the `after` of the next page */
};

typedef void (*s3_listing_done)(void *arg, const struct s3_listing_page *page);

/*
 * Begins; done() comes once, never from within this call. NULL: no memory, or the store takes no questions now. Faults:
 * S3_NO_BUCKET, S3_TOO_MANY_BUCKETS (more than one page of them, 1,000), the store's.
 */
struct s3_listing *s3_listing_open(struct s3_desk *d, const struct s3_listing_order *order, s3_listing_done done,
                                   void *arg);
/* The client went away: done() does not come. */
void s3_listing_cancel(struct s3_listing *l);

#endif
