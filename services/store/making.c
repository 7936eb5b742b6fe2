/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/making.h"

#include "services/reply/refuse.h"
#include "services/store/genesis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MS = 500, WORD_RETRIES = 3, WINDOW = 64, SHOWN = 8 };
enum { READING_MS = 100, READING_S = 10 }; /* who reads its folder is asked again so often, for so long */

enum step { STEP_OFFER, STEP_RECORD, STEP_CANCEL };

/* What is known of a server: its store's id, the id that its neighbours have recorded (0: none), and it itself. */
struct place {
    uint64_t id, recorded;
    bool of_it;
    bool reads; /* its folder: it is to be asked again */
};

struct store_genesis {
    struct store *store;
    cw_request *request;
    struct store_class of;
    enum step step;
    bool again;       /* the class is there, but perhaps not at all servers */
    bool waits;       /* only those are asked that still read their folders */
    bool refresh;     /* what others agreed to meanwhile may be over: they are asked once more */
    unsigned reading; /* servers that do */
    cw_time until;    /* then they are missing */
    cw_timer *timer;
    cw_server next;      /* the next one to ask */
    unsigned open, good; /* servers that are being asked in this step, and those that agreed */
    unsigned whole;      /* servers that were of the class before */
    bool taken;          /* some server is of a class already, or is being asked to be */
    struct store_class other;
    unsigned missing; /* servers that did not agree */
    unsigned without; /* of these, servers without a disk */
    cw_server missed[SHOWN];
    struct place at[]; /* by server */
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
    if (g->reading > 0) {
        refuse_request(g->request,
                       "no store was made: %u of %u servers are still reading their store's folders, %s%s; "
                       "try again when they have: their log says so",
                       g->reading, g->store->torus.servers, text, g->missing > SHOWN ? " and others" : "");
        return;
    }
    const char *what = g->again ? "the store is not whole yet" : "no store was made";
    if (g->without > 0) {
        refuse_request(g->request,
                       "%s: %u of %u servers have no folder that they can use (service store { options { "
                       "folder = ... } }; their log says more), %s%s",
                       what, g->without, g->store->torus.servers, text, g->missing > SHOWN ? " and others" : "");
        return;
    }
    if (g->again && g->whole + g->missing == g->store->torus.servers) {
        refuse_request(
            g->request,
            "there is a store already: '%s', of %u copies; %u of %u servers could not be asked whether they know of "
            "it, %s%s: if one missed it when it was made, create it again when all are up",
            g->of.name, g->of.copies, g->missing, g->store->torus.servers, text,
            g->missing > SHOWN ? " and others" : "");
        return;
    }
    refuse_request(
        g->request,
        "%s: %u of %u servers did not %s, %s%s; all servers of the torus have to be up and run the service store%s",
        g->step == STEP_RECORD ? "the store is made, but not at all servers" : what, g->missing,
        g->store->torus.servers, g->step == STEP_RECORD ? "answer" : "agree", text,
        g->missing > SHOWN ? " and others" : "", g->step == STEP_RECORD || g->again ? ": then create it again" : "");
}

static bool is_same(const struct store_class *a, const struct store_class *b)
{
    return strcmp(a->name, b->name) == 0 && a->copies == b->copies && a->disk == b->disk;
}

static int refuse_other(cw_request *r, const struct store_class *other)
{
    return refuse_request(r, "there is a store already: '%s', of %u copies", other->name, other->copies);
}

