/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/reply.h"

#include "services/s3/protocol/moment.h"
#include "services/s3/protocol/percent.h"

#include <string.h>

static void words(struct s3_buffer *out, const char *name, struct s3_words w)
{
    s3_xml_text(out, name, w.text, w.length);
}

static void moment(struct s3_buffer *out, const char *name, int64_t s)
{
    char text[S3_MOMENT_TEXT];
    s3_moment_xml(s, text);
    s3_xml_word(out, name, text);
}

static void etag(struct s3_buffer *out, const struct s3_etag *e)
{
    char text[S3_ETAG_TEXT];
    s3_etag_text(e, text);
    s3_buffer_text(out, "<ETag>&quot;");
    s3_buffer_text(out, text);
    s3_buffer_text(out, "&quot;</ETag>");
}

static void owner_of(struct s3_buffer *out, const char *element, const char *owner)
{
    s3_xml_open(out, element);
    s3_xml_word(out, "ID", owner);
    s3_xml_word(out, "DisplayName", owner);
    s3_xml_close(out, element);
}

void s3_reply_fault(struct s3_buffer *out, s3_fault fault, struct s3_words resource, const char *request_id,
                    const char *detail)
{
    s3_xml_begin(out);
    s3_xml_open(out, "Error");
    s3_xml_word(out, "Code", s3_fault_code(fault));
    s3_xml_open(out, "Message");
    s3_buffer_text(out, s3_fault_sentence(fault));
    if (detail != NULL) {
        s3_buffer_text(out, ": ");
        s3_xml_escape(out, detail, strlen(detail));
    }
    s3_xml_close(out, "Message");
    words(out, "Resource", resource);
    s3_xml_word(out, "RequestId", request_id);
    s3_xml_close(out, "Error");
}

void s3_reply_buckets(struct s3_buffer *out, const char *owner, const struct s3_bucket_row *row, size_t count)
{
    s3_xml_begin(out);
    s3_xml_open_root(out, "ListAllMyBucketsResult");
    owner_of(out, "Owner", owner);
    s3_xml_open(out, "Buckets");
    for (size_t i = 0; i < count; i++) {
        s3_xml_open(out, "Bucket");
        words(out, "Name", row[i].name);
        moment(out, "CreationDate", row[i].made_s);
        s3_xml_close(out, "Bucket");
    }
    s3_xml_close(out, "Buckets");
    s3_xml_close(out, "ListAllMyBucketsResult");
}

void s3_reply_location(struct s3_buffer *out, const char *region)
{
    s3_xml_begin(out);
    s3_xml_open_root(out, "LocationConstraint");
    s3_xml_escape(out, region, strcmp(region, "us-east-1") == 0 ? 0 : strlen(region));
    s3_xml_close(out, "LocationConstraint");
}

void s3_reply_versioning(struct s3_buffer *out)
{
    s3_xml_begin(out);
    s3_xml_open_root(out, "VersioningConfiguration");
    s3_xml_close(out, "VersioningConfiguration");
}

static void name(struct s3_buffer *out, const struct s3_list_page *p, const char *element, struct s3_words w)
{
    if (!p->encoded) {
        words(out, element, w);
        return;
    }
    s3_xml_open(out, element);
    s3_percent_encode(w.text, w.length, true, out);
    s3_xml_close(out, element);
}

static void content(struct s3_buffer *out, const struct s3_list_page *p, const struct s3_row *r)
{
    s3_xml_open(out, "Contents");
    name(out, p, "Key", r->name);
    moment(out, "LastModified", r->changed_s);
    etag(out, &r->etag);
    s3_xml_number(out, "Size", r->size);
    if (!p->v2 || p->owner) {
        owner_of(out, "Owner", "cubeway");
    }
    s3_xml_word(out, "StorageClass", "STANDARD");
    s3_xml_close(out, "Contents");
}

void s3_reply_list(struct s3_buffer *out, const struct s3_list_page *page)
{
    s3_xml_begin(out);
    s3_xml_open_root(out, "ListBucketResult");
    words(out, "Name", page->bucket);
    name(out, page, "Prefix", page->prefix);
    if (page->v2) {
        if (page->token.length > 0) {
            words(out, "ContinuationToken", page->token);
        }
        if (page->after.length > 0) {
            name(out, page, "StartAfter", page->after);
        }
        s3_xml_number(out, "KeyCount", page->count);
    } else {
        name(out, page, "Marker", page->after);
    }
    s3_xml_number(out, "MaxKeys", page->most);
    if (page->delimiter.length > 0) {
        name(out, page, "Delimiter", page->delimiter);
    }
    if (page->encoded) {
        s3_xml_word(out, "EncodingType", "url");
    }
    s3_xml_bool(out, "IsTruncated", page->more);
    if (page->more && page->v2) {
        words(out, "NextContinuationToken", page->next);
    } else if (page->more) {
        name(out, page, "NextMarker", page->next);
    }
    for (size_t i = 0; i < page->count; i++) {
        if (!page->row[i].common) {
            content(out, page, &page->row[i]);
        }
    }
    for (size_t i = 0; i < page->count; i++) {
        if (page->row[i].common) {
            s3_xml_open(out, "CommonPrefixes");
            name(out, page, "Prefix", page->row[i].name);
            s3_xml_close(out, "CommonPrefixes");
        }
    }
    s3_xml_close(out, "ListBucketResult");
}

