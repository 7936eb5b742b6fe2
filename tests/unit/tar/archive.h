/* SPDX-License-Identifier: Apache-2.0 */
/* archive.h - an archive in memory, for the tests of formats/tar. */
#ifndef UNIT_TAR_ARCHIVE_H
#define UNIT_TAR_ARCHIVE_H

#include "tar/tar.h"

#include <errno.h>
#include <string.h>

enum { ARCHIVE_MOST = 1 << 20 };

struct archive {
    uint8_t bytes[ARCHIVE_MOST];
    size_t size, at;
    size_t most; /* bytes of one read or write */
};

static inline int archive_write(void *context, const void *bytes, size_t size)
{
    struct archive *a = context;
    if (size > sizeof a->bytes - a->size) {
        return -ENOSPC;
    }
    memcpy(a->bytes + a->size, bytes, size);
    a->size += size;
    return 0;
}

static inline int64_t archive_read(void *context, void *out, size_t size)
{
    struct archive *a = context;
    size = size > a->size - a->at ? a->size - a->at : size;
    size = a->most > 0 && size > a->most ? a->most : size;
    memcpy(out, a->bytes + a->at, size);
    a->at += size;
    return (int64_t)size;
}

#endif
