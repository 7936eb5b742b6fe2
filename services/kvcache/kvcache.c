/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/internal.h"

#include "base/bytes.h"
#include "services/kvcache/mc_config.h"
#include "services/kvcache/op.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    KV_DONE_LIFE_MS = 10000,
    KV_EXPIRY_MS = 1000,
};

const struct kv_count_name kv_count_names[KV_COUNTS] = {
    [KV_COUNT_GETS] = {"gets", "Reads asked for at this server."},
    [KV_COUNT_WRITES] = {"writes", "Writes and deletes asked for at this server."},
    [KV_COUNT_HITS_HERE] = {"hits_here", "Of the reads, hits at this server as root."},
    [KV_COUNT_HITS_COPY] = {"hits_copy", "Of the reads, hits from a copy."},
    [KV_COUNT_HITS_ROOT] = {"hits_root", "Of the reads, hits at another server as root."},
    [KV_COUNT_MISSES] = {"misses", "Of the reads, those without a value."},
    [KV_COUNT_ROOT_GETS] = {"root_gets", "Reads answered as root."},
    [KV_COUNT_ROOT_WRITES] = {"root_writes", "Writes done as root."},
    [KV_COUNT_SERVED_COPY] = {"served_copy", "Reads of other servers answered from a copy here."},
    [KV_COUNT_FETCHES] = {"fetches", "Copies asked for."},
    [KV_COUNT_POISONED] = {"poisoned", "Of these, taken back before they came."},
    [KV_COUNT_DROPS] = {"drops", "Times a holder was asked to drop a copy."},
    [KV_COUNT_MOVED] = {"moved", "Values and copies dropped because their key moved."},
    [KV_COUNT_RETRIES] = {"retries", "Questions asked again."},
    [KV_COUNT_REPEATED] = {"repeated", "Writes that came again, and were not done again."},
    [KV_COUNT_UNKNOWN] = {"unknown", "Writes of which nobody knows whether they were done."},
    [KV_COUNT_TIMED_OUT] = {"timed_out", "Questions without an answer."},
    [KV_COUNT_BULK] = {"bulk", "Questions that went by the transport."},
    [KV_COUNT_FLUSHES] = {"flushes", "Times this server was asked to drop all values of a job everywhere."},
    [KV_COUNT_MALFORMED] = {"malformed", "Packets and messages that are none of ours."},
};

const struct kv_count_name kv_time_names[KV_TIMES] = {
    [KV_TIME_GET_HERE] = {"get_here", "Reads that hit at this server as root."},
    [KV_TIME_GET_COPY] = {"get_copy", "Reads that hit a copy."},
    [KV_TIME_GET_ROOT] = {"get_root", "Reads that hit at another server as root."},
    [KV_TIME_MISS] = {"get_miss", "Reads without a value."},
    [KV_TIME_SET] = {"set", "Writes that carry a value."},
    [KV_TIME_DELETE] = {"delete", "Deletes."},
    [KV_TIME_OTHER] = {"other", "All other writes."},
};

const char *kv_status_text(enum kv_status status)
{
    static const char *const text[KV_STATUSES] = {
        [KV_OK] = "done",
        [KV_MISS] = "not found",
        [KV_EXISTS] = "changed by somebody else",
        [KV_NOT_STORED] = "not stored",
        [KV_NOT_NUMBER] = "the value is no number",
        [KV_TOO_LARGE] = "too large",
        [KV_NO_MEMORY] = "no memory for it",
        [KV_NO_MAJORITY] = "this side of the cluster is not the majority",
        [KV_TIMED_OUT] = "no answer in time",
        [KV_UNKNOWN] = "nobody knows whether it was done",
        [KV_DENIED] = "no privilege",
    };
    return (unsigned)status < KV_STATUSES ? text[status] : "?";
}

void kv_note(struct kvcache *k, enum kv_count what)
{
    k->count[what]++;
    cw_counter_add(k->counter[what], 1);
}

struct item_name kv_name(const cw_key *id, const struct kv_request *r)
{
    return (struct item_name){.id = *id, .job = r->job, .key = r->key, .key_length = (uint8_t)r->key_length};
}

