/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs of any bytes, by any mapper: in pieces, to a sink that is often full, they give what they give at once. The
 * first byte is the mapper, the second the chance for pieces.
 */
#include "services/aggregate/sorted/mapper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sink {
    uint64_t digest, records;
    uint32_t chance;
    bool moody;
};

static struct mapper mapper;

static void hold(bool good)
{
    if (!good) {
        abort();
    }
}

static uint32_t draw(struct sink *s)
{
    s->chance = s->chance * 1664525 + 1013904223;
    return s->chance >> 16;
}

static void add(struct sink *s, cw_bytes bytes)
{
    for (size_t i = 0; i < bytes.length; i++) {
        s->digest = (s->digest ^ bytes.bytes[i]) * UINT64_C(0x100000001b3);
    }
    s->digest = (s->digest ^ 0x1ff) * UINT64_C(0x100000001b3);
}

static int take(void *context, cw_bytes key, cw_bytes value)
{
    struct sink *s = context;
    hold(key.length >= 1 && key.length <= RECORD_KEY_MOST && value.length <= RECORD_MOST - key.length);
    if (s->moody && draw(s) % 2) {
        return -ENOSPC;
    }
    add(s, key);
    add(s, value);
    s->records++;
    return 0;
}

static int map(struct mapper_kind_of of, const uint8_t *bytes, size_t size, struct sink *s)
{
    int rc = 0;
    mapper_open(&mapper, of, take, s);
    for (size_t at = 0; at < size && rc == 0;) {
        size_t n = s->moody ? 1 + draw(s) % 9 : size, used, past = 0;
        n = n < size - at ? n : size - at;
        while ((rc = mapper_feed(&mapper, bytes + at + past, n - past, &used)) == -ENOSPC) {
            past += used;
        }
        hold(rc < 0 || past + used == n);
        at += n;
    }
    while (rc == 0 && (rc = mapper_end(&mapper)) == -ENOSPC) {
        rc = 0;
    }
    hold(rc == 0 || mapper.fault != NULL);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct mapper_kind_of kinds[] = {
        {.kind = MAPPER_WORDS, .separator = -1},
        {.kind = MAPPER_LINES, .separator = -1},
        {.kind = MAPPER_KV, .separator = -1},
        {.kind = MAPPER_FIELD, .field = 2, .separator = -1},
        {.kind = MAPPER_FIELD, .field = 3, .separator = ','},
        {.kind = MAPPER_RECORDS, .separator = -1},
    };
    if (size < 2) {
        return 0;
    }
    struct sink whole = {0}, pieces = {.moody = true, .chance = data[1]};
    struct mapper_kind_of of = kinds[data[0] % (sizeof kinds / sizeof *kinds)];
    uint8_t *bytes = malloc(size > 2 ? size - 2 : 1); /* exact: a sanitizer sees one byte too many */
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, data + 2, size - 2);
    int rc = map(of, bytes, size - 2, &whole);
    uint64_t line = mapper.line, skipped = mapper.skipped;
    hold(map(of, bytes, size - 2, &pieces) == rc);
    hold(whole.digest == pieces.digest && whole.records == pieces.records);
    hold(line == mapper.line && skipped == mapper.skipped);
    free(bytes);
    return 0;
}
