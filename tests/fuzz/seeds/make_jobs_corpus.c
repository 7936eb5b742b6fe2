/* SPDX-License-Identifier: Apache-2.0 */
/* make_jobs_corpus.c - seeds for fuzz_jobs: `make_jobs_corpus tests/fuzz/corpus` writes them again. */
#include "jobs_kit.h"

static FILE *out;

static void frame(struct jobs_frame *f, const uint8_t *rest, size_t size, uint8_t from, uint8_t time)
{
    uint8_t bytes[4096];
    size_t head = jobs_frame_size(f->kind);
    f->cluster = KIT_CLUSTER;
    put_be16(bytes, (uint16_t)(head + size));
    bytes[2] = from;
    bytes[3] = time;
    jobs_encode(f, bytes + 4);
    if (size > 0) {
        memcpy(bytes + 4 + head, rest, size);
    }
    if (fwrite(bytes, 1, 4 + head + size, out) != 4 + head + size) {
        abort();
    }
}

/* A record with the signature that the target takes for one. */
static size_t record(cw_job job, uint64_t version, bool destroyed, uint8_t *room)
{
    struct kit_job k = {
        .job = job, .version = version, .generation = 1, .destroyed = destroyed, .processes = 3, .remote = job};
    size_t size = kit_record(&k, 1, KIT_CLUSTER, room, 2000);
    memset(room + size - JOBS_SIGNATURE_BYTES, 7, JOBS_SIGNATURE_BYTES);
    return size;
}

static void open_seed(const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/fuzz_jobs/%s", folder, name);
    if (out != NULL) {
        fclose(out);
    }
    out = fopen(path, "wb");
    if (out == NULL) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    uint8_t room[2000];
    if (argc != 2) {
        fprintf(stderr, "make_jobs_corpus FOLDER\n");
        return 1;
    }
    open_seed(argv[1], "seed-records");
    struct jobs_frame f = {.kind = JOBS_RECORD, .origin = 1, .ticket = 5};
    frame(&f, room, record(50, 2, false, room), 1, 2);
    frame(&f, room, record(50, 3, false, room), 3, 0);
    frame(&f, room, record(50, 2, false, room), 3, 2);
    frame(&f, room, record(50, 4, true, room), 1, 2);
    frame(&f, room, record(50, 9, false, room), 1, 2);
    room[0] ^= 1;
    frame(&f, room, 200, 1, 2);

    open_seed(argv[1], "seed-offer");
    size_t size = record(60, 2, false, room);
    f = (struct jobs_frame){.kind = JOBS_OFFER, .origin = 1, .ticket = 5, .mark = kit_mark(room, size)};
    frame(&f, NULL, 0, 1, 0);
    f = (struct jobs_frame){.kind = JOBS_PART, .total = (uint32_t)size, .mark = f.mark};
    frame(&f, room, 80, 1, 0);
    f.offset = 80;
    frame(&f, room + 80, size - 80, 1, 4);

    open_seed(argv[1], "seed-gossip");
    f = (struct jobs_frame){.kind = JOBS_HELLO, .count = 3, .sum = 9};
    frame(&f, NULL, 0, 1, 0);
    const struct jobs_mark marks[] = {{50, false, 1, 2, 3}, {60, true, 1, 4, 3}};
    uint8_t rest[2 * JOBS_MARK_BYTES];
    jobs_mark_put(&marks[0], rest, 0);
    jobs_mark_put(&marks[1], rest, 1);
    f = (struct jobs_frame){.kind = JOBS_SUMMARY, .first = 1, .last = 99, .count = 2};
    frame(&f, rest, sizeof rest, 1, 0);
    f = (struct jobs_frame){.kind = JOBS_ACK, .ticket = 9, .mark = marks[0]};
    frame(&f, NULL, 0, 3, 255);

    open_seed(argv[1], "seed-calls");
    f = (struct jobs_frame){.kind = JOBS_RECORD, .origin = CW_SERVER_NONE};
    frame(&f, room, record(50, 2, false, room), 1, 2);
    f = (struct jobs_frame){.kind = JOBS_FETCH, .mark = kit_mark(room, record(50, 2, false, room))};
    frame(&f, NULL, 0, 1, 1);
    f = (struct jobs_frame){.kind = JOBS_ASK, .row = {.source_job = 50, .job = 50, .port = 3, .process = 1}};
    frame(&f, NULL, 0, 1, 1);
    f = (struct jobs_frame){.kind = JOBS_AUDIT};
    frame(&f, NULL, 0, 1, 1);
    fclose(out);
    return 0;
}
