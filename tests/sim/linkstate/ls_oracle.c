/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ls_oracle.c - looks at everything after every event. The numbers are those of semantics 8.1.
 *
 *   truth      a link is up when its cable works both ways, both daemons live, and both ends are UP with each other's
 *              incarnation of now; a component is what such links connect
 *   4, 5       no serving server is first in its O for a key while an active server of its component precedes it;
 *              at rest one is
 *   6          C is a subset of O
 *   7          every active server of a serving server's component is in its O
 *   7, in time whoever was in the component less than `hold` ago and still serves is in O too: so nobody is
 *              replaced before it is
 *              fenced, and two halves of a component do not serve the same key at once
 *   exchange   a link is announced only when its end knows all that the far end knew when the adjacency began
 *   closed     whoever holds a version knows all that its maker knew (semantics 4.3); whoever counts an ack knows
 *              all that its giver knew
 *   13, 14     versions never go back, no version is newer than its maker's, equal versions have equal bytes
 *   names      two records that list one link, in one database, name each other's incarnations (why mutant 6 alone
 *              breaks nothing)
 *   15, 16     data uses links that both records list; who lets it in knows all that the sender knew
 *   18, 20     nobody serves when no neighbour has heard anything that it sent less than `dead` ago
 *   19         when a link goes up by a round, O of every server in O contains O
 *   17         in the end: equal databases, whole views, all serve
 */
#include "ls_world.h"

#include "keyspace/owner.h"
#include "linkstate/mutant.h"

#include <stdlib.h>
#include <string.h>

static world_set bit(cw_server s)
{
    return (world_set)1 << s;
}

static world_set set_of(const struct reach *r)
{
    return (world_set)r->word[0];
}

/* ---- Truth ------------------------------------------------------------------------------------------------------- */

static bool end_is_up(const struct world *w, cw_server s, cw_link link, cw_server peer)
{
    const struct linkstate *ls = world_ls(w, s);
    return ls->links[link].adj.state == ADJ_UP &&
           ls->links[link].adj.peer_incarnation == ls_incarnation(world_ls(w, peer));
}

static bool is_truly_up(const struct world *w, cw_server s, cw_link link)
{
    cw_server peer = world_peer(w, s, link);
    cw_link back = cw_link_opposite(link);
    if (w->pipes[s][link].cut || w->pipes[peer][back].cut || world_ls(w, s) == NULL || world_ls(w, peer) == NULL) {
        return false;
    }
    return end_is_up(w, s, link, peer) && end_is_up(w, peer, back, s);
}

static world_set true_neighbours(const struct world *w, cw_server s)
{
    world_set set = 0;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if ((torus_links(&w->torus) & cw_links_of(link)) && is_truly_up(w, s, link)) {
            set |= bit(world_peer(w, s, link));
        }
    }
    return set;
}

static world_set component_of(const world_set near[], cw_server s)
{
    world_set all = bit(s), fresh = bit(s);
    while (fresh != 0) {
        cw_server u = (cw_server)__builtin_ctz(fresh);
        fresh &= fresh - 1;
        fresh |= near[u] & ~all;
        all |= near[u];
    }
    return all;
}

/* Notes when servers part. A dead server is with nobody, and a new incarnation was with nobody before (renewed()). */
static void find_components(struct world *w)
{
    world_set near[WORLD_SERVERS];
    for (cw_server s = 0; s < w->torus.servers; s++) {
        near[s] = world_ls(w, s) == NULL ? 0 : true_neighbours(w, s);
    }
    for (cw_server s = 0; s < w->torus.servers; s++) {
        world_set now = component_of(near, s);
        for (world_set rest = w->component[s] & ~now; rest != 0; rest &= rest - 1) {
            cw_server u = (cw_server)__builtin_ctz(rest);
            if (w->parted[s][u].ns >= 0) {
                w->parted[s][u] = w->now;
            }
        }
        for (world_set rest = now; rest != 0; rest &= rest - 1) {
            w->parted[s][__builtin_ctz(rest)] = w->now;
        }
        w->component[s] = now;
    }
}

static void renewed(struct world *w, cw_server s)
{
    for (cw_server u = 0; u < w->torus.servers; u++) {
        w->parted[s][u] = w->parted[u][s] = (cw_time){-1};
    }
    w->moved = true;
}

/* ---- Versions ---------------------------------------------------------------------------------------------------- */

