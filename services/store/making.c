/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/making.h"

#include "services/reply/refuse.h"
#include "services/store/genesis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MS = 500, WORD_RETRIES = 3, WINDOW = 64, SHOWN = 8 };

enum step { STEP_OFFER, STEP_RECORD, STEP_CANCEL };

struct store_genesis {
    struct store *store;
    cw_request *request;
    struct store_class of;
    enum step step;
    cw_server next;      /* the next one to ask */
    unsigned open, good; /* servers that are being asked in this step, and those that agreed */
    bool taken;          /* some server is of a class already, or is being asked to be */
    struct store_class other;
    unsigned missing; /* servers that did not agree */
    unsigned without; /* of these, servers without a disk */
    cw_server missed[SHOWN];
    uint64_t id[]; /* of each server's store; 0: not known */
};

/* A word on its way, of the genesis of that class. */
struct errand {
    uint64_t class_id;
    cw_server server;
    enum step step;
};

static void ask_more(struct store_genesis *g);

static void tell_missing(struct store_genesis *g)
{
    char text[SHOWN * 16] = "";
    size_t used = 0;
    for (unsigned i = 0; i < g->missing && i < SHOWN; i++) {
        cw_coord c = cw_server_coord(g->store->svc, g->missed[i]);
        int n = snprintf(text + used, sizeof text - used, "%s%u,%u,%u", i > 0 ? " " : "", c.x, c.y, c.z);
        used += n > 0 && (size_t)n < sizeof text - used ? (size_t)n : 0;
    }
    if (g->without > 0) {
        refuse_request(
            g->request,
            "no store was made: %u of %u servers have no folder that they can use (service store { options { "
            "folder = ... } }; their log says more), %s%s",
            g->without, g->store->torus.servers, text, g->missing > SHOWN ? " and others" : "");
        return;
    }
    refuse_request(
        g->request,
        "no store was made: %u of %u servers did not agree, %s%s; all servers of the torus have to be up and "
        "run the service store",
        g->missing, g->store->torus.servers, text, g->missing > SHOWN ? " and others" : "");
}

static void finish(struct store_genesis *g)
{
    struct store *s = g->store;
    int rc = -EINVAL;
    if (g->step == STEP_CANCEL && g->taken && g->other.id != 0) {
        refuse_request(g->request, "there is a store already: '%s', of %u copies", g->other.name, g->other.copies);
    } else if (g->step == STEP_CANCEL && g->taken) {
        refuse_request(g->request, "another store is being made at this moment; try again in %d s", STORE_OFFER_S);
    } else if (g->missing > 0) {
        tell_missing(g);
    } else {
        cw_request_text(g->request, "store", g->of.name);
        cw_request_int(g->request, "copies", g->of.copies);
        cw_request_int(g->request, "servers", s->torus.servers);
        cw_request_int(g->request, "shards", (int64_t)s->torus.servers * STORE_SHARDS_PER_SERVER);
        rc = 0;
    }
    cw_request_done(g->request, rc);
    s->genesis = NULL;
    free(g);
}

static void miss(struct store_genesis *g, cw_server server)
{
    if (g->step != STEP_CANCEL) {
        if (g->missing < SHOWN) {
            g->missed[g->missing] = server;
        }
        g->missing++;
    }
}

static void next_step(struct store_genesis *g)
{
    if (g->step == STEP_OFFER) {
        g->step = g->good == g->store->torus.servers ? STEP_RECORD : STEP_CANCEL;
        g->next = 0;
        g->good = 0;
        ask_more(g);
        return;
    }
    finish(g);
}

static void take_word(struct store_genesis *g, cw_server server, const struct store_word *w)
{
    if (w->kind == STORE_WORD_AGREED) {
        g->good++;
        g->id[server] = w->store_id;
        return;
    }
    if (w->kind == STORE_WORD_KNOWN && g->step == STEP_OFFER) {
        g->taken = true;
        g->other = w->of.id != 0 ? w->of : g->other;
    }
    g->without += w->kind == STORE_WORD_NO_DISK;
    miss(g, server);
}

