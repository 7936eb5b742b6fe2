/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body.c - an element means something by its name and the one around it, as `elements` lists them. Prefixes of name
 * spaces are passed over: S3 takes bodies with and without one.
 */
#include "services/s3/body/body.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>

enum element { STRANGE, ROOT, COMPLETE, PART, NUMBER, ETAG, DELETE, QUIET, OBJECT, KEY, VERSION, CREATE, LOCATION };

static const struct {
    s3_operation operation;
    enum element around;
    const char *name;
    enum element means;
} elements[] = {
    {S3_UPLOAD_COMPLETE, ROOT, "CompleteMultipartUpload", COMPLETE},
    {S3_UPLOAD_COMPLETE, COMPLETE, "Part", PART},
    {S3_UPLOAD_COMPLETE, PART, "PartNumber", NUMBER},
    {S3_UPLOAD_COMPLETE, PART, "ETag", ETAG},
    {S3_DELETE_OBJECTS, ROOT, "Delete", DELETE},
    {S3_DELETE_OBJECTS, DELETE, "Quiet", QUIET},
    {S3_DELETE_OBJECTS, DELETE, "Object", OBJECT},
    {S3_DELETE_OBJECTS, OBJECT, "Key", KEY},
    {S3_DELETE_OBJECTS, OBJECT, "VersionId", VERSION},
    {S3_BUCKET_CREATE, ROOT, "CreateBucketConfiguration", CREATE},
    {S3_BUCKET_CREATE, CREATE, "LocationConstraint", LOCATION},
};

enum { TEXT_MOST = 2048, PARTS_LEAST = 16 };

static void refuse(struct s3_body *b, s3_fault fault)
{
    if (b->fault == S3_OK) {
        b->fault = fault;
        XML_StopParser(b->parser, XML_FALSE);
    }
}

/* Makes room for one more. False: no memory. */
static bool room_for(void **array, unsigned count, size_t size)
{
    if (count != 0 && (count < PARTS_LEAST || (count & (count - 1)) != 0)) {
        return true; /* powers of two are where it grows */
    }
    void *more = realloc(*array, (count < PARTS_LEAST ? PARTS_LEAST : 2 * (size_t)count) * size);
    if (more != NULL) {
        *array = more;
    }
    return more != NULL;
}

/* ---- What elements hold ------------------------------------------------------------------------------------------ */

/* The text without white space at its ends, with a NUL. */
static char *trimmed(struct s3_body *b)
{
    static const char space[] = " \t\r\n";
    char *text = b->text.bytes != NULL ? b->text.bytes : NULL;
    if (text == NULL) {
        return NULL;
    }
    while (b->text.length > 0 && strchr(space, text[b->text.length - 1]) != NULL) {
        text[--b->text.length] = '\0';
    }
    return text + strspn(text, space);
}

static void end_number(struct s3_body *b, const char *text)
{
    size_t length = strlen(text);
    unsigned number = 0;
    if (length == 0 || length > 5 || strspn(text, "0123456789") != length || b->has_number) {
        refuse(b, S3_MALFORMED_XML);
        return;
    }
    for (; *text != '\0'; text++) {
        number = number * 10 + (unsigned)(*text - '0');
    }
    if (number < 1 || number > S3_PART_NUMBER_MOST) {
        refuse(b, S3_MALFORMED_XML);
        return;
    }
    b->part[b->parts].number = number;
    b->has_number = true;
}

static void begin_part(struct s3_body *b)
{
    if (b->parts == S3_PART_NUMBER_MOST) {
        refuse(b, S3_MALFORMED_XML);
    } else if (!room_for((void **)&b->part, b->parts, sizeof *b->part)) {
        refuse(b, S3_SLOW_DOWN);
    } else {
        b->part[b->parts] = (struct s3_body_part){0};
        b->has_number = b->has_etag = false;
    }
}

static void end_part(struct s3_body *b)
{
    if (!b->has_number || !b->has_etag) {
        refuse(b, S3_MALFORMED_XML);
    } else if (b->parts > 0 && b->part[b->parts].number <= b->part[b->parts - 1].number) {
        refuse(b, S3_PART_ORDER);
    } else {
        b->parts++;
    }
}

static void end_key(struct s3_body *b)
{
    const char *key = b->text.bytes != NULL ? b->text.bytes : "";
    if (b->has_key) {
        refuse(b, S3_MALFORMED_XML);
        return;
    }
    if (b->count == S3_KEYS_MOST || b->text.length == 0) {
        refuse(b, S3_MALFORMED_XML);
        return;
    }
    if (!room_for((void **)&b->key, b->count, sizeof *b->key)) {
        refuse(b, S3_SLOW_DOWN);
        return;
    }
    b->key[b->count++] = (struct s3_body_key){b->keys.length, b->text.length};
    s3_buffer_add(&b->keys, key, b->text.length);
    b->has_key = true;
}

static void end_location(struct s3_body *b, const char *text)
{
    if (strlen(text) >= sizeof b->location) {
        refuse(b, S3_INVALID_ARGUMENT);
        return;
    }
    memcpy(b->location, text, strlen(text) + 1);
}

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

static bool holds_text(uint8_t element)
{
    return element == NUMBER || element == ETAG || element == QUIET || element == KEY || element == VERSION ||
           element == LOCATION;
}

