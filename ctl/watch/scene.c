/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/watch/scene.h"

#include "base/quantity.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[SCENE_STATES] = {
    [SCENE_DOWN] = "down",       [SCENE_SERVING] = "serving", [SCENE_JOINING] = "joining", [SCENE_FENCED] = "fenced",
    [SCENE_LEAVING] = "leaving", [SCENE_LEFT] = "left",       [SCENE_FEARED] = "feared",   [SCENE_SILENT] = "silent",
};

const char *scene_state_name(enum scene_state state)
{
    return names[state];
}

struct scene *scene_new(cw_dims dims, int64_t at_us)
{
    struct scene *s = calloc(1, sizeof *s);
    if (s == NULL || torus_init(&s->torus, dims) < 0) {
        free(s);
        return NULL;
    }
    s->at_us = at_us;
    s->server = calloc(s->torus.servers, sizeof *s->server);
    if (s->server == NULL) {
        free(s);
        return NULL;
    }
    cw_links links = torus_links(&s->torus);
    for (cw_server i = 0; i < s->torus.servers; i++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            s->server[i].link[link].exists = (links & (1U << link)) != 0;
        }
    }
    return s;
}

void scene_free(struct scene *s)
{
    if (s != NULL) {
        free(s->server);
        free(s);
    }
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* The server that the row is about; NULL: none of this torus. */
static struct scene_server *server_of(struct scene *s, const struct message *row)
{
    const char *name = message_get_text(row, "server", "");
    cw_coord at;
    if (torus_parse(&s->torus, name, strlen(name), &at) < 0) {
        return NULL;
    }
    return &s->server[torus_id(&s->torus, at)];
}

static uint64_t count_of(const struct message *row, const char *name)
{
    int64_t value = message_get_integer(row, name, 0);
    return value > 0 ? (uint64_t)value : 0;
}

/* A server that is in view is silent until it has spoken for itself. */
void scene_take_server(struct scene *s, const struct message *row)
{
    struct scene_server *server = server_of(s, row);
    const char *state = message_get_text(row, "state", "");
    if (server == NULL) {
        return;
    }
    server->state = strcmp(state, "up") == 0 ? SCENE_SILENT : SCENE_DOWN;
    for (unsigned i = 0; i < SCENE_STATES; i++) {
        if (strcmp(state, names[i]) == 0) {
            server->state = (enum scene_state)i;
        }
    }
}

static void take_link(struct scene_server *server, const struct message *row)
{
    const char *name = message_get_text(row, "link", "");
    cw_link link;
    if (quantity_link(name, strlen(name), &link) < 0) {
        return;
    }
    server->link[link].up = strcmp(message_get_text(row, "state", ""), "up") == 0;
    server->link[link].sent_bytes = count_of(row, "sent_bytes");
    server->link[link].line_rate = count_of(row, "bits_per_second");
}

void scene_take_picture(struct scene *s, const struct message *row)
{
    struct scene_server *server = server_of(s, row);
    if (server == NULL || message_has(row, "unanswered")) {
        return;
    }
    if (message_has(row, "link")) {
        take_link(server, row);
        return;
    }
    const char *state = message_get_text(row, "state", "");
    for (unsigned i = 0; i < SCENE_STATES; i++) {
        if (strcmp(state, names[i]) == 0) {
            server->state = (enum scene_state)i;
        }
    }
    server->told = true;
    server->now_ns = message_get_integer(row, "now_ns", 0);
    server->inside = count_of(row, "inside");
    server->delivered = count_of(row, "delivered");
    server->dropped = count_of(row, "dropped");
}

/* ---- Rates ------------------------------------------------------------------------------------------------------- */

/* What was counted from one look to the next, a second. */
static uint64_t rate(uint64_t now, uint64_t before, int64_t span_ns)
{
    return now > before ? (uint64_t)((double)(now - before) * 1e9 / (double)span_ns + 0.5) : 0;
}

static void close_server(struct scene_server *now, const struct scene_server *before)
{
    int64_t span_ns = now->now_ns - before->now_ns;
    if (!now->told || !before->told || span_ns <= 0) {
        return;
    }
    now->delivered_per_s = rate(now->delivered, before->delivered, span_ns);
    now->dropped_per_s = rate(now->dropped, before->dropped, span_ns);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        now->link[link].bits_per_s = 8 * rate(now->link[link].sent_bytes, before->link[link].sent_bytes, span_ns);
    }
}

void scene_close_look(struct scene *s, const struct scene *before)
{
    if (before == NULL || before->torus.servers != s->torus.servers) {
        return;
    }
    for (cw_server i = 0; i < s->torus.servers; i++) {
        close_server(&s->server[i], &before->server[i]);
    }
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

unsigned scene_count(const struct scene *s, enum scene_state state)
{
    unsigned count = 0;
    for (cw_server i = 0; i < s->torus.servers; i++) {
        count += s->server[i].state == state;
    }
    return count;
}

uint64_t scene_busiest(const struct scene *s)
{
    uint64_t most = 0;
    for (cw_server i = 0; i < s->torus.servers; i++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            uint64_t carried = s->server[i].link[link].bits_per_s;
            most = carried > most ? carried : most;
        }
    }
    return most;
}

/* The other end of the cable. */
static const struct scene_link *far_end(const struct scene *s, cw_server server, cw_link link)
{
    return &s->server[torus_neighbour(&s->torus, server, link)].link[cw_link_opposite(link)];
}

uint64_t scene_cable(const struct scene *s, cw_server server, cw_link link)
{
    uint64_t out = s->server[server].link[link].bits_per_s, in = far_end(s, server, link)->bits_per_s;
    return out > in ? out : in;
}

bool scene_cable_up(const struct scene *s, cw_server server, cw_link link)
{
    return s->server[server].link[link].up && far_end(s, server, link)->up;
}
