/* SPDX-License-Identifier: Apache-2.0 */
/* source.c - the records of one partition of a contributor's input, when that is sorted: block after block. */
#include "services/aggregate/stream/task_parts.h"

#include <stdlib.h>
#include <string.h>

struct source {
    struct task *t;
    struct shelf_reader *reader;
    uint32_t partition, after_length;
    void (*ready)(void *arg);
    void *arg;
    bool away, closed, last;
    int status;
    struct record_writer writer;
    uint8_t after[RECORD_KEY_MOST];
    uint8_t bytes[RECORD_BLOCK];
};

struct source *source_open(struct task *t, uint32_t partition, cw_bytes after, void (*ready)(void *arg), void *arg)
{
    struct source *s = malloc(sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    s->after_length = (uint32_t)after.length;
    if (after.length > 0) {
        memcpy(s->after, after.bytes, after.length);
    }
    s->t = t;
    s->reader = NULL;
    s->partition = partition;
    s->ready = ready;
    s->arg = arg;
    s->away = s->closed = s->last = false;
    s->status = 0;
    t->sources++;
    return s;
}

static void source_free(struct source *s)
{
    struct task *t = s->t;
    shelf_reader_close(s->reader);
    t->sources--;
    if (t->dropped) {
        task_drop(t);
    }
    free(s);
}

void source_close(struct source *s)
{
    s->closed = true;
    if (!s->away || s->t->st->closing) { /* when the service closes, its work has ended */
        source_free(s);
    }
}

/* Work. */
static void read_block(void *arg)
{
    struct source *s = arg;
    cw_bytes key, after = {s->after, s->after_length};
    const cw_bytes *from = after.length > 0 ? &after : NULL;
    s->status = s->reader != NULL ? 0 : shelf_reader_open(&s->t->shelf, s->partition, from, &s->reader);
    record_writer_init(&s->writer, s->bytes, sizeof s->bytes);
    s->status = s->status < 0 ? s->status : shelf_reader_next(s->reader, &s->writer, &key);
    s->last = s->status == 0;
}

static void block_read(cw_svc *svc, void *state, void *arg)
{
    struct source *s = arg;
    (void)svc;
    (void)state;
    s->away = false;
    if (s->closed) {
        source_free(s);
    } else {
        s->ready(s->arg);
    }
}

int source_next(struct source *s)
{
    if (s->t->shelf.runs == 0) { /* all of it is in memory */
        read_block(s);
        return 1;
    }
    int rc = cw_offload(s->t->st->s, read_block, block_read, s, CW_NS(RECORD_BLOCK));
    s->away = rc == 0;
    return rc;
}

int source_block(const struct source *s, const uint8_t **bytes, size_t *size, bool *last)
{
    *bytes = s->bytes;
    *size = s->writer.used;
    *last = s->last;
    return s->status < 0 ? s->status : 0;
}
