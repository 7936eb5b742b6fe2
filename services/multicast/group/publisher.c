/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/publisher.h"

#include "base/check.h"
#include "services/multicast/group/mutant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Groups whose members are remembered for best effort. */
enum { KNOWN = 16 };
/* What could not be sent is tried again after so long. */
static const cw_span try_again = CW_MS(1);

enum stage {
    STAGE_ASK,    /* the root is to be asked */
    STAGE_ASKING, /* it has been */
    STAGE_SEND,   /* the members are known */
    STAGE_SENT,   /* others have been sent to, and their answers are awaited */
    STAGE_OVER,   /* nothing is awaited of others */
};

struct outgoing {
    struct outgoing *next;
    struct publisher *box;
    const void *owner;
    struct group_name name;
    bool to_group, reliable, to_self; /* to_self: still to be delivered here */
    enum stage stage;
    uint8_t *bytes;
    size_t length;
    uint8_t *set; /* from STAGE_SEND on: of the others */
    unsigned others;
    bool self_member;
    int self_status, status;
    cw_multicast_row *row;
    unsigned rows;
    cw_multicast_done_fn done;
    void *arg;
};

/* Members as a root named them. */
struct known_set {
    bool good;
    struct group_name name;
    cw_time at;
    uint8_t *set;
};

struct publisher {
    cw_svc *s;
    const struct torus *torus;
    struct membership *membership;
    struct datagrams *datagrams;
    struct bulk *bulk;
    struct clients *clients;
    cw_server self;
    struct outgoing *first, **end;
    struct publisher_counts counts;
    struct known_set known[KNOWN];
    unsigned evict;
    bool refused; /* somebody waits for writable() */
    cw_timer *timer;
};

static size_t set_bytes(const struct publisher *b)
{
    return cast_set_bytes(b->torus->servers);
}

/* ---- What was asked lately --------------------------------------------------------------------------------------- */

static const uint8_t *known_set(const struct publisher *b, const struct group_name *name)
{
    for (unsigned i = 0; i < KNOWN; i++) {
        const struct known_set *k = &b->known[i];
        if (k->good && group_name_compare(&k->name, name) == 0 &&
            cw_time_since(cw_now(b->s), k->at).ns <= PUBLISHER_STALE.ns) {
            return k->set;
        }
    }
    return NULL;
}

static void remember_set(struct publisher *b, const struct group_name *name, const uint8_t *set)
{
    struct known_set *k = NULL;
    for (unsigned i = 0; i < KNOWN && k == NULL; i++) {
        k = b->known[i].good && group_name_compare(&b->known[i].name, name) == 0 ? &b->known[i] : NULL;
    }
    k = k != NULL ? k : &b->known[b->evict++ % KNOWN];
    if (k->set == NULL && (k->set = malloc(set_bytes(b))) == NULL) {
        k->good = false;
        return;
    }
    memcpy(k->set, set, set_bytes(b));
    k->name = *name;
    k->at = cw_now(b->s);
    k->good = true;
}

/* ---- One message ------------------------------------------------------------------------------------------------- */

static void free_outgoing(struct outgoing *o)
{
    free(o->bytes);
    free(o->set);
    free(o->row);
    free(o);
}

static void unlink_outgoing(struct outgoing *o)
{
    struct publisher *b = o->box;
    struct outgoing **at = &b->first;
    while (*at != o) {
        at = &(*at)->next;
    }
    *at = o->next;
    b->end = o->next == NULL ? at : b->end;
    b->counts.messages--;
    b->counts.memory -= o->length;
}

/* Its members are known. -ENOMEM. */
static int set_members(struct outgoing *o, const uint8_t *set)
{
    struct publisher *b = o->box;
    o->set = malloc(set_bytes(b));
    if (o->set == NULL) {
        return -ENOMEM;
    }
    memcpy(o->set, set, set_bytes(b));
    o->self_member = o->to_self = set[b->self / 8] >> b->self % 8 & 1;
    o->set[b->self / 8] &= (uint8_t) ~(1 << b->self % 8);
    for (size_t i = 0; i < set_bytes(b); i++) {
        o->others += (unsigned)__builtin_popcount(o->set[i]);
    }
    o->stage = STAGE_SEND;
    return 0;
}