static int compare_versions(struct version a, struct version b)
{
    if (a.incarnation != b.incarnation) {
        return a.incarnation < b.incarnation ? -1 : 1;
    }
    return a.seq < b.seq ? -1 : a.seq > b.seq;
}

static struct version version_of(const struct record *record)
{
    return (struct version){record->incarnation, record->seq};
}

static void copy_knowledge(const struct world *w, cw_server s, struct version known[])
{
    for (cw_server u = 0; u < w->torus.servers; u++) {
        const struct record *record = lsdb_record(&world_ls(w, s)->db, u);
        known[u] = record == NULL ? (struct version){0} : version_of(record);
    }
}

/* Whose newest version s lacks, of those in known; CW_SERVER_NONE when it has them all. */
static cw_server lacks(const struct world *w, cw_server s, const struct version known[])
{
    struct version held[WORLD_SERVERS];
    copy_knowledge(w, s, held);
    for (cw_server u = 0; u < w->torus.servers; u++) {
        if (compare_versions(held[u], known[u]) < 0) {
            return u;
        }
    }
    return CW_SERVER_NONE;
}

static void note_given(struct world *w, cw_server s, const struct ack *ack)
{
    cw_server origin = torus_id(&w->torus, ack->origin);
    struct given *given = &w->given[s][origin];
    struct version acked = {ack->incarnation, ack->seq}, before = {given->incarnation, given->seq};
    bool again = given->acker_incarnation == ack->acker_incarnation && compare_versions(acked, before) <= 0;
    if (!again &&
        ack->acker_incarnation == ls_incarnation(world_ls(w, s))) { /* or it passes through, having gone in a circle */
        *given = (struct given){ack->acker_incarnation, ack->incarnation, ack->seq, {{0, 0}}};
        copy_knowledge(w, s, given->known);
    }
}

static void note_issue(struct world *w, cw_server s, const struct record *own)
{
    if (w->issues[s] != NULL && compare_versions(version_of(own), version_of(&w->issues[s]->record)) <= 0) {
        if (memcmp(own, &w->issues[s]->record, sizeof *own) != 0) {
            world_fail(w, "13: server %u made version %llu.%u twice, or went back", s,
                       (unsigned long long)own->incarnation, own->seq);
        }
        return;
    }
    if (w->issues[s] == NULL || w->issues[s]->record.incarnation != own->incarnation) {
        renewed(w, s);
    }
    struct issue *issue = malloc(sizeof *issue);
    CHECK(issue != NULL);
    *issue = (struct issue){.record = *own, .older = w->issues[s]};
    copy_knowledge(w, s, issue->known);
    issue->known[s] = version_of(own); /* the entry that made it may have made another since */
    w->issues[s] = issue;
    world_trace(w, "server %u: version %llu.%u up %02x pending %02x flags %x", s, (unsigned long long)own->incarnation,
                own->seq, own->up, own->pending, own->flags);
}

/*
 * What a server says of itself is the source of all copies: the versions in its log, and the newest, which may be in
 * none.
 */
static void note_issues(struct world *w, cw_server s)
{
    const struct linkstate *ls = world_ls(w, s);
    const struct record *own = lsdb_record(&ls->db, s);
    uint64_t *told = &w->servers[s].told;
    for (*told = *told > ls->flood.first ? *told : ls->flood.first; *told < ls->flood.end; ++*told) {
        const struct flood_entry *entry = flood_at(&ls->flood, *told);
        if (entry->kind == FLOOD_RECORD && memcmp(&entry->record.origin, &own->origin, sizeof own->origin) == 0 &&
            (w->issues[s] == NULL ||
             compare_versions(version_of(&entry->record), version_of(&w->issues[s]->record)) > 0)) {
            note_issue(w, s, &entry->record);
        }
        if (entry->kind == FLOOD_ACK && torus_id(&w->torus, entry->ack.acker) == s) {
            note_given(w, s, &entry->ack);
        }
    }
    note_issue(w, s, own);
}

