/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of records that others have sent: what is read is sorted, and written again gives the same bytes; the part
 * above any of its keys is its end; and a merge of a block with itself has each record twice.
 */
#include "services/aggregate/sorted/merge.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct record_reader reader;
static struct record_writer writer;
static struct merge merge;
static struct merge_source sources[2];
static uint8_t again[RECORD_BLOCK], rest[RECORD_BLOCK + RECORD_KEY_MOST];

static void hold(bool good)
{
    if (!good) {
        abort();
    }
}

/* Reads the block, and writes it again. The number of records, or < 0. */
static int round_trip(const uint8_t *bytes, size_t size)
{
    int rc, records = 0;
    uint8_t before[RECORD_KEY_MOST];
    size_t length = 0;
    record_reader_init(&reader);
    record_reader_block(&reader, bytes, size);
    record_writer_init(&writer, again, sizeof again);
    while ((rc = record_reader_next(&reader)) == 1) {
        size_t n = reader.key_length < length ? reader.key_length : length;
        int order = memcmp(reader.key, before, n);
        hold(reader.key_length >= 1 && reader.key_length <= RECORD_KEY_MOST);
        hold(order > 0 || (order == 0 && reader.key_length >= length));
        memcpy(before, reader.key, reader.key_length);
        length = reader.key_length;
        hold(record_write(&writer, (cw_bytes){reader.key, reader.key_length},
                          (cw_bytes){reader.value, reader.value_length}) == 0);
        records++;
    }
    return rc < 0 ? rc : records;
}

static void cut(const uint8_t *bytes, size_t size, int records)
{
    struct record_reader at;
    int left = records;
    record_reader_init(&at);
    record_reader_block(&at, bytes, size);
    for (int i = 0; i < 8 && record_reader_next(&at) == 1; i++, left--) {
        int n = 0, length = record_block_after(bytes, size, (cw_bytes){at.key, at.key_length}, rest);
        hold(length >= 0);
        record_reader_init(&reader);
        record_reader_block(&reader, rest, (size_t)length);
        for (; record_reader_next(&reader) == 1; n++) {
        }
        hold(reader.at == reader.end && n < left);
    }
}

static void merged(const uint8_t *bytes, size_t size, int records, bool good)
{
    int rc;
    bool fed[2] = {false, false};
    merge_open(&merge, sources, 2, NULL);
    record_writer_init(&writer, again, sizeof again);
    while ((rc = merge_run(&merge, &writer)) == MERGE_WAITS || rc == MERGE_FULL) {
        if (rc == MERGE_FULL) {
            record_writer_init(&writer, again, sizeof again);
        } else if (fed[merge.waits]) {
            merge_end(&merge, merge.waits);
        } else {
            fed[merge.waits] = true;
            merge_feed(&merge, merge.waits, bytes, size);
        }
    }
    hold(good == (rc == MERGE_DONE));
    hold(!good || merge.records_out == 2 * (uint64_t)records);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > RECORD_BLOCK) {
        return 0;
    }
    uint8_t *bytes = malloc(size ? size : 1); /* exact: a sanitizer sees one byte too many */
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, data, size);
    int records = round_trip(bytes, size);
    if (records >= 0) {
        hold(writer.used == size && memcmp(again, bytes, size) == 0);
        cut(bytes, size, records);
    }
    merged(bytes, size, records, records >= 0);
    free(bytes);
    return 0;
}
