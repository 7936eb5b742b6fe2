/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/internal.h"

#include "base/check.h"
#include "services/kvcache/authority.h"
#include "services/kvcache/command.h"
#include "services/kvcache/common.h"
#include "services/kvcache/copies.h"
#include "services/kvcache/flush.h"
#include "services/kvcache/mc_config.h"
#include "services/kvcache/reader.h"
#include "services/kvcache/root.h"
#include "services/kvcache/survey.h"
#include "services/kvcache/sweep.h"
#include "services/kvcache/walk.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdlib.h>

enum {
    KV_DEDUP_LIFE_MS = 10000, /* how long a write is remembered (kvcache rule 11) */
    KV_EXPIRY_MS = 1000,      /* between two looks at what is too old */
};

/* ---- What comes -------------------------------------------------------------------------------------------------- */

static void take_back(struct kvcache *k, const struct asker *asker, const struct item_name *name)
{
    struct kv_answer answer = {.state = KV_DONE};
    copies_drop(k, name);
    rpc_answer(k, asker, &answer);
}

static void take(struct kvcache *k, const struct asker *asker, const uint8_t *bytes, size_t size)
{
    struct kv_ask ask;
    if (!kv_ask_decode(bytes, size, &ask)) {
        kv_count(k, KV_COUNT_MALFORMED);
        return;
    }
    if (ask.kind == KV_ASK_NAME) {
        struct kv_answer name = {.state = KV_DONE};
        rpc_answer(k, asker, &name);
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
        take_back(k, asker, &name);
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
    /* Whoever sends is checked here: the transport remembers every peer that says hello, and keeps what it begins. */
    bool bulk = rx->port == KV_BULK_PORT;
    if (rx->src_job != KVCACHE_JOB || rx->src_process >= k->servers || (!bulk && rx->call == 0)) {
        kv_count(k, KV_COUNT_MALFORMED);
        return CW_DROP;
    }
    if (bulk) {
        cw_verdict verdict = transport_packet(k->transport, p, rx);
        CHECK_SLOW(walk_sometimes(k));
        return verdict;
    }
    size_t size;
    const uint8_t *bytes = cw_packet_data(p, &size);
    struct asker asker = {.kind = ASKER_CALL, .call = rx->call, .server = rx->src_process};
    take(k, &asker, bytes, size);
    CHECK_SLOW(walk_sometimes(k));
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
        kv_count(k, KV_COUNT_MALFORMED);
        return -EBADMSG;
    }
    struct asker asker = {.kind = ASKER_BULK, .bulk = m->reply_to, .server = m->src_process};
    take(k, &asker, bytes, (size_t)m->bytes);
    return 0;
}

/* ---- The view changes -------------------------------------------------------------------------------------------- */

static void expiry_due(cw_svc *s, void *state, void *arg)
{
    (void)arg;
    struct kvcache *k = state;
    cw_time now = cw_now(s);
    if (now.ns > CW_MS(KV_REGISTERED_MS).ns) {
        holders_expire(&k->holders, (cw_time){now.ns - CW_MS(KV_REGISTERED_MS).ns});
    }
    authority_review(k); /* again, in case there was no memory for its timer */
    if (k->root_timer == NULL) {
        root_review(k); /* there was no memory for its timer */
    }
    (void)upload_expire(&k->uploads, now);
    (void)download_expire(&k->downloads, now);
    k->expiry = cw_timer_start(s, CW_MS(KV_EXPIRY_MS), expiry_due, NULL);
    CHECK_SLOW(walk_sometimes(k));
}

static void forget_holders(struct kvcache *k)
{
    for (struct list_node *n = list_first(&k->holders.ages); n != NULL; n = list_next(&k->holders.ages, n)) {
        container_of(n, struct held_key, by_age)->count = 0;
    }
}

