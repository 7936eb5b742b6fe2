/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.c - a link's session begins and ends; what is owed to whom, in the order in which it was learned.
 */
#include "linkstate/internal.h"

#include "linkstate/mutant.h"

#include <stdlib.h>

cw_links linkstate_running(const struct linkstate *ls)
{
    cw_links running = CW_LINKS_NONE;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        running |= ls->links[link].feed.running ? cw_links_of(link) : CW_LINKS_NONE;
    }
    return running;
}

/* Draws a session number such that no frame of the last session can be taken for one of the new. */
static uint32_t fresh_session(struct linkstate *ls, uint32_t old)
{
    uint32_t fresh;
    do {
        fresh = (uint32_t)prng_next(&ls->prng);
    } while (fresh == 0 || (uint16_t)fresh == (uint16_t)old);
    return fresh;
}

static void end_session(struct linkstate *ls, struct ls_link *l)
{
    feed_stop(&l->feed);
    free(l->batch.records);
    l->batch = (struct ls_batch){0};
    l->synced = false;
    l->by_round = false;
    l->shown = false;
    l->strangers = 0;
    l->misfits = 0;
    l->listed = 0;
    l->offered = 0;
    l->about = (struct about){{0}, {0}};
    loss_pause(&l->loss);
    ls->counts[LS_TEARDOWNS]++;
}

void linkstate_step(struct linkstate *ls, cw_link link, enum adjacency_event event)
{
    struct ls_link *l = &ls->links[link];
    ls->moved |= cw_links_of(link);
    ls->said = false;
    unsigned actions = adjacency_step(&l->adj, event, fresh_session(ls, l->adj.session), &ls->timing, ls->now);
    if (actions & ADJ_END) {
        end_session(ls, l);
    }
    if (!adjacency_is_two_way(&l->adj)) {
        l->clock = l->echo = (cw_time){0};
    }
    if (actions & ADJ_BEGIN) {
        feed_start(&l->feed, ls->flood.end);
        linkstate_owe_all(ls, link);
        linkstate_owe_about(ls, link);
        l->foreign = (struct ls_foreign){0};
    }
    if (actions & ADJ_HELLO) {
        l->hello_soon = true;
    }
}

/* Drops the entries of the log that all running streams have had acknowledged. */
static void trim(struct linkstate *ls)
{
    uint64_t floor = ls->flood.end;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct feed *s = &ls->links[link].feed;
        if (s->running) {
            uint64_t needed = feed_floor(s, &ls->flood);
            floor = needed < floor ? needed : floor;
        }
    }
    flood_trim(&ls->flood, floor);
}

/*
 * The link that holds up the log most is cut off: it will come back with a whole exchange. False when there is none
 * left.
 */
static bool cut_laggard(struct linkstate *ls)
{
    cw_link laggard = CW_LINK_SELF;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        const struct feed *s = &ls->links[link].feed;
        if (s->running && (laggard == CW_LINK_SELF || s->base < ls->links[laggard].feed.base)) {
            laggard = link;
        }
    }
    if (laggard == CW_LINK_SELF) {
        return false;
    }
    ls->counts[LS_OVERFLOWS]++;
    linkstate_step(ls, laggard, ADJ_CLOSED);
    return true;
}

/* Appends an entry for those of these links whose streams run. NULL: none runs, or those that did were cut off. */
static struct flood_entry *append(struct linkstate *ls, enum flood_kind kind, cw_links links)
{
    for (;;) {
        cw_links owed = links & linkstate_running(ls);
        if (owed == CW_LINKS_NONE) {
            return NULL;
        }
        if (flood_is_full(&ls->flood)) {
            trim(ls);
        }
        struct flood_entry *entry = flood_append(&ls->flood, kind, owed);
        if (entry != NULL) {
            ls->moved |= owed;
            for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
                if (owed & cw_links_of(link)) {
                    feed_owe(&ls->links[link].feed);
                }
            }
            return entry;
        }
        if (!cut_laggard(ls)) {
            return NULL;
        }
    }
}

/* Mutant REPLACE_IN_PLACE: a record that was not sent to anybody yet is replaced where it stands in the log. */
static bool replaced_in_place(struct linkstate *ls, cw_server origin, const struct record *record, cw_links links)
{
    uint64_t position;
    if (!flood_find(&ls->flood, origin, &record->origin, &position)) {
        return false;
    }
    struct flood_entry *entry = flood_at(&ls->flood, position);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        const struct feed *s = &ls->links[link].feed;
        bool owed = (links & cw_links_of(link)) != 0;
        if (s->running && (s->high > position || owed != ((entry->owed & cw_links_of(link)) != 0))) {
            return false;
        }
    }
    entry->record = *record;
    return true;
}

void linkstate_owe_record(struct linkstate *ls, const struct record *record, bool more, cw_links links)
{
    cw_server origin = torus_id(&ls->config.torus, record->origin);
    if (MUTANT(REPLACE_IN_PLACE) && !more && replaced_in_place(ls, origin, record, links)) {
        return;
    }
    struct flood_entry *entry = append(ls, FLOOD_RECORD, links);
    if (entry != NULL) {
        entry->record = *record;
        entry->more = more;
        flood_note(&ls->flood, origin);
    }
}

void linkstate_owe_synced(struct linkstate *ls, cw_links links)
{
    struct flood_entry *entry = append(ls, FLOOD_SYNCED, links);
    if (entry != NULL) {
        entry->digest = lsdb_digest(&ls->db);
    }
}

void linkstate_owe_ack(struct linkstate *ls, const struct ack *ack, cw_link link)
{
    /* Records must get through or a link is cut; acks are repeated by who gave them, so in a rush they yield. */
    if (ls->flood.end - ls->flood.first > ls->flood.limit / 2) {
        trim(ls);
        if (ls->flood.end - ls->flood.first > ls->flood.limit / 2) {
            ls->counts[LS_ACKS_LOST]++;
            return;
        }
    }
    /* Semantics 4.2, detail 3: in the log, behind every record that we knew when we made it or passed it on. */
    struct flood_entry *entry = append(ls, FLOOD_ACK, cw_links_of(link));
    if (entry != NULL) {
        entry->ack = *ack;
    }
}

void linkstate_owe_about(struct linkstate *ls, cw_link link)
{
    if (ls->config.about.version[0] != '\0') {
        (void)append(ls, FLOOD_ABOUT, cw_links_of(link));
    }
}

void linkstate_owe_all(struct linkstate *ls, cw_link link)
{
    struct ls_link *l = &ls->links[link];
    for (cw_server s = 0; s < ls->config.torus.servers && l->feed.running; s++) {
        const struct record *record = lsdb_record(&ls->db, s);
        if (record != NULL) {
            linkstate_owe_record(ls, record, !MUTANT(OPEN_EXCHANGE), cw_links_of(link));
        }
    }
    linkstate_owe_synced(ls, cw_links_of(link));
    l->offered = ls->flood.end - 1;
}

void linkstate_forget_record(struct linkstate *ls, cw_server origin, cw_link link)
{
    struct feed *s = &ls->links[link].feed;
    const struct record *record = lsdb_record(&ls->db, origin);
    uint64_t position;
    if (!s->running || record == NULL || !flood_find(&ls->flood, origin, &record->origin, &position)) {
        return;
    }
    struct flood_entry *entry = flood_at(&ls->flood, position);
    if (position >= s->high && (entry->owed & cw_links_of(link))) {
        entry->owed &= (cw_links)~cw_links_of(link);
        ls->moved |= cw_links_of(link);
        feed_forgive(s);
    }
}
