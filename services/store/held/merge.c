/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/merge.h"

#include "base/check.h"
#include "services/store/held/mutant.h"
#include "services/store/held/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int store_merge_open(struct store_merge *m, uint32_t first, uint32_t count)
{
    *m = (struct store_merge){.source = calloc(count, sizeof *m->source),
                              .heap = calloc(count, sizeof *m->heap),
                              .to_ask = calloc(count, sizeof *m->to_ask)};
    if (m->source == NULL || m->heap == NULL || m->to_ask == NULL) {
        store_merge_close(m);
        return -ENOMEM;
    }
    m->sources = count;
    m->unknown = count;
    m->asks = count;
    for (uint32_t i = 0; i < count; i++) {
        m->source[i] = (struct store_source){.shard = first + i, .more = true};
        m->to_ask[i] = count - 1 - i;
    }
    return 0;
}

void store_merge_close(struct store_merge *m)
{
    for (uint32_t i = 0; i < m->sources; i++) {
        free(m->source[i].bytes);
    }
    free(m->source);
    free(m->heap);
    free(m->to_ask);
    *m = (struct store_merge){.source = NULL};
}

/* ---- The heap ---------------------------------------------------------------------------------------------------- */

static struct store_named head_of(const struct store_source *s)
{
    struct store_named n;
    size_t at = s->head;
    bool there = store_named_next(s->bytes, s->length, &at, &n);
    CHECK(there);
    return n;
}

static bool is_before(const struct store_merge *m, uint32_t a, uint32_t b)
{
    const struct store_named x = head_of(&m->source[a]), y = head_of(&m->source[b]);
    return store_name_compare(&x.name, &y.name) < 0;
}

static void rise(struct store_merge *m, uint32_t i)
{
    while (i > 0 && is_before(m, m->heap[i], m->heap[(i - 1) / 2])) {
        uint32_t parent = (i - 1) / 2, other = m->heap[parent];
        m->heap[parent] = m->heap[i];
        m->heap[i] = other;
        i = parent;
    }
}

static void sink(struct store_merge *m)
{
    for (uint32_t i = 0;;) {
        uint32_t first = i;
        for (uint32_t child = 2 * i + 1; child <= 2 * i + 2; child++) {
            first = child < m->ready && is_before(m, m->heap[child], m->heap[first]) ? child : first;
        }
        if (first == i) {
            return;
        }
        uint32_t other = m->heap[first];
        m->heap[first] = m->heap[i];
        m->heap[i] = other;
        i = first;
    }
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

bool store_merge_ask(struct store_merge *m, uint32_t *source)
{
    if (m->asks == 0) {
        return false;
    }
    *source = m->to_ask[--m->asks];
    return true;
}

bool store_merge_behind(const struct store_merge *m, uint32_t source, struct store_named *out)
{
    const struct store_source *s = &m->source[source];
    if (s->bytes == NULL) {
        return false;
    }
    *out = head_of(s); /* all others of the piece have been told */
    return true;
}

/* How many names there are; -EBADMSG: they are not in order, or no names. */
static int count_names(const uint8_t *bytes, size_t length)
{
    struct store_named last, n;
    int count = 0;
    for (size_t at = 0; at < length; count++) {
        if (!store_named_next(bytes, length, &at, &n) || (count > 0 && store_name_compare(&last.name, &n.name) >= 0)) {
            return -EBADMSG;
        }
        last = n;
    }
    return count;
}

int store_merge_give(struct store_merge *m, uint32_t source, const uint8_t *bytes, size_t length, bool more)
{
    struct store_source *s = &m->source[source];
    int count = count_names(bytes, length);
    if (count < 0 || (count == 0 && more)) {
        return -EBADMSG;
    }
    uint8_t *copy = count > 0 ? malloc(length) : NULL;
    if (count > 0 && copy == NULL) {
        return -ENOMEM;
    }
    if (count > 0) {
        memcpy(copy, bytes, length);
        free(s->bytes);
        s->bytes = copy;
        s->length = length;
        s->head = 0;
        m->heap[m->ready++] = source;
        rise(m, m->ready - 1);
    }
    s->more = more && !STORE_MUTANT(FIRST_PIECE);
    m->unknown--;
    return 0;
}

bool store_merge_next(struct store_merge *m, struct store_named *out)
{
    if (m->ready == 0 || (m->unknown > 0 && !STORE_MUTANT(UNCOVERED))) {
        return false;
    }
    uint32_t source = m->heap[0];
    struct store_source *s = &m->source[source];
    size_t behind = s->head;
    (void)store_named_next(s->bytes, s->length, &behind, out);
    if (behind < s->length) {
        s->head = behind;
        sink(m);
        return true;
    }
    m->heap[0] = m->heap[--m->ready];
    sink(m);
    if (s->more) {
        m->unknown++;
        m->to_ask[m->asks++] = source;
    }
    return true;
}
