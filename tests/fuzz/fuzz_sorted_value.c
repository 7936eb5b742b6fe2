/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of keys that others have sent, for each function that is built in: what is combined can be combined again, and
 * finished; and it is never longer than its room. The first byte is the function, the second the length of the first
 * value, and what is left the second.
 */
#include "services/aggregate/sorted/combine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 600 };

static void hold(bool good)
{
    if (!good) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const cw_bytes key = {(const uint8_t *)"k", 1};
    uint8_t out[2][ROOM], last[ROOM];
    unsigned tables = 0;
    while (combine_builtin(tables) != NULL) {
        tables++;
    }
    if (size < 2 || data[1] > size - 2) {
        return 0;
    }
    struct combine c = {combine_builtin(data[0] % tables), 1 + data[0] / tables};
    cw_bytes parts[] = {{data + 2, data[1]}, {data + 2 + data[1], size - 2 - data[1]}}, values[2];
    uint8_t *exact[2]; /* a sanitizer sees one byte too many */
    for (unsigned i = 0; i < 2; i++) {
        exact[i] = malloc(parts[i].length + 1);
        if (exact[i] == NULL) {
            abort();
        }
        memcpy(exact[i] + 1, parts[i].bytes, parts[i].length);
        values[i] = (cw_bytes){exact[i] + 1, parts[i].length};
        int rc = combine_prepare(&c, key, values[i], last, ROOM);
        hold(rc <= ROOM);
        if (rc >= 0) { /* what is prepared is good for all that follows */
            cw_bytes prepared[] = {{last, (size_t)rc}, {last, (size_t)rc}};
            rc = combine_values(&c, key, prepared, 2, out[0], ROOM);
            hold(rc != -EINVAL && rc <= ROOM);
        }
    }
    int rc = combine_values(&c, key, values, 2, out[0], ROOM);
    hold(rc <= ROOM);
    if (rc >= 0) {
        cw_bytes both[] = {{out[0], (size_t)rc}, {out[0], (size_t)rc}};
        int again = combine_values(&c, key, both, 2, out[1], ROOM), end;
        hold(again <= ROOM && again != -EINVAL);
        end = combine_finish(&c, key, both[0], last, ROOM);
        hold(end <= ROOM && end != -EINVAL);
    }
    free(exact[0]);
    free(exact[1]);
    return 0;
}
