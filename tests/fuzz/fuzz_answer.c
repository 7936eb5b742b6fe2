/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_answer.c - requests and answers as a cable could bring them, to a whole node: the bytes are packets, each after
 * its length (two bytes); those that decode and carry a request or a response are delivered. The service answers all it
 * may, each twice, and has a call open. Whatever comes: a handle works once, the call ends once, the tables stay within
 * their bounds and every packet comes home.
 */
#include "core/node_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { JOB = 7, SERVERS = 27 };

static unsigned calls_ended, open_calls;

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)state;
    (void)p;
    if (rx->call != 0) {
        int rc = cw_reply(s, rx->call, (int)rx->hops, NULL);
        require(rc != -EACCES);
        rc = rc == 0 ? cw_reply(s, rx->call, 0, NULL) : -ENOENT;
        require(rc == -ENOENT);
    }
    return CW_DROP;
}

static void ended(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)s, (void)state, (void)arg, (void)reply;
    require(status <= 0 && (rx == NULL || rx->requester_job == JOB));
    calls_ended++;
}

static void deliver(struct node *n, const uint8_t *bytes, size_t size)
{
    struct packet_head head;
    struct packet_exts exts;
    const unsigned answers = packet_flag(EXT_REQUEST) | packet_flag(EXT_RESPONSE);
    if (packet_decode(bytes, size, &head, &exts) != WIRE_OK || !(head.flags & answers)) {
        return;
    }
    struct cw_packet *p = pkt_take(n->env.packets, (uint32_t)size);
    require(p != NULL);
    memcpy(p->data, bytes, size);
    head.job = JOB; /* what is for another finds no service, long before */
    p->head = head;
    p->exts = exts;
    p->in = CW_LINK_XP;
    p->marks = 0;
    node_deliver(n, p);
    node_run_local(n);
    require(expiry_count(&n->nmu.responses.table) <= n->nmu.responses.table.limit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct pkt_home_config home = {
        .small_bytes = 192 + PKT_HEADROOM, .large_bytes = 9000 + PKT_HEADROOM, .packets_max = 4096};
    cw_server neighbours[SERVERS * CW_LINK_COUNT];
    struct torus torus;
    struct node_env env = {.neighbours = neighbours, .seed = 1};
    struct node_config config = node_config_default();
    struct node *n = NULL;
    config.dims = (cw_dims){3, 3, 3};
    config.incarnation = 1;
    config.alone = true;
    require(torus_init(&torus, config.dims) == 0);
    torus_neighbours_fill(&torus, neighbours);
    require(pkt_home_open(&env.packets, &home) == 0 && node_open(&n, &config, &env) == 0);
    const cw_service service = {CW_SERVICE_INIT, .name = "s", .job = JOB, .on_packet = on_packet};
    cw_time now = {1000};
    require(node_service_add(n, &service, now) == 0);
    struct cw_svc *s = node_service_of(n, JOB);
    /* A call that waits, as the first byte says: answers may hit it. */
    calls_ended = open_calls = 0;
    for (unsigned i = 0; size > 0 && i < data[0] % 4u; i++) {
        struct call *call = calls_start(&n->calls, s->index, CW_MS(1), 0, n->now);
        call->done = ended;
        call->job = JOB;
        open_calls++;
    }
    for (size_t at = 1; at + 2 < size;) {
        size_t length = (size_t)data[at] << 8 | data[at + 1];
        at += 2;
        length = length < size - at ? length : size - at;
        deliver(n, data + at, length);
        at += length;
    }
    node_tick(n, cw_time_add(now, CW_SEC(1)));
    require(calls_ended == open_calls);
    node_close(n, cw_time_add(now, CW_SEC(1)));
    require(pkt_home_out(env.packets) == 0);
    pkt_home_close(env.packets);
    return 0;
}
