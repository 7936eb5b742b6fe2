/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem */
#include "store_town.h"

#include "suite.h"

#include <string.h>

static cw_service table;
static bool hushed[STORE_TOWN];
static const struct store_answer *lie;
static const char *lost, *unless;

/* Is it a message that store_town_lose() speaks of? */
static bool is_lost(const uint8_t *bytes, size_t size)
{
    return lost != NULL && memmem(bytes, size, lost, strlen(lost)) != NULL &&
           memmem(bytes, size, unless, strlen(unless)) == NULL;
}

static cw_verdict hear(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    struct store_ask ask;
    size_t size;
    const uint8_t *bytes = cw_packet_data(p, &size);
    if (lie != NULL && store_ask_decode(bytes, size, &ask)) {
        cw_packet *answer = cw_packet_new(s, store_answer_size(lie));
        store_answer_encode(lie, cw_packet_data(answer, NULL));
        ck_assert_int_eq(cw_reply(s, rx->call, 0, answer), 0);
        return CW_DROP;
    }
    return hushed[torus_id(&s->torus, s->self)] || is_lost(bytes, size) ? CW_DROP
                                                                        : store_service.on_packet(s, state, p, rx);
}

void store_town_lose(const char *with, const char *without)
{
    lost = with;
    unless = without;
}

void (*store_town_turn)(struct fake_net *net);

/* Until the request is answered, or for so long. */
static void pass(struct fake_net *net, cw_span span, const struct fake_result *r)
{
    for (cw_time end = cw_time_add(net->now, span); cw_time_before(net->now, end) && (r == NULL || !r->done);) {
        fake_net_run(net, CW_MS(1));
        if (store_town_turn != NULL) {
            store_town_turn(net);
        }
    }
}

struct fake_net *store_town_open_with(const char *const *options)
{
    memset(hushed, 0, sizeof hushed);
    lie = NULL;
    table = store_service;
    table.on_packet = hear;
    struct fake_net *net = fake_net_open_with(&table, (cw_dims){3, 3, 1}, options);
    pass(net, CW_SEC(2), NULL);
    return net;
}

struct fake_net *store_town_open(unsigned copies)
{
    static const char *const none[] = {NULL};
    char line[40];
    struct fake_net *net = store_town_open_with(none);
    if (copies > 0) {
        snprintf(line, sizeof line, "create memory copies=%u", copies);
        ck_assert_int_eq(store_town_ask(net, 0, line)->rc, 0);
    }
    return net;
}

void store_town_close(struct fake_net *net)
{
    ck_assert_uint_eq(fake_net_close(net), 0);
}

struct store *store_town_of(struct fake_net *net, cw_server s)
{
    return net->server[s]->state;
}

const struct fake_result *store_town_ask(struct fake_net *net, cw_server s, const char *line)
{
    static struct fake_result r;
    fake_command(net->server[s], line, &r);
    if (store_town_turn != NULL) {
        pass(net, CW_SEC(60), &r);
    } else {
        fake_net_finish(net, &r);
    }
    ck_assert(r.done);
    return &r;
}

int64_t store_town_must(struct fake_net *net, cw_server s, const char *line, cw_store_status status)
{
    const struct fake_result *r = store_town_ask(net, s, line);
    ck_assert_msg(r->rc == 0 && fake_int(r, 0, "code") == status, "%s: %d, %s", line, r->rc,
                  r->rc == 0 ? fake_text(r, 0, "status") : "refused");
    return fake_has(r, 0, "version") ? fake_int(r, 0, "version") : 0;
}

static struct store_name name_of(const char *name)
{
    return (struct store_name){STORE_JOB, (const uint8_t *)name, strlen(name)};
}

static uint32_t number_of(const struct fake_net *net, const char *name)
{
    struct store_name n = name_of(name);
    cw_key key = store_places_key(&n);
    return store_places_shard(&net->torus, &key);
}

unsigned store_town_members(struct fake_net *net, const char *name, cw_server out[static STORE_COPIES_MOST])
{
    return store_places_members(&net->torus, number_of(net, name), store_town_of(net, 0)->of.copies, out);
}

struct store_shard *store_town_shard(struct fake_net *net, cw_server s, const char *name)
{
    return store_shard_find(store_town_of(net, s), number_of(net, name));
}

struct store_register *store_town_register(struct fake_net *net, cw_server s, const char *name)
{
    struct store_name n = name_of(name);
    return store_table_find(&store_town_shard(net, s, name)->acceptor.table, &n);
}

void store_town_lie(const struct store_answer *answer)
{
    lie = answer;
}

void store_town_hush(cw_server s, bool is)
{
    hushed[s] = is;
}

struct store_register *store_town_make(const char *name, const char *value, struct store_tag tag)
{
    struct store_name n = name_of(name);
    struct store_register *r = store_register_new(&n, strlen(value));
    ck_assert_ptr_nonnull(r);
    memcpy(r->bytes + r->name_length, value, strlen(value));
    r->tag = tag;
    r->version = tag.n;
    return r;
}
