/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_spool.h - the files of a spool in memory (services/aggregate/sorted/host.h), with faults that a test asks for.
 * One thread.
 */
#ifndef KIT_FAKE_SPOOL_H
#define KIT_FAKE_SPOOL_H

#include "services/aggregate/sorted/host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct spool_file {
    uint8_t *bytes;
    uint64_t length;
    bool made;
};

struct fake_spool {
    struct spool_host host;
    unsigned open; /* files */
    unsigned made; /* files, ever */
    uint64_t room; /* bytes of all that was made */
    uint64_t used;
    unsigned reads, fail_read; /* the read of this number fails; 0: none */
    const char *input_name;    /* of the only input there is; NULL: none */
    const uint8_t *input;
    uint64_t input_length;
};

static inline int fake_spool_make(void *context, const char *folder, struct spool_file **out)
{
    struct fake_spool *s = context;
    (void)folder;
    *out = calloc(1, sizeof **out);
    (*out)->made = true;
    s->open++;
    s->made++;
    return 0;
}

static inline int fake_spool_write(void *context, struct spool_file *f, const uint8_t *bytes, uint64_t length)
{
    struct fake_spool *s = context;
    if (length > s->room - s->used) {
        return -ENOSPC;
    }
    f->bytes = realloc(f->bytes, f->length + length);
    memcpy(f->bytes + f->length, bytes, length);
    f->length += length;
    s->used += length;
    return 0;
}

static inline int fake_spool_input(void *context, const char *folder, const char *name, struct spool_file **out,
                                   uint64_t *length)
{
    struct fake_spool *s = context;
    (void)folder;
    if (s->input_name == NULL || strcmp(name, s->input_name) != 0) {
        return -ENOENT;
    }
    *out = calloc(1, sizeof **out);
    (*out)->bytes = malloc(s->input_length + 1);
    memcpy((*out)->bytes, s->input, s->input_length);
    (*out)->length = *length = s->input_length;
    s->open++;
    return 0;
}

static inline int fake_spool_read(void *context, struct spool_file *f, uint64_t offset, uint8_t *out, uint64_t length)
{
    struct fake_spool *s = context;
    if (++s->reads == s->fail_read) {
        return -EIO;
    }
    if (offset > f->length || length > f->length - offset) {
        return -ENODATA;
    }
    if (length > 0) {
        memcpy(out, f->bytes + offset, length);
    }
    return 0;
}

static inline void fake_spool_close(void *context, struct spool_file *f)
{
    struct fake_spool *s = context;
    s->used -= f->made ? f->length : 0;
    s->open--;
    free(f->bytes);
    free(f);
}

/* No file, and room for ever. */
static inline void fake_spool_init(struct fake_spool *s)
{
    *s = (struct fake_spool){.room = UINT64_MAX};
    s->host = (struct spool_host){.size = sizeof s->host, .context = s};
    s->host.make = fake_spool_make;
    s->host.write = fake_spool_write;
    s->host.input = fake_spool_input;
    s->host.read = fake_spool_read;
    s->host.close = fake_spool_close;
}

#endif
