/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/lsdb.h"

#include "base/check.h"
#include "linkstate/mutant.h"

#include <stdalign.h>
#include <string.h>

void lsdb_init(struct lsdb *db, const struct torus *torus, const cw_server *neighbours, struct arena *arena)
{
    uint32_t n = torus->servers;
    *db = (struct lsdb){
        .torus = *torus,
        .neighbours = neighbours,
        .records = arena_carve(arena, n, sizeof *db->records, alignof(struct record)),
        .up = arena_carve(arena, n, sizeof *db->up, 1),
        .opt = arena_carve(arena, n, sizeof *db->opt, 1),
        .cable_ends = n * (uint32_t)__builtin_popcount(torus_links(torus)),
    };
    void *leaving = arena_carve(arena, 1, reach_bytes(n), alignof(uint64_t));
    if (!arena_is_measuring(arena)) {
        reach_init(&db->leaving, n, leaving);
    }
}

/* The digest is over the bytes as on the wire, so that all machines agree. */
static uint64_t digest_of_record(const struct record *record)
{
    uint8_t bytes[RECORD_BYTES];
    record_encode(record, bytes);
    return digest_of(bytes, sizeof bytes);
}

static bool fits(const struct lsdb *db, const struct record *record)
{
    return torus_holds(&db->torus, record->origin) && ((record->up | record->pending) & ~torus_links(&db->torus)) == 0;
}

enum lsdb_verdict lsdb_judge(const struct lsdb *db, cw_server origin, uint64_t incarnation, uint32_t seq)
{
    const struct record *held = &db->records[origin];
    if (incarnation != held->incarnation) {
        return incarnation > held->incarnation ? LSDB_NEWER : LSDB_OLDER;
    }
    if (seq != held->seq) {
        return seq > held->seq ? LSDB_NEWER : LSDB_OLDER;
    }
    return LSDB_SAME;
}

bool lsdb_outbids(const struct record *theirs, const struct record *mine)
{
    if (theirs->incarnation != mine->incarnation) {
        return theirs->incarnation > mine->incarnation;
    }
    return theirs->seq > mine->seq || theirs->boot_nonce != mine->boot_nonce;
}

/*
 * Semantics 4.2, detail 5: whoever lists a link says which incarnation it listed it with. Without this the record that
 * a dead server left behind and its neighbour's record of the new adjacency agree about a link that never was.
 */
static bool names(const struct record *from, cw_link link, const struct record *to)
{
    return MUTANT(NO_NEIGHBOUR_INCARNATION) || from->neighbour[link] == (uint16_t)to->incarnation;
}

/* Sets or clears both ends of a link in one of the two masks. */
static void set_link(cw_links *masks, uint32_t *ends, cw_server a, cw_link link, cw_server b, bool on)
{
    cw_links bit = cw_links_of(link);
    if (((masks[a] & bit) != 0) == on) {
        return;
    }
    masks[a] ^= bit;
    masks[b] ^= cw_links_of(cw_link_opposite(link));
    *ends = on ? *ends + 2 : *ends - 2;
}

/* Sets both masks of one link from the two records; where there is no record, it is as one without links. */
static void judge_link(struct lsdb *db, cw_server a, cw_link link)
{
    cw_server b = lsdb_neighbour(db, a, link);
    const struct record *near = &db->records[a], *far = &db->records[b];
    cw_link back = cw_link_opposite(link);
    bool mutual = names(near, link, far) && names(far, back, near);
    bool up = mutual && (near->up >> link & far->up >> back & 1) != 0;
    bool opt = mutual && ((near->up | near->pending) >> link & (far->up | far->pending) >> back & 1) != 0;
    set_link(db->up, &db->up_ends, a, link, b, up);
    set_link(db->opt, &db->opt_ends, a, link, b, opt);
}

/* The links about which two records of one origin differ: only the masks of these can change. */
static cw_links retold(const struct record *a, const struct record *b)
{
    cw_links said = a->up | a->pending | b->up | b->pending;
    if (a->incarnation != b->incarnation) {
        return said;
    }
    cw_links changed = (a->up ^ b->up) | (a->pending ^ b->pending);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        changed |= a->neighbour[link] != b->neighbour[link] ? cw_links_of(link) : CW_LINKS_NONE;
    }
    return changed & said;
}

static void replace(struct lsdb *db, cw_server origin, const struct record *record)
{
    struct record *held = &db->records[origin];
    if (held->incarnation != 0) {
        digest_set_remove(&db->digest, digest_of_record(held));
    } else {
        db->known++;
    }
    digest_set_add(&db->digest, digest_of_record(record));
    *held = *record;
    if (record->flags & RECORD_LEAVING) {
        reach_add(&db->leaving, origin);
    } else {
        reach_remove(&db->leaving, origin);
    }
}

enum lsdb_verdict lsdb_apply(struct lsdb *db, const struct record *record, struct lsdb_change *change)
{
    CHECK(record->incarnation != 0 && record->seq != 0);
    if (!fits(db, record)) {
        return LSDB_REFUSED;
    }
    cw_server origin = torus_id(&db->torus, record->origin);
    const struct record *held = &db->records[origin];
    enum lsdb_verdict verdict = lsdb_judge(db, origin, record->incarnation, record->seq);
    if (verdict == LSDB_SAME && memcmp(record, held, sizeof *held) != 0) {
        verdict = LSDB_CONFLICT;
    }
    CHECK_HONEST(verdict != LSDB_CONFLICT);
    if (verdict != LSDB_NEWER) {
        return verdict;
    }
    bool renewed = record->incarnation != held->incarnation, flags = record->flags != held->flags;
    cw_links links = retold(held, record);
    replace(db, origin, record);

    cw_links up = db->up[origin], opt = db->opt[origin];
    for (; links != CW_LINKS_NONE; links &= (cw_links)(links - 1)) {
        judge_link(db, origin, (cw_link)__builtin_ctz(links));
    }
    *change = (struct lsdb_change){
        .origin = origin,
        .renewed = renewed,
        .flags = flags,
        .up_gained = db->up[origin] & (cw_links)~up,
        .up_lost = up & (cw_links)~db->up[origin],
        .opt_gained = db->opt[origin] & (cw_links)~opt,
        .opt_lost = opt & (cw_links)~db->opt[origin],
    };
    return LSDB_NEWER;
}
