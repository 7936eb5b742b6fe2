/* SPDX-License-Identifier: Apache-2.0 */
/* sets.c - sets of servers, a bit each. */
#include "services/aggregate/stream/internal.h"

#include <stdio.h>
#include <string.h>

enum { NAMES = 200 };

size_t stream_words(const struct stream *st)
{
    return trees_set_words(&st->torus);
}

cw_server stream_first(const struct stream *st, const uint64_t *set)
{
    for (cw_server s = 0; s < st->torus.servers; s++) {
        if (trees_set_has(set, s)) {
            return s;
        }
    }
    return CW_SERVER_NONE;
}

unsigned stream_count_of(const struct stream *st, const uint64_t *set)
{
    unsigned n = 0;
    for (size_t i = 0; i < stream_words(st); i++) {
        n += (unsigned)__builtin_popcountll(set[i]);
    }
    return n;
}

void stream_tell_set(const struct stream *st, cw_request *r, const char *field, const uint64_t *set)
{
    char names[NAMES];
    size_t length = 0;
    unsigned more = 0;
    names[0] = '\0';
    for (cw_server s = 0; s < st->torus.servers; s++) {
        char name[TORUS_TEXT];
        if (!trees_set_has(set, s)) {
            continue;
        }
        torus_format(torus_coord(&st->torus, s), name);
        if (length + strlen(name) + 24 > NAMES) {
            more++;
        } else {
            length += (size_t)snprintf(names + length, NAMES - length, "%s%s", length > 0 ? " " : "", name);
        }
    }
    if (more > 0) {
        snprintf(names + length, NAMES - length, " +%u", more);
    }
    cw_request_text(r, field, names);
}
