/* SPDX-License-Identifier: Apache-2.0 */
#include "tunnel_turns.h"

#include "services/tunnel/packet/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const cw_span turn = CW_US(20);

struct tunnel_turns_packet {
    struct tunnel_turns_packet *next;
    uint8_t head[TUNNEL_VNET_BYTES];
    size_t length;
    uint8_t bytes[];
};

static void on_turn(cw_svc *s, void *state, void *arg)
{
    struct tunnel_turns *t = arg;
    (void)s;
    (void)state;
    t->turning = false;
    if (t->flush) {
        t->flush = false;
        t->api->flush(t->tunnel);
    }
    struct tunnel_turns_packet *p = t->first;
    t->first = NULL;
    t->last = &t->first;
    while (p != NULL) {
        struct tunnel_turns_packet *next = p->next;
        t->take(t->context, p->head, p->bytes, p->length);
        free(p);
        p = next;
    }
}

static void turn_soon(struct tunnel_turns *t)
{
    if (!t->turning) {
        t->turning = cw_timer_start(t->s, turn, on_turn, t) != NULL;
    }
}

static bool door_write(void *context, const uint8_t *head, const uint8_t *bytes, size_t length)
{
    struct tunnel_turns *t = context;
    struct tunnel_turns_packet *p = malloc(sizeof *p + length);
    if (p == NULL) {
        return false;
    }
    p->next = NULL;
    p->length = length;
    memcpy(p->head, head, sizeof p->head);
    memcpy(p->bytes, bytes, length);
    *t->last = p;
    t->last = &p->next;
    turn_soon(t);
    return true;
}

static void door_flush(void *context)
{
    struct tunnel_turns *t = context;
    t->flush = true;
    turn_soon(t);
}

int tunnel_turns_open(struct tunnel_turns *t, cw_svc *s,
                      void (*take)(void *context, const uint8_t *head, uint8_t *bytes, size_t length), void *context)
{
    *t = (struct tunnel_turns){.s = s, .take = take, .context = context, .last = &t->first};
    t->api = cw_find(s, TUNNEL_NAME, TUNNEL_API_VERSION, &t->tunnel);
    if (t->api == NULL) {
        return -ENOENT;
    }
    t->api->place(t->tunnel, &t->place);
    const struct tunnel_door door = {.udp = true, .write = door_write, .flush_soon = door_flush, .context = t};
    return t->api->attach(t->tunnel, &door);
}

void tunnel_turns_close(struct tunnel_turns *t)
{
    (void)!t->api->attach(t->tunnel, NULL);
    while (t->first != NULL) {
        struct tunnel_turns_packet *next = t->first->next;
        free(t->first);
        t->first = next;
    }
}
