/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_storage.c - any bytes as the files of a store's folder: it opens, or says why not, and never gives out a value
 * whose checksum is wrong. Input: what stands over a small log that was written properly, as many times as there are
 * bytes for it: file (1 byte), offset (2), length (1), bytes. So the fuzzer begins where checksums are right.
 */
#include "base/bytes.h"
#include "store_oracle.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sim_disk *small_log(void)
{
    struct storage_config c = oracle_config();
    struct sim_disk *disk = sim_disk_open(&(struct sim_disk_config){.seed = 1});
    struct oracle *o = oracle_new(&c);
    (void)oracle_open(o, disk);
    for (uint8_t i = 0; i < 12; i++) {
        struct oracle_batch b = {.count = 1, .put = {{.key = i % 5, .size = i % 3 == 0 ? 700 : 50}}};
        oracle_settle(o);
        (void)oracle_append(o, &b);
        storage_flush(o->s);
        if (i == 7) {
            storage_checkpoint(o->s);
        }
    }
    oracle_settle(o);
    oracle_free(o);
    return disk;
}

static void write_over(struct sim_disk *disk, struct reader *r, uint32_t files)
{
    static uint8_t bytes[1 << 16];
    const struct disk_file *f = sim_disk_file(disk, reader_u8(r) % files);
    uint32_t offset = reader_be16(r), length = reader_u8(r);
    length = length < reader_left(r) ? length : (uint32_t)reader_left(r);
    uint32_t size = (uint32_t)f->size < sizeof bytes ? (uint32_t)f->size : (uint32_t)sizeof bytes;
    char name[DISK_NAME_BYTES];
    memcpy(name, f->name, sizeof name);
    sim_disk_peek(disk, name, 0, bytes, size);
    offset = size == 0 ? 0 : offset % size;
    length = length < size - offset ? length : size - offset;
    reader_copy(r, bytes + offset, length);
    sim_disk_put(disk, name, bytes, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sim_disk *whole;
    struct reader r = reader_of(data, size);
    if (whole == NULL) {
        whole = small_log();
    }
    struct sim_disk *disk = sim_disk_copy(whole);
    uint32_t files = 0;
    while (sim_disk_file(disk, files) != NULL) {
        files++;
    }
    while (reader_left(&r) > 4) {
        write_over(disk, &r, files);
    }
    struct storage_config c = oracle_config();
    struct oracle *o = oracle_new(&c);
    o->judges_sums_only = true;
    enum storage_opened_as as = oracle_open(o, disk);
    if (as <= STORAGE_RENEWED) {
        oracle_judge_warm(o);
        oracle_settle(o);
    }
    if (strncmp(o->wrong, "bytes", 5) == 0 || strncmp(o->wrong, "liveness", 8) == 0) {
        abort();
    }
    oracle_end(o);
    sim_disk_close(disk);
    oracle_free(o);
    return 0;
}
