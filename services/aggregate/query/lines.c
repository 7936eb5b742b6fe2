/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/lines.h"

#include "base/base64.h"
#include "base/words.h"
#include "services/aggregate/query/tallies.h"
#include "services/reply/refuse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEEP_LEAST_MS = 100, KEEP_MOST_MS = 24 * 3600 * 1000 };

int lines_read(cw_request *r, const char *const *words, struct lines *out)
{
    const char *keep_word = words_value(words[1], "keep_ms"), *data = words_value(words[2], "data");
    uint64_t keep;
    if (keep_word == NULL || data == NULL || words_number(keep_word, KEEP_LEAST_MS, KEEP_MOST_MS, &keep) < 0) {
        return refuse_request(r, "expected: feed NAME keep_ms=N data=BASE64; keep_ms from %d to %d", KEEP_LEAST_MS,
                              KEEP_MOST_MS);
    }
    if (!tallies_name_valid(words[0])) {
        return refuse_request(r, "a feed is called by 1 to %d of a-z A-Z 0-9 _ -; not '%.80s'", TALLIES_NAME, words[0]);
    }
    size_t room = strlen(data) / 4 * 3 + 3;
    uint8_t *bytes = room <= LINES_BYTES + 3 ? malloc(room) : NULL;
    int length = bytes != NULL ? base64_decode(data, bytes, room) : -EINVAL;
    if (length < 0) {
        free(bytes);
        return refuse_request(r, "data: expected lines in base64, at most %d bytes of them", LINES_BYTES);
    }
    *out = (struct lines){words[0], CW_MS((int64_t)keep), bytes, (size_t)length};
    return 0;
}