/* Between entries: while the records of an exchange are applied one by one it need not hold. */
static void check_names(struct world *w, cw_server s, cw_server u)
{
    const struct lsdb *db = &world_ls(w, s)->db;
    const struct record *near = &db->records[u];
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        cw_link back = cw_link_opposite(link);
        const struct record *far = &db->records[world_peer(w, u, link)];
        bool listed = ((near->up | near->pending) >> link & (far->up | far->pending) >> back & 1) != 0;
        if (listed && (near->neighbour[link] != (uint16_t)far->incarnation ||
                       far->neighbour[back] != (uint16_t)near->incarnation)) {
            world_fail(w, "names: in the database of %u both ends list link %u of %u, in other lives", s, link, u);
        }
    }
}

static void check_versions(struct world *w, cw_server s)
{
    struct server *server = &w->servers[s];
    for (cw_server u = 0; u < w->torus.servers; u++) {
        const struct record *record = lsdb_record(&server->ls->db, u);
        struct version held = record == NULL ? (struct version){0} : version_of(record);
        int order = compare_versions(held, server->known[u]);
        if (order == 0) {
            continue;
        }
        if (order < 0) {
            world_fail(w, "13: version of %u goes back in the database of %u", u, s);
            return;
        }
        const struct issue *issue = w->issues[u];
        while (issue != NULL && compare_versions(version_of(&issue->record), held) > 0) {
            issue = issue->older;
        }
        if (issue == NULL || memcmp(&issue->record, record, sizeof *record) != 0) {
            world_fail(w, "14: server %u holds a record of %u that it never made", s, u);
            return;
        }
        server->known[u] = held;
        if (!w->delivery_only) {
            check_names(w, s, u);
        }
        cw_server lacking = lacks(w, s, issue->known);
        if (lacking != CW_SERVER_NONE && !w->delivery_only) {
            world_fail(w, "closed: server %u holds version %llu.%u of %u without what that knew of %u", s,
                       (unsigned long long)held.incarnation, held.seq, u, lacking);
        }
    }
}

/* Acks that were counted since the last look: the premise of the rounds. */
static void check_acks(struct world *w, cw_server s)
{
    struct server *server = &w->servers[s];
    for (cw_server u = 0; u < w->torus.servers; u++) {
        uint32_t acked = server->ls->admission.acked[u];
        const struct given *given = &w->given[u][s];
        if (acked > server->acked[u] && given->seq == acked && given->incarnation == ls_incarnation(server->ls) &&
            given->acker_incarnation == lsdb_incarnation(&server->ls->db, u)) {
            cw_server lacking = lacks(w, s, given->known);
            if (lacking != CW_SERVER_NONE && !w->delivery_only) {
                world_fail(w, "closed: server %u counts an ack of %u without what that knew of %u", s, u, lacking);
            }
        }
        server->acked[u] = acked;
    }
}

/* ---- Views ------------------------------------------------------------------------------------------------------- */

static bool is_stale(const struct linkstate *ls)
{
    return views_is_stale(&ls->views);
}

static world_set active_servers(const struct world *w)
{
    world_set active = 0;
    for (cw_server s = 0; s < w->torus.servers; s++) {
        const struct linkstate *ls = world_ls(w, s);
        active |= ls != NULL && ls_active(ls) && !ls->leaving ? bit(s) : 0;
    }
    return active;
}

static world_set serving_servers(const struct world *w)
{
    world_set serving = 0;
    for (cw_server s = 0; s < w->torus.servers; s++) {
        serving |= world_ls(w, s) != NULL && ls_serving(world_ls(w, s), w->now) ? bit(s) : 0;
    }
    return serving;
}

/* Somebody in O need not be there: he is too many, never wrong. Somebody missing is what this is all about. */
static void check_view(struct world *w, cw_server s, world_set active, world_set serving)
{
    const struct linkstate *ls = world_ls(w, s);
    world_set committed = set_of(ls_committed(ls)), optimistic = set_of(ls_optimistic(ls));
    if (committed & ~optimistic) {
        world_fail(w, "6: C %08x of %u is not in O %08x", committed, s, optimistic);
    }
    if (!(serving & bit(s))) {
        return;
    }
    world_set missing = w->component[s] & active & ~optimistic;
    if (missing != 0) {
        world_fail(w, "7: server %u has no %08x in O %08x, component %08x", s, missing, optimistic, w->component[s]);
    }
    for (world_set rest = serving & ~optimistic; rest != 0; rest &= rest - 1) {
        cw_server u = (cw_server)__builtin_ctz(rest);
        bool apart = !(w->component[s] & bit(u)) && w->parted[s][u].ns >= 0;
        if (apart && cw_time_since(w->now, w->parted[s][u]).ns < w->knobs.timers.hold.ns) {
            world_fail(w, "7 in time: server %u serves without %u in O, parted %lld us ago", s, u,
                       (long long)cw_time_since(w->now, w->parted[s][u]).ns / 1000);
        }
    }
    bool lone = w->knobs.alone && !ls->linked;
    if (!lone && cw_time_since(w->now, w->servers[s].proof).ns >= w->knobs.timers.dead.ns) {
        world_fail(w, "18: server %u serves, and what any neighbour heard of it was sent %lld us ago", s,
                   (long long)cw_time_since(w->now, w->servers[s].proof).ns / 1000);
    }
}

