/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/lsdb.h"

#include "base/prng.h"
#include "links.h"
#include "suite.h"

struct fixture {
    struct cluster cluster;
    struct lsdb db;
    struct arena arena;
    struct lsdb_change change; /* of the last apply() */
};

static struct fixture *fixture_open(cw_dims dims)
{
    struct fixture *f = calloc(1, sizeof *f);
    cluster_init(&f->cluster, dims);
    struct arena measure = arena_measure();
    lsdb_init(&f->db, &f->cluster.torus, f->cluster.neighbours, &measure);
    ck_assert_int_eq(arena_open(&f->arena, arena_used(&measure)), 0);
    lsdb_init(&f->db, &f->cluster.torus, f->cluster.neighbours, &f->arena);
    ck_assert(arena_is_full(&f->arena));
    return f;
}

static void fixture_close(struct fixture *f)
{
    arena_close(&f->arena);
    free(f);
}

static enum lsdb_verdict apply(struct fixture *f, const struct record *r)
{
    memset(&f->change, 0xee, sizeof f->change);
    return lsdb_apply(&f->db, r, &f->change);
}

/* The database hears what a server says now. */
static void hear(struct fixture *f, cw_server s)
{
    ck_assert_int_eq(apply(f, &f->cluster.record[s]), LSDB_NEWER);
}

static void hear_all(struct fixture *f)
{
    for (cw_server s = 0; s < f->cluster.torus.servers; s++) {
        hear(f, s);
    }
}

/* Everything that is kept up to date, against what the records say. */
static void check_all(const struct fixture *f)
{
    const struct lsdb *db = &f->db;
    cw_links up[LINKS_SERVERS_MAX], opt[LINKS_SERVERS_MAX];
    naive_links(&db->torus, db->records, false, up);
    naive_links(&db->torus, db->records, true, opt);
    uint32_t known = 0, up_ends = 0, opt_ends = 0;
    struct digest_set digest = {0};
    for (cw_server s = 0; s < db->torus.servers; s++) {
        if (db->up[s] != up[s] || db->opt[s] != opt[s]) {
            ck_abort_msg("server %u: up %#x not %#x, opt %#x not %#x", s, db->up[s], up[s], db->opt[s], opt[s]);
        }
        up_ends += (uint32_t)__builtin_popcount(up[s]);
        opt_ends += (uint32_t)__builtin_popcount(opt[s]);
        const struct record *r = lsdb_record(db, s);
        ck_assert(lsdb_is_leaving(db, s) == (r != NULL && (r->flags & RECORD_LEAVING)));
        if (r != NULL) {
            uint8_t bytes[RECORD_BYTES];
            known++;
            record_encode(r, bytes);
            digest_set_add(&digest, digest_of(bytes, sizeof bytes));
        }
    }
    ck_assert_uint_eq(db->known, known);
    ck_assert_uint_eq(lsdb_digest(db), digest.value);
    ck_assert(lsdb_is_whole(db) == (up_ends == db->cable_ends));
    ck_assert(lsdb_has_pending(db) == (up_ends != opt_ends));
}

START_TEST(newest_wins)
{
    static const struct {
        uint64_t incarnation;
        uint32_t seq;
        enum lsdb_verdict verdict;
    } table[] = {
        {5, 7, LSDB_NEWER},                                       /* the first of all */
        {5, 7, LSDB_SAME},                                        /* again */
        {5, 6, LSDB_OLDER},          {4, UINT32_MAX, LSDB_OLDER}, /* the incarnation counts first */
        {5, 8, LSDB_NEWER},          {6, 1, LSDB_NEWER},          /* a new life begins at 1 */
        {5, 9, LSDB_OLDER},                                       /* a straggler of the old one */
        {6, UINT32_MAX, LSDB_NEWER}, /* seq does not wrap: who runs out takes a new incarnation */
        {6, 1, LSDB_OLDER},          {UINT64_MAX, 1, LSDB_NEWER}, {6, UINT32_MAX, LSDB_OLDER},
    };
    struct fixture *f = fixture_open((cw_dims){2, 2, 2});
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct record r = {.incarnation = table[i].incarnation, .seq = table[i].seq, .origin = {1, 0, 1}};
        ck_assert_msg(lsdb_judge(&f->db, 5, r.incarnation, r.seq) == table[i].verdict, "row %zu", i);
        ck_assert_msg(apply(f, &r) == table[i].verdict, "row %zu", i);
        const struct record *held = lsdb_record(&f->db, 5);
        ck_assert(table[i].verdict == LSDB_OLDER || (held->incarnation == r.incarnation && held->seq == r.seq));
        check_all(f);
    }
    ck_assert_ptr_null(lsdb_record(&f->db, 4));
    ck_assert_uint_eq(lsdb_incarnation(&f->db, 4), 0);
    ck_assert_uint_eq(lsdb_incarnation(&f->db, 5), UINT64_MAX);
    fixture_close(f);
}
END_TEST

