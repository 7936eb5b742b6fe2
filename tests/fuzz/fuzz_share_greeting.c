/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_share_greeting.c - any bytes as a greeting, from either end: what is accepted is what would be written. */
#include "share/greeting.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (unsigned from_process = 0; from_process < 2; from_process++) {
        struct share_greeting g, before;
        uint8_t again[SHARE_GREETING_MOST];
        memset(&g, 0xa5, sizeof g);
        memset(&before, 0xa5, sizeof before);
        enum share_greeting_fault f = share_greeting_decode(data, size, from_process, &g);
        bool same = f == SHARE_GREET_FINE ? share_greeting_encode(&g, again) == size && memcmp(again, data, size) == 0
                                          : (unsigned)f < SHARE_GREET_FAULTS && memcmp(&g, &before, sizeof g) == 0;
        if (!same) {
            abort();
        }
    }
    return 0;
}
