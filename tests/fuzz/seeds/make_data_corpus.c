/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_data_corpus.c - writes the seed files of fuzz_frame, fuzz_packet and fuzz_extension below the folder given:
 *
 *     make_data_corpus tests/fuzz/corpus
 *
 * The same bytes on every run. Files of other names (crashes once found) are left alone.
 */
#include "golden_packets.h"
#include "packets.h"
#include "wire/frame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void save(const char *folder, const char *target, const char *name, const uint8_t *bytes, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, target);
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    snprintf(path, sizeof path, "%s/%s/seed_%s", folder, target, name);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(bytes, 1, size, f) != size || fclose(f) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
}

static void save_packets(const char *folder)
{
    for (unsigned i = 0; i < GOLDENS; i++) {
        save(folder, "fuzz_packet", goldens[i].name, goldens[i].bytes, goldens[i].size);
    }
    struct dice dice = {1};
    for (unsigned kind = PACKET_KEY; kind <= PACKET_LINK; kind++) {
        uint8_t bytes[DICE_PACKET_MAX];
        char name[32];
        struct packet_head head;
        uint32_t size = dice_packet(&dice, kind, DICE_FLAGS - 1, &head, bytes);
        snprintf(name, sizeof name, "all_kind%u", kind);
        save(folder, "fuzz_packet", name, bytes, size);
    }
}

static void save_extensions(const char *folder)
{
    struct dice dice = {2};
    for (unsigned type = 0; type < EXT_TYPES; type++) {
        for (unsigned i = 0; i < (type < EXT_PATH ? 1 : 3); i++) {
            uint8_t bytes[1 + PACKET_EXT_BYTES_MAX] = {(uint8_t)type};
            char name[32];
            uint32_t size = dice_ext(&dice, (enum ext_type)type, bytes + 1);
            snprintf(name, sizeof name, "type%u_%u", type, i);
            save(folder, "fuzz_extension", name, bytes, 1 + size);
        }
    }
}

/*
 * All golden packets in one frame, plain, tagged and relayed, and a control packet of eight bytes with padding behind
 * it.
 */
static void save_frames(const char *folder)
{
    static const uint8_t control[] = {0x24, 0x01, 0x00, 0x08, 0x00, 0x00, 0x00, 0x01};
    for (unsigned flags = 0; flags <= FRAME_RELAYED; flags++) {
        static const char *const names[] = {"plain", "tagged", "relayed"};
        uint8_t bytes[1500];
        struct frame_plan plan;
        frame_open(&plan, sizeof bytes, flags);
        for (unsigned i = 0; i < GOLDENS; i++) {
            memcpy(bytes + frame_add(&plan, (uint32_t)goldens[i].size), goldens[i].bytes, goldens[i].size);
        }
        memcpy(bytes + frame_add(&plan, sizeof control), control, sizeof control);
        struct frame_head head = {.flags = plan.flags, .packets = plan.packets, .session = 1, .position = 3};
        head.sequence = flags & FRAME_RELAYED ? 0 : 2;
        head.counter = flags & FRAME_TAGGED ? 4 : 0;
        frame_encode(&head, bytes);
        save(folder, "fuzz_frame", names[flags], bytes, plan.size);
    }
    uint8_t small[46] = {0};
    struct frame_head head = {.packets = 1};
    memcpy(small + frame_encode(&head, small), control, sizeof control);
    memset(small + 40, 0x5a, 6);
    save(folder, "fuzz_frame", "padded", small, sizeof small);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s <corpus folder>\n", argv[0]);
        return EXIT_FAILURE;
    }
    save_packets(argv[1]);
    save_extensions(argv[1]);
    save_frames(argv[1]);
    return EXIT_SUCCESS;
}
