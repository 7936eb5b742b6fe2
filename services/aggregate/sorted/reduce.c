/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/reduce.h"

#include "base/check.h"

#include <errno.h>
#include <string.h>

void reduce_open(struct reduce *r, const struct combine *combine, void *memory, size_t size, reduce_sink_fn sink,
                 void *context)
{
    memset(r, 0, offsetof(struct reduce, key));
    r->combine = combine != NULL ? *combine : r->combine;
    r->memory = memory;
    r->size = size - size % _Alignof(cw_bytes);
    r->sink = sink;
    r->context = context;
    CHECK((uintptr_t)memory % _Alignof(cw_bytes) == 0);
}

cw_bytes reduce_key(const struct reduce *r)
{
    return (cw_bytes){r->key, r->key_length};
}

static void set_key(struct reduce *r, cw_bytes key)
{
    memcpy(r->key, key.bytes, key.length);
    r->key_length = (uint32_t)key.length;
}

/* Gives the sink what is made of a value of all. */
static int finish(struct reduce *r, cw_bytes value)
{
    int length = combine_finish(&r->combine, reduce_key(r), value, r->out[1], RECORD_MOST - r->key_length);
    if (length < 0) {
        return length;
    }
    r->results++;
    return r->sink(r->context, reduce_key(r), (cw_bytes){r->out[1], (size_t)length});
}

/* The values, the last one first. */
static cw_bytes *values_of(const struct reduce *r)
{
    void *end = r->memory + r->size;
    return (cw_bytes *)end - r->values;
}

/* Combines all values of the key. */
static int gathered(struct reduce *r)
{
    if (r->values == 0) {
        return 0;
    }
    cw_bytes *v = values_of(r);
    for (uint32_t i = 0; i < r->values / 2; i++) {
        cw_bytes first = v[i];
        v[i] = v[r->values - 1 - i];
        v[r->values - 1 - i] = first;
    }
    int length = combine_values(&r->combine, reduce_key(r), v, r->values, r->out[0], RECORD_MOST - r->key_length);
    r->values = 0;
    r->used = 0;
    return length < 0 ? length : finish(r, (cw_bytes){r->out[0], (size_t)length});
}

static int gather(struct reduce *r, cw_bytes key, cw_bytes value)
{
    bool same = r->values > 0 && key.length == r->key_length && memcmp(key.bytes, r->key, key.length) == 0;
    int rc = same ? 0 : gathered(r);
    if (rc < 0) {
        return rc;
    }
    set_key(r, key);
    if (r->size - r->used < value.length + ((size_t)r->values + 1) * sizeof(cw_bytes)) {
        return -E2BIG;
    }
    uint8_t *at = r->memory + r->used;
    if (value.length > 0) {
        memcpy(at, value.bytes, value.length);
    }
    r->used += value.length;
    r->values++;
    *values_of(r) = (cw_bytes){at, value.length};
    return 0;
}

int reduce_add(struct reduce *r, cw_bytes key, cw_bytes value)
{
    r->records_in++;
    if (r->combine.table != NULL && !r->combine.table->associative) {
        return gather(r, key, value);
    }
    set_key(r, key);
    return finish(r, value);
}

int reduce_end(struct reduce *r)
{
    return gathered(r);
}
