/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/order/orders.h"

#include "base/words.h"
#include "services/aggregate/order/internal.h"
#include "services/reply/refuse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK CW_SEC(1)
#define MEMORY_LEAST (UINT64_C(1) << 20)
#define MEMORY_MOST (UINT64_C(1) << 40)

/* ---- Sets -------------------------------------------------------------------------------------------------------- */

size_t orders_words(const struct orders *o)
{
    return (o->torus.servers + 63) / 64;
}

bool orders_has(const uint64_t *set, cw_server s)
{
    return (set[s / 64] >> s % 64 & 1) != 0;
}

void orders_add(uint64_t *set, cw_server s)
{
    set[s / 64] |= UINT64_C(1) << s % 64;
}

void orders_remove(uint64_t *set, cw_server s)
{
    set[s / 64] &= ~(UINT64_C(1) << s % 64);
}

unsigned orders_count(const struct orders *o, const uint64_t *set)
{
    unsigned n = 0;
    for (size_t i = 0; i < orders_words(o); i++) {
        n += (unsigned)__builtin_popcountll(set[i]);
    }
    return n;
}

/* ---- Notes that come --------------------------------------------------------------------------------------------- */

static int take_kind(struct orders *o, const struct note *n, const struct transport_message *m)
{
    cw_server from = torus_id(&o->torus, m->src_server);
    switch (n->kind) {
    case NOTE_LOOK:
        return m->request ? errand_look(o, n, from, &m->reply_to) : -EPROTO;
    case NOTE_GO:
        return m->request ? errand_go(o, n, from, &m->reply_to) : -EPROTO;
    case NOTE_DROP:
        errand_drop(o, n, from);
        return 0;
    case NOTE_LOOKED:
    case NOTE_DONE:
        break;
    }
    return -EPROTO;
}

static int take(void *context, void *arg, const struct transport_message *m, const uint8_t *bytes, int status)
{
    struct orders *o = context;
    struct note n;
    (void)arg;
    if (status < 0) {
        return 0;
    }
    int rc = note_decode(bytes, (size_t)m->bytes, &n);
    rc = rc < 0 ? rc : take_kind(o, &n, m);
    cw_counter_add(o->strange, rc == -EPROTO || rc == -ESTALE);
    return rc;
}

static void tick(cw_svc *s, void *state, void *arg)
{
    struct orders *o = arg;
    (void)s;
    (void)state;
    o->tick = NULL;
    errand_tick(o);
    orders_wake(o);
}

void orders_wake(struct orders *o)
{
    if (o->tick == NULL && !o->closing && !list_is_empty(&o->errands)) {
        o->tick = cw_timer_start(o->s, TICK, tick, o);
    }
}

/* ---- Upcalls ----------------------------------------------------------------------------------------------------- */

cw_verdict orders_packet(struct orders *o, cw_packet *p, const cw_rx *rx)
{
    cw_verdict v = transport_packet(o->transport, p, rx);
    orders_wake(o); /* there was no timer to be had for the last tick? */
    return v;
}

void orders_event(struct orders *o, const cw_event *ev)
{
    transport_event(o->transport, ev);
    if (ev->kind == CW_EVENT_SERVER_DOWN) {
        errand_desk_down(o, torus_id(&o->torus, ev->server));
    }
}

void orders_writable(struct orders *o)
{
    transport_writable(o->transport);
}

int orders_command(struct orders *o, cw_request *r, int argc, const char *const *argv)
{
    struct wanted w;
    uint64_t number;
    if (strcmp(argv[0], "cancel") == 0) {
        return argc == 2 && words_number(argv[1], 1, UINT32_MAX, &number) == 0
                   ? desk_cancel(o, r, number)
                   : refuse_request(r, "expected: cancel ID, a number that status shows");
    }
    bool check = strcmp(argv[0], "check") == 0;
    int rc = check ? words_check(o, r, argc, argv, &w) : words_reduce(o, r, argc, argv, &w);
    return rc < 0 ? rc : desk_begin(o, r, &w);
}

uint32_t orders_number(struct orders *o)
{
    return ++o->numbers;
}

void orders_status(const struct orders *o, cw_request *r, bool *first)
{
    desk_status(o, r, first);
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static int read_options(struct orders *o)
{
    const char *data = cw_option(o->s, "data"), *memory = cw_option(o->s, "memory");
    o->memory_most = ORDERS_MEMORY;
    if (data != NULL && data[0] != '\0') {
        char self[TORUS_TEXT];
        torus_format(cw_self(o->s), self);
        bool own = o->host != NULL && o->host->several;
        int n = snprintf(o->folder, sizeof o->folder, own ? "%s/%s" : "%s", data, self);
        if (data[0] != '/' || n >= (int)sizeof o->folder) {
            return refuse_setting(o->s, "data", data, "a folder's whole path, from / on, of less than 500 bytes");
        }
    }
    if (memory != NULL && words_number(memory, MEMORY_LEAST, MEMORY_MOST, &o->memory_most) < 0) {
        return refuse_setting(o->s, "memory", memory, "a number of bytes from 1048576 on, as 256M (M is 1,000,000)");
    }
    return 0;
}

int orders_open(struct orders **out, cw_svc *s, struct dense *dense)
{
    struct orders *o = calloc(1, sizeof *o);
    if (o == NULL) {
        return -ENOMEM;
    }
    o->s = s;
    o->dense = dense;
    o->host = cw_find(s, VECTORS_HOST_NAME, VECTORS_HOST_VERSION, NULL);
    o->life = cw_random(s) | 1;
    o->strange = cw_counter_new(s, "order_strange", "Words of operators' orders that made no sense or came too late.");
    list_init(&o->errands);
    list_init(&o->desk);
    int rc = torus_init(&o->torus, cw_torus(s));
    o->self = rc < 0 ? 0 : torus_id(&o->torus, cw_self(s));
    rc = rc < 0 ? rc : read_options(o);
    struct transport_config config = transport_config_default(AGGREGATE_PORT_ORDER, o);
    config.message = take;
    config.message_max = NOTE_BYTES_MOST;
    config.messages_max = ORDERS_DESK * 2 * o->torus.servers + 64;
    config.peers_max = o->torus.servers + 16;
    rc = rc < 0 ? rc : transport_open(s, &config, &o->transport);
    if (rc < 0) {
        free(o);
        return rc;
    }
    *out = o;
    return 0;
}

void orders_close(struct orders *o)
{
    if (o == NULL) {
        return;
    }
    o->closing = true;
    errand_close(o);
    transport_close(o->transport);
    desk_close(o);
    free(o);
}
