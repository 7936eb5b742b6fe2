/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/denied.h"

#include "base/digest.h"

#include <errno.h>
#include <stdlib.h>

int denied_open(struct denied *d, uint32_t limit, uint64_t salt)
{
    uint32_t slots = 2;
    while (slots < 2 * limit) {
        slots *= 2;
    }
    *d = (struct denied){.mask = slots - 1, .limit = limit, .salt = salt};
    d->row = calloc(slots, sizeof *d->row);
    return d->row != NULL ? 0 : -ENOMEM;
}

void denied_close(struct denied *d)
{
    free(d->row);
    *d = (struct denied){0};
}

size_t denied_bytes(const struct denied *d)
{
    return ((size_t)d->mask + 1) * sizeof *d->row;
}

static bool same(const struct denied_row *a, const struct denied_row *b)
{
    return a->source_job == b->source_job && a->source_process == b->source_process && a->job == b->job &&
           a->process == b->process && a->port == b->port && a->key == b->key;
}

void denied_count(struct denied *d, const struct denied_row *what)
{
    d->total++;
    const uint64_t words[] = {
        d->salt,
        (uint64_t)what->source_job << 32 | what->source_process,
        (uint64_t)what->job << 32 | what->process,
        (uint64_t)what->port << 1 | what->key,
    };
    uint32_t at = (uint32_t)digest_of_words(words, sizeof words / sizeof *words) & d->mask;
    while (d->row[at].times != 0 && !same(&d->row[at], what)) {
        at = (at + 1) & d->mask;
    }
    struct denied_row *row = &d->row[at];
    if (row->times == 0) {
        if (d->used == d->limit) {
            d->overflow++;
            return;
        }
        d->used++;
        *row = *what;
        row->times = 0;
    }
    row->cause = what->cause;
    row->times++;
    row->latest = d->total;
}

const struct denied_row *denied_latest(const struct denied *d, cw_job source_job)
{
    const struct denied_row *latest = NULL, *row;
    for (uint32_t from = 0; (row = denied_next(d, &from)) != NULL;) {
        if (row->source_job == source_job && (latest == NULL || row->latest > latest->latest)) {
            latest = row;
        }
    }
    return latest;
}

const struct denied_row *denied_next(const struct denied *d, uint32_t *from)
{
    while (*from <= d->mask) {
        const struct denied_row *row = &d->row[(*from)++];
        if (row->times != 0) {
            return row;
        }
    }
    return NULL;
}
