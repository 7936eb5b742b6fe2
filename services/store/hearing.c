/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/hearing.h"

#include "services/reply/servers.h"
#include "services/store/common.h"
#include "services/store/disk/journal.h"
#include "services/store/durable.h"
#include "services/store/warden.h"

enum { STEP_MS = 25, CALL_MS = 200 };

void store_hearing_note(struct store *s, cw_server server, uint64_t store_id, uint64_t position)
{
    for (unsigned i = 0; i < s->peers && position > 0; i++) {
        struct store_peer *p = &s->peer[i];
        if (p->server == server && p->store_id == store_id && position > p->position) {
            p->position = position;
        }
    }
}

uint64_t store_hearing_of(const struct store *s, cw_server server, uint64_t store_id)
{
    for (unsigned i = 0; i < s->peers; i++) {
        if (s->peer[i].server == server && s->peer[i].store_id == store_id) {
            return s->peer[i].position;
        }
    }
    return 0;
}

static void begin_to_vote(struct store *s)
{
    s->health = STORE_WELL;
    for (unsigned i = 0; i < s->shards; i++) {
        s->shard[i]->saved = s->shard[i]->acceptor.promised;
    }
    s->class_known(s);
    store_warden_begin(s);
}

static void roll_back(struct store *s, const struct store_peer *p)
{
    cw_coord c = cw_server_coord(s->svc, p->server);
    store_say(s, CW_LOG_ERROR,
              "the store's folder is older than what server %u,%u,%u has heard of it: its members here are lost", c.x,
              c.y, c.z);
    s->health = STORE_DEAD;
    cw_timer_stop(s->svc, s->hearing_timer);
    s->hearing_timer = NULL;
    journal_give_up(s->journal);
    s->class_known(s);
}

static void hear(struct store *s);

static void position_told(cw_svc *svc, void *state, void *arg, int status, cw_packet *packet, const cw_rx *rx)
{
    struct store *s = state;
    struct store_peer *p = NULL;
    struct store_word w;
    size_t size = 0;
    cw_server server = (cw_server)(uintptr_t)arg;
    (void)svc;
    (void)rx;
    const uint8_t *bytes = status == 0 && packet != NULL ? cw_packet_data(packet, &size) : NULL;
    for (unsigned i = 0; i < s->peers && !s->closing; i++) {
        p = s->peer[i].server == server ? &s->peer[i] : p;
    }
    if (p == NULL) {
        return;
    }
    p->asked = false;
    if (s->health != STORE_HEARING || bytes == NULL || !store_word_decode(bytes, size, &w) ||
        w.kind != STORE_WORD_POSITION) {
        return;
    }
    p->told = true;
    if (w.position > s->found_position && !STORE_MUTANT(NO_HEARD)) {
        roll_back(s, p);
        return;
    }
    hear(s);
}

static bool ask_position(struct store *s, cw_server server)
{
    const struct store_word w = {.kind = STORE_WORD_HEARD, .store_id = s->store_id};
    const cw_to to = to_server(s->svc, STORE_JOB, STORE_PORT_OPERATORS, server);
    const cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(CALL_MS)};
    cw_packet *p = cw_packet_new(s->svc, store_word_size(&w));
    if (p == NULL) {
        return false;
    }
    store_word_encode(&w, cw_packet_data(p, NULL));
    if (cw_call(s->svc, p, &to, &options, position_told, (void *)(uintptr_t)server) < 0) {
        cw_packet_free(s->svc, p);
        return false;
    }
    return true;
}

static void hearing_due(cw_svc *svc, void *state, void *arg)
{
    struct store *s = state;
    (void)svc;
    (void)arg;
    s->hearing_timer = NULL;
    hear(s);
}

/* Asks all peers in view, until all have told, or the time is over: who is not there cannot be waited for. */
static void hear(struct store *s)
{
    unsigned missing = 0;
    for (unsigned i = 0; i < s->peers; i++) {
        struct store_peer *p = &s->peer[i];
        if (p->server == s->self || p->told) {
            continue;
        }
        missing++;
        p->asked = p->asked || (cw_reachable(s->svc, cw_server_coord(s->svc, p->server)) && ask_position(s, p->server));
    }
    if (missing == 0 || !cw_time_before(cw_now(s->svc), s->hearing_ends)) {
        cw_timer_stop(s->svc, s->hearing_timer);
        s->hearing_timer = NULL;
        begin_to_vote(s);
    } else if (s->hearing_timer == NULL) {
        s->hearing_timer = cw_timer_start(s->svc, CW_MS(STEP_MS), hearing_due, NULL);
    }
}

void store_hearing_begin(struct store *s)
{
    s->health = STORE_HEARING;
    s->found_position = store_durable_position(s);
    s->hearing_ends = cw_time_add(cw_now(s->svc), s->limits.hearing);
    hear(s);
}