/*
 * Sigma by its definition: breadth first by the facet's three steps (semantics 3.2). Only live servers are searched if
 * `live` is not all.
 */
static unsigned walk(const struct world *w, cw_server home, unsigned index, world_set live, cw_server out[])
{
    static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    world_set seen = bit(home);
    unsigned count = 0;
    out[count++] = home;
    for (unsigned at = 0; at < count; at++) {
        for (unsigned i = 0; i < 3; i++) {
            unsigned axis = orders[index % 6][i];
            cw_link link = (cw_link)(2 * axis + (index / 6 >> axis & 1));
            cw_server next = world_peer(w, out[at], link);
            if (!(seen & bit(next)) && (live & bit(next))) {
                seen |= bit(next);
                out[count++] = next;
            }
        }
    }
    return count;
}

static world_set everybody(const struct world *w)
{
    return (world_set)(((uint64_t)1 << w->torus.servers) - 1);
}

/* May this server deliver the keys of (home, index)? */
static bool is_root(const struct world *w, cw_server s, cw_server home, unsigned index)
{
    const struct reach *optimistic = ls_optimistic(world_ls(w, s));
    if (!MUTANT(LIVEBFS)) {
        return owner_root_of(&w->torus, home, index, optimistic) == s;
    }
    cw_server list[WORLD_SERVERS];
    unsigned count = walk(w, home, index, set_of(optimistic), list);
    for (unsigned i = 0; i < count; i++) {
        if (set_of(optimistic) & bit(list[i])) {
            return list[i] == s;
        }
    }
    return false;
}

/*
 * A component at rest, where all serve and see just each other: each key has one root in it, whatever is down elsewhere
 * (3.3).
 */
static void check_root(struct world *w, world_set serving, cw_server home, unsigned index)
{
    cw_server any = (cw_server)prng_below(&w->chance, w->torus.servers);
    world_set all = w->component[any], roots = 0;
    for (world_set rest = all; rest != 0; rest &= rest - 1) {
        cw_server s = (cw_server)__builtin_ctz(rest);
        if (!(serving & bit(s)) || is_stale(world_ls(w, s)) || set_of(ls_optimistic(world_ls(w, s))) != all) {
            return;
        }
        roots |= is_root(w, s, home, index) ? bit(s) : 0;
    }
    if (all != 0 && __builtin_popcount(roots) != 1) {
        world_fail(w, "4: key (%u, %u) has roots %08x in component %08x", home, index, roots, all);
    }
}

/* One random key: nobody may deliver it whom an active server of the same component precedes. */
static void check_key(struct world *w, world_set active, world_set serving)
{
    cw_server home = (cw_server)prng_below(&w->chance, w->torus.servers);
    unsigned index = (unsigned)prng_below(&w->chance, FACET_SEQUENCES);
    check_root(w, serving, home, index);
    cw_server list[WORLD_SERVERS];
    unsigned count = walk(w, home, index, everybody(w), list);
    for (world_set rest = serving; rest != 0; rest &= rest - 1) {
        cw_server s = (cw_server)__builtin_ctz(rest);
        if (is_stale(world_ls(w, s)) || !is_root(w, s, home, index)) {
            continue;
        }
        w->checks++;
        for (unsigned i = 0; i < count && list[i] != s; i++) {
            if (active & w->component[s] & bit(list[i])) {
                world_fail(w, "4: server %u may deliver key (%u, %u) before %u", s, home, index, list[i]);
                return;
            }
        }
    }
}

/* While all who serve have the same O nothing can be found. */
static unsigned keys_to_check(const struct world *w, world_set serving)
{
    for (world_set rest = serving; rest != 0; rest &= rest - 1) {
        const struct server *server = &w->servers[__builtin_ctz(rest)];
        if (server->optimistic != w->servers[__builtin_ctz(serving)].optimistic) {
            return 8;
        }
    }
    return serving != 0;
}

