/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body.h - bodies of requests that are XML: which parts make an object, which keys are to be deleted, where a bucket is
 * to be. Read by expat as they come, in any pieces.
 *
 * Bounds: S3_BODY_MOST bytes, elements S3_BODY_DEPTH deep, S3_PART_NUMBER_MOST parts, S3_KEYS_MOST keys, and no
 * document type: so no entity is ever defined, and none can explode. What is not in the language of S3 is passed over,
 * as S3 does with what newer clients say.
 */
#ifndef SERVICES_S3_BODY_BODY_H
#define SERVICES_S3_BODY_BODY_H

#include "services/s3/protocol/buffer.h"
#include "services/s3/protocol/etag.h"
#include "services/s3/protocol/request.h"

enum { S3_BODY_MOST = 2 << 20, S3_BODY_DEPTH = 8, S3_LOCATION_MOST = 64 };

struct s3_body_part {
    unsigned number;
    bool known; /* the ETag is one that can be ours */
    struct s3_etag etag;
};

struct s3_body_key {
    size_t at, length; /* in `keys` */
};

struct s3_body {
    s3_operation operation;
    /* S3_UPLOAD_COMPLETE: in rising order; at least one */
    struct s3_body_part *part;
    unsigned parts;
    /* S3_DELETE_OBJECTS: at least one */
    struct s3_body_key *key;
    unsigned count;
    struct s3_buffer keys;
    bool quiet;
    /* S3_BUCKET_CREATE: "" when it does not say */
    char location[S3_LOCATION_MOST];
    /* its reader's own */
    void *parser;
    s3_fault fault;
    size_t came;
    unsigned depth;
    uint8_t open[S3_BODY_DEPTH]; /* what the elements that are open mean */
    bool has_number, has_etag, has_key;
    struct s3_buffer text; /* of the innermost one */
};

/* Begins to read the body of such an operation. S3_SLOW_DOWN: no memory. s3_body_close() is due in any case. */
CW_MUST_CHECK s3_fault s3_body_open(struct s3_body *b, s3_operation operation);
/* Reads the next bytes. S3_MALFORMED_XML, S3_KEY_TOO_LONG, S3_PART_ORDER, S3_SLOW_DOWN: it stays so. */
CW_MUST_CHECK s3_fault s3_body_feed(struct s3_body *b, const void *bytes, size_t length);
/*
 * Says that all has come: S3_OK, and the fields above are filled. An empty body is good for S3_BUCKET_CREATE alone.
 */
CW_MUST_CHECK s3_fault s3_body_end(struct s3_body *b);
void s3_body_close(struct s3_body *b);

#endif
