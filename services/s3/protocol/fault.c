/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/fault.h"

#include "base/check.h"

static const struct {
    const char *code;
    unsigned status;
    const char *sentence;
} faults[S3_FAULTS] = {
    [S3_ACCESS_DENIED] = {"AccessDenied", 403, "Access denied"},
    [S3_EXPIRED] = {"AccessDenied", 403, "Request has expired"},
    [S3_UNSIGNED_HEADERS] = {"AccessDenied", 403, "There were headers present in the request which were not signed"},
    [S3_BAD_AUTHORIZATION] = {"AuthorizationHeaderMalformed", 400, "The authorization header is malformed"},
    [S3_BAD_QUERY_AUTHORIZATION] = {"AuthorizationQueryParametersError", 400,
                                    "The X-Amz- parameters of the query are missing, malformed or out of range"},
    [S3_UNKNOWN_KEY] = {"InvalidAccessKeyId", 403, "The access key is not known here"},
    [S3_WRONG_SIGNATURE] = {"SignatureDoesNotMatch", 403,
                            "The signature is not the one that the request and the secret key give"},
    [S3_SKEWED] =
        {"RequestTimeTooSkewed", 403,
         "The difference between the request time and the server's time is too large: 15 minutes are allowed"},
    [S3_MISSING_SECURITY] = {"MissingSecurityHeader", 400, "The request has to be signed, and a header is missing"},
    [S3_INVALID_REQUEST] = {"InvalidRequest", 400, "The request makes no sense"},
    [S3_INVALID_ARGUMENT] = {"InvalidArgument", 400, "An argument is not valid"},
    [S3_INVALID_URI] = {"InvalidURI", 400, "The URI could not be read"},
    [S3_INVALID_BUCKET_NAME] = {"InvalidBucketName", 400, "The name of the bucket is not valid"},
    [S3_KEY_TOO_LONG] = {"KeyTooLongError", 400, "The key is too long"},
    [S3_METHOD_NOT_ALLOWED] = {"MethodNotAllowed", 405, "The method is not allowed for this resource"},
    [S3_NOT_IMPLEMENTED] = {"NotImplemented", 501, "S3 has what is asked for, and this server does not offer it"},
    [S3_MALFORMED_XML] = {"MalformedXML", 400, "The XML is not well-formed, too large, or not what belongs here"},
    [S3_INVALID_RANGE] = {"InvalidRange", 416, "The object has none of the bytes of this range"},
    [S3_PRECONDITION_FAILED] = {"PreconditionFailed", 412, "A condition of the request does not hold"},
    [S3_NOT_MODIFIED] = {"NotModified", 304, "Not modified"},
    [S3_METADATA_TOO_LARGE] = {"MetadataTooLarge", 400, "The metadata of an object have at most 2 KiB"},
    [S3_MISSING_LENGTH] = {"MissingContentLength", 411, "The length of the body has to be said"},
    [S3_INCOMPLETE_BODY] = {"IncompleteBody", 400, "The body is not as long as was said"},
    [S3_ENTITY_TOO_LARGE] = {"EntityTooLarge", 400, "The body is larger than it may be"},
    [S3_ENTITY_TOO_SMALL] = {"EntityTooSmall", 400, "A part that is not the last one has at least 5 MiB"},
    [S3_INVALID_DIGEST] = {"InvalidDigest", 400, "The Content-MD5 is no MD5 in base64"},
    [S3_BAD_DIGEST] = {"BadDigest", 400, "The Content-MD5 is not that of the body"},
    [S3_WRONG_SHA256] = {"XAmzContentSHA256Mismatch", 400, "The x-amz-content-sha256 is not that of the body"},
    [S3_TIMED_OUT] = {"RequestTimeout", 400, "Nothing more came in time"},
    [S3_NO_BUCKET] = {"NoSuchBucket", 404, "There is no such bucket"},
    [S3_NO_KEY] = {"NoSuchKey", 404, "There is no such key"},
    [S3_NO_UPLOAD] = {"NoSuchUpload", 404, "There is no such upload: it was completed, or aborted, or never was"},
    [S3_INVALID_PART] = {"InvalidPart", 400, "A part is not there, or has another ETag"},
    [S3_PART_ORDER] = {"InvalidPartOrder", 400, "The parts are not in rising order"},
    [S3_BUCKET_EXISTS] = {"BucketAlreadyOwnedByYou", 409, "The bucket is there, and is yours"},
    [S3_BUCKET_NOT_EMPTY] = {"BucketNotEmpty", 409, "The bucket is not empty"},
    [S3_CONFLICT] = {"ConditionalRequestConflict", 409, "Another write of the same name was under way"},
    [S3_TOO_MANY_BUCKETS] = {"TooManyBuckets", 400, "There are as many buckets as there may be"},
    [S3_INTERNAL] = {"InternalError", 500, "Nobody knows whether it was done: ask again"},
    [S3_SLOW_DOWN] = {"SlowDown", 503, "Too much waits already: ask again more slowly"},
    [S3_UNAVAILABLE] = {"ServiceUnavailable", 503, "The store cannot be reached, and nothing was done: ask again"},
    [S3_QUOTA] = {"QuotaExceeded", 403, "You hold as much as you may"},
    [S3_FULL] = {"InsufficientStorage", 507, "The store is full"},
};

const char *s3_fault_code(s3_fault fault)
{
    CHECK(fault > S3_OK && fault < S3_FAULTS);
    return faults[fault].code;
}

unsigned s3_fault_status(s3_fault fault)
{
    CHECK(fault > S3_OK && fault < S3_FAULTS);
    return faults[fault].status;
}

const char *s3_fault_sentence(s3_fault fault)
{
    CHECK(fault > S3_OK && fault < S3_FAULTS);
    return faults[fault].sentence;
}

bool s3_fault_passes(s3_fault fault)
{
    return fault == S3_SLOW_DOWN || fault == S3_UNAVAILABLE;
}
