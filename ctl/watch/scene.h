/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene.h - the whole torus at one instant, as a value: how each server is, and what each of its links carries. Made
 * from the rows of three requests (docs/control-protocol.md): status, servers, and picture of all.
 *
 * Rates need two looks: scene_close_look() compares the counters with those of the look before. Pure; one thread.
 */
#ifndef CTL_WATCH_SCENE_H
#define CTL_WATCH_SCENE_H

#include "keyspace/torus.h"
#include "message/message.h"

enum scene_state {
    SCENE_DOWN, /* away, without a word; or never there */
    SCENE_SERVING,
    SCENE_JOINING, /* it runs, and no link of it has been up yet */
    SCENE_FENCED,  /* it runs, and may not deliver any key now */
    SCENE_LEAVING,
    SCENE_LEFT,
    SCENE_FEARED, /* away, and perhaps alive */
    SCENE_SILENT, /* in view, and it did not answer in time */
    SCENE_STATES
};
/* The word that cwctl servers and cwctl status use for it. Static. */
const char *scene_state_name(enum scene_state state);

struct scene_link {
    bool exists; /* an axis of one server has no cable */
    bool up;
    uint64_t sent_bytes; /* so far; what the rate is computed from */
    uint64_t bits_per_s; /* sent since the look before; 0 in the first look */
    uint64_t line_rate;  /* bits a second that the device claims; 0: not known */
};

struct scene_server {
    enum scene_state state;
    bool told;      /* it has answered: the counters below are its own */
    int64_t now_ns; /* the instant of its counters, by its own clock */
    uint64_t inside, delivered, dropped;
    uint64_t delivered_per_s, dropped_per_s;
    struct scene_link link[CW_LINK_COUNT];
};

struct scene {
    struct torus torus;
    int64_t at_us;               /* the time of day of the look, in us since 1970 */
    struct scene_server *server; /* torus.servers of them, by id */
};

/* An empty scene, all servers down. NULL: the dimensions are none of a torus, or there is no memory. */
struct scene *scene_new(cw_dims dims, int64_t at_us);
void scene_free(struct scene *s); /* NULL is allowed */

/*
 * Takes one row in: of `servers` (a server's state as another one sees it) or of `picture` (a server or one of its
 * links). A row about a server outside of the torus, or that makes no sense, is passed over. Order: all of `servers`
 * first.
 */
void scene_take_server(struct scene *s, const struct message *row);
void scene_take_picture(struct scene *s, const struct message *row);

/*
 * Ends a look: computes the rates, against the look before (NULL: there was none). A server that has started anew, so
 * that its counters are below those of before, has no rates.
 */
void scene_close_look(struct scene *s, const struct scene *before);

/* What of them are in that state. */
unsigned scene_count(const struct scene *s, enum scene_state state);
/* The rate of the link that carries most; 0: nothing is carried. */
uint64_t scene_busiest(const struct scene *s);
/* What the cable at that link of the server carries, in the direction that carries more. */
uint64_t scene_cable(const struct scene *s, cw_server server, cw_link link);
/* Both ends of the cable say that it is up. */
bool scene_cable_up(const struct scene *s, cw_server server, cw_link link);

#endif
