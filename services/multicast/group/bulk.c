/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/bulk.h"

#include "base/bytes.h"
#include "base/check.h"
#include "cubeway/multicast.h"
#include "services/reply/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The metrics' names are older than the term bulk message. */
enum { COUNT_TAKEN, COUNT_REFUSED, COUNTS };
static const struct metric metrics[COUNTS] = {
    [COUNT_TAKEN] = {"memos_taken", "Messages of several packets delivered here."},
    [COUNT_REFUSED] = {"memos_refused",
                       "Messages of several packets refused: too long, or the memory for them was used up."},
};

/* One that is being sent. */
struct bulk_out {
    struct bulk_out *next;
    struct bulk *m;
    const uint8_t *bytes; /* NULL: not ours any more */
    size_t length;
    uint64_t ticket;
    bulk_done_fn done;
    void *arg;
};

/* One that is coming, or that is there and waits to be taken. */
struct bulk_in {
    struct bulk_in *next;
    struct bulk *m;
    struct group_name name;
    bool to_group, whole;
    cw_server from;
    size_t length;
    uint8_t *bytes;
};

struct bulk {
    cw_svc *s;
    struct cast_engine *engine;
    const struct clients *clients;
    struct bulk_out *out;
    unsigned out_count;
    struct bulk_in *in;
    size_t memory; /* of in */
    cw_timer *timer;
    cw_counter *count[COUNTS];
};

size_t bulk_label_encode(const struct group_name *name, bool to_group, uint8_t *out)
{
    put_be32(out, name->job);
    out[4] = to_group;
    out[5] = out[6] = 0;
    out[7] = name->length;
    memcpy(out + BULK_LABEL_HEAD, name->text, name->length);
    return BULK_LABEL_HEAD + (size_t)name->length;
}

int bulk_label_decode(const uint8_t *label, size_t length, struct group_name *name, bool *to_group)
{
    if (length < BULK_LABEL_HEAD || label[4] > 1 || label[5] != 0 || label[6] != 0 ||
        length != BULK_LABEL_HEAD + (size_t)label[7]) {
        return -EBADMSG;
    }
    *to_group = label[4] == 1;
    return group_name_make(name, get_be32(label), (const char *)label + BULK_LABEL_HEAD, label[7]) < 0 ? -EBADMSG : 0;
}

/* ---- As a source ------------------------------------------------------------------------------------------------- */

static int read_bytes(void *context, uint64_t offset, uint8_t *out, size_t length)
{
    const struct bulk_out *o = context;
    if (o->bytes == NULL || offset > o->length || length > o->length - offset) {
        return -ECANCELED;
    }
    memcpy(out, o->bytes + offset, length);
    return 0;
}

bool bulk_audit(const struct bulk *m)
{
    unsigned out = 0;
    size_t memory = 0;
    for (const struct bulk_out *o = m->out; o != NULL; o = o->next) {
        out++;
    }
    for (const struct bulk_in *i = m->in; i != NULL; i = i->next) {
        memory += i->length;
    }
    CHECK_RULE(out == m->out_count && out <= BULK_AT_ONCE, "groups G5: bulk messages under way are counted right",
               "this server");
    CHECK_RULE(memory == m->memory && memory <= BULK_MEMORY, "groups G5: the memory of what comes is counted right",
               "this server");
    return true;
}

static void unlink_out(struct bulk *m, struct bulk_out *o)
{
    struct bulk_out **at = &m->out;
    while (*at != o) {
        at = &(*at)->next;
    }
    *at = o->next;
    m->out_count--;
}

static void ended(void *context, const struct cast_result *result)
{
    struct bulk_out *o = context;
    unlink_out(o->m, o);
    if (o->done != NULL) {
        o->done(o->arg, result->status, result->member, result->count);
    }
    free(o);
}

int bulk_send(struct bulk *m, const struct group_name *name, bool to_group, const uint8_t *set, const uint8_t *bytes,
              size_t length, bulk_done_fn done, void *arg)
{
    uint8_t label[BULK_LABEL_HEAD + GROUP_NAME_MOST];
    if (m->out_count >= BULK_AT_ONCE) {
        return -EAGAIN;
    }
    struct bulk_out *o = calloc(1, sizeof *o);
    if (o == NULL) {
        return -ENOMEM;
    }
    *o = (struct bulk_out){.next = m->out, .m = m, .bytes = bytes, .length = length, .done = done, .arg = arg};
    struct cast_order order = {.kind = CAST_BULK,
                               .bytes = length,
                               .label = label,
                               .label_bytes = bulk_label_encode(name, to_group, label),
                               .members = set,
                               .from = {.context = o, .read = read_bytes},
                               .done = ended,
                               .context = o};
    put_be64(order.id, cw_random(m->s));
    put_be64(order.id + 8, cw_random(m->s));
    int rc = cast_engine_send(m->engine, &order, &o->ticket);
    if (rc < 0) {
        free(o);
        return rc == -EBUSY ? -EAGAIN : rc;
    }
    m->out = o;
    m->out_count++;
    CHECK_SLOW(bulk_audit(m));
    return 0;
}