/* Servers of the set that live, in the incarnation that s knows, and own keys: about others nobody can be wrong. */
static world_set those_meant(const struct world *w, cw_server s, world_set set)
{
    for (world_set rest = set; rest != 0; rest &= rest - 1) {
        cw_server u = (cw_server)__builtin_ctz(rest);
        const struct linkstate *ls = world_ls(w, u);
        if (ls == NULL || ls->leaving || ls_incarnation(ls) != lsdb_incarnation(&world_ls(w, s)->db, u)) {
            set &= ~bit(u);
        }
    }
    return set;
}

/*
 * A link went up by a round: everybody in O has O (the guarantee of admission.h). Not counting whom the very version
 * that tells of it has just made pending.
 */
static void check_admission(struct world *w, cw_server s, world_set before)
{
    world_set mine = those_meant(w, s, set_of(ls_optimistic(world_ls(w, s))) & before);
    for (world_set rest = mine & ~bit(s); rest != 0; rest &= rest - 1) {
        cw_server u = (cw_server)__builtin_ctz(rest);
        world_set theirs = set_of(ls_optimistic(world_ls(w, u)));
        if (mine & ~theirs) {
            world_fail(w, "19: server %u completes a round with O %08x; O of %u is %08x", s, mine, u, theirs);
        }
    }
}

/* ---- What the world calls ---------------------------------------------------------------------------------------- */

static void check_exchange(struct world *w, cw_server s, cw_link link)
{
    const struct adjacency *adj = &world_ls(w, s)->links[link].adj;
    cw_server peer = world_peer(w, s, link);
    cw_link back = cw_link_opposite(link);
    if (w->servers[peer].session[back] != adj->peer_session || w->delivery_only) {
        return; /* it has another session by now */
    }
    cw_server lacking = lacks(w, s, w->servers[peer].began[back]);
    if (lacking != CW_SERVER_NONE) {
        world_fail(w, "exchange: server %u announces link %u without what %u knew of %u", s, link, peer, lacking);
    }
}

/* What the truth of links and the rights of servers follow from. */
static void note_shape(struct world *w, cw_server s)
{
    struct server *server = &w->servers[s];
    const struct linkstate *ls = server->ls;
    bool news = false;
    cw_links announced = CW_LINKS_NONE;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        uint64_t far = ls->links[link].adj.state == ADJ_UP ? ls->links[link].adj.peer_incarnation : 0;
        w->moved |= far != server->far[link];
        news |= far != 0 && far != server->far[link];
        server->far[link] = far;
        announced |= ls->links[link].adj.state >= ADJ_PENDING ? cw_links_of(link) : 0;
        if (announced & ~server->announced & cw_links_of(link)) {
            check_exchange(w, s, link);
        }
        uint32_t session = adjacency_is_two_way(&ls->links[link].adj) ? ls->links[link].adj.session : 0;
        if (session != server->session[link]) {
            server->session[link] = session;
            copy_knowledge(w, s, server->began[link]);
        }
    }
    if (news || (announced & ~server->announced)) {
        faults_provoke(w, s);
    }
    server->announced = announced;
    bool active = ls_active(ls) && !ls->leaving, serving = ls_serving(ls, w->now);
    world_set optimistic = set_of(ls_optimistic(ls));
    w->moved |= active != server->active || serving != server->serving || ls_incarnation(ls) != server->reborn ||
                optimistic != server->optimistic;
    server->active = active;
    server->serving = serving;
    server->reborn = ls_incarnation(ls);
    server->optimistic = optimistic;
    w->touched |= bit(s);
}

void oracle_booted(struct world *w, cw_server s)
{
    struct server *server = &w->servers[s];
    memset(server->known, 0, sizeof server->known);
    memset(server->acked, 0, sizeof server->acked);
    server->admissions = 0;
    server->proof = (cw_time){0};
    server->optimistic = bit(s);
    memset(server->session, 0, sizeof server->session);
    server->announced = CW_LINKS_NONE;
    server->told = 0;
    renewed(w, s);
    note_issues(w, s);
}

