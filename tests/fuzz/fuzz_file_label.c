/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_file_label.c - labels, notes and maps of files: what is taken is of the right form, leads nowhere else, and is
 * written as it was read.
 */
#include "base/check.h"
#include "services/multicast/file/map.h"
#include "services/multicast/file/progress.h"

#include <string.h>

static void try_label(const uint8_t *data, size_t size)
{
    struct file_label l;
    uint8_t again[FILE_LABEL_MOST];
    char name[FILE_BESIDE];
    if (file_label_decode(data, size, &l) < 0) {
        return;
    }
    CHECK(l.name[0] != '.' && strchr(l.name, '/') == NULL && strlen(l.name) == size - FILE_LABEL_HEAD);
    CHECK(file_label_encode(&l, again) == size && memcmp(again, data, size) == 0);
    file_label_part(&l, name);
    CHECK(file_label_is_part(name) && strchr(name, '/') == NULL);
}

static void try_note(const uint8_t *data, size_t size)
{
    struct file_progress n;
    uint8_t again[FILE_PROGRESS_BYTES];
    if (file_progress_decode(data, size, &n) == 0) {
        file_progress_encode(&n, again);
        CHECK(memcmp(again, data, size) == 0 && file_state_word(n.state) != NULL);
    }
}

static void try_map(const uint8_t *data, size_t size)
{
    static const uint8_t digest[FILES_DIGEST_BYTES] = {1, 2, 3};
    struct file_map m;
    if (file_map_open(&m, 1000, 7, digest) < 0) {
        return;
    }
    if (file_map_read(&m, data, size) == 0) {
        uint64_t have = 0;
        for (uint64_t i = 0; i < m.pieces; i++) {
            have += file_map_has(&m, i);
        }
        CHECK(have == m.have && m.whole <= m.pieces && file_map_prefix(&m) <= m.bytes);
    }
    file_map_close(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_label(data, size);
    try_note(data, size);
    try_map(data, size);
    return 0;
}
