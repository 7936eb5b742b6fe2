/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/access.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>

int access_open(struct access *a, uint32_t speakers)
{
    *a = (struct access){.entry = calloc(speakers, sizeof *a->entry), .speakers = speakers};
    return a->entry != NULL ? 0 : -ENOMEM;
}

void access_close(struct access *a)
{
    free(a->entry);
    *a = (struct access){0};
}

size_t access_bytes(const struct access *a)
{
    return a->speakers * sizeof *a->entry;
}

void access_set(struct access *a, uint32_t speaker, const struct access_entry *who)
{
    CHECK(speaker < a->speakers);
    a->entry[speaker] = *who;
}
