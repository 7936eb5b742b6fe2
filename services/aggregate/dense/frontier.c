/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/frontier.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t words(const struct frontier *f)
{
    return ((size_t)f->blocks + 63) / 64;
}

int frontier_init(struct frontier *f, uint32_t blocks)
{
    *f = (struct frontier){.blocks = blocks};
    f->set = calloc(words(f) + 1, sizeof *f->set);
    return f->set == NULL ? -ENOMEM : 0;
}

void frontier_free(struct frontier *f)
{
    free(f->set);
    *f = (struct frontier){.set = NULL};
}

void frontier_restart(struct frontier *f, bool keep)
{
    for (uint32_t b = 0; b < f->next; b++) {
        f->again += !frontier_has(f, b);
    }
    if (!keep) {
        memset(f->set, 0, words(f) * sizeof *f->set);
        f->settled = 0;
    }
    f->next = 0;
    f->dealt = 0;
}

bool frontier_next(struct frontier *f, uint32_t *block)
{
    while (f->next < f->blocks && frontier_has(f, f->next)) {
        f->next++;
    }
    *block = f->next;
    return f->next < f->blocks;
}

bool frontier_deal(struct frontier *f, uint32_t *block)
{
    if (!frontier_next(f, block)) {
        return false;
    }
    f->next++;
    f->dealt++;
    return true;
}

void frontier_settle(struct frontier *f, uint32_t block)
{
    CHECK(block < f->next && !frontier_has(f, block));
    f->set[block / 64] |= UINT64_C(1) << block % 64;
    f->settled++;
}