START_TEST(what_does_not_fit_is_refused)
{
    struct fixture *f = fixture_open((cw_dims){1, 2, 4});
    struct record r = {.incarnation = 1, .seq = 1, .origin = {1, 0, 0}};
    ck_assert_int_eq(apply(f, &r), LSDB_REFUSED); /* no x = 1 */
    r.origin = (cw_coord){0, 0, 4};
    ck_assert_int_eq(apply(f, &r), LSDB_REFUSED);
    r.origin = (cw_coord){0, 1, 3};
    r.up = cw_links_of(CW_LINK_XP);
    ck_assert_int_eq(apply(f, &r), LSDB_REFUSED); /* no cable along x */
    r.up = 0;
    r.pending = cw_links_of(CW_LINK_XM);
    ck_assert_int_eq(apply(f, &r), LSDB_REFUSED);
    ck_assert_uint_eq(f->db.known, 0);
    check_all(f);
    r.pending = cw_links_of(CW_LINK_YM);
    ck_assert_int_eq(apply(f, &r), LSDB_NEWER);
    check_all(f);
    fixture_close(f);
}
END_TEST

#ifndef CW_CHECK_HONEST
START_TEST(equal_versions_are_equal_bytes)
{
    struct fixture *f = fixture_open((cw_dims){2, 2, 2});
    hear_all(f);
    uint64_t digest = lsdb_digest(&f->db);
    struct record liar = f->cluster.record[3];
    liar.boot_nonce = 77;
    ck_assert_int_eq(apply(f, &liar), LSDB_CONFLICT);
    ck_assert_uint_eq(lsdb_digest(&f->db), digest);
    ck_assert_uint_eq(lsdb_record(&f->db, 3)->boot_nonce, 0);
    fixture_close(f);
}
END_TEST
#endif

START_TEST(who_outbids_whom)
{
    static const struct {
        uint64_t incarnation;
        uint32_t seq;
        uint16_t nonce;
        bool outbids;
    } table[] = {
        {10, 5, 1, false}, /* my own, come home */
        {10, 4, 1, false},
        {9, 99, 2, false}, /* an older life of this server or another: mine wins, and whoever sent it gets mine */
        {10, 6, 1, true},  /* I never said that in this life */
        {10, 4, 2, true},  /* another boot with my incarnation */
        {11, 1, 1, true},
        {11, 1, 2, true},
    };
    struct record mine = {.incarnation = 10, .seq = 5, .boot_nonce = 1};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct record theirs = {.incarnation = table[i].incarnation, .seq = table[i].seq, .boot_nonce = table[i].nonce};
        ck_assert_msg(lsdb_outbids(&theirs, &mine) == table[i].outbids, "row %zu", i);
    }
}
END_TEST

