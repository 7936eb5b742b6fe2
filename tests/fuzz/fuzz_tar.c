/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_tar.c - any bytes as an archive: all its files are read, or there is an error that says where. */
#include "tar/tar.h"

#include <stdlib.h>
#include <string.h>

struct bytes {
    const uint8_t *at;
    size_t left;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t read_bytes(void *context, void *out, size_t size)
{
    struct bytes *b = context;
    size = size < b->left ? size : b->left;
    memcpy(out, b->at, size);
    b->at += size;
    b->left -= size;
    return (int64_t)size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tar_file f;
    struct bytes bytes = {data, size};
    struct tar_reader r;
    uint8_t some[700];
    int64_t n = 0;
    int rc;
    tar_open(&r, read_bytes, &bytes, "");
    while ((rc = tar_next(&r, &f)) > 0 && n >= 0) {
        if (strnlen(f.path, sizeof f.path) == sizeof f.path || f.words > TAR_WORDS_MOST) {
            abort();
        }
        while ((n = tar_get(&r, some, sizeof some)) > 0) {
        }
    }
    if ((rc < 0 || n < 0) && r.why[0] == '\0') {
        abort();
    }
    return 0;
}
