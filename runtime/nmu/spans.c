/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/spans.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int spans_open(struct spans *s, uint32_t limit, uint32_t owners)
{
    *s = (struct spans){.limit = limit, .owners = owners};
    s->span = calloc(limit, sizeof *s->span);
    s->list = calloc(owners, sizeof *s->list);
    if (s->span == NULL || s->list == NULL) {
        spans_close(s);
        return -ENOMEM;
    }
    return 0;
}

void spans_close(struct spans *s)
{
    free(s->span);
    free(s->list);
    *s = (struct spans){0};
}

size_t spans_bytes(const struct spans *s)
{
    return s->limit * sizeof *s->span + s->owners * sizeof *s->list;
}

bool spans_fit(const struct spans *s, uint32_t owner, uint32_t count)
{
    return count <= s->limit - (s->used - s->list[owner].count);
}

static void end_list(struct spans *s, uint32_t owner)
{
    struct spans_list gone = s->list[owner];
    if (gone.count == 0) {
        return;
    }
    uint32_t behind = gone.at + gone.count;
    memmove(s->span + gone.at, s->span + behind, (s->used - behind) * sizeof *s->span);
    s->used -= gone.count;
    for (uint32_t i = 0; i < s->owners; i++) {
        if (s->list[i].at >= behind) {
            s->list[i].at -= gone.count;
        }
    }
    s->list[owner] = (struct spans_list){0, 0};
}

struct nmu_span *spans_replace(struct spans *s, uint32_t owner, uint32_t count)
{
    CHECK(owner < s->owners && spans_fit(s, owner, count));
    end_list(s, owner);
    if (count == 0) {
        return s->span;
    }
    s->list[owner] = (struct spans_list){s->used, count};
    s->used += count;
    return s->span + s->list[owner].at;
}
