/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/segments.h"

#include "base/check.h"
#include "storage/disk.h"
#include "storage/mutant.h"

#include <stdlib.h>
#include <string.h>

enum { DIGITS = 6 };

void segments_open(struct segments *all, bool meta, uint32_t size, uint32_t block)
{
    *all = (struct segments){.meta = meta, .size = size, .block = block};
}

void segments_close(struct segments *all)
{
    free(all->list);
    segments_open(all, all->meta, all->size, all->block);
}

struct segment *segments_add(struct segments *all)
{
    if (all->count == all->room) {
        uint32_t room = all->room == 0 ? 8 : all->room * 2;
        struct segment *more = realloc(all->list, room * sizeof *more);
        if (more == NULL) {
            return NULL;
        }
        all->list = more;
        all->room = room;
    }
    all->list[all->count] = (struct segment){.state = SEGMENT_MAKING};
    return &all->list[all->count++];
}

struct segment *segments_at(const struct segments *all, uint32_t number)
{
    CHECK(number >= 1 && number <= all->count);
    return &all->list[number - 1];
}

uint32_t segments_free(const struct segments *all)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        count += all->list[i].state == SEGMENT_FREE;
    }
    return count;
}

uint32_t segments_padded(const struct segments *all, uint32_t size)
{
    return (size + all->block - 1) / all->block * all->block;
}

static bool fits(const struct segments *all, uint32_t size)
{
    return all->head != 0 && segments_padded(all, size) <= all->size - segments_at(all, all->head)->used;
}

bool segments_has_room(const struct segments *all, uint32_t size, uint32_t keep)
{
    return fits(all, size) || segments_free(all) > keep;
}

uint32_t segments_take(struct segments *all, uint32_t size, uint64_t last, uint32_t *offset)
{
    CHECK(segments_padded(all, size) <= all->size);
    if (!fits(all, size)) {
        uint32_t number = 1;
        while (number <= all->count && segments_at(all, number)->state != SEGMENT_FREE) {
            number++;
        }
        if (number > all->count) {
            return 0;
        }
        if (all->head != 0) {
            segments_at(all, all->head)->state = SEGMENT_FULL;
            segments_at(all, all->head)->last = last;
        }
        all->head = number;
        segments_at(all, number)->state = SEGMENT_HEAD;
        segments_at(all, number)->used = 0;
    }
    struct segment *head = segments_at(all, all->head);
    *offset = head->used;
    head->used += segments_padded(all, size);
    return all->head;
}

void segments_live(struct segments *all, uint32_t number, uint32_t size, bool in)
{
    if (number == 0) {
        return;
    }
    struct segment *segment = segments_at(all, number);
    CHECK(in || segment->live >= size);
    segment->live = in ? segment->live + size : segment->live - size;
}

/* Is what the segment holds known to recovery without it? */
static bool is_behind(const struct segments *all, const struct segment *segment, uint64_t until)
{
    return !all->meta || segment->last <= until || STORAGE_MUTANT(RECYCLE_EARLY);
}

bool segments_recycle(struct segments *all, uint64_t until)
{
    bool some = false;
    for (uint32_t i = 0; i < all->count; i++) {
        struct segment *segment = &all->list[i];
        if (segment->state == SEGMENT_FULL && segment->live == 0 && segment->pins == 0 &&
            is_behind(all, segment, until)) {
            segment->state = SEGMENT_FREE;
            segment->stuck = false;
            some = true;
        }
        if (!all->meta && segment->state == SEGMENT_HEAD && segment->live == 0 && segment->pins == 0) {
            segment->used = 0;
        }
    }
    return some;
}

void segments_close_head(struct segments *all, uint32_t percent)
{
    struct segment *head = all->head == 0 ? NULL : segments_at(all, all->head);
    if (head != NULL && all->size - head->used < all->size / 3 && head->live != 0 && head->pins == 0 &&
        head->live < (uint64_t)all->size * percent / 100) {
        head->state = SEGMENT_FULL;
        all->head = 0;
    }
}

uint32_t segments_sparse(const struct segments *all, uint32_t percent, uint64_t until)
{
    uint32_t best = 0;
    uint64_t least = (uint64_t)all->size * percent / 100;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct segment *segment = &all->list[i];
        if (segment->state == SEGMENT_FULL && segment->live != 0 && segment->live < least && !segment->stuck &&
            is_behind(all, segment, until)) {
            least = segment->live;
            best = i + 1;
        }
    }
    return best;
}

static const char *prefix_of(bool meta)
{
    return meta ? "meta-" : "blob-";
}

void segments_name(bool meta, uint32_t number, char *out)
{
    memcpy(out, prefix_of(meta), 5);
    for (int i = DIGITS; i-- > 0; number /= 10) {
        out[5 + i] = (char)('0' + number % 10);
    }
    memcpy(out + 5 + DIGITS, ".seg", 5);
}

uint32_t segments_number(bool meta, const char *name)
{
    uint32_t number = 0;
    if (strlen(name) != 5 + DIGITS + 4 || memcmp(name, prefix_of(meta), 5) != 0 ||
        strcmp(name + 5 + DIGITS, ".seg") != 0) {
        return 0;
    }
    for (int i = 0; i < DIGITS; i++) {
        if (name[5 + i] < '0' || name[5 + i] > '9') {
            return 0;
        }
        number = number * 10 + (uint32_t)(name[5 + i] - '0');
    }
    return number;
}
