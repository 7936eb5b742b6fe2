/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.c - the bytes of a `put`: those in its own words, and those that `more` staged before, for records that are
 * longer than a command.
 */
#include "services/jobs/jobs_internal.h"

#include "base/base64.h"
#include "base/words.h"
#include "services/reply/refuse.h"

#include <errno.h>
#include <stdlib.h>

/* An option has something other than padding behind its first '='. */
static bool is_option(const char *word)
{
    const char *sign = strchr(word, '=');
    return sign != NULL && sign[strspn(sign, "=")] != '\0';
}

/*
 * A whole record in the words stands for itself. Other words continue what was staged, by whomever: bytes that another
 * operator staged and left are not to spoil a put.
 */
static size_t join_staged(struct jobs *j, uint8_t *bytes, size_t got)
{
    struct jobs_mark mark;
    const uint8_t *tail = bytes + j->staged;
    bool whole = got > JOBS_SIGNATURE_BYTES && jobs_mark_of(tail, got - JOBS_SIGNATURE_BYTES, &mark);
    if (whole) {
        memmove(bytes, tail, got);
    }
    size_t size = whole ? got : j->staged + got;
    j->staged = whole ? j->staged : 0;
    return size;
}

int jobs_stage_join(struct jobs *j, int argc, const char *const *argv, uint8_t **bytes, size_t *size)
{
    int words = 0;
    size_t length = 0;
    while (words < argc && !is_option(argv[words])) {
        length += strlen(argv[words++]);
    }
    char *text = malloc(length + 1);
    *bytes = malloc(RECORDS_RECORD_MAX);
    if (text == NULL || *bytes == NULL) {
        free(text);
        return -ENOMEM;
    }
    text[0] = '\0';
    for (int i = 0, at = 0; i < words; i++) {
        size_t n = strlen(argv[i]);
        memcpy(text + at, argv[i], n + 1);
        at += (int)n;
    }
    if (j->staged > 0) {
        memcpy(*bytes, j->stage, j->staged);
    }
    int got = base64_decode(text, *bytes + j->staged, RECORDS_RECORD_MAX - j->staged);
    free(text);
    *size = join_staged(j, *bytes, got > 0 ? (size_t)got : 0);
    return got < 0 ? got : words;
}

int jobs_command_more(struct jobs *j, cw_request *r, int argc, const char *const *argv)
{
    uint64_t offset;
    if (argc != 2 || words_number(argv[0], 0, RECORDS_RECORD_MAX, &offset) < 0) {
        return refuse_request(
            r, "the command is: more OFFSET BASE64, with the bytes that the next put begins with; not: '%.60s'",
            argc > 0 ? argv[0] : "");
    }
    if (offset != 0 && offset != j->staged) {
        return refuse_request(r, "%zu bytes are staged here: continue at that offset, or begin again at 0", j->staged);
    }
    if (j->stage == NULL) {
        j->stage = malloc(RECORDS_RECORD_MAX);
    }
    if (j->stage == NULL) {
        return -ENOMEM;
    }
    int got = base64_decode(argv[1], j->stage + offset, RECORDS_RECORD_MAX - offset);
    if (got < 0) {
        return refuse_request(r, "%s: '%.60s'",
                              got == -EMSGSIZE ? "that is more than a record may have" : "base64 is expected, not",
                              argv[1]);
    }
    j->staged = offset + (size_t)got;
    cw_request_int(r, "bytes", (int64_t)j->staged);
    return 0;
}
