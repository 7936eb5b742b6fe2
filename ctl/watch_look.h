/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_look.h - what cwctl watch asks its daemon: how all servers are, whose a key is and which way a packet to it
 * takes, and what has happened.
 *
 * Each function gives an exit code (commands.h); other than EXIT_FINE, a line on call->errors has said why.
 */
#ifndef CTL_WATCH_LOOK_H
#define CTL_WATCH_LOOK_H

#include "ctl/commands.h"
#include "ctl/watch/scene.h"

/* The dimensions of the torus, and the server that is asked. */
CW_MUST_CHECK int watch_ask_torus(const struct call *call, cw_dims *dims, char self[static TORUS_TEXT]);
/* One look at all servers, rates against the one before (NULL: there was none). *out is to be freed by scene_free(). */
CW_MUST_CHECK int watch_look(const struct call *call, cw_dims dims, const struct scene *before, struct scene **out);

enum { WATCH_NOTE = 200 };
/*
 * Whose the key is: fills mark (a character for each server: H its home, R its root where that is another, 1 2 .. the
 * next heirs; 0 otherwise) and way (by server, the links by which a packet to it left, on its way there); note says it
 * in words. Both arrays have torus.servers elements.
 */
CW_MUST_CHECK int watch_ask_key(const struct call *call, const struct torus *t, const char *key, char *mark,
                                cw_links *way, char note[static WATCH_NOTE]);

/* The last events of all servers, the newest last. */
enum { WATCH_EVENTS = 5 };
struct watch_events {
    char line[WATCH_EVENTS][WATCH_NOTE];
    unsigned count;
    int64_t after_us; /* what is younger is asked for; 0: only what happens from now on */
};
CW_MUST_CHECK int watch_ask_events(const struct call *call, struct watch_events *events);

#endif
