/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/stage.h"

#include "services/kvcache/kvcache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void drop(struct stage *at)
{
    free(at->bytes);
    *at = (struct stage){.id = 0};
}

static struct stage *find(struct stages *s, uint64_t id)
{
    for (unsigned i = 0; i < STAGES; i++) {
        if (s->stage[i].id == id) {
            return &s->stage[i];
        }
    }
    return NULL;
}

static void expire(struct stages *s, cw_time now)
{
    for (unsigned i = 0; i < STAGES; i++) {
        if (s->stage[i].id != 0 && cw_time_since(now, s->stage[i].latest).ns > CW_SEC(STAGE_S).ns) {
            drop(&s->stage[i]);
        }
    }
}

int stage_add(struct stages *s, uint64_t id, const uint8_t *bytes, size_t length, cw_time now)
{
    expire(s, now);
    struct stage *at = find(s, id);
    at = at != NULL ? at : find(s, 0);
    if (at == NULL) {
        return -EBUSY;
    }
    if (length > KV_VALUE_MAX - at->length) {
        drop(at);
        return -EMSGSIZE;
    }
    uint8_t *more = realloc(at->bytes, at->length + length + 1);
    if (more == NULL) {
        return -ENOMEM;
    }
    if (length > 0) {
        memcpy(more + at->length, bytes, length);
    }
    *at = (struct stage){.id = id, .latest = now, .bytes = more, .length = at->length + length};
    return 0;
}

uint8_t *stage_take(struct stages *s, uint64_t id, size_t *length)
{
    struct stage *at = id != 0 ? find(s, id) : NULL;
    if (at == NULL) {
        return NULL;
    }
    uint8_t *bytes = at->bytes;
    *length = at->length;
    at->bytes = NULL;
    drop(at);
    return bytes;
}

void stage_close(struct stages *s)
{
    for (unsigned i = 0; i < STAGES; i++) {
        drop(&s->stage[i]);
    }
}
