/* SPDX-License-Identifier: Apache-2.0 */
#include "commandline/inorder.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

struct waiting {
    int64_t at_us;
    uint64_t number; /* in the order of adding */
    cw_time heard;
    void *line;
};

struct inorder {
    struct waiting *waiting;
    size_t count, room;
    uint64_t added;
    int64_t given_us; /* the latest time of a line that was given */
};

struct inorder *inorder_open(void)
{
    struct inorder *o = calloc(1, sizeof *o);
    CHECK(o != NULL);
    o->given_us = INT64_MIN;
    return o;
}

static void drop_first(struct inorder *o, size_t count, void (*drop)(void *line))
{
    for (size_t i = 0; drop != NULL && i < count; i++) {
        drop(o->waiting[i].line);
    }
    o->count -= count;
    if (o->count > 0) {
        memmove(o->waiting, o->waiting + count, o->count * sizeof *o->waiting);
    }
}

void inorder_close(struct inorder *o, void (*drop)(void *line))
{
    drop_first(o, o->count, drop);
    free(o->waiting);
    free(o);
}

void inorder_add(struct inorder *o, int64_t at_us, cw_time heard, void *line)
{
    if (o->count == o->room) {
        o->room = 2 * o->room + 64;
        o->waiting = realloc(o->waiting, o->room * sizeof *o->waiting);
        CHECK(o->waiting != NULL);
    }
    o->waiting[o->count++] = (struct waiting){at_us, o->added++, heard, line};
}

size_t inorder_count(const struct inorder *o)
{
    return o->count;
}

static int by_time(const void *left, const void *right)
{
    const struct waiting *a = left, *b = right;
    return a->at_us != b->at_us ? (a->at_us > b->at_us) - (a->at_us < b->at_us)
                                : (a->number > b->number) - (a->number < b->number);
}

static void sort(struct inorder *o)
{
    if (o->count > 0) {
        qsort(o->waiting, o->count, sizeof *o->waiting, by_time);
    }
}

void inorder_keep(struct inorder *o, size_t last, void (*drop)(void *line))
{
    sort(o);
    drop_first(o, o->count > last ? o->count - last : 0, drop);
}

void inorder_give(struct inorder *o, int64_t until_us, cw_time patience, inorder_fn *give, void *context)
{
    size_t n = 0;
    sort(o);
    for (size_t i = 0; i < o->count; i++) {
        if (o->waiting[i].at_us <= until_us || cw_time_before(o->waiting[i].heard, patience)) {
            n = i + 1;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const struct waiting *w = &o->waiting[i];
        bool late = w->at_us < o->given_us;
        o->given_us = late ? o->given_us : w->at_us;
        give(context, w->line, late);
    }
    drop_first(o, n, NULL);
}