static void finish(struct store_genesis *g)
{
    struct store *s = g->store;
    int rc = -EINVAL;
    if (g->step == STEP_CANCEL && g->taken && g->other.id != 0) {
        refuse_other(g->request, &g->other);
    } else if (g->whole == s->torus.servers) {
        refuse_other(g->request, &g->of);
    } else if (g->step == STEP_CANCEL && g->taken) {
        refuse_request(g->request, "another store is being made at this moment; try again in %d s", STORE_OFFER_S);
    } else if (g->missing > 0) {
        tell_missing(g);
    } else {
        cw_request_text(g->request, "store", g->of.name);
        cw_request_int(g->request, "copies", g->of.copies);
        cw_request_int(g->request, "servers", s->torus.servers);
        cw_request_int(g->request, "shards", (int64_t)s->torus.servers * STORE_SHARDS_PER_SERVER);
        cw_request_int(g->request, "new_at", s->torus.servers - g->whole);
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

static void begin(struct store_genesis *g, enum step step)
{
    g->step = step;
    g->next = 0;
    g->good = 0;
    g->waits = false;
    g->refresh = false;
    ask_more(g);
}

/* Some server is of such a class already: that one is offered to all, and no second one. */
static void begin_again(struct store_genesis *g)
{
    g->of = g->other;
    g->again = true;
    g->taken = false;
    g->missing = 0;
    g->without = 0;
    g->reading = 0;
    begin(g, STEP_OFFER);
}

/* Those that still read their folders are missing by now. */
static void miss_readers(struct store_genesis *g)
{
    for (cw_server s = 0; s < g->store->torus.servers && g->step == STEP_OFFER; s++) {
        if (g->at[s].reads) {
            g->at[s].reads = false;
            miss(g, s);
        }
    }
}

static void ask_readers(cw_svc *svc, void *state, void *arg)
{
    struct store_genesis *g = arg;
    (void)svc;
    (void)state;
    g->timer = NULL;
    g->waits = true;
    g->refresh = true;
    g->reading = 0;
    g->next = 0;
    ask_more(g);
}

/* True: some servers are asked again in a moment. */
static bool waits_for_readers(struct store_genesis *g)
{
    cw_svc *svc = g->store->svc;
    if (g->step != STEP_OFFER || g->reading == 0 || g->missing > 0 || !cw_time_before(cw_now(svc), g->until)) {
        return false;
    }
    g->timer = cw_timer_start(svc, CW_MS(READING_MS), ask_readers, g);
    return g->timer != NULL;
}

static void next_step(struct store_genesis *g)
{
    cw_server servers = g->store->torus.servers;
    if (waits_for_readers(g)) {
        return;
    }
    miss_readers(g);
    if (g->step == STEP_OFFER && g->refresh && g->good == servers && g->whole == 0) {
        begin(g, STEP_OFFER);
    } else if (g->step == STEP_OFFER && g->whole < servers) {
        begin(g, g->good == servers ? STEP_RECORD : STEP_CANCEL);
    } else if (g->step == STEP_CANCEL && g->taken && !g->again && is_same(&g->of, &g->other)) {
        begin_again(g);
    } else {
        finish(g);
    }
}

/*
 * It is of the class, and says which ids it has recorded. Where a server has begun another life since, that may be the
 * later id. For who is told the first config only now either will do: the first life is over, and the later one was
 * never a member of the first epoch and takes none of its items, so neither makes up a majority there.
 */
static void note_record(struct store_genesis *g, cw_server server, const struct store_word *w)
{
    g->at[server].of_it = true;
    g->whole++;
    for (unsigned i = 0; i < w->count; i++) {
        uint64_t id;
        cw_server of = store_entry_decode(w->entries + (size_t)i * STORE_ENTRY_BYTES, &id);
        if (of < g->store->torus.servers) {
            g->at[of].recorded = id;
        }
    }
}

static void take_word(struct store_genesis *g, cw_server server, const struct store_word *w)
{
    if (w->kind == STORE_WORD_AGREED) {
        g->good++;
        g->at[server].id = w->store_id;
        if (g->step == STEP_OFFER && w->of.id != 0) {
            note_record(g, server, w);
        }
        return;
    }
    if (w->kind == STORE_WORD_KNOWN && g->step == STEP_OFFER) {
        g->taken = true;
        g->other = w->of.id != 0 ? w->of : g->other;
    }
    if (w->kind == STORE_WORD_NOT_YET && g->step == STEP_OFFER) {
        g->at[server].reads = true;
        g->reading++;
        return;
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

/*
 * The store ids of all servers that may share a shard with this one: those that others have recorded, where some have.
 * A server whose own is not the recorded one is another life: it may not vote as the member that it was to be, and
 * becomes one as a newcomer does.
 */
static uint16_t entries_of(const struct store_genesis *g, cw_server server, uint8_t *out)
{
    const struct store *s = g->store;
    unsigned reach = store_places_reach(&s->torus, g->of.copies), count = 0;
    if (g->at[server].recorded != 0 && g->at[server].recorded != g->at[server].id) {
        return 0;
    }
    for (cw_server other = 0; other < s->torus.servers && count < STORE_ENTRIES_MOST; other++) {
        if (torus_distance(&s->torus, server, other) <= reach) {
            const struct place *p = &g->at[other];
            store_entry_encode(other, p->recorded != 0 ? p->recorded : p->id,
                               out + (size_t)count++ * STORE_ENTRY_BYTES);
        }
    }
    return (uint16_t)count;
}

/* False: this server's queue is full, and whoever answers next makes room in it. */
static bool ask_one(struct store_genesis *g, cw_server server)
{
    static const enum store_word_kind kinds[] = {STORE_WORD_OFFER, STORE_WORD_RECORD, STORE_WORD_CANCEL};
    const cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(WORD_MS), .retries = WORD_RETRIES};
    uint8_t entries[STORE_ENTRIES_MOST * STORE_ENTRY_BYTES];
    struct store_word w = {.kind = kinds[g->step], .of = g->of};
    if (g->waits && !g->at[server].reads) {
        return true; /* it has answered */
    }
    if (g->step == STEP_RECORD && g->at[server].of_it) {
        g->good++;
        return true;
    }
    if (g->step == STEP_RECORD) {
        w.store_id = g->at[server].id;
        w.count = entries_of(g, server, entries);
        w.entries = entries;
    }
    struct errand *e = malloc(sizeof *e);
    if (e != NULL) {
        *e = (struct errand){g->of.id, server, g->step};
    }
    int rc = e == NULL ? -ENOMEM : store_genesis_send(g->store, server, &w, &options, heard, e);
    if (rc == 0) {
        g->open++;
        g->at[server].reads = false;
        return true;
    }
    free(e);
    if (rc == -EAGAIN && g->open > 0) {
        return false;
    }
    g->at[server].reads = false;
    miss(g, server);
    return true;
}

static void ask_more(struct store_genesis *g)
{
    while (g->next < g->store->torus.servers && g->open < WINDOW && ask_one(g, g->next)) {
        g->next++;
    }
    if (g->open == 0) {
        next_step(g);
    }
}

/* What this server's own folder holds is known by now; or it takes too long. */
static void folder_read(cw_svc *svc, void *state, void *arg)
{
    struct store_genesis *g = arg;
    struct store *s = state;
    g->timer = NULL;
    if (s->health == STORE_OPENING && cw_time_before(cw_now(svc), g->until)) {
        g->timer = cw_timer_start(svc, CW_MS(READING_MS), folder_read, g);
    }
    if (g->timer != NULL) {
        return;
    }
    if (s->of.id != 0 && !is_same(&s->of, &g->of)) {
        refuse_other(g->request, &s->of);
        cw_request_done(g->request, -EINVAL);
        s->genesis = NULL;
        free(g);
        return;
    }
    g->again = s->of.id != 0;
    g->of.id = s->of.id != 0 ? s->of.id : g->of.id;
    g->until = cw_time_add(cw_now(svc), CW_SEC(READING_S));
    ask_more(g);
}

int store_making_begin(struct store *s, cw_request *r, const char *name, bool disk, unsigned copies)
{
    cw_server servers = s->torus.servers;
    struct store_class of = {.copies = (uint8_t)copies, .disk = disk};
    memcpy(of.name, name, strlen(name));
    if (s->of.id != 0 && !is_same(&s->of, &of)) {
        return refuse_other(r, &s->of);
    }
    if (copies > servers) {
        return refuse_request(r, "a torus of %u servers has no room for %u copies", servers, copies);
    }
    struct store_genesis *g = s->genesis == NULL ? calloc(1, sizeof *g + servers * sizeof *g->at) : NULL;
    if (g == NULL) {
        return s->genesis != NULL ? refuse_request(r, "a store is being made already") : -ENOMEM;
    }
    g->store = s;
    g->request = r;
    g->again = s->of.id != 0;
    of.id = s->of.id;
    while (of.id == 0) {
        of.id = cw_random(s->svc);
    }
    g->of = of;
    g->until = cw_time_add(cw_now(s->svc), CW_SEC(READING_S));
    s->genesis = g;
    if (s->health == STORE_OPENING) {
        g->timer = cw_timer_start(s->svc, CW_MS(READING_MS), folder_read, g);
    }
    if (g->timer == NULL) {
        ask_more(g); /* its end may answer the request already, which is as well */
    }
    return 1;
}

void store_making_close(struct store *s)
{
    if (s->genesis != NULL && s->genesis->open == 0) {
        cw_timer_stop(s->svc, s->genesis->timer);
        free(s->genesis);
    }
    s->genesis = NULL;
}
