/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/watch_look.h"

#include "base/quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t time_of_day_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Asks, and closes the request. Gives the exit code: an answer that is no (1) is an answer. */
static int ask(const struct call *call, struct request_draft *request, struct rows *rows)
{
    int code = EXIT_FINE;
    int rc = call_ask(call, request, call_patience(call), rows_add, rows, &code);
    request_draft_close(request);
    return rc < 0 ? code : EXIT_FINE;
}

static struct request_draft *about_all(const struct call *call, const char *command)
{
    struct request_draft *request = request_draft_open(command, call->server);
    request_draft_flag(request, "all");
    return request;
}

/* ---- All servers ------------------------------------------------------------------------------------------------- */

int watch_ask_torus(const struct call *call, cw_dims *dims, char self[static TORUS_TEXT])
{
    struct rows rows = {NULL, 0, 0};
    int code = ask(call, request_draft_open("status", call->server), &rows);
    const struct message *row = rows.count > 0 ? rows.row[0] : NULL;
    const char *torus = message_get_text(row, "torus", "");
    snprintf(self, TORUS_TEXT, "%s", message_get_text(row, "server", ""));
    if (code == EXIT_FINE && quantity_dims(torus, strlen(torus), dims) < 0) {
        fprintf(call->errors, "cwctl: watch: this server has no place in a torus yet; cwctl wiring says what is "
                              "missing\n");
        code = EXIT_NO;
    }
    rows_clear(&rows);
    return code;
}

int watch_look(const struct call *call, cw_dims dims, const struct scene *before, struct scene **out)
{
    struct rows servers = {NULL, 0, 0}, picture = {NULL, 0, 0};
    struct scene *scene = scene_new(dims, time_of_day_us());
    int code = scene != NULL ? EXIT_FINE : EXIT_NO;
    if (code == EXIT_FINE) {
        code = ask(call, request_draft_open("servers", call->server), &servers);
    }
    if (code == EXIT_FINE) {
        code = ask(call, about_all(call, "picture"), &picture);
    }
    for (size_t i = 0; code == EXIT_FINE && i < servers.count; i++) {
        scene_take_server(scene, servers.row[i]);
    }
    for (size_t i = 0; code == EXIT_FINE && i < picture.count; i++) {
        scene_take_picture(scene, picture.row[i]);
    }
    rows_clear(&servers);
    rows_clear(&picture);
    if (code != EXIT_FINE) {
        scene_free(scene);
        return code;
    }
    scene_close_look(scene, before);
    *out = scene;
    return EXIT_FINE;
}

/* ---- A key ------------------------------------------------------------------------------------------------------- */

static bool find_server(const struct torus *t, const struct message *row, cw_server *out)
{
    const char *name = message_get_text(row, "server", "");
    cw_coord at;
    if (torus_parse(t, name, strlen(name), &at) < 0) {
        return false;
    }
    *out = torus_id(t, at);
    return true;
}

/* "order" rows come in the key's order: the home first, then who takes over from whom. */
static void take_order(const struct torus *t, const struct rows *rows, char *mark)
{
    char heir = '1';
    for (size_t i = 0; i < rows->count; i++) {
        const char *role = message_get_text(rows->row[i], "role", "");
        cw_server server;
        if (strcmp(message_get_text(rows->row[i], "part", ""), "order") != 0 ||
            !find_server(t, rows->row[i], &server)) {
            continue;
        }
        if (strcmp(role, "root") == 0) {
            mark[server] = 'R';
        } else if (message_get_integer(rows->row[i], "place", -1) == 0) {
            mark[server] = 'H';
        } else if (strcmp(message_get_text(rows->row[i], "state", ""), "up") == 0 && heir <= '9') {
            mark[server] = heir++;
        }
    }
}

static void take_way(const struct torus *t, const struct rows *rows, cw_links *way)
{
    for (size_t i = 0; i < rows->count; i++) {
        const char *out = message_get_text(rows->row[i], "out", "");
        cw_server server;
        cw_link link;
        if (strcmp(message_get_text(rows->row[i], "leg", ""), "there") == 0 && find_server(t, rows->row[i], &server) &&
            quantity_link(out, strlen(out), &link) == 0) {
            way[server] |= (cw_links)(1U << link);
        }
    }
}

