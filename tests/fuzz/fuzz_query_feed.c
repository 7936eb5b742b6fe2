/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that programs feed: any bytes. What is kept of them is encoded, decoded, and the same again. */
#include "services/aggregate/query/part.h"
#include "services/aggregate/query/tallies.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tallies t;
    static union part_summary s, back;
    static uint8_t bytes[PART_SUMMARY_MOST], again[PART_SUMMARY_MOST];
    char *lines = malloc(size + 1);
    if (lines == NULL) {
        return 0;
    }
    memcpy(lines, data, size);
    tallies_open(&t, 3);
    if (tallies_take(&t, "x", lines, size, (cw_time){1}) == 0) {
        const struct tally *one = tallies_find(&t, "x", 1);
        tally_top(one, &s.top);
        size_t n = part_encode(SUMMARY_TOP, &s, bytes);
        if (part_decode(SUMMARY_TOP, bytes, n, &back) < 0 || part_encode(SUMMARY_TOP, &back, again) != n ||
            memcmp(bytes, again, n) != 0 || s.top.lines != tally_number(one)->count) {
            abort();
        }
        s.number = *tally_number(one);
        n = part_encode(SUMMARY_NUMBER, &s, bytes);
        if (part_decode(SUMMARY_NUMBER, bytes, n, &back) < 0) {
            abort();
        }
        s.histogram = *tally_histogram(one);
        n = part_encode(SUMMARY_HISTOGRAM, &s, bytes);
        if (part_decode(SUMMARY_HISTOGRAM, bytes, n, &back) < 0 || back.histogram.count != tally_number(one)->numbers) {
            abort();
        }
    }
    tallies_close(&t);
    free(lines);
    return 0;
}