void bulk_cancel(struct bulk *m, const void *arg)
{
    struct bulk_out *next;
    for (struct bulk_out *o = m->out; o != NULL; o = next) {
        next = o->next;
        if (o->arg == arg && o->bytes != NULL) {
            o->done = NULL;
            o->bytes = NULL;
            cast_engine_cancel(m->engine, o->ticket, -ECANCELED); /* ended() comes from inside */
        }
    }
}

/* ---- As a member ------------------------------------------------------------------------------------------------- */

static void tick(cw_svc *s, void *state, void *arg);

static void drop_in(struct bulk *m, struct bulk_in *i)
{
    struct bulk_in **at = &m->in;
    while (*at != i) {
        at = &(*at)->next;
    }
    *at = i->next;
    m->memory -= i->length;
    free(i->bytes);
    free(i);
}

static int write_bytes(void *context, uint64_t offset, const uint8_t *bytes, size_t length)
{
    struct bulk_in *i = context;
    if (offset > i->length || length > i->length - offset) {
        return -EBADMSG;
    }
    memcpy(i->bytes + offset, bytes, length);
    return 0;
}

/* It is taken from an upcall of its own: whoever takes it may send. */
static int end(void *context, int status)
{
    struct bulk_in *i = context;
    struct bulk *m = i->m;
    if (status != 0 || !clients_want(m->clients, &i->name, i->to_group)) {
        drop_in(m, i);
        return status != 0 ? status : -ENOENT;
    }
    if (m->timer == NULL && (m->timer = cw_timer_start(m->s, CW_NS(0), tick, m)) == NULL) {
        drop_in(m, i);
        return -ENOBUFS;
    }
    i->whole = true;
    return 0;
}

/* The one that has been there longest; new ones come in front. */
static struct bulk_in *oldest_whole(const struct bulk *m)
{
    struct bulk_in *oldest = NULL;
    for (struct bulk_in *i = m->in; i != NULL; i = i->next) {
        oldest = i->whole ? i : oldest;
    }
    return oldest;
}

static void tick(cw_svc *s, void *state, void *arg)
{
    (void)s, (void)state;
    struct bulk *m = arg;
    m->timer = NULL;
    for (struct bulk_in *i; (i = oldest_whole(m)) != NULL;) {
        const struct arrival arrival = {
            .name = &i->name, .to_group = i->to_group, .from = i->from, .bytes = i->bytes, .length = i->length};
        int rc = clients_deliver(m->clients, &arrival);
        (void)rc; /* -ENOENT: the client has left meanwhile */
        cw_counter_add(m->count[COUNT_TAKEN], 1);
        drop_in(m, i);
    }
    CHECK_SLOW(bulk_audit(m));
}

static int accept_bulk(void *context, const struct cast_offer *offer, struct cast_sink *sink)
{
    struct bulk *m = context;
    struct group_name name;
    bool to_group;
    int rc = bulk_label_decode(offer->label, offer->label_bytes, &name, &to_group);
    if (rc < 0) {
        return rc;
    }
    if (!clients_want(m->clients, &name, to_group)) {
        return -ENOENT;
    }
    if (offer->bytes > CW_MULTICAST_BYTES_MAX || offer->bytes > BULK_MEMORY - m->memory) {
        cw_counter_add(m->count[COUNT_REFUSED], 1);
        return offer->bytes > CW_MULTICAST_BYTES_MAX ? -EMSGSIZE : -ENOBUFS;
    }
    struct bulk_in *i = calloc(1, sizeof *i);
    if (i == NULL || (i->bytes = malloc(offer->bytes)) == NULL) {
        free(i);
        return -ENOMEM;
    }
    i->next = m->in;
    i->m = m;
    i->name = name;
    i->to_group = to_group;
    i->from = offer->origin;
    i->length = offer->bytes;
    m->in = i;
    m->memory += i->length;
    CHECK_SLOW(bulk_audit(m));
    *sink = (struct cast_sink){.context = i, .write = write_bytes, .end = end};
    return 0;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

int bulk_open(struct bulk **out, cw_svc *s, struct cast_engine *engine, const struct clients *clients)
{
    struct bulk *m = calloc(1, sizeof *m);
    if (m == NULL) {
        return -ENOMEM;
    }
    m->s = s;
    m->engine = engine;
    m->clients = clients;
    metrics_counters(s, metrics, COUNTS, m->count);
    cast_engine_kind(engine, CAST_BULK, accept_bulk, m);
    *out = m;
    return 0;
}

void bulk_close(struct bulk *m)
{
    if (m == NULL) {
        return;
    }
    cw_timer_stop(m->s, m->timer);
    while (m->in != NULL) {
        drop_in(m, m->in);
    }
    while (m->out != NULL) {
        struct bulk_out *o = m->out;
        m->out = o->next;
        free(o);
    }
    free(m);
}
