/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/pcapng.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_SECTION = 0x0A0D0D0A,
    BLOCK_INTERFACE = 1,
    BLOCK_PACKET = 6,
    BYTE_ORDER_MAGIC = 0x1A2B3C4D,
    LINKTYPE_ETHERNET = 1,
    OPTION_END = 0,
    OPTION_COMMENT = 1,
    SECTION_APPLICATION = 4,
    INTERFACE_NAME = 2,
    INTERFACE_SPEED = 8,
    INTERFACE_RESOLUTION = 9,
    NANOSECONDS = 9,
    ETHERNET_BYTES = 14,
    ETHERNET_LEAST = 60, /* without the check sequence, which is not captured */
    TEXT_MAX = 200,
};

struct pcapng {
    FILE *file;
    unsigned interfaces;
    int error;
};

/* The part of a block before the packet's bytes, and the part after: both are small. */
struct piece {
    uint8_t bytes[512];
    uint32_t length;
};

static void put8(struct piece *b, uint8_t value)
{
    b->bytes[b->length++] = value;
}

static void put16(struct piece *b, uint16_t value)
{
    put8(b, (uint8_t)value);
    put8(b, (uint8_t)(value >> 8));
}

static void put32(struct piece *b, uint32_t value)
{
    put16(b, (uint16_t)value);
    put16(b, (uint16_t)(value >> 16));
}

static void put64(struct piece *b, uint64_t value)
{
    put32(b, (uint32_t)value);
    put32(b, (uint32_t)(value >> 32));
}

static void pad(struct piece *b)
{
    while (b->length % 4 != 0) {
        put8(b, 0);
    }
}

static void put_text(struct piece *b, uint16_t option, const char *text)
{
    size_t length = strnlen(text, TEXT_MAX);
    put16(b, option);
    put16(b, (uint16_t)length);
    memcpy(b->bytes + b->length, text, length);
    b->length += (uint32_t)length;
    pad(b);
}

static void put_end(struct piece *b)
{
    put16(b, OPTION_END);
    put16(b, 0);
}

static void emit(struct pcapng *p, const void *bytes, size_t length)
{
    if (p->error == 0 && length > 0 && fwrite(bytes, 1, length, p->file) != length) {
        p->error = errno != 0 ? -errno : -EIO;
    }
}

/* A block that is one piece: its total length stands before and after. */
static void emit_block(struct pcapng *p, uint32_t type, const struct piece *body)
{
    struct piece head = {.length = 0}, tail = {.length = 0};
    put32(&head, type);
    put32(&head, body->length + 12);
    put32(&tail, body->length + 12);
    emit(p, head.bytes, head.length);
    emit(p, body->bytes, body->length);
    emit(p, tail.bytes, tail.length);
}

int pcapng_open(struct pcapng **out, const char *path, const char *application)
{
    struct pcapng *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return -ENOMEM;
    }
    p->file = fopen(path, "wb");
    if (p->file == NULL) {
        int rc = -errno;
        free(p);
        return rc;
    }
    struct piece body = {.length = 0};
    put32(&body, BYTE_ORDER_MAGIC);
    put16(&body, 1);
    put16(&body, 0);
    put64(&body, UINT64_MAX); /* the section's length: not said */
    put_text(&body, SECTION_APPLICATION, application);
    put_end(&body);
    emit_block(p, BLOCK_SECTION, &body);
    if (p->error != 0) {
        return pcapng_close(p);
    }
    *out = p;
    return 0;
}

int pcapng_interface(struct pcapng *p, const char *name, uint64_t speed)
{
    struct piece body = {.length = 0};
    put16(&body, LINKTYPE_ETHERNET);
    put16(&body, 0);
    put32(&body, 0); /* no limit on a packet's captured bytes */
    put_text(&body, INTERFACE_NAME, name);
    if (speed != 0) {
        put16(&body, INTERFACE_SPEED);
        put16(&body, 8);
        put64(&body, speed);
    }
    put16(&body, INTERFACE_RESOLUTION);
    put16(&body, 1);
    put8(&body, NANOSECONDS);
    pad(&body);
    put_end(&body);
    emit_block(p, BLOCK_INTERFACE, &body);
    return p->error != 0 ? p->error : (int)p->interfaces++;
}

void pcapng_frame(struct pcapng *p, unsigned interface, const struct pcapng_frame *frame)
{
    static const uint8_t nothing[1024];
    struct piece head = {.length = 0}, tail = {.length = 0};
    uint32_t size = ETHERNET_BYTES + frame->length + frame->zeros;
    uint32_t captured = size < ETHERNET_LEAST ? ETHERNET_LEAST : size;
    uint32_t filler = -captured & 3;
    if (frame->comment != NULL) {
        put_text(&tail, OPTION_COMMENT, frame->comment);
        put_end(&tail);
    }
    uint32_t total = 28 + captured + filler + tail.length + 4;
    put32(&tail, total);
    put32(&head, BLOCK_PACKET);
    put32(&head, total);
    put32(&head, interface);
    put32(&head, (uint32_t)((uint64_t)frame->at.ns >> 32));
    put32(&head, (uint32_t)frame->at.ns);
    put32(&head, captured);
    put32(&head, captured);
    memcpy(head.bytes + head.length, frame->to, 6);
    memcpy(head.bytes + head.length + 6, frame->from, 6);
    head.length += 12;
    put8(&head, (uint8_t)(frame->type >> 8)); /* as on the wire: the high byte first */
    put8(&head, (uint8_t)frame->type);
    emit(p, head.bytes, head.length);
    emit(p, frame->bytes, frame->length);
    for (uint32_t left = captured - ETHERNET_BYTES - frame->length + filler; left > 0;) {
        uint32_t chunk = left < sizeof nothing ? left : (uint32_t)sizeof nothing;
        emit(p, nothing, chunk);
        left -= chunk;
    }
    emit(p, tail.bytes, tail.length);
}

int pcapng_close(struct pcapng *p)
{
    if (p == NULL) {
        return 0;
    }
    int rc = p->error;
    if (fclose(p->file) != 0 && rc == 0) {
        rc = -errno;
    }
    free(p);
    return rc;
}