static void heard(cw_svc *svc, void *state, void *arg, int status, cw_packet *packet, const cw_rx *rx)
{
    struct store *s = state;
    struct errand *e = arg;
    struct store_genesis *g = s->genesis;
    struct store_word w;
    size_t size = 0;
    (void)svc;
    (void)rx;
    const uint8_t *bytes = status == 0 && packet != NULL ? cw_packet_data(packet, &size) : NULL;
    if (g != NULL && g->of.id == e->class_id && g->step == e->step) {
        g->open--;
        if (bytes != NULL && store_word_decode(bytes, size, &w)) {
            take_word(g, e->server, &w);
        } else {
            miss(g, e->server);
        }
        ask_more(g);
    }
    free(e);
}

/* The store ids of all servers that may share a shard with this one. */
static uint16_t entries_of(const struct store_genesis *g, cw_server server, uint8_t *out)
{
    const struct store *s = g->store;
    unsigned reach = store_places_reach(&s->torus, g->of.copies), count = 0;
    for (cw_server other = 0; other < s->torus.servers && count < STORE_ENTRIES_MOST; other++) {
        if (torus_distance(&s->torus, server, other) <= reach) {
            store_entry_encode(other, g->id[other], out + (size_t)count++ * STORE_ENTRY_BYTES);
        }
    }
    return (uint16_t)count;
}

static void ask_one(struct store_genesis *g, cw_server server)
{
    static const enum store_word_kind kinds[] = {STORE_WORD_OFFER, STORE_WORD_RECORD, STORE_WORD_CANCEL};
    const cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(WORD_MS), .retries = WORD_RETRIES};
    uint8_t entries[STORE_ENTRIES_MOST * STORE_ENTRY_BYTES];
    struct store_word w = {.kind = kinds[g->step], .of = g->of};
    if (g->step == STEP_RECORD) {
        w.store_id = g->id[server];
        w.count = entries_of(g, server, entries);
        w.entries = entries;
    }
    struct errand *e = malloc(sizeof *e);
    if (e != NULL) {
        *e = (struct errand){g->of.id, server, g->step};
    }
    if (e == NULL || store_genesis_send(g->store, server, &w, &options, heard, e) < 0) {
        free(e);
        miss(g, server);
        return;
    }
    g->open++;
}

static void ask_more(struct store_genesis *g)
{
    while (g->next < g->store->torus.servers && g->open < WINDOW) {
        ask_one(g, g->next++);
    }
    if (g->open == 0) {
        next_step(g);
    }
}

int store_making_begin(struct store *s, cw_request *r, const char *name, bool disk, unsigned copies)
{
    cw_server servers = s->torus.servers;
    if (s->of.id != 0) {
        return refuse_request(r, "there is a store already: '%s', of %u copies", s->of.name, s->of.copies);
    }
    if (copies > servers) {
        return refuse_request(r, "a torus of %u servers has no room for %u copies", servers, copies);
    }
    struct store_genesis *g = s->genesis == NULL ? calloc(1, sizeof *g + servers * sizeof *g->id) : NULL;
    if (g == NULL) {
        return s->genesis != NULL ? refuse_request(r, "a store is being made already") : -ENOMEM;
    }
    g->store = s;
    g->request = r;
    do {
        g->of.id = cw_random(s->svc);
    } while (g->of.id == 0);
    memcpy(g->of.name, name, strlen(name));
    g->of.copies = (uint8_t)copies;
    g->of.disk = disk;
    s->genesis = g;
    ask_more(g); /* its end may answer the request already, which is as well */
    return 1;
}

void store_making_close(struct store *s)
{
    if (s->genesis != NULL && s->genesis->open == 0) {
        free(s->genesis);
    }
    s->genesis = NULL;
}
