/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/entry/store.h"

#include "base/words.h"
#include "services/reply/refuse.h"
#include "services/store/ask/asker.h"
#include "services/store/common.h"
#include "services/store/durable.h"
#include "services/store/entry/command.h"
#include "services/store/entry/letters.h"
#include "services/store/entry/member.h"
#include "services/store/entry/pieces.h"
#include "services/store/genesis.h"
#include "services/store/lead.h"
#include "services/store/quota.h"
#include "services/store/warden.h"

#include <errno.h>
#include <stdlib.h>

enum {
    MEMORY_MIB = 256,
    HAND_MIB = 64,
    MEMORY_MIB_MOST = 1 << 20,
    ATTEMPT_MS = 600,
    TICK_MS = 25,
    PATIENCE_MS = 400,
    SLOW_MS = 300,
    HEARING_MS = 2000,
    SETTLE_MS = 2000,
    REPLACE_AFTER_S = 180,
    REPLACE_AFTER_MOST_S = 86400
};

/* ---- Upcalls ----------------------------------------------------------------------------------------------------- */

static cw_verdict on_packet(cw_svc *svc, void *state, cw_packet *p, const cw_rx *rx)
{
    struct store *s = state;
    size_t size;
    (void)svc;
    const uint8_t *bytes = cw_packet_data(p, &size);
    const struct store_caller from = {
        .job = rx->src_job, .server = rx->src_process, .port = rx->port, .right = {.call = rx->call}};
    if (rx->call == 0 && rx->port != STORE_PORT_LETTERS) {
        store_note(s, STORE_COUNT_MALFORMED);
        return CW_FORWARD;
    }
    switch (rx->port) {
    case STORE_PORT_LETTERS:
        return store_letters_packet(s, p, rx);
    case STORE_PORT_READ:
    case STORE_PORT_WRITE:
        store_member_ask(s, bytes, size, &from);
        return CW_FORWARD;
    case STORE_PORT_MEMBERS:
        store_member_item(s, bytes, size, &from);
        return CW_FORWARD;
    case STORE_PORT_OPERATORS:
        store_genesis_word(s, bytes, size, rx);
        return CW_FORWARD;
    default:
        store_note(s, STORE_COUNT_MALFORMED);
        return CW_DROP;
    }
}

/* Writes wait for members in view: one that has left is not waited for, one that is back has missed something. */
static void on_event(cw_svc *svc, void *state, const cw_event *ev)
{
    struct store *s = state;
    (void)svc;
    transport_event(s->transport, ev);
    if (ev->kind != CW_EVENT_SERVER_UP && ev->kind != CW_EVENT_SERVER_DOWN) {
        return;
    }
    store_warden_seen(s, cw_server_id(s->svc, ev->server), ev->kind == CW_EVENT_SERVER_UP);
}

static void on_writable(cw_svc *svc, void *state)
{
    struct store *s = state;
    (void)svc;
    transport_writable(s->transport);
}

static int on_command(cw_svc *svc, void *state, cw_request *r, int argc, const char *const *argv)
{
    (void)svc;
    return store_command(state, r, argc, argv);
}

static int api_run(cw_svc *svc, const cw_store_request *request, cw_store_done done, void *arg)
{
    return request != NULL && done != NULL ? store_asker_do(cw_state(svc), request, done, arg) : -EINVAL;
}

static int api_list(cw_svc *svc, const cw_store_list *list, cw_store_list_done done, void *arg)
{
    return list != NULL && done != NULL ? store_lister_do(cw_state(svc), list, done, arg) : -EINVAL;
}

static int api_watch(cw_svc *svc, const cw_store_watch *watch, cw_store_watch_done done, void *arg)
{
    return watch != NULL && done != NULL ? store_watcher_do(cw_state(svc), watch, done, arg) : -EINVAL;
}

static int api_txn(cw_svc *svc, const cw_store_txn *txn, cw_store_txn_done done, void *arg)
{
    return txn != NULL && done != NULL ? store_asker_txn(cw_state(svc), txn, done, arg) : -EINVAL;
}

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

static uint64_t draw(cw_svc *svc)
{
    uint64_t n;
    do {
        n = cw_random(svc);
    } while (n == 0);
    return n;
}

static int read_limits(struct store *s)
{
    const char *text = cw_option(s->svc, "memory_mib");
    uint64_t mib = MEMORY_MIB, after = REPLACE_AFTER_S;
    if (text != NULL && words_number(text, 1, MEMORY_MIB_MOST, &mib) < 0) {
        return refuse_setting(s->svc, "memory_mib", text, "a whole number of MiB from 1 to 1048576");
    }
    text = cw_option(s->svc, "replace_after_s");
    if (text != NULL && words_number(text, 1, REPLACE_AFTER_MOST_S, &after) < 0) {
        return refuse_setting(s->svc, "replace_after_s", text, "a whole number of seconds from 1 to 86400");
    }
    s->limits = (struct store_limits){
        .bytes_max = (size_t)mib << 20,
        .hand_max = (size_t)HAND_MIB << 20,
        .attempt = CW_MS(ATTEMPT_MS),
        .tick = CW_MS(TICK_MS),
        .patience = CW_MS(PATIENCE_MS),
        .slow = CW_MS(SLOW_MS),
        .hearing = CW_MS(HEARING_MS),
        .settle = CW_MS(SETTLE_MS),
        .away = CW_SEC((int64_t)after),
    };
    return 0;
}

static int on_open(cw_svc *svc, void *state)
{
    struct store *s = state;
    s->svc = svc;
    if (read_limits(s) < 0 || torus_init(&s->torus, cw_torus(svc)) < 0) {
        return -EINVAL;
    }
    s->self = cw_server_id(svc, cw_self(svc));
    s->instance = draw(svc);
    s->store_id = draw(svc);
    s->boot = s->store_id;
    s->class_known = store_asker_class_known;
    list_init(&s->questions);
    metrics_counters(svc, store_count_names, STORE_COUNTS, s->counter);
    metrics_histograms(svc, store_time_names, STORE_TIMES, s->took);
    int rc = store_letters_open(s);
    rc = rc < 0 ? rc : store_quota_read(s, cw_option(svc, "quotas"));
    rc = rc < 0 ? rc : store_asker_open(s);
    rc = rc < 0 ? rc : store_durable_open(s);
    if (rc < 0) {
        free(s->hint);
        store_letters_close(s);
        store_quota_close(s);
    }
    return rc;
}

static void on_close(cw_svc *svc, void *state)
{
    struct store *s = state;
    (void)svc;
    s->closing = true;
    store_letters_close(s);
    store_pieces_close(s);
    store_quota_close(s);
    store_asker_close(s);
    store_genesis_close(s);
    store_tally_close(&s->tally);
    store_durable_close(s);
    free(s->hint);
}

static const cw_store_api api = {
    .size = sizeof api, .run = api_run, .list = api_list, .watch = api_watch, .txn = api_txn};

const cw_service store_service = {
    CW_SERVICE_INIT,
    .name = "store",
    .version = "1",
    .job = STORE_JOB,
    .state_size = sizeof(struct store),
    .background = true,
    .open = on_open,
    .close = on_close,
    .on_packet = on_packet,
    .on_event = on_event,
    .on_writable = on_writable,
    .on_command = on_command,
    .exports = &api,
    .exports_version = CW_STORE_API,
    .commands = store_commands,
};
