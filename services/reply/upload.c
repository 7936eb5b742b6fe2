/* SPDX-License-Identifier: Apache-2.0 */
#include "services/reply/upload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void drop(struct upload *at)
{
    free(at->bytes);
    *at = (struct upload){.id = 0};
}

static struct upload *find(struct uploads *s, uint64_t id)
{
    for (unsigned i = 0; i < UPLOADS; i++) {
        if (s->upload[i].id == id) {
            return &s->upload[i];
        }
    }
    return NULL;
}

static void expire(struct uploads *s, cw_time now)
{
    for (unsigned i = 0; i < UPLOADS; i++) {
        if (s->upload[i].id != 0 && cw_time_since(now, s->upload[i].latest).ns > CW_SEC(UPLOAD_LIFE_S).ns) {
            drop(&s->upload[i]);
        }
    }
}

int upload_add(struct uploads *s, uint64_t id, const uint8_t *bytes, size_t length, size_t most, cw_time now)
{
    expire(s, now);
    struct upload *at = find(s, id);
    at = at != NULL ? at : find(s, 0);
    if (at == NULL) {
        return -EBUSY;
    }
    if (length > most - at->length) {
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
    *at = (struct upload){.id = id, .latest = now, .bytes = more, .length = at->length + length};
    return 0;
}

uint8_t *upload_take(struct uploads *s, uint64_t id, size_t *length)
{
    struct upload *at = id != 0 ? find(s, id) : NULL;
    if (at == NULL) {
        return NULL;
    }
    uint8_t *bytes = at->bytes;
    *length = at->length;
    at->bytes = NULL;
    drop(at);
    return bytes;
}

void upload_close(struct uploads *s)
{
    for (unsigned i = 0; i < UPLOADS; i++) {
        drop(&s->upload[i]);
    }
}
