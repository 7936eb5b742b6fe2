/* SPDX-License-Identifier: Apache-2.0 */
#include "share_watch.h"
#include "share/shared.h"

#include <string.h>

struct share_watch share_watch;

void share_watch_load(const void *at, size_t bytes)
{
    if (share_watch.load != NULL && !share_watch.inside) {
        share_watch.inside = true;
        share_watch.load(share_watch.arg, at, bytes);
        share_watch.inside = false;
    }
}

bool share_watch_store(void *at, uint64_t value, size_t bytes)
{
    bool kept = false;
    if (share_watch.store != NULL && !share_watch.inside) {
        share_watch.inside = true;
        kept = share_watch.store(share_watch.arg, at, value, bytes);
        share_watch.inside = false;
    }
    return kept;
}

void share_watch_fence(void)
{
    if (share_watch.fence != NULL && !share_watch.inside) {
        share_watch.inside = true;
        share_watch.fence(share_watch.arg);
        share_watch.inside = false;
    }
}

void share_watch_do(void *at, uint64_t value, size_t bytes)
{
    uint32_t half = (uint32_t)value;
    unsigned char byte = (unsigned char)value;
    memcpy(at, bytes == 8 ? (void *)&value : bytes == 4 ? (void *)&half : (void *)&byte, bytes);
}
