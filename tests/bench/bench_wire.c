/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_wire.c - nanoseconds to read, write and change the head of a data packet, beside two raw limits of the same
 * run: a memcpy of 32 bytes and a table-driven CRC-32 of 32 bytes. Median of alternating rounds over a few hundred
 * different packets that stay in the first-level cache.
 */
#include "packets.h"
#include "wire/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PACKETS = 128, SLOT = 192, ROUNDS = 9, REPEATS = 4000, SMOKE_REPEATS = 4, FRAME_BYTES = 9000, TRACE_PLACES = 4 };

struct bench {
    uint8_t bare[PACKETS][SLOT], call[PACKETS][SLOT], traced[PACKETS][SLOT], out[PACKETS][SLOT];
    uint32_t bare_size[PACKETS], call_size[PACKETS], traced_size[PACKETS];
    struct packet_head head[PACKETS];
    uint8_t frame[FRAME_BYTES];
    uint32_t frame_size, frame_packets;
    uint32_t crc_table[256];
    unsigned long refused;
};

/* Hides from the compiler what happens to *p. */
static inline void keep(const void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

static void do_memcpy(struct bench *b)
{
    for (unsigned i = 0; i < PACKETS; i++) {
        memcpy(b->out[i], b->bare[i], PACKET_HEAD_BYTES);
        keep(b->out[i]);
    }
}

static void do_crc(struct bench *b)
{
    for (unsigned i = 0; i < PACKETS; i++) {
        uint32_t crc = ~0u;
        for (unsigned j = 0; j < PACKET_HEAD_BYTES; j++) {
            crc = b->crc_table[(crc ^ b->bare[i][j]) & 0xff] ^ crc >> 8;
        }
        keep(&crc);
    }
}

static void decode_all(struct bench *b, uint8_t (*packets)[SLOT], const uint32_t *sizes)
{
    for (unsigned i = 0; i < PACKETS; i++) {
        struct packet_head head;
        struct packet_exts exts;
        b->refused += packet_decode(packets[i], sizes[i], &head, &exts) != WIRE_OK;
        keep(&head);
        keep(&exts);
    }
}

static void do_decode(struct bench *b)
{
    decode_all(b, b->bare, b->bare_size);
}

static void do_encode(struct bench *b)
{
    for (unsigned i = 0; i < PACKETS; i++) {
        packet_encode(&b->head[i], b->out[i]);
        keep(b->out[i]);
    }
}

static void do_both(struct bench *b)
{
    for (unsigned i = 0; i < PACKETS; i++) {
        struct packet_head head;
        struct packet_exts exts;
        b->refused += packet_decode(b->bare[i], b->bare_size[i], &head, &exts) != WIRE_OK;
        packet_encode(&head, b->out[i]);
        keep(b->out[i]);
        keep(&exts);
    }
}

static void do_decode_call(struct bench *b)
{
    decode_all(b, b->call, b->call_size);
}

static void do_decode_traced(struct bench *b)
{
    decode_all(b, b->traced, b->traced_size);
}

/* Every extension of the call written once more. */
static void do_encode_call(struct bench *b)
{
    for (unsigned i = 0; i < PACKETS; i++) {
        struct ext_request request = ext_request_read(b->call[i] + PACKET_HEAD_BYTES);
        struct ext_path path = {.places = 10};
        uint32_t at = PACKET_HEAD_BYTES;
        at += ext_request_write(&request, b->out[i] + at);
        at += ext_path_write(&path, b->out[i] + at);
        packet_encode(&b->head[i], b->out[i]);
        keep(b->out[i]);
    }
}

static void do_hop(struct bench *b)
{
    for (unsigned i = 0; i < PACKETS; i++) {
        b->refused += !packet_hop(b->bare[i]);
        b->bare[i][PACKET_AT_HOP_LIMIT]++; /* so that the packet never runs out of hops */
        b->bare[i][PACKET_AT_HOPS]--;
        keep(b->bare[i]);
    }
}

/* All that transit does to a recorded call: read, count the hop, append the link. */
static void do_transit_call(struct bench *b)
{
    for (unsigned i = 0; i < PACKETS; i++) {
        struct packet_head head;
        struct packet_exts exts;
        memcpy(b->out[i], b->call[i], 80);
        b->refused += packet_decode(b->out[i], b->call_size[i], &head, &exts) != WIRE_OK;
        b->refused += !packet_hop(b->out[i]);
        ext_path_append(packet_ext(b->out[i], &exts, EXT_PATH), (cw_link)(i % CW_LINK_COUNT));
        keep(b->out[i]);
        keep(&head);
    }
}

static void do_frame(struct bench *b)
{
    for (unsigned done = 0; done < PACKETS; done += b->frame_packets) {
        struct frame_head head;
        struct frame_walk walk;
        struct frame_slice slice;
        b->refused += frame_decode(b->frame, b->frame_size, &head, &walk) != WIRE_OK;
        while (frame_next(b->frame, &walk, &slice)) {
            keep(&slice);
        }
    }
}

static const struct {
    const char *name;
    void (*run)(struct bench *b);
} rows[] = {
    {"memcpy of 32 bytes", do_memcpy},
    {"CRC-32 of 32 bytes", do_crc},
    {"decode, no extension", do_decode},
    {"encode, no extension", do_encode},
    {"decode + encode, no extension", do_both},
    {"decode, request + path", do_decode_call},
    {"encode, request + path", do_encode_call},
    {"decode, trace of 4", do_decode_traced},
    {"hop in place", do_hop},
    {"copy 80, decode, hop, path append", do_transit_call},
    {"frame of 128: decode + walk, a packet", do_frame},
};

enum { ROWS = sizeof rows / sizeof *rows };

static uint32_t make(struct dice *dice, unsigned i, unsigned flags, struct packet_head *head, uint8_t *out)
{
    uint8_t bytes[DICE_PACKET_MAX];
    uint32_t at = PACKET_HEAD_BYTES;
    dice_packet(dice, i % 2 ? PACKET_KEY : PACKET_SERVER, 0, head, bytes);
    head->flags = (uint8_t)flags;
    if (flags & packet_flag(EXT_REQUEST)) {
        at += dice_ext(dice, EXT_REQUEST, out + at);
    }
    if (flags & packet_flag(EXT_PATH)) {
        struct ext_path path = {.places = 10, .hops = (uint8_t)dice_below(dice, 10)};
        at += ext_path_write(&path, out + at);
    }
    if (flags & packet_flag(EXT_TRACE)) {
        uint8_t *trace = out + at;
        at += ext_trace_start(TRACE_PLACES, trace);
        for (unsigned n = dice_below(dice, TRACE_PLACES); n > 0; n--) {
            struct ext_trace_entry entry = dice_trace_entry(dice);
            (void)ext_trace_append(trace, &entry);
        }
    }
    head->ext_words = (uint8_t)((at - PACKET_HEAD_BYTES) / EXT_WORD_BYTES);
    head->hop_limit = 64;
    head->hops = 1;
    head->length = (uint16_t)at;
    packet_encode(head, out);
    return at;
}

static void fill(struct bench *b)
{
    struct dice dice = {9};
    struct packet_head head;
    struct frame_plan plan;
    frame_open(&plan, FRAME_BYTES, 0);
    for (unsigned i = 0; i < PACKETS; i++) {
        b->call_size[i] = make(&dice, i, packet_flag(EXT_REQUEST) | packet_flag(EXT_PATH), &head, b->call[i]);
        b->traced_size[i] = make(&dice, i, packet_flag(EXT_TRACE), &head, b->traced[i]);
        b->bare_size[i] = make(&dice, i, 0, &b->head[i], b->bare[i]);
        memcpy(b->frame + frame_add(&plan, b->bare_size[i]), b->bare[i], b->bare_size[i]);
    }
    struct frame_head frame = {.packets = plan.packets};
    frame_encode(&frame, b->frame);
    b->frame_size = plan.size;
    b->frame_packets = plan.packets;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (unsigned bit = 0; bit < 8; bit++) {
            c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
        }
        b->crc_table[i] = c;
    }
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    unsigned repeats = argc > 1 && strcmp(argv[1], "--smoke") == 0 ? SMOKE_REPEATS : REPEATS;
    struct bench *b = calloc(1, sizeof *b);
    double ns[ROWS][ROUNDS];
    if (b == NULL) {
        return EXIT_FAILURE;
    }
    fill(b);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned row = 0; row < ROWS; row++) {
            double start = now_ns();
            for (unsigned i = 0; i < repeats; i++) {
                rows[row].run(b);
            }
            ns[row][round] = (now_ns() - start) / repeats / PACKETS;
        }
    }
    for (unsigned row = 0; row < ROWS; row++) {
        qsort(ns[row], ROUNDS, sizeof(double), by_value);
    }
    printf("%-40s %8s %8s %8s %10s %8s\n", "", "ns", "min", "max", "/ memcpy", "/ CRC");
    for (unsigned row = 0; row < ROWS; row++) {
        double median = ns[row][ROUNDS / 2];
        printf("%-40s %8.2f %8.2f %8.2f %10.2f %8.2f\n", rows[row].name, median, ns[row][0], ns[row][ROUNDS - 1],
               median / ns[0][ROUNDS / 2], median / ns[1][ROUNDS / 2]);
    }
    unsigned long refused = b->refused;
    free(b);
    return refused == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
