/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.h - what the register under an object's name holds: its length, ETag, date and metadata, and where its bytes
 * are. A short object's bytes are in it. Those of a longer one are in *lots*: a lot is one upload's bytes in chunks,
 * registers of their own that are written once. An object that was put whole has one lot, one that was put in parts a
 * lot for each part. Pure.
 */
#ifndef SERVICES_S3_OBJECT_MANIFEST_H
#define SERVICES_S3_OBJECT_MANIFEST_H

#include "services/s3/protocol/buffer.h"
#include "services/s3/protocol/etag.h"
#include "services/s3/protocol/request.h"

enum {
    S3_LOT_ID = 16,
    S3_METAS_MOST = 64,
    S3_META_BYTES_MOST = 8192, /* names and values together */
    S3_INLINE_MOST = 64 << 10,
};
#define S3_OBJECT_MOST (INT64_C(5) << 40) /* S3's own bound */

struct s3_lot {
    uint8_t id[S3_LOT_ID];
    uint64_t size;  /* above 0 */
    uint32_t chunk; /* bytes of each of its chunks but the last */
};

struct s3_meta {
    const char *name, *value; /* with NULs behind them */
};

struct s3_manifest {
    struct s3_etag etag;
    int64_t changed_s;
    uint64_t size;
    unsigned metas;
    struct s3_meta meta[S3_METAS_MOST];
    const uint8_t *bytes; /* the object's; NULL: they are in lots */
    uint32_t lots;
    /* Where the lots are, encoded; s3_manifest_lot() reads them. */
    const uint8_t *lot_bytes;
};

/*
 * Appends it to out. `lot` are m->lots lots, whose sizes make m->size; with none of them and m->bytes NULL the object
 * is empty.
 */
void s3_manifest_write(const struct s3_manifest *m, const struct s3_lot *lot, struct s3_buffer *out);
/* Reads one, whole; borrows the bytes. False: it is none. */
CW_MUST_CHECK bool s3_manifest_read(const uint8_t *bytes, size_t length, struct s3_manifest *out);
/* Lot i of a manifest that was read, below m->lots. */
struct s3_lot s3_manifest_lot(const struct s3_manifest *m, uint32_t i);
/* The value of that name, in any case of letters; NULL: there is none. */
const char *s3_manifest_meta(const struct s3_manifest *m, const char *name);

/* How many chunks a lot has, and how many bytes chunk i of them. */
uint64_t s3_lot_chunks(const struct s3_lot *lot);
uint32_t s3_lot_chunk(const struct s3_lot *lot, uint64_t i);

#endif