START_TEST(a_link_takes_two)
{
    struct fixture *f = fixture_open((cw_dims){3, 3, 3});
    hear_all(f);
    cw_server a = 13, b = f->cluster.neighbours[a * CW_LINK_COUNT + CW_LINK_YM];

    cluster_list(&f->cluster, a, CW_LINK_YM, LINK_PENDING);
    hear(f, a);
    ck_assert_uint_eq(f->change.opt_gained, 0); /* one end only */
    cluster_list(&f->cluster, b, CW_LINK_YP, LINK_PENDING);
    hear(f, b);
    ck_assert_uint_eq(f->change.opt_gained, cw_links_of(CW_LINK_YP));
    ck_assert_uint_eq(f->change.up_gained, 0);
    ck_assert(lsdb_has_pending(&f->db));
    cluster_list(&f->cluster, a, CW_LINK_YM, LINK_UP);
    hear(f, a);
    ck_assert_uint_eq(f->change.opt_gained | f->change.opt_lost | f->change.up_gained,
                      0); /* up at one end is pending */
    cluster_list(&f->cluster, b, CW_LINK_YP, LINK_UP);
    hear(f, b);
    ck_assert_uint_eq(f->change.up_gained, cw_links_of(CW_LINK_YP));
    ck_assert_uint_eq(f->change.opt_gained, 0);
    ck_assert_uint_eq(f->db.up[a], cw_links_of(CW_LINK_YM));
    ck_assert(!lsdb_has_pending(&f->db));
    check_all(f);
    cluster_list(&f->cluster, a, CW_LINK_YM, LINK_DOWN);
    hear(f, a);
    ck_assert_uint_eq(f->change.up_lost, cw_links_of(CW_LINK_YM));
    ck_assert_uint_eq(f->change.opt_lost, cw_links_of(CW_LINK_YM));
    ck_assert_uint_eq(f->db.up[b], 0);
    check_all(f);
    fixture_close(f);
}
END_TEST

/*
 * Semantics 4.2, detail 5 (mutant NO_NEIGHBOUR_INCARNATION): a server dies and comes back; its neighbour's new record
 * lists it again, the old record of the dead one still lists the neighbour. That must not look like a link.
 */
START_TEST(the_dead_do_not_rise)
{
    struct fixture *f = fixture_open((cw_dims){3, 1, 1});
    struct cluster *c = &f->cluster;
    cluster_link_all(c, LINK_UP);
    hear_all(f);
    ck_assert(lsdb_is_whole(&f->db));
    struct record dead = c->record[1];

    cluster_restart(c, 1); /* known to its neighbour 0 only: this database has the old record */
    cluster_list(c, 0, CW_LINK_XP, LINK_UP);
    hear(f, 0);
    ck_assert_uint_eq(f->change.up_lost, cw_links_of(CW_LINK_XP));
    ck_assert_uint_eq(f->db.up[1], cw_links_of(CW_LINK_XP)); /* server 2 has not noticed anything */
    check_all(f);

    /* Now the new record, still without links; and the old one does not come back. */
    hear(f, 1);
    ck_assert(f->change.renewed);
    ck_assert_uint_eq(f->db.opt[1], 0);
    ck_assert_int_eq(apply(f, &dead), LSDB_OLDER);
    cluster_list(c, 1, CW_LINK_XM, LINK_UP);
    hear(f, 1);
    ck_assert(!f->change.renewed);
    ck_assert_uint_eq(f->db.up[1], cw_links_of(CW_LINK_XM));
    check_all(f);
    fixture_close(f);
}
END_TEST

START_TEST(two_cables_to_one_neighbour)
{
    struct fixture *f = fixture_open((cw_dims){1, 2, 4});
    struct cluster *c = &f->cluster;
    cluster_link_all(c, LINK_UP);
    hear_all(f);
    ck_assert(lsdb_is_whole(&f->db));
    cluster_list(c, 0, CW_LINK_YP, LINK_PENDING); /* its cable ends at port YM of server 4 */
    hear(f, 0);
    ck_assert_uint_eq(f->change.up_lost, cw_links_of(CW_LINK_YP));
    ck_assert_uint_eq(f->change.opt_lost, 0);
    ck_assert_uint_eq(f->db.up[4], 0x3c & ~cw_links_of(CW_LINK_YM));
    ck_assert_uint_eq(f->db.opt[4], 0x3c);
    check_all(f);
    fixture_close(f);
}
END_TEST

