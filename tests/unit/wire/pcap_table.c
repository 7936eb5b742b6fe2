/* SPDX-License-Identifier: Apache-2.0 */
#include "pcap_table.h"
#include "wire/frame.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_BYTES = 4096, ETHER_BYTES = 14 };

static const char *const names[] = {
    "version",
    "flags",
    "flags.tagged",
    "flags.relayed",
    "packets",
    "session",
    "sequence",
    "position",
    "counter",
    "tag",
    "padding",
    "packet.version",
    "packet.kind",
    "packet.length",
    "packet.flags",
    "packet.flags.full_key",
    "packet.flags.trace",
    "packet.flags.mark",
    "packet.hop_limit",
    "packet.hops",
    "packet.port",
    "packet.job",
    "packet.source_job",
    "packet.source_process",
    "packet.source",
    "packet.ext_words",
    "packet.key",
    "packet.server",
    "packet.process",
    "packet.payload",
    "ext.type",
    "ext.words",
    "ext.optional",
    "key.head",
    "key.full",
    "request.port",
    "request.job",
    "request.process",
    "request.server",
    "request.call",
    "request.limit",
    "response.status",
    "response.job",
    "response.process",
    "response.server",
    "response.call",
    "path.mode",
    "path.hops",
    "path.places",
    "path.links",
    "trace.entries",
    "trace.places",
    "trace.server",
    "trace.in",
    "trace.out",
    "trace.wait",
    "trace.job",
    "trace.verdict",
    "trace.queued",
    "waypoints.next",
    "waypoints.count",
    "waypoints.at",
    "guest.what",
    "guest.meant",
    "guest.life",
    "control.type",
    "control.session",
    "hello.cluster",
    "hello.config",
    "hello.server",
    "hello.flags.synced",
    "hello.flags.up",
    "hello.flags.leaving",
    "hello.flags.fenced",
    "hello.port",
    "hello.heard",
    "hello.incarnation",
    "hello.clock",
    "hello.echo",
    "hello.position",
    "hello.ack",
    "hello.digest",
    "hello.number",
    "hello.newest",
    "hello.before",
    "goodbye.incarnation",
    "goodbye.server",
    "goodbye.reason",
    "stream.heard",
    "stream.ack",
    "stream.first",
    "stream.items",
    "item.number",
    "item.type",
    "item.flags.last",
    "item.length",
    "item.body",
    "about.version",
    "about.build",
    "record.origin",
    "record.flags.leaving",
    "record.flags.active",
    "record.incarnation",
    "record.seq",
    "record.up",
    "record.up.links",
    "record.pending",
    "record.pending.links",
    "record.nonce",
    "record.neighbour",
    "ack.acker",
    "ack.acker_incarnation",
    "ack.origin",
    "ack.incarnation",
    "ack.seq",
    "summary.origin",
    "summary.incarnation",
    "summary.seq",
    "synced.digest",
    "job_part.job",
    "job_part.version",
    "job_part.total",
    "job_part.offset",
    "job_part.used",
    "job_part.bytes",
    "job_part.padding",
    "job_ack.server",
    "job_ack.incarnation",
    "job_ack.job",
    "job_ack.version",
    "job_summary.job",
    "job_summary.version",
    "refused",
};
enum { COLUMNS = sizeof names / sizeof *names };

static struct table {
    char cell[COLUMNS][CELL_BYTES];
    const char *only;
    FILE *pcap;
} table;

static unsigned column_of(const char *name)
{
    for (unsigned i = 0; i < COLUMNS; i++) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    fprintf(stderr, "no column %s\n", name);
    exit(EXIT_FAILURE);
}

void expect(const char *name, const char *format, ...)
{
    char *cell = table.cell[column_of(name)];
    size_t used = strlen(cell);
    if (used > 0) {
        cell[used++] = ';';
    }
    va_list args;
    va_start(args, format);
    vsnprintf(cell + used, CELL_BYTES - used, format, args);
    va_end(args);
}

void expect_server(const char *name, cw_coord c)
{
    expect(name, "%u,%u,%u", c.x, c.y, c.z);
}

void expect_bytes(const char *name, const uint8_t *bytes, size_t size)
{
    char text[512];
    for (size_t i = 0; i < size; i++) {
        snprintf(text + 2 * i, sizeof text - 2 * i, "%02x", bytes[i]);
    }
    expect(name, "%s", text);
}

static void print_row(const char *prefix, bool values)
{
    unsigned first = table.only != NULL ? column_of(table.only) : 0;
    unsigned end = table.only != NULL ? first + 1 : COLUMNS;
    for (unsigned i = first; i < end; i++) {
        printf("%s%s%s", i > first ? "\t" : "", prefix, values ? table.cell[i] : names[i]);
    }
    printf("\n");
    for (unsigned i = 0; i < COLUMNS; i++) {
        table.cell[i][0] = 0;
    }
}

static void write_or_die(const void *bytes, size_t size)
{
    if (fwrite(bytes, 1, size, table.pcap) != size) {
        perror("pcap");
        exit(EXIT_FAILURE);
    }
}

/* The heads of a pcap are 24 bytes for the file and 16 for a frame, in host order. */
void table_open(const char *path, const char *only)
{
    struct {
        uint32_t magic;
        uint16_t major, minor;
        uint32_t zone, accuracy, snap, link;
    } head = {0xa1b2c3d4, 2, 4, 0, 0, 65535, 1};
    table.only = only;
    table.pcap = fopen(path, "wb");
    if (table.pcap == NULL) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    write_or_die(&head, sizeof head);
    print_row("cubeway.", false);
}

void table_frame(const uint8_t *frame, size_t size)
{
    unsigned type = frame_lane(frame, size) == FRAME_CONTROL ? WIRE_ETHERTYPE_CONTROL : WIRE_ETHERTYPE;
    const uint8_t ether[ETHER_BYTES] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, (uint8_t)(type >> 8), (uint8_t)type};
    uint32_t head[4] = {0, 0, (uint32_t)(ETHER_BYTES + size), (uint32_t)(ETHER_BYTES + size)};
    write_or_die(head, sizeof head);
    write_or_die(ether, sizeof ether);
    write_or_die(frame, size);
    print_row("", true);
}

void table_close(void)
{
    if (fclose(table.pcap) != 0) {
        perror("pcap");
        exit(EXIT_FAILURE);
    }
}
