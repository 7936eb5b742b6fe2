/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - which pieces of a file are there: a bit for each, and its form on disk, by which a transfer goes on where it
 * broke off.
 *
 *      0         8            16              20        52         60 ..            end - 8
 *      | CWFMAP1 | bytes (8)  | piece bytes 4 | digest  | have (8) | bits, piece i is bit i % 8 of byte i / 8 | sum (8)
 *
 * Read back it is what was written, or it is refused: a map that was torn, or is of other bytes or other pieces, is
 * none. A plain value with one owner.
 */
#ifndef SERVICES_MULTICAST_FILE_MAP_H
#define SERVICES_MULTICAST_FILE_MAP_H

#include "services/multicast/file/host.h"

struct file_map {
    uint64_t bytes; /* of the message */
    uint32_t piece_bytes;
    uint8_t digest[FILES_DIGEST_BYTES];
    uint64_t pieces, have;
    uint64_t whole; /* all pieces below this one are there */
    uint8_t *bit;
};

/* Opens a map without pieces; bytes and piece_bytes are at least 1. Release with file_map_close(). -ENOMEM. */
CW_MUST_CHECK int file_map_open(struct file_map *m, uint64_t bytes, uint32_t piece_bytes, const uint8_t *digest);
void file_map_close(struct file_map *m);

static inline bool file_map_has(const struct file_map *m, uint64_t piece)
{
    return piece < m->pieces && (m->bit[piece / 8] >> piece % 8 & 1) != 0;
}
/* Adds a piece, which must be below m->pieces. A piece that is there already changes nothing. */
void file_map_set(struct file_map *m, uint64_t piece);
void file_map_set_all(struct file_map *m);
/* The number of bytes from the first on that are there without a gap. */
uint64_t file_map_prefix(const struct file_map *m);

/* A walker for CHECK_SLOW. True; stops the program when the bits and their counts do not agree ("files F1"). */
bool file_map_audit(const struct file_map *m);

/* The form on disk. */
size_t file_map_size(const struct file_map *m);
void file_map_write(const struct file_map *m, uint8_t *out);
/*
 * Reads that form into a map that was opened for the expected file. -EBADMSG: it is damaged, or another file's, and
 * nothing changed.
 */
CW_MUST_CHECK int file_map_read(struct file_map *m, const uint8_t *bytes, size_t length);

#endif
