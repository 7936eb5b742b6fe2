/* SPDX-License-Identifier: Apache-2.0 */
#include "services/jobs/records.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void records_hold(struct records_blob *blob)
{
    blob->holders++;
}

void records_release(struct records_blob *blob)
{
    if (blob != NULL && --blob->holders == 0) {
        free(blob);
    }
}

void records_close(struct records *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        records_release(s->item[i].blob);
    }
    free(s->item);
    *s = (struct records){.count = 0};
}

uint32_t records_from(const struct records *s, cw_job job)
{
    uint32_t low = 0, high = s->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->item[middle].mark.job < job) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct records_item *records_find(const struct records *s, cw_job job)
{
    uint32_t at = records_from(s, job);
    return at < s->count && s->item[at].mark.job == job ? &s->item[at] : NULL;
}

enum records_verdict records_judge(const struct records *s, const struct jobs_mark *mark, bool *fork)
{
    const struct records_item *held = records_find(s, mark->job);
    *fork = false;
    int order = held != NULL ? jobs_mark_compare(mark, &held->mark, fork) : 1;
    return order > 0 ? RECORDS_NEWER : order == 0 ? RECORDS_SAME : RECORDS_OLDER;
}

static uint64_t mark_digest(const struct jobs_mark *m)
{
    const uint64_t words[] = {(uint64_t)m->job << 1 | m->destroyed, m->generation, m->version, m->digest};
    return digest_of_words(words, sizeof words / sizeof *words);
}

/* Room for a job that is not there; -errno. */
static int make_room(struct records *s, cw_job job)
{
    if (s->count == RECORDS_JOBS_MAX) {
        return -ENOSPC;
    }
    if (s->count == s->capacity) {
        uint32_t capacity = s->capacity == 0 ? 8 : 2 * s->capacity;
        struct records_item *item = realloc(s->item, capacity * sizeof *item);
        if (item == NULL) {
            return -ENOMEM;
        }
        s->item = item;
        s->capacity = capacity;
    }
    uint32_t at = records_from(s, job);
    memmove(&s->item[at + 1], &s->item[at], (s->count - at) * sizeof *s->item);
    s->item[at] = (struct records_item){.mark = {.job = job}};
    s->count++;
    return 0;
}

int records_put(struct records *s, const struct jobs_mark *mark, const uint8_t *signed_record, size_t size,
                struct records_item **out)
{
    bool fork;
    CHECK(records_judge(s, mark, &fork) == RECORDS_NEWER);
    struct records_item *item = records_find(s, mark->job);
    size_t before = item != NULL ? item->blob->size : 0;
    if (size > RECORDS_RECORD_MAX || s->bytes - before + size > RECORDS_BYTES_MAX) {
        return -ENOSPC;
    }
    struct records_blob *blob = malloc(sizeof *blob + size);
    int rc = blob == NULL ? -ENOMEM : item == NULL ? make_room(s, mark->job) : 0;
    if (rc < 0) {
        free(blob);
        return rc;
    }
    blob->holders = 1;
    blob->size = size;
    memcpy(blob->bytes, signed_record, size);
    if (item == NULL) {
        item = records_find(s, mark->job);
        digest_set_add(&s->sum, mark_digest(mark));
    } else {
        digest_set_replace(&s->sum, mark_digest(&item->mark), mark_digest(mark));
        records_release(item->blob);
    }
    s->bytes += size - before;
    *item = (struct records_item){.mark = *mark, .blob = blob};
    *out = item;
    return 0;
}
