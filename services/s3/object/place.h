/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - under which names of the store what belongs to the image store is kept. All of it is in the job that the
 * credentials name, so a job with both kinds of names sees all of these in `cwctl store list`. Pure.
 *
 *     B/bucket                a bucket; its register's flags are when it was made
 *     O/bucket/key            an object: its manifest
 *     D/lot/index             a chunk of a lot; lot and index are hex digits
 *     L/lot                   for whom the lot is, from before its first chunk until after its last one
 *     U/upload                an upload in parts
 *     P/upload/part           a part of one: a manifest of one lot; five digits
 */
#ifndef SERVICES_S3_OBJECT_PLACE_H
#define SERVICES_S3_OBJECT_PLACE_H

#include "services/s3/object/manifest.h"

enum { S3_PLACE_MOST = 1024 };

struct s3_place {
    size_t length;
    char text[S3_PLACE_MOST + 1]; /* with a NUL behind it */
};

void s3_place_bucket(struct s3_place *p, const char *bucket, size_t length);
/* key may be empty, or what keys begin with: for a list. The names were judged (name.h). */
void s3_place_object(struct s3_place *p, const char *bucket, size_t bucket_length, const char *key, size_t key_length);
void s3_place_chunk(struct s3_place *p, const uint8_t lot[static S3_LOT_ID], uint64_t index);
void s3_place_lot(struct s3_place *p, const uint8_t lot[static S3_LOT_ID]);
/* upload: S3_UPLOAD_ID digits. part 0: what the names of all its parts begin with. */
void s3_place_upload(struct s3_place *p, const char *upload);
void s3_place_part(struct s3_place *p, const char *upload, unsigned part);

#endif
