/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"

#include <string.h>

enum { NAME_MAX_LENGTH = 40 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t row[3][NAME_MAX_LENGTH + 1];
    if (a_length > NAME_MAX_LENGTH || b_length > NAME_MAX_LENGTH) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i <= a_length; i++) {
        size_t *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        for (size_t j = 0; j <= b_length; j++) {
            if (i == 0 || j == 0) {
                now[j] = i + j;
                continue;
            }
            now[j] = least(least(now[j - 1], before[j]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = least(now[j], earlier[j - 2] + 1);
            }
        }
    }
    return row[a_length % 3][b_length];
}

static size_t common(const char *a, size_t a_length, const char *b)
{
    size_t n = 0;
    while (n < a_length && b[n] != '\0' && a[n] == b[n]) { /* a may have a NUL inside: the end of b is no letter */
        n++;
    }
    return n;
}

const char *nearest_name(const char *name, size_t length, nearest_nth_fn *nth, const void *context, size_t count)
{
    const char *best = NULL;
    size_t best_distance = SIZE_MAX, best_common = 0;
    for (size_t i = 0; i < count; i++) {
        const char *candidate = nth(context, i);
        size_t candidate_length = strlen(candidate);
        bool begins = length >= 2 && candidate_length > length && memcmp(name, candidate, length) == 0;
        size_t d = begins ? 1 : distance(name, length, candidate, candidate_length);
        size_t same = common(name, length, candidate);
        if (d < best_distance || (d == best_distance && same > best_common)) {
            best_distance = d;
            best_common = same;
            best = candidate;
        }
    }
    bool mostly = best_distance == 1 ? length > 1 : 2 * best_distance < length;
    return best_distance == 0 || (mostly && best_distance <= 1 + length / 3) ? best : NULL;
}

static const char *word_nth(const void *context, size_t i)
{
    return ((const char *const *)context)[i];
}

const char *nearest_word(const char *name, const char *const *words)
{
    size_t count = 0;
    while (words[count] != NULL) {
        count++;
    }
    return nearest_name(name, strlen(name), word_nth, words, count);
}
