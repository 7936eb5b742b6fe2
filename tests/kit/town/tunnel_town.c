/* SPDX-License-Identifier: Apache-2.0 */
#include "tunnel_town.h"

#include "services/tunnel/packet/limits.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

struct town_server town[TOWN_SERVERS];
bool town_ethernet;

const struct tunnel_api *town_api(void)
{
    return tunnel_service.exports;
}

static bool write_one(void *context, const uint8_t *head, const uint8_t *packet, size_t length)
{
    struct town_server *t = context;
    ck_assert_uint_lt(t->writes, TOWN_WRITES);
    struct town_write *w = &t->write[t->writes++];
    memcpy(w->head, head, town_ethernet ? sizeof w->head : TUNNEL_VNET_BYTES);
    w->length = length;
    w->bytes = malloc(length);
    memcpy(w->bytes, packet, length);
    return true;
}

static void flush_soon(void *context)
{
    ((struct town_server *)context)->flushes++;
}

void town_open(const char *const *options)
{
    for (unsigned i = 0; i < TOWN_SERVERS; i++) {
        int rc;
        cw_coord self = {(uint8_t)i, 0, 0};
        town[i] = (struct town_server){
            .s = fake_open_with(&tunnel_service, (cw_dims){TOWN_SERVERS, 1, 1}, self, options, &rc)};
        ck_assert_int_eq(rc, 0);
        town[i].door = (struct tunnel_door){
            .udp = true, .ethernet = town_ethernet, .write = write_one, .flush_soon = flush_soon, .context = &town[i]};
        ck_assert_int_eq(town_api()->attach(town[i].s, &town[i].door), 0);
    }
}

void town_close(void)
{
    for (unsigned i = 0; i < TOWN_SERVERS; i++) {
        town_forget(i);
        ck_assert_uint_eq(fake_close(town[i].s), 0);
    }
}

void town_read(unsigned server, const struct ip_kit_packet *p)
{
    struct ip_packet q;
    uint8_t head[10] = {0};
    static uint8_t bytes[IP_KIT_BYTES];
    memcpy(bytes, p->bytes, p->length);
    if (p->partial && ip_read(bytes, p->length, &q) == TUNNEL_GOOD) {
        vnet_write(&q, &(struct offload){true, p->gso_size}, head);
    }
    town_api()->read(town[server].s, head, bytes, p->length);
}

bool town_pull(unsigned server, struct town_piece *out)
{
    cw_svc *s = town[server].s;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        cw_peek peek = {.size = sizeof peek};
        if (!(s->polled & cw_links_of(link))) {
            continue;
        }
        bool there = tunnel_service.peek_packet(s, s->state, CW_PLACE_MAIN, link, &peek);
        cw_packet *p = tunnel_service.next_packet(s, s->state, CW_PLACE_MAIN, link);
        if (p == NULL) {
            s->polled &= (cw_links)~cw_links_of(link); /* as a node does: it asks when the link is named again */
            continue;
        }
        size_t length;
        const uint8_t *data = cw_packet_data(p, &length);
        ck_assert(there && peek.length == length && length <= FAKE_MTU);
        memcpy(out->bytes, data, length);
        out->length = length;
        cw_packet_free(s, p);
        return true;
    }
    return false;
}

void town_bring(unsigned from, unsigned to, const struct town_piece *piece, bool marked)
{
    const cw_rx rx = {.size = sizeof rx,
                      .where = CW_ARRIVED,
                      .job = TUNNEL_JOB,
                      .marked = marked,
                      .src_job = TUNNEL_JOB,
                      .src_process = from,
                      .src_server = {(uint8_t)from, 0, 0}};
    cw_svc *s = town[to].s;
    cw_verdict verdict;
    fake_arrive(s, fake_packet(s, piece->bytes, piece->length, 0), &rx, &verdict);
}

void town_flush(unsigned server)
{
    if (town[server].flushes > 0) {
        town[server].flushes = 0;
        town_api()->flush(town[server].s);
    }
}

void town_forget(unsigned server)
{
    while (town[server].writes > 0) {
        free(town[server].write[--town[server].writes].bytes);
    }
}

uint64_t town_count(unsigned server, const char *name)
{
    const cw_svc *s = town[server].s;
    for (unsigned i = 0; i < s->counters; i++) {
        if (strcmp(s->counter[i].name, name) == 0) {
            return s->counter[i].value;
        }
    }
    ck_abort_msg("there is no counter %s", name);
    return 0;
}
