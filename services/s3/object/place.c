/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/object/place.h"

#include "base/check.h"

#include <string.h>

static void add(struct s3_place *p, const char *bytes, size_t length)
{
    CHECK(length <= S3_PLACE_MOST - p->length);
    memcpy(p->text + p->length, bytes, length);
    p->length += length;
    p->text[p->length] = '\0';
}

static void begin(struct s3_place *p, const char *kind)
{
    p->length = 0;
    add(p, kind, 2);
}

static void add_number(struct s3_place *p, uint64_t number, unsigned base, unsigned width)
{
    char digits[16];
    for (unsigned i = width; i-- > 0; number /= base) {
        digits[i] = "0123456789abcdef"[number % base];
    }
    add(p, digits, width);
}

void s3_place_bucket(struct s3_place *p, const char *bucket, size_t length)
{
    begin(p, "B/");
    add(p, bucket, length);
}

void s3_place_object(struct s3_place *p, const char *bucket, size_t bucket_length, const char *key, size_t key_length)
{
    begin(p, "O/");
    add(p, bucket, bucket_length);
    add(p, "/", 1);
    add(p, key, key_length);
}

static void add_lot(struct s3_place *p, const uint8_t lot[static S3_LOT_ID])
{
    char text[2 * S3_LOT_ID + 1];
    hash_text(lot, S3_LOT_ID, text);
    add(p, text, (size_t)2 * S3_LOT_ID);
}

void s3_place_chunk(struct s3_place *p, const uint8_t lot[static S3_LOT_ID], uint64_t index)
{
    begin(p, "D/");
    add_lot(p, lot);
    add(p, "/", 1);
    add_number(p, index, 16, 12);
}

void s3_place_lot(struct s3_place *p, const uint8_t lot[static S3_LOT_ID])
{
    begin(p, "L/");
    add_lot(p, lot);
}

void s3_place_upload(struct s3_place *p, const char *upload)
{
    begin(p, "U/");
    add(p, upload, S3_UPLOAD_ID);
}

void s3_place_part(struct s3_place *p, const char *upload, unsigned part)
{
    begin(p, "P/");
    add(p, upload, S3_UPLOAD_ID);
    add(p, "/", 1);
    if (part > 0) {
        add_number(p, part, 10, 5);
    }
}