START_TEST(changes_of_flags_and_lives_are_told)
{
    struct fixture *f = fixture_open((cw_dims){2, 2, 2});
    struct record r = {.incarnation = 3, .seq = 1, .flags = RECORD_ACTIVE};
    ck_assert_int_eq(apply(f, &r), LSDB_NEWER);
    ck_assert(f->change.renewed && f->change.flags);
    r.seq++;
    ck_assert_int_eq(apply(f, &r), LSDB_NEWER); /* a refresh: nothing changes */
    ck_assert(!f->change.renewed && !f->change.flags && f->change.origin == 0);
    r.seq++;
    r.flags |= RECORD_LEAVING;
    ck_assert_int_eq(apply(f, &r), LSDB_NEWER);
    ck_assert(!f->change.renewed && f->change.flags && lsdb_is_leaving(&f->db, 0));
    r = (struct record){.incarnation = 4, .seq = 1};
    ck_assert_int_eq(apply(f, &r), LSDB_NEWER);
    ck_assert(f->change.renewed && f->change.flags && !lsdb_is_leaving(&f->db, 0));
    fixture_close(f);
}
END_TEST

/* Old ones among them: masks, counts and digest are those of the records held, and changes are their differences. */
START_TEST(any_records_in_any_order)
{
    static const cw_dims shapes[] = {{1, 1, 1}, {1, 2, 4}, {2, 2, 2}, {3, 3, 3}, {2, 3, 4}};
    struct prng prng = prng_stream(2, 0, 0);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct fixture *f = fixture_open(shapes[i]);
        uint32_t n = f->cluster.torus.servers;
        for (unsigned step = 0; step < 4000; step++) {
            cw_server s = (cw_server)prng_below(&prng, n);
            cw_link link = (cw_link)prng_below(&prng, CW_LINK_COUNT);
            if (prng_chance(&prng, 1, 50)) {
                cluster_restart(&f->cluster, s);
            } else if (torus_links(&f->cluster.torus) & cw_links_of(link)) {
                cluster_list(&f->cluster, s, link, (enum link_state)prng_below(&prng, 3));
            }
            s = prng_chance(&prng, 1, 2) ? s : (cw_server)prng_below(&prng, n);
            cw_links up = f->db.up[s], opt = f->db.opt[s];
            struct record said = f->cluster.record[s];
            said.seq -= prng_chance(&prng, 1, 4) && said.seq > 1; /* a straggler, if not the first of its version */
            enum lsdb_verdict verdict = lsdb_judge(&f->db, s, said.incarnation, said.seq);
            if (verdict == LSDB_SAME || apply(f, &said) != LSDB_NEWER) {
                continue;
            }
            ck_assert_uint_eq((up | f->change.up_gained) & ~f->change.up_lost, f->db.up[s]);
            ck_assert_uint_eq((opt | f->change.opt_gained) & ~f->change.opt_lost, f->db.opt[s]);
            ck_assert_uint_eq((f->change.up_gained & up) | (f->change.opt_gained & opt), 0);
            check_all(f);
        }
        fixture_close(f);
    }
}
END_TEST

START_TEST(the_digest_forgets_the_order)
{
    struct fixture *a = fixture_open((cw_dims){3, 3, 3}), *b = fixture_open((cw_dims){3, 3, 3});
    cluster_link_all(&a->cluster, LINK_UP);
    b->cluster = a->cluster;
    struct record old = {.incarnation = 1, .seq = 1, .origin = {2, 2, 2}};
    ck_assert_int_eq(apply(b, &old), LSDB_NEWER);
    hear_all(a);
    for (cw_server s = 27; s-- > 0;) {
        hear(b, s);
    }
    ck_assert_uint_eq(lsdb_digest(&a->db), lsdb_digest(&b->db));
    cluster_list(&b->cluster, 3, CW_LINK_XP, LINK_DOWN);
    hear(b, 3);
    ck_assert_uint_ne(lsdb_digest(&a->db), lsdb_digest(&b->db));
    fixture_close(a);
    fixture_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(newest_wins),
    SUITE_TEST(what_does_not_fit_is_refused),
#ifndef CW_CHECK_HONEST
    SUITE_TEST(equal_versions_are_equal_bytes),
#endif
    SUITE_TEST(who_outbids_whom),
    SUITE_TEST(a_link_takes_two),
    SUITE_TEST(the_dead_do_not_rise),
    SUITE_TEST(two_cables_to_one_neighbour),
    SUITE_TEST(changes_of_flags_and_lives_are_told),
    SUITE_TEST(any_records_in_any_order),
    SUITE_TEST(the_digest_forgets_the_order),
};
SUITE_MAIN("lsdb", tests)
