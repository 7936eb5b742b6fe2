/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/file/map.h"

#include "base/bytes.h"
#include "base/digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 60, SUM = 8 };
static const char magic[8] = "CWFMAP1";

static size_t bit_bytes(const struct file_map *m)
{
    return (size_t)((m->pieces + 7) / 8);
}

int file_map_open(struct file_map *m, uint64_t bytes, uint32_t piece_bytes, const uint8_t *digest)
{
    *m = (struct file_map){.bytes = bytes, .piece_bytes = piece_bytes, .pieces = (bytes - 1) / piece_bytes + 1};
    memcpy(m->digest, digest, sizeof m->digest);
    m->bit = calloc(bit_bytes(m), 1);
    return m->bit != NULL ? 0 : -ENOMEM;
}

void file_map_close(struct file_map *m)
{
    free(m->bit);
    m->bit = NULL;
}

static void grow_whole(struct file_map *m)
{
    while (m->whole < m->pieces) {
        if (m->whole % 8 == 0 && m->bit[m->whole / 8] == 0xff) {
            m->whole += 8;
        } else if (file_map_has(m, m->whole)) {
            m->whole++;
        } else {
            return;
        }
    }
}

void file_map_set(struct file_map *m, uint64_t piece)
{
    CHECK(piece < m->pieces);
    if (!file_map_has(m, piece)) {
        m->bit[piece / 8] |= (uint8_t)(1 << piece % 8);
        m->have++;
        grow_whole(m);
    }
}

void file_map_set_all(struct file_map *m)
{
    memset(m->bit, 0xff, bit_bytes(m));
    if (m->pieces % 8 != 0) {
        m->bit[m->pieces / 8] = (uint8_t)((1 << m->pieces % 8) - 1);
    }
    m->have = m->whole = m->pieces;
}

uint64_t file_map_prefix(const struct file_map *m)
{
    return m->whole == m->pieces ? m->bytes : m->whole * m->piece_bytes;
}

static uint64_t count_bits(const uint8_t *bit, size_t bytes)
{
    uint64_t count = 0;
    for (size_t i = 0; i < bytes; i++) {
        count += (unsigned)__builtin_popcount(bit[i]);
    }
    return count;
}

bool file_map_audit(const struct file_map *m)
{
    CHECK_RULE(m->have == count_bits(m->bit, bit_bytes(m)), "files F1: a map counts its pieces right", "a part");
    CHECK_RULE(m->whole <= m->have && m->have <= m->pieces, "files F1: the prefix is among the pieces", "a part");
    for (uint64_t i = 0; i < m->whole; i++) {
        CHECK_RULE(file_map_has(m, i), "files F1: the prefix has no gap", "a part");
    }
    CHECK_RULE(!file_map_has(m, m->whole), "files F1: the prefix is as long as it can be", "a part");
    return true;
}

static uint64_t sum_of(const uint8_t *bytes, size_t length)
{
    struct digest d;
    digest_init(&d);
    digest_bytes(&d, bytes, length);
    return digest_value(&d);
}

size_t file_map_size(const struct file_map *m)
{
    return HEAD + bit_bytes(m) + SUM;
}

void file_map_write(const struct file_map *m, uint8_t *out)
{
    size_t bits = bit_bytes(m);
    memcpy(out, magic, sizeof magic);
    put_be64(out + 8, m->bytes);
    put_be32(out + 16, m->piece_bytes);
    memcpy(out + 20, m->digest, sizeof m->digest);
    put_be64(out + 52, m->have);
    memcpy(out + HEAD, m->bit, bits);
    put_be64(out + HEAD + bits, sum_of(out, HEAD + bits));
}

int file_map_read(struct file_map *m, const uint8_t *bytes, size_t length)
{
    size_t bits = bit_bytes(m);
    if (length != file_map_size(m) || memcmp(bytes, magic, sizeof magic) != 0 || get_be64(bytes + 8) != m->bytes ||
        get_be32(bytes + 16) != m->piece_bytes || memcmp(bytes + 20, m->digest, sizeof m->digest) != 0 ||
        get_be64(bytes + HEAD + bits) != sum_of(bytes, HEAD + bits) ||
        get_be64(bytes + 52) != count_bits(bytes + HEAD, bits) ||
        (m->pieces % 8 != 0 && bytes[HEAD + bits - 1] >> m->pieces % 8 != 0)) {
        return -EBADMSG;
    }
    memcpy(m->bit, bytes + HEAD, bits);
    m->have = get_be64(bytes + 52);
    m->whole = 0;
    grow_whole(m);
    return 0;
}
