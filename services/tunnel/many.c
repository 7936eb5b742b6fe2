/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/many.h"

#include "services/reply/refuse.h"
#include "services/tunnel/head.h"
#include "services/tunnel/internal.h"
#include "services/tunnel/judge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char group[] = "ip";
enum { GROUP_BYTES = sizeof group - 1 };

int many_read(cw_svc *s, struct many *m)
{
    const char *text = cw_option(s, "multicast");
    m->wanted = text != NULL && strcmp(text, "yes") == 0;
    m->refused = text != NULL && strcmp(text, "no") == 0;
    return text == NULL || m->wanted || m->refused ? 0 : refuse_setting(s, "multicast", text, "yes or no");
}

/* ---- What comes -------------------------------------------------------------------------------------------------- */

static enum tunnel_cause judge(const struct tunnel *t, cw_server from, const uint8_t *piece, size_t length,
                               struct ip_packet *p, struct offload *offload)
{
    struct piece_head head;
    int rc = piece_decode(piece, length, from, CW_SERVER_NONE, &head);
    if (rc < 0) {
        return rc == -EBADMSG ? TUNNEL_DAMAGED : TUNNEL_OFFLOAD;
    }
    enum tunnel_cause cause = ip_read(piece + TUNNEL_HEAD_BYTES, length - TUNNEL_HEAD_BYTES, p);
    if (cause != TUNNEL_GOOD) {
        return cause;
    }
    *offload = (struct offload){head.kind == PIECE_PARTIAL, head.gso_size};
    return offload_fits(p, offload) ? judge_many(&t->plan, from, p) : TUNNEL_OFFLOAD;
}

static void deliver(void *context, const cw_multicast_message *m)
{
    struct tunnel *t = context;
    const cw_server from = cw_server_id(t->s, m->from);
    struct ip_packet p;
    struct offload offload;
    if (from == t->self) {
        return; /* the own kernel has given it to who listens here */
    }
    cw_counter_add(t->count[COUNT_MANY_CAME], 1);
    enum tunnel_cause cause = judge(t, from, m->bytes, m->length, &p, &offload);
    if (cause != TUNNEL_GOOD) {
        tunnel_drop(t, cause);
        return;
    }
    tunnel_write(t, &p, &offload);
}

/* ---- The group --------------------------------------------------------------------------------------------------- */

static void on_timer(cw_svc *s, void *state, void *arg)
{
    struct tunnel *t = arg;
    struct many *m = &t->many;
    cw_svc *peer = NULL;
    (void)state;
    m->timer = NULL;
    m->api = cw_find(s, "multicast", CW_MULTICAST_API, &peer);
    const cw_multicast_config config = {CW_MULTICAST_INIT, .context = t, .deliver = deliver};
    if (m->api == NULL || m->api->open(peer, s, &config, &m->user) < 0) {
        cw_log(s, CW_LOG_WARN,
               "packets to many (multicast, broadcast) are dropped: the service multicast does not run here");
        m->user = NULL;
    } else if (m->api->join(m->user, group, GROUP_BYTES, NULL, NULL) < 0) {
        cw_log(s, CW_LOG_WARN, "packets to many (multicast, broadcast) do not come: the group cannot be joined");
    }
}

void many_open(struct tunnel *t)
{
    bool on = t->many.wanted || (t->door.ethernet && !t->many.refused);
    t->many.full_at = (cw_time){0};
    t->many.timer = on ? cw_timer_start(t->s, CW_NS(0), on_timer, t) : NULL;
}

void many_close(struct tunnel *t)
{
    cw_timer_stop(t->s, t->many.timer);
    t->many.timer = NULL;
    if (t->many.user != NULL) {
        t->many.api->close(t->many.user);
        t->many.user = NULL;
    }
}

/* ---- What leaves ------------------------------------------------------------------------------------------------- */

static bool is_allowed(struct many *m, cw_time now)
{
    cw_time full = cw_time_add(cw_time_max(m->full_at, now), CW_NS(CW_NS_PER_SEC / MANY_A_SECOND));
    if (cw_time_since(full, now).ns > CW_NS_PER_SEC) {
        return false;
    }
    m->full_at = full;
    return true;
}

static bool publish(struct tunnel *t, const uint8_t *piece, size_t length)
{
    const cw_multicast_content content = {.bytes = piece, .length = length, .flags = CW_MULTICAST_BEST_EFFORT};
    return t->many.api->publish(t->many.user, group, GROUP_BYTES, &content, NULL, NULL) == 0;
}

void many_send(struct tunnel *t, const struct ip_packet *p, const struct offload *offload)
{
    const size_t length = TUNNEL_HEAD_BYTES + p->length;
    enum tunnel_cause cause = t->many.user == NULL ? TUNNEL_MULTICAST : judge_many(&t->plan, t->self, p);
    if (cause == TUNNEL_GOOD && length > t->many.api->packet_max(t->many.user, GROUP_BYTES)) {
        cause = TUNNEL_TOO_BIG;
    }
    if (cause != TUNNEL_GOOD) {
        tunnel_drop(t, cause); /* ICMP does not answer what is to many */
        return;
    }
    uint8_t *piece = is_allowed(&t->many, cw_now(t->s)) ? malloc(length) : NULL;
    bool sent = false;
    if (piece != NULL) {
        const struct piece_head head = {
            .kind = offload->partial ? PIECE_PARTIAL : PIECE_PLAIN, .gso_size = offload->gso_size, .life = t->life};
        memcpy(piece + TUNNEL_HEAD_BYTES, p->bytes, p->length);
        piece_encode(&head, t->self, CW_SERVER_NONE, piece, length);
        sent = publish(t, piece, length);
        free(piece);
    }
    cw_counter_add(t->count[sent ? COUNT_MANY_SENT : COUNT_MANY_OVER], 1);
}