static void say_key(const struct rows *explained, const struct rows *traced, const char *key,
                    char note[static WATCH_NOTE])
{
    const char *home = "?", *root = "?";
    for (size_t i = 0; i < explained->count; i++) {
        if (strcmp(message_get_text(explained->row[i], "part", ""), "key") == 0) {
            home = message_get_text(explained->row[i], "home", home);
            root = message_get_text(explained->row[i], "root", root);
        }
    }
    const struct message *sum = traced->count > 0 ? traced->row[traced->count - 1] : NULL;
    int n = snprintf(note, WATCH_NOTE, "key %.60s: home %s (H), root %s (R)", key, home, root);
    if (message_has(sum, "rtt_ns")) {
        snprintf(note + n, WATCH_NOTE - (size_t)n, ", %" PRId64 " hops there, back after %.1f us",
                 message_get_integer(sum, "hops_there", 0), (double)message_get_integer(sum, "rtt_ns", 0) / 1000);
    } else {
        snprintf(note + n, WATCH_NOTE - (size_t)n, "; no packet came back");
    }
}

int watch_ask_key(const struct call *call, const struct torus *t, const char *key, char *mark, cw_links *way,
                  char note[static WATCH_NOTE])
{
    static const int64_t lost_after_us = 500 * 1000, heirs = 4;
    struct rows explained = {NULL, 0, 0}, traced = {NULL, 0, 0};
    struct request_draft *explain = request_draft_open("key-explain", call->server);
    struct request_draft *trace = request_draft_open("trace", call->server);
    request_draft_word(explain, key);
    request_draft_integer(explain, "heirs", heirs);
    request_draft_word(trace, "key");
    request_draft_word(trace, key);
    request_draft_integer(trace, "timeout_us", lost_after_us);
    memset(mark, 0, t->servers);
    memset(way, 0, t->servers * sizeof *way);
    int code = ask(call, explain, &explained);
    if (code == EXIT_FINE) {
        code = ask(call, trace, &traced);
    } else {
        request_draft_close(trace);
    }
    if (code == EXIT_FINE) {
        take_order(t, &explained, mark);
        take_way(t, &traced, way);
        say_key(&explained, &traced, key, note);
    }
    rows_clear(&explained);
    rows_clear(&traced);
    return code;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static void add_event(struct watch_events *e, const struct message *row, int64_t at_us)
{
    time_t seconds = (time_t)(at_us / 1000000);
    struct tm parts;
    char time[16];
    localtime_r(&seconds, &parts);
    strftime(time, sizeof time, "%T", &parts);
    if (e->count == WATCH_EVENTS) {
        memmove(e->line[0], e->line[1], sizeof e->line[0] * (WATCH_EVENTS - 1));
        e->count--;
    }
    snprintf(e->line[e->count++], WATCH_NOTE, "%s.%03d  %-7s  %s: %.120s", time, (int)(at_us % 1000000 / 1000),
             message_get_text(row, "server", "-"), message_get_text(row, "kind", "?"),
             message_get_text(row, "text", ""));
}

static int by_time(const void *a, const void *b)
{
    int64_t p = message_get_integer(*(struct message *const *)a, "at_us", 0);
    int64_t q = message_get_integer(*(struct message *const *)b, "at_us", 0);
    return p < q ? -1 : p > q;
}

int watch_ask_events(const struct call *call, struct watch_events *events)
{
    struct rows rows = {NULL, 0, 0};
    struct request_draft *request = about_all(call, "events");
    if (events->after_us == 0) {
        events->after_us = time_of_day_us();
    }
    request_draft_integer(request, "after_us", events->after_us);
    int code = ask(call, request, &rows);
    if (rows.count > 0) {
        qsort(rows.row, rows.count, sizeof(struct message *), by_time);
    }
    for (size_t i = 0; i < rows.count; i++) {
        int64_t at_us = message_get_integer(rows.row[i], "at_us", 0);
        if (at_us > events->after_us) {
            add_event(events, rows.row[i], at_us);
            events->after_us = at_us;
        }
    }
    rows_clear(&rows);
    return code;
}
