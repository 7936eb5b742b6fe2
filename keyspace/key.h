/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.h - 160-bit keys and the exact map between their routing bits and (home server, offset w).
 *
 *     route = the last 64 bits of the key, big-endian                     only these route (CamCubeOS 3.2)
 *     home  = floor(route * N / 2^64)                                     N servers, id (x * Y + y) * Z + z
 *     w     = floor((route * N mod 2^64) / N) = route - ceil(home * 2^64 / N)
 *
 * Every home owns one contiguous range of routes, and the sizes of two ranges differ by one route at most, whatever the
 * dims. In a 16x16x16 torus this is bit for bit the paper's layout (x, y and z in the top three nibbles, w in the other
 * 52 bits), in 256x256x256 its layout of 8 bits for each dimension. docs/keyspace.md says why the paper's bit fields
 * were not kept for other dims.
 *
 * Functions are pure, may be called from any thread, and allocate nothing. Server ids that are handed in must be below
 * torus.servers.
 */
#ifndef KEYSPACE_KEY_H
#define KEYSPACE_KEY_H

#include "cubeway/types.h"
#include "keyspace/torus.h"

/* The 64 bits of a key that route. */
static inline uint64_t key_route64(const cw_key *key)
{
    const uint8_t *b = key->b + CW_KEY_BYTES - 8;
    return (uint64_t)b[0] << 56 | (uint64_t)b[1] << 48 | (uint64_t)b[2] << 40 | (uint64_t)b[3] << 32 |
           (uint64_t)b[4] << 24 | (uint64_t)b[5] << 16 | (uint64_t)b[6] << 8 | (uint64_t)b[7];
}

/* The home server: one multiplication, no division. */
static inline cw_server key_home(const struct torus *t, uint64_t route)
{
    return (cw_server)(((unsigned __int128)route * t->servers) >> 64);
}

/*
 * w: the route's place within its home's range, 0 for the first. Only needed when the home is down. The quotient that
 * the inverse gives is at most one too small, and the remainder shows whether it is.
 */
static inline uint64_t key_offset(const struct torus *t, uint64_t route)
{
    uint64_t low = route * t->servers;
    uint64_t w = (uint64_t)(((unsigned __int128)low * t->inverse_n) >> 64);
    return w + (low - w * t->servers >= t->servers);
}

/* The first and the last route of a home's range. */
uint64_t key_first(const struct torus *t, cw_server home);
uint64_t key_last(const struct torus *t, cw_server home);

/*
 * Writes the key at (home, w): the inverse of key_home() and key_offset(). The key's upper 96 bits are zero. -ERANGE
 * when w lies beyond the home's range (w > key_last() - key_first()); *out is then untouched.
 */
CW_MUST_CHECK int key_at(const struct torus *t, cw_server home, uint64_t w, cw_key *out);

/*
 * Compares bytes, which is to compare numbers: gives less than, equal to or more than 0 as a is below, equal to or
 * above b. It does not take constant time: keys are public.
 */
int key_compare(const cw_key *a, const cw_key *b);

/*
 * The text form is 40 hex digits, the most significant first, written in lower case and read in either. key_parse()
 * gives -EMSGSIZE when length is not 40, and -EINVAL when a character is no hex digit; *out is then untouched. The text
 * need not end in a NUL.
 */
enum { KEY_TEXT = 2 * CW_KEY_BYTES + 1 };
CW_MUST_CHECK int key_parse(const char *text, size_t length, cw_key *out);
void key_format(const cw_key *key, char out[static KEY_TEXT]);

/* SHA-1 (FIPS 180-4) of the bytes; bytes may be NULL when length is 0. */
cw_key key_sha1(const void *bytes, size_t length);

/*
 * The key of a name within a job (a service is a job): SHA-1(job as 4 bytes, big-endian || name). The job's width is
 * fixed, so two jobs never hash the same bytes. SHA-1 spreads names, it does not protect them: collisions can be made
 * on purpose, so a service that finds a key must compare the whole name.
 */
cw_key key_of_name(cw_job job, const void *name, size_t length);

/*
 * The j-th extra key of a key (CamCubeOS 5.1: places for copies of a hot value): SHA-1(the key's 20 bytes || j as 4
 * bytes, big-endian). Extra keys are spread uniformly, and each depends on its own j alone: when their number grows,
 * none of them moves.
 */
cw_key key_extra(const cw_key *key, uint32_t j);

#endif