static void fail(struct outgoing *o, int status)
{
    o->status = status;
    o->to_self = false;
    o->self_member = false;
    o->others = 0;
    o->stage = STAGE_OVER;
}

static void add_row(struct outgoing *o, cw_server server, int status)
{
    if (status == -ENOENT && o->to_group) {
        return; /* it has left the group */
    }
    o->row[o->rows++] = (cw_multicast_row){.server = torus_coord(o->box->torus, server), .status = status};
}

/* The others have answered, or will not. */
static void answered(struct outgoing *o, int status, const struct cast_member *member, unsigned count)
{
    o->row = calloc(count + 1, sizeof *o->row); /* one for us */
    o->status = o->row == NULL ? -ENOMEM : 0;
    for (unsigned i = 0; i < count && o->row != NULL; i++) {
        add_row(o, member[i].server, cast_member_result(&member[i], status));
    }
    o->stage = STAGE_OVER;
}

static void set_timer(struct publisher *b);

static void datagrams_answered(void *arg, const struct cast_member *member, unsigned count)
{
    struct outgoing *o = arg;
    answered(o, 0, member, count);
    set_timer(o->box);
}

static void bulk_answered(void *arg, int status, const struct cast_member *member, unsigned count)
{
    struct outgoing *o = arg;
    answered(o, status, member, count);
    set_timer(o->box);
}

static int send_datagram(struct outgoing *o)
{
    const struct datagram_order order = {.name = &o->name,
                                         .to_group = o->to_group,
                                         .reliable = o->reliable,
                                         .set = o->set,
                                         .bytes = o->bytes,
                                         .length = o->length,
                                         .done = datagrams_answered,
                                         .arg = o};
    return datagrams_send(o->box->datagrams, &order);
}

static void send_now(struct outgoing *o)
{
    struct publisher *b = o->box;
    if (o->others == 0) {
        answered(o, 0, NULL, 0);
        return;
    }
    bool datagram = o->length <= datagrams_most(b->datagrams, o->name.length);
    int rc = datagram ? send_datagram(o)
                      : bulk_send(b->bulk, &o->name, o->to_group, o->set, o->bytes, o->length, bulk_answered, o);
    if (rc == -EAGAIN) {
        return; /* it stays where it is */
    }
    if (rc == -ENETUNREACH) {
        struct cast_member *member = calloc(o->others, sizeof *member);
        unsigned count = 0;
        for (cw_server i = 0; i < b->torus->servers && member != NULL; i++) {
            if (o->set[i / 8] >> i % 8 & 1) {
                member[count++] = (struct cast_member){.server = i, .state = CAST_LOST, .status = rc};
            }
        }
        answered(o, 0, member, count);
        free(member);
    } else if (rc < 0) {
        fail(o, rc);
    } else if (o->reliable) {
        o->stage = STAGE_SENT;
    } else {
        answered(o, 0, NULL, 0);
    }
}

static void members_known(void *arg, int status, const uint8_t *set, unsigned count)
{
    (void)count;
    struct outgoing *o = arg;
    if (status == 0) {
        remember_set(o->box, &o->name, set);
        status = set_members(o, set);
    }
    if (status < 0) {
        fail(o, status);
    } else {
        send_now(o);
    }
    set_timer(o->box);
}

/* What can be done without telling anybody anything. */
static void move_on(struct outgoing *o)
{
    if (o->stage == STAGE_ASK) {
        o->stage = STAGE_ASKING;
        int rc = membership_ask(o->box->membership, &o->name, members_known, o);
        if (rc == -EAGAIN) {
            o->stage = STAGE_ASK;
        } else if (rc < 0) {
            fail(o, rc);
        }
    }
    if (o->stage == STAGE_SEND) {
        send_now(o);
    }
}