void s3_reply_upload(struct s3_buffer *out, struct s3_words bucket, struct s3_words key, const char *upload)
{
    s3_xml_begin(out);
    s3_xml_open_root(out, "InitiateMultipartUploadResult");
    words(out, "Bucket", bucket);
    words(out, "Key", key);
    s3_xml_word(out, "UploadId", upload);
    s3_xml_close(out, "InitiateMultipartUploadResult");
}

void s3_reply_completed(struct s3_buffer *out, struct s3_words bucket, struct s3_words key, const struct s3_etag *e)
{
    s3_xml_begin(out);
    s3_xml_open_root(out, "CompleteMultipartUploadResult");
    s3_buffer_text(out, "<Location>/");
    s3_xml_escape(out, bucket.text, bucket.length);
    s3_buffer_text(out, "/");
    s3_percent_encode(key.text, key.length, true, out);
    s3_buffer_text(out, "</Location>");
    words(out, "Bucket", bucket);
    words(out, "Key", key);
    etag(out, e);
    s3_xml_close(out, "CompleteMultipartUploadResult");
}

void s3_reply_copied(struct s3_buffer *out, bool part, const struct s3_etag *e, int64_t changed_s)
{
    const char *element = part ? "CopyPartResult" : "CopyObjectResult";
    s3_xml_begin(out);
    s3_xml_open_root(out, element);
    moment(out, "LastModified", changed_s);
    etag(out, e);
    s3_xml_close(out, element);
}

void s3_reply_parts(struct s3_buffer *out, const struct s3_parts_page *page)
{
    s3_xml_begin(out);
    s3_xml_open_root(out, "ListPartsResult");
    words(out, "Bucket", page->bucket);
    words(out, "Key", page->key);
    s3_xml_word(out, "UploadId", page->upload);
    owner_of(out, "Initiator", "cubeway");
    owner_of(out, "Owner", "cubeway");
    s3_xml_word(out, "StorageClass", "STANDARD");
    s3_xml_number(out, "PartNumberMarker", page->after);
    s3_xml_number(out, "NextPartNumberMarker", page->count > 0 ? page->row[page->count - 1].number : page->after);
    s3_xml_number(out, "MaxParts", page->most);
    s3_xml_bool(out, "IsTruncated", page->more);
    for (size_t i = 0; i < page->count; i++) {
        s3_xml_open(out, "Part");
        s3_xml_number(out, "PartNumber", page->row[i].number);
        moment(out, "LastModified", page->row[i].changed_s);
        etag(out, &page->row[i].etag);
        s3_xml_number(out, "Size", page->row[i].size);
        s3_xml_close(out, "Part");
    }
    s3_xml_close(out, "ListPartsResult");
}

void s3_reply_uploads(struct s3_buffer *out, const struct s3_uploads_page *page)
{
    s3_xml_begin(out);
    s3_xml_open_root(out, "ListMultipartUploadsResult");
    words(out, "Bucket", page->bucket);
    words(out, "Prefix", page->prefix);
    s3_xml_number(out, "MaxUploads", page->most);
    s3_xml_bool(out, "IsTruncated", page->more);
    if (page->more && page->count > 0) {
        words(out, "NextKeyMarker", page->row[page->count - 1].key);
        s3_xml_word(out, "NextUploadIdMarker", page->row[page->count - 1].upload);
    }
    for (size_t i = 0; i < page->count; i++) {
        s3_xml_open(out, "Upload");
        words(out, "Key", page->row[i].key);
        s3_xml_word(out, "UploadId", page->row[i].upload);
        owner_of(out, "Initiator", "cubeway");
        owner_of(out, "Owner", "cubeway");
        s3_xml_word(out, "StorageClass", "STANDARD");
        moment(out, "Initiated", page->row[i].made_s);
        s3_xml_close(out, "Upload");
    }
    s3_xml_close(out, "ListMultipartUploadsResult");
}

void s3_reply_deleted(struct s3_buffer *out, bool quiet, const struct s3_deleted_row *row, size_t count)
{
    s3_xml_begin(out);
    s3_xml_open_root(out, "DeleteResult");
    for (size_t i = 0; i < count; i++) {
        bool good = row[i].fault == S3_OK;
        if (good && quiet) {
            continue;
        }
        s3_xml_open(out, good ? "Deleted" : "Error");
        words(out, "Key", row[i].key);
        if (!good) {
            s3_xml_word(out, "Code", s3_fault_code(row[i].fault));
            s3_xml_word(out, "Message", s3_fault_sentence(row[i].fault));
        }
        s3_xml_close(out, good ? "Deleted" : "Error");
    }
    s3_xml_close(out, "DeleteResult");
}
