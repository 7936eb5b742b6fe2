/* SPDX-License-Identifier: Apache-2.0 */
#include "services/reply/numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One number below `servers`, behind which the text goes on. */
static bool read_number(const char **text, cw_server servers, cw_server *out)
{
    char *end;
    if (**text < '0' || **text > '9') {
        return false;
    }
    unsigned long n = strtoul(*text, &end, 10);
    *text = end;
    *out = (cw_server)n;
    return n < servers;
}

int numbers_read(const char *text, cw_server servers, struct numbers *out)
{
    static const char between[] = " ,";
    *out = (struct numbers){.ranges = 0};
    for (text += strspn(text, between); *text != '\0'; text += strspn(text, between)) {
        cw_server first, last;
        if (out->ranges == NUMBERS_RANGES || !read_number(&text, servers, &first)) {
            return -EINVAL;
        }
        last = first;
        if (*text == '-') {
            text++;
            if (!read_number(&text, servers, &last)) {
                return -EINVAL;
            }
        }
        if (last < first || (*text != '\0' && strchr(between, *text) == NULL)) {
            return -EINVAL;
        }
        out->range[out->ranges].first = first;
        out->range[out->ranges++].last = last;
    }
    return out->ranges > 0 ? 0 : -EINVAL;
}

bool numbers_has(const struct numbers *n, cw_server server)
{
    for (unsigned i = 0; i < n->ranges; i++) {
        if (server >= n->range[i].first && server <= n->range[i].last) {
            return true;
        }
    }
    return false;
}

uint64_t numbers_count(const struct numbers *n)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < n->ranges; i++) {
        count += n->range[i].last - n->range[i].first + 1;
    }
    return count;
}
