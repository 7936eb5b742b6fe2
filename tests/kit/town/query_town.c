/* SPDX-License-Identifier: Apache-2.0 */
#include "query_town.h"

#include "base/base64.h"
#include "services/aggregate/aggregate.h"
#include "services/aggregate/internal.h"
#include "suite.h"

#include <string.h>

static struct torus torus;
static cw_service table;
static bool hushed[QUERY_TOWN];

static void each(void *context, cw_coord self, const struct figures_visit *visit)
{
    static struct histogram h;
    cw_server s = torus_id(&torus, self);
    (void)context;
    memset(&h, 0, sizeof h);
    for (unsigned i = 0; i < 10; i++) {
        histogram_note(&h, CW_MS((int64_t)(s + i)).ns);
    }
    visit->counter(visit->context, "t", "a", (s + 1) * UINT64_C(1000));
    if (s % 2 == 1) {
        visit->counter(visit->context, "t", "odd", s);
    }
    visit->times(visit->context, "t", "took", &h);
}

static const void *offers(cw_svc *s, const char *name, unsigned version)
{
    static const struct figures_host host = {.size = sizeof host, .each = each};
    (void)s;
    return strcmp(name, FIGURES_HOST_NAME) == 0 && version == FIGURES_HOST_VERSION ? &host : NULL;
}

static cw_verdict hear(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    return hushed[torus_id(&torus, s->self)] ? CW_DROP : aggregate_service.on_packet(s, state, p, rx);
}

struct fake_net *query_town_open(void)
{
    ck_assert_int_eq(torus_init(&torus, (cw_dims){3, 3, 1}), 0);
    memset(hushed, 0, sizeof hushed);
    fake_offers = offers;
    table = aggregate_service;
    table.on_packet = hear;
    return fake_net_open(&table, (cw_dims){3, 3, 1});
}

void query_town_close(struct fake_net *net)
{
    ck_assert_uint_eq(fake_net_close(net), 0);
    fake_offers = NULL;
}

struct query *query_town_of(struct fake_net *net, cw_server s)
{
    const struct aggregate *a = net->server[s]->state;
    return a->query;
}

const struct fake_result *query_town_ask(struct fake_net *net, cw_server s, const char *line)
{
    static struct fake_result r;
    fake_command(net->server[s], line, &r);
    fake_net_finish(net, &r);
    ck_assert(r.done);
    return &r;
}

void query_town_feed(struct fake_net *net, cw_server s, const char *name, const char *lines)
{
    char data[700], line[900];
    ck_assert_uint_lt(strlen(lines), 500);
    base64_encode((const uint8_t *)lines, strlen(lines), data);
    snprintf(line, sizeof line, "query feed %s keep_ms=100000 data=%s", name, data);
    ck_assert_int_eq(query_town_ask(net, s, line)->rc, 0);
}

void query_town_lose(struct fake_net *net, cw_server s)
{
    const cw_event ev = {.size = sizeof ev, .kind = CW_EVENT_SERVER_DOWN, .server = torus_coord(&net->torus, s)};
    hushed[s] = true;
    for (cw_server at = 0; at < QUERY_TOWN; at++) {
        if (at != s) {
            net->server[at]->down[s] = true;
            aggregate_service.on_event(net->server[at], net->server[at]->state, &ev);
        }
    }
}

void query_town_hush(struct fake_net *net, cw_server s)
{
    (void)net;
    hushed[s] = true;
}

unsigned query_town_rows(const struct fake_result *r, const char *what)
{
    unsigned n = 0;
    for (unsigned row = 0; row < r->rows; row++) {
        n += fake_has(r, row, "what") && strcmp(fake_text(r, row, "what"), what) == 0;
    }
    return n;
}