static uint8_t meaning(const struct s3_body *b, uint8_t around, const char *name)
{
    const char *colon = strchr(name, ':');
    name = colon != NULL ? colon + 1 : name;
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        if (elements[i].operation == b->operation && elements[i].around == around &&
            strcmp(elements[i].name, name) == 0) {
            return (uint8_t)elements[i].means;
        }
    }
    return STRANGE;
}

static void XMLCALL on_start(void *context, const XML_Char *name, const XML_Char **attributes)
{
    struct s3_body *b = context;
    (void)attributes;
    if (b->fault != S3_OK) {
        return; /* expat may end an empty element, or begin one, after it was told to stop */
    }
    uint8_t around = b->depth > 0 ? b->open[b->depth - 1] : ROOT;
    uint8_t means = meaning(b, around, name);
    if (b->depth == S3_BODY_DEPTH || (b->depth == 0 && means == STRANGE)) {
        refuse(b, S3_MALFORMED_XML);
        return;
    }
    b->open[b->depth++] = means;
    s3_buffer_clear(&b->text);
    if (means == PART) {
        begin_part(b);
    } else if (means == OBJECT) {
        b->has_key = false;
    }
}

static void XMLCALL on_end(void *context, const XML_Char *name)
{
    struct s3_body *b = context;
    (void)name;
    if (b->fault != S3_OK) {
        return;
    }
    uint8_t means = b->open[--b->depth];
    if (holds_text(means) && b->text.failed) {
        refuse(b, means == KEY ? S3_KEY_TOO_LONG : S3_MALFORMED_XML);
        return;
    }
    if (means == KEY) {
        end_key(b); /* white space is part of it */
        return;
    }
    const char *text = holds_text(means) ? trimmed(b) : NULL;
    text = text != NULL ? text : "";
    switch (means) {
    case NUMBER:
        end_number(b, text);
        break;
    case ETAG:
        b->part[b->parts].known = s3_etag_read(text, &b->part[b->parts].etag);
        b->has_etag = true;
        break;
    case PART:
        end_part(b);
        break;
    case QUIET:
        b->quiet = strcmp(text, "true") == 0;
        break;
    case OBJECT:
        if (!b->has_key) {
            refuse(b, S3_MALFORMED_XML);
        }
        break;
    case VERSION:
        if (strcmp(text, "null") != 0) {
            refuse(b, S3_NOT_IMPLEMENTED);
        }
        break;
    case LOCATION:
        end_location(b, text);
        break;
    default:
        break;
    }
}

static void XMLCALL on_text(void *context, const XML_Char *text, int length)
{
    struct s3_body *b = context;
    if (b->depth > 0 && holds_text(b->open[b->depth - 1])) {
        s3_buffer_add(&b->text, text, (size_t)length);
    }
}

static void XMLCALL on_doctype(void *context, const XML_Char *name, const XML_Char *system, const XML_Char *public_id,
                               int inner)
{
    (void)name;
    (void)system;
    (void)public_id;
    (void)inner;
    refuse(context, S3_MALFORMED_XML);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

s3_fault s3_body_open(struct s3_body *b, s3_operation operation)
{
    *b = (struct s3_body){.operation = operation, .text = {.most = TEXT_MOST}, .keys = {.most = S3_BODY_MOST}};
    XML_Parser parser = XML_ParserCreate("UTF-8"); /* whatever the document says of itself */
    b->parser = parser;
    if (parser == NULL) {
        b->fault = S3_SLOW_DOWN;
        return b->fault;
    }
    XML_SetUserData(parser, b);
    XML_SetElementHandler(parser, on_start, on_end);
    XML_SetCharacterDataHandler(parser, on_text);
    XML_SetStartDoctypeDeclHandler(parser, on_doctype);
    return S3_OK;
}

static s3_fault parse(struct s3_body *b, const void *bytes, size_t length, bool last)
{
    if (b->fault == S3_OK && XML_Parse(b->parser, bytes, (int)length, last) != XML_STATUS_OK && b->fault == S3_OK) {
        b->fault = XML_GetErrorCode(b->parser) == XML_ERROR_NO_MEMORY ? S3_SLOW_DOWN : S3_MALFORMED_XML;
    }
    return b->fault;
}

s3_fault s3_body_feed(struct s3_body *b, const void *bytes, size_t length)
{
    if (b->fault == S3_OK && length > S3_BODY_MOST - b->came) {
        b->fault = S3_MALFORMED_XML;
    }
    if (b->fault != S3_OK) {
        return b->fault;
    }
    b->came += length;
    return parse(b, bytes, length, false);
}

s3_fault s3_body_end(struct s3_body *b)
{
    if (b->fault == S3_OK && b->came == 0 && b->operation == S3_BUCKET_CREATE) {
        return S3_OK;
    }
    if (parse(b, "", 0, true) != S3_OK) {
        return b->fault;
    }
    if (b->keys.failed) {
        b->fault = S3_SLOW_DOWN;
    } else if ((b->operation == S3_UPLOAD_COMPLETE && b->parts == 0) ||
               (b->operation == S3_DELETE_OBJECTS && b->count == 0)) {
        b->fault = S3_MALFORMED_XML;
    }
    return b->fault;
}

void s3_body_close(struct s3_body *b)
{
    if (b->parser != NULL) {
        XML_ParserFree(b->parser);
    }
    free(b->part);
    free(b->key);
    s3_buffer_drop(&b->keys);
    s3_buffer_drop(&b->text);
    *b = (struct s3_body){0};
}