static void report(struct outgoing *o)
{
    cw_multicast_result result = {.size = sizeof result, .status = o->status};
    if (o->reliable && o->self_member && o->row != NULL) {
        add_row(o, o->box->self, o->self_status);
        for (unsigned i = o->rows; i-- > 1;) { /* in its place */
            cw_server id = torus_id(o->box->torus, o->row[i].server),
                      before = torus_id(o->box->torus, o->row[i - 1].server);
            if (id < before) {
                cw_multicast_row row = o->row[i];
                o->row[i] = o->row[i - 1];
                o->row[i - 1] = row;
            }
        }
    }
    result.members = o->reliable ? o->rows : o->others + o->self_member;
    result.rows = o->reliable ? o->rows : 0;
    result.row = o->row;
    for (unsigned i = 0; i < result.rows; i++) {
        result.complete += o->row[i].status == 0;
    }
    if (o->done != NULL) {
        o->done(o->arg, &result);
    }
    free_outgoing(o);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static bool has_room(const struct publisher *b, size_t length)
{
    return b->counts.messages < PUBLISHER_MOST && b->counts.memory + length <= PUBLISHER_MEMORY;
}

/* This server is a member, too. 0; -ENOENT: no client here wants the message any more. */
static int deliver_here(const struct outgoing *o)
{
    const struct arrival arrival = {.name = &o->name,
                                    .to_group = o->to_group,
                                    .best_effort = !o->reliable,
                                    .from = o->box->self,
                                    .bytes = o->bytes,
                                    .length = o->length};
    return clients_deliver(o->box->clients, &arrival);
}

static void tick(cw_svc *s, void *state, void *arg)
{
    (void)s, (void)state;
    struct publisher *b = arg;
    b->timer = NULL;
    for (struct outgoing *o = b->first; o != NULL; o = o->next) {
        move_on(o);
    }
    struct outgoing *next;
    for (struct outgoing *o = b->first; o != NULL; o = next) { /* whoever is told may send more: at the end */
        if (o->to_self && o->stage >= STAGE_SEND) {
            o->to_self = false;
            o->self_status = deliver_here(o);
        }
        next = o->next;
        if (o->stage == STAGE_OVER && !o->to_self) {
            unlink_outgoing(o);
            report(o);
        }
    }
    if (b->refused && has_room(b, PUBLISHER_MEMORY / 4)) {
        b->refused = false;
        clients_writable(b->clients);
    }
    set_timer(b);
}

/* Now when somebody is to be told, soon when something could not be sent. */
static void set_timer(struct publisher *b)
{
    bool now = b->refused && has_room(b, PUBLISHER_MEMORY / 4), soon = false;
    for (const struct outgoing *o = b->first; o != NULL && !now; o = o->next) {
        now = (o->to_self && o->stage >= STAGE_SEND) || (o->stage == STAGE_OVER && !o->to_self);
        soon = soon || o->stage == STAGE_ASK || o->stage == STAGE_SEND;
    }
    cw_timer_stop(b->s, b->timer);
    b->timer = now || soon ? cw_timer_start(b->s, now ? CW_NS(0) : try_again, tick, b) : NULL;
    CHECK_SLOW(publisher_audit(b));
}

int publisher_send(struct publisher *b, const struct publisher_order *order)
{
    bool fits = order->length <= datagrams_most(b->datagrams, order->name.length);
    if (order->bytes == NULL || order->length == 0) {
        return -EINVAL;
    }
    if (order->length > CW_MULTICAST_BYTES_MAX || (!fits && (!order->reliable || b->bulk == NULL))) {
        return -EMSGSIZE;
    }
    if (!has_room(b, order->length)) {
        b->refused = true;
        return -EAGAIN;
    }
    struct outgoing *o = calloc(1, sizeof *o);
    if (o == NULL || (o->bytes = malloc(order->length)) == NULL) {
        free(o);
        return -ENOMEM;
    }
    memcpy(o->bytes, order->bytes, order->length);
    o->box = b;
    o->owner = order->owner;
    o->name = order->name;
    o->to_group = order->set == NULL;
    o->reliable = order->reliable;
    o->length = order->length;
    o->done = order->done;
    o->arg = order->arg;
    const uint8_t *set = order->set;
    set = set == NULL && (!o->reliable || GROUP_MUTANT(STALE_SET)) ? known_set(b, &o->name) : set;
    if (set != NULL && set_members(o, set) < 0) {
        free_outgoing(o);
        return -ENOMEM;
    }
    *b->end = o;
    b->end = &o->next;
    b->counts.messages++;
    b->counts.memory += o->length;
    move_on(o);
    if (o->stage == STAGE_OVER && !o->to_self && o->done == NULL) {
        unlink_outgoing(o); /* nobody is to be told anything */
        free_outgoing(o);
        return 0;
    }
    set_timer(b);
    return 0;
}

static void forget_waits(struct outgoing *o)
{
    membership_cancel(o->box->membership, o);
    datagrams_cancel(o->box->datagrams, o);
    if (o->box->bulk != NULL) {
        bulk_cancel(o->box->bulk, o);
    }
}

void publisher_cancel(struct publisher *b, const void *owner)
{
    for (struct outgoing *o = b->first; o != NULL;) {
        struct outgoing *next = o->next;
        if (o->owner == owner) {
            forget_waits(o);
            unlink_outgoing(o);
            fail(o, -ECANCELED);
            o->rows = 0;
            report(o);
            next = b->first; /* whoever is told may have sent */
        }
        o = next;
    }
    set_timer(b);
}

void publisher_writable(struct publisher *b)
{
    for (struct outgoing *o = b->first; o != NULL; o = o->next) {
        move_on(o);
    }
    set_timer(b);
}

bool publisher_audit(const struct publisher *b)
{
    struct publisher_counts sum = {0, 0};
    for (const struct outgoing *o = b->first; o != NULL; o = o->next) {
        sum.messages++;
        sum.memory += o->length;
        CHECK_RULE(o->stage < STAGE_SEND || o->stage == STAGE_OVER || o->set != NULL,
                   "groups G4: a message is sent to members that are known", "a message of this server");
        CHECK_RULE(o->next != NULL || b->end == &o->next, "groups G4: the queue's end is its last message",
                   "a message of this server");
    }
    CHECK_RULE(sum.messages == b->counts.messages && sum.messages <= PUBLISHER_MOST,
               "groups G4: the messages of the queue are counted right", "this server");
    CHECK_RULE(sum.memory == b->counts.memory && sum.memory <= PUBLISHER_MEMORY,
               "groups G4: the bytes of the queue are counted right", "this server");
    return true;
}

struct publisher_counts publisher_counts(const struct publisher *b)
{
    return b->counts;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

int publisher_open(struct publisher **out, const struct publisher_config *config)
{
    struct publisher *b = calloc(1, sizeof *b);
    if (b == NULL) {
        return -ENOMEM;
    }
    cw_svc *s = config->s;
    *b = (struct publisher){.s = s,
                            .torus = config->torus,
                            .membership = config->membership,
                            .datagrams = config->datagrams,
                            .bulk = config->bulk,
                            .clients = config->clients};
    b->self = cw_server_id(s, cw_self(s));
    b->end = &b->first;
    *out = b;
    return 0;
}

void publisher_close(struct publisher *b)
{
    if (b == NULL) {
        return;
    }
    cw_timer_stop(b->s, b->timer);
    while (b->first != NULL) {
        struct outgoing *o = b->first;
        forget_waits(o);
        unlink_outgoing(o);
        free_outgoing(o);
    }
    for (unsigned i = 0; i < KNOWN; i++) {
        free(b->known[i].set);
    }
    free(b);
}
