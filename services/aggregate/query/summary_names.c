/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/summary_names.h"

#include "base/bytes.h"

#include <errno.h>

enum { HEAD = 6 };

bool summary_name_valid(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (name[i] <= ' ' || name[i] > '~') {
            return false;
        }
    }
    return length >= 1 && length <= SUMMARY_NAME_MOST;
}

int summary_name_order(const struct summary_name *a, const struct summary_name *b)
{
    size_t least = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->name, b->name, least);
    if (order == 0) {
        order = (int)a->length - (int)b->length;
    }
    return order != 0 ? order : (int)a->of - (int)b->of;
}

size_t summary_name_put(const struct summary_name *n, uint8_t *out, size_t room)
{
    struct writer w = writer_of(out, room);
    writer_u8(&w, n->of);
    writer_u8(&w, n->length);
    writer_be32(&w, n->servers);
    writer_copy(&w, n->name, n->length);
    return writer_ok(&w) ? writer_size(&w) : 0;
}

int summary_name_next(const uint8_t *bytes, size_t size, size_t *at, struct summary_name *out)
{
    if (*at == size) {
        return 0;
    }
    struct reader r = reader_of(bytes + *at, size - *at);
    out->of = reader_u8(&r);
    out->length = reader_u8(&r);
    out->servers = reader_be32(&r);
    out->name = (const char *)reader_take(&r, out->length);
    if (!reader_ok(&r) || !summary_of_valid(out->of) || out->servers == 0 ||
        !summary_name_valid(out->name, out->length)) {
        return -EPROTO;
    }
    *at += HEAD + out->length;
    return 1;
}

int summary_names_check(const uint8_t *bytes, size_t size)
{
    struct summary_name last = {0}, n;
    size_t at = 0;
    int rc;
    while ((rc = summary_name_next(bytes, size, &at, &n)) == 1) {
        if (last.name != NULL && summary_name_order(&last, &n) >= 0) {
            return -EPROTO;
        }
        last = n;
    }
    return rc;
}

int64_t summary_names_merge(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out, size_t room)
{
    struct summary_name x, y;
    size_t at_a = 0, at_b = 0, used = 0;
    if (summary_names_check(a, a_size) < 0 || summary_names_check(b, b_size) < 0) {
        return -EPROTO;
    }
    int more_a = summary_name_next(a, a_size, &at_a, &x), more_b = summary_name_next(b, b_size, &at_b, &y);
    while (more_a > 0 || more_b > 0) {
        int order = more_a == 0 ? 1 : more_b == 0 ? -1 : summary_name_order(&x, &y);
        struct summary_name n = order <= 0 ? x : y;
        n.servers += order == 0 ? y.servers : 0;
        n.servers = n.servers > 0 ? n.servers : UINT32_MAX;
        size_t put = summary_name_put(&n, out + used, room - used);
        if (put == 0) {
            return -EMSGSIZE;
        }
        used += put;
        more_a = order <= 0 ? summary_name_next(a, a_size, &at_a, &x) : more_a;
        more_b = order >= 0 ? summary_name_next(b, b_size, &at_b, &y) : more_b;
    }
    return (int64_t)used;
}
