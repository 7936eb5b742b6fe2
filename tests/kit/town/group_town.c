/* SPDX-License-Identifier: Apache-2.0 */
#include "group_town.h"

#include <stdlib.h>
#include <string.h>

struct fake_net *town;
struct town_user town_user[TOWN], town_other[TOWN];
struct town_result town_result;
unsigned town_acks;
int town_acked;

static void must(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "group town: %s\n", what);
        abort();
    }
}

static cw_verdict no_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)state, (void)p, (void)rx;
    return CW_DROP;
}

static const cw_service user_service = {CW_SERVICE_INIT, .name = "user", .version = "1", .job = 4096,
                                        .on_packet = no_packet};
static const cw_service other_service = {CW_SERVICE_INIT, .name = "other", .version = "1", .job = 4097,
                                         .on_packet = no_packet};

static void deliver(void *context, const cw_multicast_message *m)
{
    struct town_user *u = context;
    size_t n = m->length < TOWN_TEXT - 1 ? m->length : TOWN_TEXT - 1;
    u->got++;
    u->last_length = m->length;
    memcpy(u->last, m->bytes, n);
    u->last[n] = '\0';
    u->from = m->from;
    u->to_group = m->to_group;
    u->best_effort = m->best_effort;
}

static bool forward(void *context, const cw_multicast_message *m)
{
    (void)m;
    struct town_user *u = context;
    u->forwards++;
    return !u->stops;
}

static void writable(void *context)
{
    struct town_user *u = context;
    u->writable++;
}

const cw_multicast_api *town_api(void)
{
    return multicast_service.exports;
}

static void attach(struct town_user *u, const cw_service *table, cw_server s)
{
    const cw_multicast_config config = {CW_MULTICAST_INIT, .context = u, .deliver = deliver, .forward = forward,
                                        .writable = writable};
    *u = (struct town_user){.self = s, .svc = fake_open(table, torus_dims(&town->torus), torus_coord(&town->torus, s))};
    must(town_api()->open(town->server[s], u->svc, &config, &u->m) == 0, "open");
}

void town_open(void)
{
    town = fake_net_open(&multicast_service, (cw_dims){3, 3, 1});
    memset(&town_result, 0, sizeof town_result);
    town_acks = 0;
    for (cw_server s = 0; s < TOWN; s++) {
        town->server[s]->random = s * 77 + 1;
        attach(&town_user[s], &user_service, s);
        attach(&town_other[s], &other_service, s);
    }
    fake_net_run(town, CW_MS(300));
}

void town_close(void)
{
    for (cw_server s = 0; s < TOWN; s++) {
        town_api()->close(town_user[s].m);
        town_api()->close(town_other[s].m);
        fake_close(town_user[s].svc);
        fake_close(town_other[s].svc);
    }
    must(fake_net_close(town) == 0, "packets are left");
}

void town_ack(void *arg, int status)
{
    (void)arg;
    town_acks++;
    town_acked = status;
}

void town_join(struct town_user *u, const char *group)
{
    unsigned before = town_acks;
    must(town_api()->join(u->m, group, strlen(group), town_ack, NULL) == 0, "join");
    must(town_acks == before, "told from within");
    fake_net_run(town, CW_MS(2));
    must(town_acks == before + 1 && town_acked == 0, "not acknowledged");
}

void town_done(void *arg, const cw_multicast_result *r)
{
    (void)arg;
    town_result.times++;
    town_result.status = r->status;
    town_result.members = r->members;
    town_result.complete = r->complete;
    town_result.rows = r->rows;
    for (unsigned i = 0; i < r->rows; i++) {
        town_result.row[i] = r->row[i];
    }
}

int town_publish(struct town_user *u, const char *group, const char *text, unsigned flags)
{
    const cw_multicast_content content = {text, strlen(text), flags};
    unsigned before = town_result.times;
    int rc = town_api()->publish(u->m, group, strlen(group), &content, town_done, NULL);
    must(town_result.times == before, "told from within");
    fake_net_run(town, CW_MS(50));
    return rc;
}
