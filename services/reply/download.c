/* SPDX-License-Identifier: Apache-2.0 */
#include "services/reply/download.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void drop(struct download *d)
{
    free(d->bytes);
    *d = (struct download){.bytes = NULL};
}

static bool is(const struct download *d, const struct download_of *of)
{
    return d->bytes != NULL && d->version == of->version && d->job == of->job && d->name_length == of->name_length &&
           memcmp(d->bytes + d->length, of->name, of->name_length) == 0;
}

const struct download *download_find(const struct downloads *s, const struct download_of *of)
{
    for (unsigned i = 0; i < DOWNLOADS; i++) {
        if (is(&s->download[i], of)) {
            return &s->download[i];
        }
    }
    return NULL;
}

int download_keep(struct downloads *s, const struct download_of *of, uint32_t flags, const uint8_t *bytes,
                  size_t length, cw_time now)
{
    struct download *d = NULL;
    (void)download_expire(s, now);
    for (unsigned i = 0; i < DOWNLOADS; i++) {
        if (is(&s->download[i], of)) {
            s->download[i].latest = now;
            return 0;
        }
        d = d == NULL && s->download[i].bytes == NULL ? &s->download[i] : d;
    }
    if (d == NULL) {
        return -EBUSY;
    }
    uint8_t *copy = malloc(length + of->name_length + 1);
    if (copy == NULL) {
        return -ENOMEM;
    }
    memcpy(copy, bytes, length);
    memcpy(copy + length, of->name, of->name_length);
    *d = (struct download){.bytes = copy,
                           .length = length,
                           .name_length = of->name_length,
                           .job = of->job,
                           .flags = flags,
                           .version = of->version,
                           .latest = now};
    return 0;
}

void download_was_read(struct downloads *s, const struct download_of *of, size_t to, cw_time now)
{
    for (unsigned i = 0; i < DOWNLOADS; i++) {
        struct download *d = &s->download[i];
        if (is(d, of)) {
            d->latest = now;
            if (to >= d->length) {
                drop(d);
            }
            return;
        }
    }
}

bool download_expire(struct downloads *s, cw_time now)
{
    bool more = false;
    for (unsigned i = 0; i < DOWNLOADS; i++) {
        struct download *d = &s->download[i];
        if (d->bytes != NULL && cw_time_since(now, d->latest).ns > CW_SEC(DOWNLOAD_LIFE_S).ns) {
            drop(d);
        }
        more = more || d->bytes != NULL;
    }
    return more;
}

void download_close(struct downloads *s)
{
    for (unsigned i = 0; i < DOWNLOADS; i++) {
        drop(&s->download[i]);
    }
}