cw_key kv_mem_id(struct kvcache *k, cw_job job, const uint8_t *key, size_t length)
{
    uint8_t name[4 + KV_KEY_MAX];
    put_be32(name, job);
    memcpy(name + 4, key, length);
    return cw_key_of(k->svc, name, 4 + length);
}

void kv_keep_bytes(struct kv_request *r, uint8_t *at)
{
    memcpy(at, r->key, r->key_length);
    if (r->value_length > 0) {
        memcpy(at + r->key_length, r->value, r->value_length);
    }
    r->key = at;
    r->value = at + r->key_length;
}

int kv_do(cw_svc *kvcache, const struct kv_request *r, kv_done_fn done, void *arg)
{
    struct kvcache *k = cw_state(kvcache);
    if (r == NULL || done == NULL || r->size < sizeof *r || r->op < KV_GET || r->op >= KV_OPS || r->key == NULL ||
        r->key_length < 1 || r->key_length > KV_KEY_MAX || r->meta > KV_METAS ||
        (r->value_length > 0 && (r->value == NULL || !op_carries(r->op)))) {
        return -EINVAL;
    }
    if (r->value_length > KV_VALUE_MAX) {
        return -EMSGSIZE;
    }
    return k->closing ? -ESHUTDOWN : reader_do(k, r, done, arg);
}

/* ---- What comes --------------------------------------------------------------------------------------------------------- */

static void took_back(struct kvcache *k, const struct asker *asker, const struct item_name *name)
{
    struct kv_answer answer = {.state = KV_DONE};
    copies_drop(k, name);
    say_answer(k, asker, &answer);
}

static void take(struct kvcache *k, const struct asker *asker, const uint8_t *bytes, size_t size)
{
    struct kv_ask ask;
    if (!kv_ask_decode(bytes, size, &ask)) {
        kv_note(k, KV_COUNT_MALFORMED);
        return;
    }
    if (ask.kind == KV_ASK_NAME) {
        struct kv_answer name = {.state = KV_DONE};
        say_answer(k, asker, &name);
        return;
    }
    if (ask.kind == KV_ASK_CUT || ask.kind == KV_ASK_RENEW) {
        flush_take(k, asker, &ask);
        return;
    }
    if (ask.kind == KV_ASK_STATS || ask.kind == KV_ASK_HOT) {
        survey_take(k, asker, &ask);
        return;
    }
    cw_key id = kv_mem_id(k, ask.r.job, ask.r.key, ask.r.key_length);
    struct item_name name = kv_name(&id, &ask.r);
    if (ask.kind == KV_ASK_DROP) {
        took_back(k, asker, &name);
    } else if ((ask.bits & KV_BIT_EXTRA) && ask.r.op == KV_GET && !cw_is_root(k->svc, &id)) {
        copies_serve(k, asker, &ask, &id);
    } else {
        root_take(k, asker, &ask, &id);
    }
}

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    struct kvcache *k = state;
    bool bulk = rx->port == KV_BULK_PORT; /* the transport would remember whoever says hello, and keep what he begins */
    if (rx->src_job != KVCACHE_JOB || rx->src_process >= k->servers || (!bulk && rx->call == 0)) {
        kv_note(k, KV_COUNT_MALFORMED);
        return CW_DROP;
    }
    if (bulk) {
        return transport_packet(k->transport, p, rx);
    }
    size_t size;
    const uint8_t *bytes = cw_packet_data(p, &size);
    struct asker asker = {.kind = ASKER_CALL, .call = rx->call, .server = rx->src_process};
    take(k, &asker, bytes, size);
    return CW_FORWARD;
}

static int on_message(void *context, void *arg, const struct transport_message *m, const uint8_t *bytes, int status)
{
    (void)arg;
    struct kvcache *k = context;
    if (status < 0) {
        return 0;
    }
    if (m->src_job != KVCACHE_JOB || m->src_process >= k->servers || !m->request) {
        kv_note(k, KV_COUNT_MALFORMED);
        return -EBADMSG;
    }
    struct asker asker = {.kind = ASKER_BULK, .bulk = m->reply_to, .server = m->src_process};
    take(k, &asker, bytes, (size_t)m->bytes);
    return 0;
}

