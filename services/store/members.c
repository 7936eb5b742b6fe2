/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/members.h"

#include "services/store/common.h"
#include "services/store/durable.h"
#include "services/store/lead.h"

#include <stdlib.h>
#include <string.h>

/* ---- Shards ------------------------------------------------------------------------------------------------------ */

/* The place of the first shard whose number is not below. */
static unsigned place_of(const struct store *s, uint32_t number)
{
    unsigned low = 0, high = s->shards;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (s->shard[middle]->number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct store_shard *store_shard_find(struct store *s, uint32_t number)
{
    unsigned at = place_of(s, number);
    return at < s->shards && s->shard[at]->number == number ? s->shard[at] : NULL;
}

struct store_shard *store_members_shard(struct store *s, uint32_t number)
{
    unsigned at = place_of(s, number);
    if (at < s->shards && s->shard[at]->number == number) {
        return s->shard[at];
    }
    if (s->shards == s->shards_room) {
        unsigned room = s->shards_room > 0 ? 2 * s->shards_room : 64;
        struct store_shard **more = realloc(s->shard, room * sizeof *more);
        if (more == NULL) {
            return NULL;
        }
        s->shard = more;
        s->shards_room = room;
    }
    struct store_shard *shard = calloc(1, sizeof *shard);
    if (shard == NULL) {
        return NULL;
    }
    shard->number = number;
    shard->role = STORE_ROLE_LEFT;
    for (unsigned m = 0; m < STORE_COPIES_MOST; m++) {
        shard->gone[m] = CW_NEVER;
    }
    store_acceptor_open(&shard->acceptor, s->of.id);
    shard->acceptor.table.tally = &s->tally;
    memmove(s->shard + at + 1, s->shard + at, (s->shards - at) * sizeof *s->shard);
    s->shard[at] = shard;
    s->shards++;
    return shard;
}

void store_members_close(struct store *s)
{
    for (unsigned i = 0; i < s->shards; i++) {
        if (s->shard[i]->lead != NULL) {
            store_lead_end(s->shard[i]->lead, STORE_END_CLOSED);
        }
        store_acceptor_close(&s->shard[i]->acceptor);
        free(s->shard[i]);
    }
    free(s->shard);
    s->shard = NULL;
    s->shards = 0;
    s->shards_room = 0;
}

/* ---- Peers ------------------------------------------------------------------------------------------------------- */

static void note_peer(struct store *s, cw_server server, uint64_t id)
{
    for (unsigned i = 0; i < s->peers; i++) {
        struct store_peer *p = &s->peer[i];
        if (p->server == server) {
            *p = p->store_id == id ? *p : (struct store_peer){.server = server, .store_id = id};
            return;
        }
    }
    struct store_peer *more = realloc(s->peer, (s->peers + 1) * sizeof *more);
    if (more != NULL) { /* without memory an older disk of that server may not be found out here */
        s->peer = more;
        s->peer[s->peers++] = (struct store_peer){.server = server, .store_id = id};
    }
}

void store_members_note(struct store *s, const struct store_config *config)
{
    for (unsigned m = 0; m < config->count; m++) {
        note_peer(s, config->member[m], config->store_id[m]);
    }
}

/* ---- Other members ----------------------------------------------------------------------------------------------- */

/* What is held of the shard's names goes, from the disk as well. */
static void forget(struct store *s, struct store_shard *shard)
{
    struct store_table *t = &shard->acceptor.table;
    size_t bytes = t->bytes, registers = t->registers;
    for (unsigned b = 0; b < STORE_BUCKETS && t->bucket != NULL; b++) {
        for (const struct store_register *r = t->bucket[b].first; r != NULL; r = r->next) {
            const struct store_name name = store_register_name(r);
            store_durable_drop(s, &name);
        }
    }
    store_table_close(t);
    store_count_registers(s, shard, bytes, registers);
}

static void take(struct store *s, struct store_shard *shard, const struct store_config *config)
{
    for (unsigned m = 0; m < config->count; m++) {
        bool same = shard->config.member[m] == config->member[m] && shard->config.store_id[m] == config->store_id[m];
        shard->lost[m] = same && shard->lost[m];
        shard->unsure[m] = same && shard->unsure[m];
        shard->gone[m] = same ? shard->gone[m] : CW_NEVER;
    }
    shard->config = *config;
    shard->seal = (struct store_seal){.ballot = {0, 0}};
    shard->skip = 0;
    store_members_note(s, config);
}

void store_members_follow(struct store *s, struct store_shard *shard, const struct store_config *config)
{
    if (config->epoch <= shard->config.epoch) {
        return;
    }
    if (shard->lead != NULL) {
        store_lead_end(shard->lead, STORE_END_DEPOSED);
    }
    unsigned me = store_config_place(config, s->self);
    bool member = me < config->count && config->store_id[me] == s->store_id;
    bool was = shard->role != STORE_ROLE_LEFT;
    take(s, shard, config);
    shard->role = member ? STORE_ROLE_MEMBER : STORE_ROLE_LEFT;
    shard->me = member ? (uint8_t)me : 0;
    if (!member && was) {
        forget(s, shard);
    }
    store_durable_shard(s, shard);
}

void store_members_learn(struct store *s, struct store_shard *shard, const struct store_config *config)
{
    shard->role = STORE_ROLE_LEARNER;
    if (config->epoch > shard->config.epoch) {
        take(s, shard, config);
    }
}

void store_members_unseal(struct store_shard *shard, struct store_ballot written)
{
    if (store_ballot_compare(written, shard->seal.ballot) > 0) {
        shard->seal = (struct store_seal){.ballot = {0, 0}};
    }
}
