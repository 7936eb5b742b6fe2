/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_control_corpus.c - writes the seeds of the control half: `make_control_corpus <corpus folder>`. The same files
 * on every machine; run it again after a change of the format, and commit what it wrote. Names start with "seed-":
 * other files of a corpus were found by a fuzzer.
 */
#include "control_codecs.h"
#include "wire/frame.h"

#include <errno.h>
#include <sys/stat.h>

enum { BYTES_MAX = 1400 };

static void save(const char *folder, const char *target, const char *name, const uint8_t *bytes, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, target);
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    snprintf(path, sizeof path, "%s/%s/seed-%s", folder, target, name);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(bytes, 1, size, f) != size || fclose(f) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
}

static const char *const item_names[] = {
    [ITEM_RECORD] = "record",           [ITEM_ACK] = "ack",           [ITEM_SUMMARY] = "summary",
    [ITEM_SYNCED] = "synced",           [ITEM_JOB_PART] = "job-part", [ITEM_JOB_ACK] = "job-ack",
    [ITEM_JOB_SUMMARY] = "job-summary", [ITEM_ABOUT] = "about",       [ITEM_ABOUT + 1] = "unknown",
};

static void save_items(const char *folder, struct dice *d)
{
    struct stream_head head = dice_stream_head(d);
    for (unsigned type = ITEM_RECORD; type < sizeof item_names / sizeof *item_names; type++) {
        if (item_names[type] == NULL) {
            continue;
        }
        uint8_t room[DICE_ROOM], bytes[BYTES_MAX];
        struct item item = dice_item(d, (enum item_type)type, room);
        item_encode(&item, bytes);
        save(folder, "fuzz_record", item_names[type], bytes, item_size(&item));
        struct stream_writer w;
        stream_begin(&w, bytes, sizeof bytes);
        if (!stream_put(&w, &item)) {
            abort();
        }
        save(folder, "fuzz_stream", item_names[type], bytes, stream_finish(&w, &head));
    }
}

/* What fuzz_boot reads: port, length, frame, and again. */
static void save_boot(const char *folder, struct dice *d, unsigned number)
{
    uint8_t bytes[BYTES_MAX], packet[BYTES_MAX];
    char name[32];
    size_t at = 0;
    for (unsigned i = 0; i < 3; i++) {
        struct probe probe = dice_probe(d);
        size_t size = i == 0 ? PROBE_BYTES : dice_cablings(d, i, number == 2, packet);
        if (i == 0) {
            probe.cluster = 7;
            probe_encode(&probe, packet);
        }
        bytes[at] = (uint8_t)number;
        bytes[at + 1] = (uint8_t)(size + FRAME_HEAD_BYTES);
        struct frame_head head = {.packets = 1};
        frame_encode(&head, bytes + at + 2);
        memcpy(bytes + at + 2 + FRAME_HEAD_BYTES, packet, size);
        at += 2 + FRAME_HEAD_BYTES + size;
    }
    snprintf(name, sizeof name, "%u", number);
    save(folder, "fuzz_boot", name, bytes, at);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s <corpus folder>\n", argv[0]);
        return 2;
    }
    const char *folder = argv[1];
    uint8_t bytes[BYTES_MAX];
    struct dice d = {20};
    char name[32];
    for (unsigned i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%u", i);
        struct hello hello = dice_hello(&d);
        hello_encode(&hello, bytes);
        save(folder, "fuzz_hello", name, bytes, HELLO_BYTES);
        struct goodbye goodbye = dice_goodbye(&d);
        goodbye_encode(&goodbye, bytes);
        save(folder, "fuzz_goodbye", name, bytes, GOODBYE_BYTES);
        struct record record = dice_record(&d);
        record_encode(&record, bytes);
        save(folder, "fuzz_record", name, bytes, RECORD_BYTES);
    }
    save_items(folder, &d);
    for (unsigned items = 0; items <= 12; items += 4) {
        snprintf(name, sizeof name, "%u-items", items);
        save(folder, "fuzz_stream", name, bytes, dice_stream(&d, items, bytes, sizeof bytes));
    }
    struct dice boot = {21};
    for (unsigned i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%u", i);
        struct probe probe = dice_probe(&boot);
        probe_encode(&probe, bytes);
        save(folder, "fuzz_cabling", name, bytes, PROBE_BYTES);
        snprintf(name, sizeof name, "words-%u", i + 1);
        save(folder, "fuzz_cabling", name, bytes, dice_cablings(&boot, i + 1, false, bytes));
        snprintf(name, sizeof name, "acks-%u", i + 1);
        save(folder, "fuzz_cabling", name, bytes, dice_cablings(&boot, i + 1, true, bytes));
        save_boot(folder, &boot, i);
    }
    return EXIT_SUCCESS;
}