/* ---- The view changes ------------------------------------------------------------------------------------------------------ */

/* Exactly what moved goes; what did not is good from now on, however many changes are remembered. */
static bool has_moved(void *context, struct item *i)
{
    struct kvcache *k = context;
    bool kept = KV_MUTANT(NO_LEASE);
    if (k->sweeping_copies ? i->stamp != k->generation : flush_has_cut(k, i)) {
        return true;
    }
    if (k->sweeping_copies) {
        kept |= KV_MUTANT(NO_FLUSH);
    }
    if (!k->sweeping_copies) {
        kept |= KV_MUTANT(NO_TENURE);
    }
    if (!kv_steady(k, &i->id, i->epoch) && !kept) {
        kv_note(k, KV_COUNT_MOVED);
        return true;
    }
    i->epoch = kept ? i->epoch : cw_epoch(k->svc);
    return false;
}

/*
 * Looking at every value at once could take longer than a server may stall. It need not: a value is looked at whenever it is used, and
 * what moved is as good as gone from the moment the view changed. This gives its memory back.
 */
static void sweep_due(cw_svc *s, void *state, void *arg)
{
    (void)arg;
    struct kvcache *k = state;
    struct items *t = k->sweeping_copies ? &k->copies : &k->values;
    k->sweep = NULL;
    if (items_sweep_some(t, &k->sweep_at, KV_SWEEP_CHAINS, has_moved, k)) {
        if (k->sweeping_copies) {
            return;
        }
        flush_swept(k);
        k->sweeping_copies = true;
    }
    k->sweep = cw_timer_start(s, CW_US(100), sweep_due, NULL);
}

void kv_sweep(struct kvcache *k)
{
    k->sweeping_copies = false;
    k->sweep_at = 0;
    if (k->sweep == NULL) {
        k->sweep = cw_timer_start(k->svc, CW_US(100), sweep_due, NULL);
    }
}

static void expiry_due(cw_svc *s, void *state, void *arg)
{
    (void)arg;
    struct kvcache *k = state;
    cw_time now = cw_now(s);
    if (now.ns > CW_MS(KV_REGISTERED_MS).ns) {
        holders_expire(&k->holders, (cw_time){now.ns - CW_MS(KV_REGISTERED_MS).ns});
    }
    tenure_review(k); /* once more, if there was no memory for a timer */
    if (k->house == NULL) {
        root_review(k); /* so too */
    }
    k->expiry = cw_timer_start(s, CW_MS(KV_EXPIRY_MS), expiry_due, NULL);
}

static void forget_holders(struct kvcache *k)
{
    for (struct list_node *n = list_first(&k->holders.ages); n != NULL; n = list_next(&k->holders.ages, n)) {
        container_of(n, struct held_key, by_age)->count = 0;
    }
}

static void on_event(cw_svc *s, void *state, const cw_event *ev)
{
    (void)s;
    struct kvcache *k = state;
    transport_event(k->transport, ev);
    if (KV_MUTANT(FORGETS) && (ev->kind == CW_EVENT_SERVER_UP || ev->kind == CW_EVENT_SERVER_DOWN)) {
        forget_holders(k);
    }
    if (ev->kind == CW_EVENT_ROOTS) {
        tenure_review(k);
        root_review(k);
        flush_review(k);
        kv_sweep(k);
    }
}

static void on_writable(cw_svc *s, void *state)
{
    (void)s;
    struct kvcache *k = state;
    transport_writable(k->transport);
}

/* ---- Opening and closing ---------------------------------------------------------------------------------------------------- */

static int open_tables(struct kvcache *k)
{
    int rc = items_open(&k->values, k->limits.value_bytes);
    if (rc == 0) {
        rc = items_open(&k->copies, k->limits.copy_bytes);
    }
    if (rc == 0) {
        rc = done_open(&k->done, k->servers, KV_DONE_MOST, CW_MS(KV_DONE_LIFE_MS));
    }
    return rc;
}