static void on_event(cw_svc *s, void *state, const cw_event *ev)
{
    struct kvcache *k = state;
    transport_event(k->transport, ev);
    if (KV_MUTANT(FORGETS) && (ev->kind == CW_EVENT_SERVER_UP || ev->kind == CW_EVENT_SERVER_DOWN)) {
        forget_holders(k);
    }
    if (ev->kind == CW_EVENT_SERVER_DOWN) {
        authority_lost(k, cw_server_id(s, ev->server));
    } else if (ev->kind == CW_EVENT_ROOTS) {
        authority_review(k);
        root_review(k);
        flush_review(k);
        sweep_begin(k);
    }
    CHECK_SLOW(walk_sometimes(k));
}

static void on_writable(cw_svc *s, void *state)
{
    (void)s;
    struct kvcache *k = state;
    transport_writable(k->transport);
}

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

static int open_tables(struct kvcache *k)
{
    int rc = items_open(&k->values, k->limits.value_bytes);
    rc = rc < 0 ? rc : items_open(&k->copies, k->limits.copy_bytes);
    return rc < 0 ? rc : dedup_open(&k->dedup, k->servers, KV_DEDUP_MOST, CW_MS(KV_DEDUP_LIFE_MS));
}

static void close_tables(struct kvcache *k)
{
    holders_close(&k->holders);
    dedup_close(&k->dedup);
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
    int wrong = mc_config_check(s);
    if (read_limits(s, &k->limits) < 0 || wrong < 0) { /* both are asked for, so that all options have been read */
        return -EINVAL;
    }
    k->svc = s;
    k->self = cw_server_id(s, cw_self(s));
    k->servers = servers_of(cw_torus(s));
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
    metrics_counters(s, kv_count_names, KV_COUNTS, k->counter);
    metrics_histograms(s, kv_time_names, KV_TIMES, k->took);
    holders_open(&k->holders, KV_HELD_KEYS_MOST);
    k->instances = calloc(k->servers, sizeof *k->instances);
    k->seen = calloc(k->servers, sizeof *k->seen);
    int rc = k->instances != NULL && k->seen != NULL ? authority_open(k) : -ENOMEM;
    rc = rc < 0 ? rc : open_tables(k);
    rc = rc < 0 ? rc : open_transport(k);
    if (rc < 0) {
        close_tables(k);
        free(k->instances);
        free(k->seen);
        authority_close(k);
        return rc;
    }
    /*
     * Loaded while others are in view: an instance before this one may have given out copies that it has no record of.
     * They are waited for, lease or not: the lease may come back before those copies expire (kvcache rule 17).
     */
    if (cw_servers_reachable(s) > 1 && !KV_MUTANT(TRUSTS_EMPTY)) {
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
    upload_close(&k->uploads);
    download_close(&k->downloads);
    close_tables(k);
    free(k->instances);
    free(k->seen);
    authority_close(k);
}

static int on_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    (void)s;
    int rc = kv_command(state, r, argc, argv);
    CHECK_SLOW(walk_sometimes(state));
    return rc;
}

static const struct kvcache_api api = {.size = sizeof api, .run = kv_do, .flush = kv_flush};

static const cw_command commands[] = {
    {"get", "KEY [job=N] [form=base64 [from=N [cas=N]]]",
     "the value of a key; with from=N, 30 KiB of it from there on, of that value if it is there still"},
    {"set", "KEY VALUE [job=N] [form=base64] [stage=N] [flags=N] [expire_us=N]", "store a value"},
    {"delete", "KEY [job=N]", "remove a value"},
    {"flush", "[job=N]", "remove all values of a job"},
    {"stage", "N BASE64 [from=N] [drop=1]",
     "a piece of a value that is too long for one command, behind so many bytes"},
    {"stats", "[all]", "what this cache, or all caches, have counted"},
    {"hot", "[N]", "the keys that are asked for most"},
    {"extras", "0..8", "how many other servers may have copies of a hot value"},
    {NULL, NULL, NULL},
};

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
    .commands = commands,
};
