/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h - a service for tests of the simulator: padded packets to random keys, one every so often.
 *
 *     start SPAN_NS [PAD]     stop
 */
#ifndef UNIT_SIMULATOR_PROBE_H
#define UNIT_SIMULATOR_PROBE_H

#include "base/bytes.h"
#include "cubeway/service.h"
#include "simulator/world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROBE_JOB = 900, PROBE_STAMP = 16 };

struct probe {
    cw_timer *timer;
    cw_span gap;
    size_t pad;
    uint64_t boot, sequence;
};

static void probe_send(cw_svc *s, void *state, void *arg)
{
    struct probe *p = state;
    (void)arg;
    p->timer = cw_timer_start(s, p->gap, probe_send, NULL);
    cw_packet *packet = cw_packet_new_padded(s, PROBE_STAMP, p->pad);
    if (packet == NULL) {
        return;
    }
    uint8_t *data = cw_packet_data(packet, NULL);
    put_be64(data, p->boot);
    put_be64(data + 8, ++p->sequence);
    cw_to to = {.kind = CW_TO_KEY, .job = PROBE_JOB};
    put_be64(to.key.b + CW_KEY_BYTES - 8, cw_random(s));
    cw_send_or_drop(s, packet, &to, NULL);
}

static inline int probe_open(cw_svc *s, void *state)
{
    struct probe *p = state;
    p->boot = cw_random(s);
    return 0;
}

static inline cw_verdict probe_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)state;
    (void)p;
    (void)rx;
    return CW_FORWARD;
}

static inline int probe_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct probe *p = state;
    (void)r;
    cw_timer_stop(s, p->timer);
    p->timer = NULL;
    if (argc >= 2 && strcmp(argv[0], "start") == 0) {
        p->gap = CW_NS(strtoll(argv[1], NULL, 10));
        p->pad = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
        p->timer = cw_timer_start(s, CW_NS(cw_random_below(s, (uint64_t)p->gap.ns + 1)), probe_send, NULL);
    }
    return 0;
}

static const cw_service probe_service = {
    CW_SERVICE_INIT,
    .name = "probe",
    .version = "1",
    .job = PROBE_JOB,
    .state_size = sizeof(struct probe),
    .open = probe_open,
    .on_packet = probe_packet,
    .on_command = probe_command,
};

static inline void probe_row(void *context)
{
    (void)context;
}
static inline void probe_integer(void *context, const char *name, int64_t value)
{
    (void)context;
    (void)name;
    (void)value;
}
static inline void probe_text(void *context, const char *name, const char *value)
{
    (void)context;
    (void)name;
    (void)value;
}
static inline void probe_done(void *context, int rc)
{
    (void)context;
    (void)rc;
}

/* Tells the probes of all that run. */
static inline void probe_tell(struct world *w, const char *word, cw_span gap, unsigned pad)
{
    static const struct node_request_sink sink = {NULL, probe_row, probe_integer, probe_text, probe_done};
    char span[24], bytes[24];
    (void)snprintf(span, sizeof span, "%lld", (long long)gap.ns);
    (void)snprintf(bytes, sizeof bytes, "%u", pad);
    const char *argv[] = {word, span, bytes};
    for (cw_server s = 0; s < world_torus(w)->servers; s++) {
        (void)world_command(w, s, "probe", 3, argv, &sink);
    }
    world_stamps(w, &(struct world_stamp){.job = PROBE_JOB, .bytes = PROBE_STAMP});
}

#endif