static void close_tables(struct kvcache *k)
{
    holders_close(&k->holders);
    done_close(&k->done);
    items_close(&k->copies);
    items_close(&k->values);
}

static int open_transport(struct kvcache *k)
{
    struct transport_config config = transport_config_default(KV_BULK_PORT, k);
    config.message = on_message;
    config.message_max = KV_ASK_MOST;
    config.timeout = k->limits.timeout;
    return transport_open(k->svc, &config, &k->transport);
}

static uint64_t draw(cw_svc *s)
{
    uint64_t n;
    do {
        n = cw_random(s);
    } while (n == 0);
    return n;
}

static const char *option(void *context, const char *name)
{
    return cw_option(context, name);
}

static int read_limits(cw_svc *s, struct kv_limits *limits)
{
    char why[KV_LIMITS_WHY];
    int rc = kv_limits_read(limits, option, s, why);
    if (rc < 0) {
        cw_log(s, CW_LOG_ERROR, why);
    }
    return rc;
}

static int kvcache_open(cw_svc *s, void *state)
{
    struct kvcache *k = state;
    cw_dims dims = cw_torus(s);
    int wrong = mc_config_check(s);
    if (read_limits(s, &k->limits) < 0 || wrong < 0) { /* both are asked, whatever the first says */
        return -EINVAL;
    }
    k->svc = s;
    k->self = cw_server_id(s, cw_self(s));
    k->servers = (uint32_t)dims.x * dims.y * dims.z;
    k->instance = draw(s);
    k->cas = draw(s) >> 1;
    hot_open(&k->hot, draw(s), cw_now(s));
    list_init(&k->waiting);
    list_init(&k->questions);
    list_init(&k->writes);
    list_init(&k->flushes);
    for (unsigned i = 0; i < KV_FETCH_CHAINS; i++) {
        list_init(&k->fetches[i]);
    }
    for (unsigned i = 0; i < KV_COUNTS; i++) {
        k->counter[i] = cw_counter_new(s, kv_count_names[i].name, kv_count_names[i].help);
    }
    for (unsigned i = 0; i < KV_TIMES; i++) {
        k->took[i] = cw_histogram_new(s, kv_time_names[i].name, kv_time_names[i].help);
    }
    holders_open(&k->holders, KV_HELD_KEYS_MOST);
    k->instances = calloc(k->servers, sizeof *k->instances);
    k->seen = calloc(k->servers, sizeof *k->seen);
    int rc = k->instances != NULL && k->seen != NULL ? open_tables(k) : -ENOMEM;
    rc = rc == 0 ? open_transport(k) : rc;
    if (rc < 0) {
        close_tables(k);
        free(k->instances);
        free(k->seen);
        return rc;
    }
    /*
     * Loaded into a server that is with others already: one before us may have given copies away that we do not know of. Whether we serve is not the
     * question: the lease comes back, and others' copies outlive a gap of ours.
     */
    if (cw_servers_reachable(s) > 1) {
        k->quiet = cw_time_add(cw_now(s), CW_MS(KV_REGISTERED_MS));
        flush_renew(k);
    }
    expiry_due(s, k, NULL);
    return 0;
}

static void kvcache_close(cw_svc *s, void *state)
{
    (void)s;
    struct kvcache *k = state;
    k->closing = true;
    flush_close(k);
    reader_close(k);
    root_close(k);
    transport_close(k->transport);
    stage_close(&k->stages);
    close_tables(k);
    free(k->instances);
    free(k->seen);
}

static int on_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    (void)s;
    return kv_command(state, r, argc, argv);
}

static const struct kvcache_api api = {.size = sizeof api, .run = kv_do, .flush = kv_flush};

const cw_service kvcache_service = {
    CW_SERVICE_INIT,
    .name = "kvcache",
    .version = "1.0",
    .job = KVCACHE_JOB,
    .state_size = sizeof(struct kvcache),
    .open = kvcache_open,
    .close = kvcache_close,
    .on_packet = on_packet,
    .on_event = on_event,
    .on_command = on_command,
    .on_writable = on_writable,
    .exports = &api,
    .exports_version = KVCACHE_API_VERSION,
};