void oracle_entered(struct world *w, cw_server s)
{
    struct server *server = &w->servers[s];
    note_issues(w, s);
    check_versions(w, s);
    check_acks(w, s);
    if (ls_count(server->ls, LS_ADMISSIONS) != server->admissions && !w->delivery_only) {
        server->admissions = ls_count(server->ls, LS_ADMISSIONS);
        check_admission(w, s, server->optimistic);
    }
    note_shape(w, s);
    if (ls_count(server->ls, LS_CONFLICTS) + ls_count(server->ls, LS_REFUSED) + ls_count(server->ls, LS_MISWIRED) +
            ls_count(server->ls, LS_OVERFLOWS) + ls_count(server->ls, LS_REPAIRS) + ls_count(server->ls, LS_OUTBIDS) !=
        0) {
        world_fail(w, "server %u counts what cannot happen", s);
    }
}

void oracle_heard(struct world *w, cw_server s, const struct frame *frame)
{
    const struct adjacency *adj = &world_ls(w, s)->links[frame->in].adj;
    struct server *from = &w->servers[world_peer(w, s, frame->in)];
    if (adj->state >= ADJ_INIT && (uint16_t)adj->peer_session == frame->head.session) {
        from->proof = cw_time_max(from->proof, frame->sent);
    }
}

void oracle_look(struct world *w)
{
    bool moved = w->moved;
    if (moved) {
        find_components(w);
    }
    world_set active = active_servers(w), serving = serving_servers(w);
    for (cw_server s = 0; s < w->torus.servers && w->failure[0] == '\0'; s++) {
        if ((moved || (w->touched & bit(s))) && world_ls(w, s) != NULL && !is_stale(world_ls(w, s))) {
            check_view(w, s, active, serving);
        }
    }
    for (unsigned keys = moved ? keys_to_check(w, serving) : 0; keys > 0; keys--) {
        check_key(w, active, serving);
    }
    w->moved = false;
    w->touched = 0;
}

void oracle_stamp(struct world *w, cw_server s, cw_link link, struct frame *frame)
{
    const struct lsdb *db = &world_ls(w, s)->db;
    cw_server peer = world_peer(w, s, link);
    const struct record *near = lsdb_record(db, s), *far = lsdb_record(db, peer);
    cw_link back = cw_link_opposite(link);
    if (far == NULL || !(near->up & cw_links_of(link)) || !(far->up & cw_links_of(back)) ||
        near->neighbour[link] != (uint16_t)far->incarnation || far->neighbour[back] != (uint16_t)near->incarnation) {
        world_fail(w, "15: server %u sends data by link %u, which the records do not list", s, link);
    }
    copy_knowledge(w, s, frame->known);
}

void oracle_passed(struct world *w, cw_server s, const struct frame *frame)
{
    w->probes++;
    cw_server lacking = lacks(w, s, frame->known);
    if (lacking != CW_SERVER_NONE && !w->delivery_only) {
        world_fail(w, "16: server %u lets data in that knows more of %u than it does", s, lacking);
    }
}

bool oracle_agreed(struct world *w, const char **why)
{
    world_set all = everybody(w);
    for (cw_server s = 0; s < w->torus.servers; s++) {
        struct linkstate *ls = world_ls(w, s);
        if (ls == NULL) {
            *why = "a server is dead";
            return false;
        }
        ls_refresh(ls, w->now);
        oracle_entered(w, s);
        world_after(w, s);
        if (set_of(ls_committed(ls)) != all || set_of(ls_optimistic(ls)) != all) {
            *why = "a view is not whole";
            return false;
        }
        if (!ls_serving(ls, w->now) || !ls_active(ls)) {
            *why = "a server does not serve";
            return false;
        }
        if (ls_digest(ls) != ls_digest(world_ls(w, 0))) {
            *why = "digests differ";
            return false;
        }
        if (ls_up_links(ls) != torus_links(&w->torus)) {
            *why = "a link is not up";
            return false;
        }
        for (cw_server u = 0; u < w->torus.servers; u++) {
            if (ls_hops(ls, u) != torus_distance(&w->torus, s, u)) {
                *why = "routes are not those of the whole torus";
                return false;
            }
        }
    }
    return true;
}

void oracle_close(struct world *w)
{
    for (cw_server s = 0; s < w->torus.servers; s++) {
        while (w->issues[s] != NULL) {
            struct issue *older = w->issues[s]->older;
            free(w->issues[s]);
            w->issues[s] = older;
        }
    }
}
