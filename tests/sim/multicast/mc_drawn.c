/* SPDX-License-Identifier: Apache-2.0 */
#include "mc_world.h"

#include "services/multicast/cast/head.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64, EVENTS = 10, PIECE_MOST = 9000, SETTLE_S = 2 };

/* One drawn world. */
static struct {
    uint64_t state;
    unsigned servers;
    cw_server source;
    bool member[MOST];
    bool cut[MOST];
    bool hurt[MOST];       /* it died, was paused or was cut off, at any time of the message */
    cw_time hurt_at[MOST]; /* last; the end of it */
    char why[400];
    bool calm; /* hardly a frame is lost, and nothing happens */
    bool wrong, verbose;
} d;

static uint32_t draw(uint32_t below)
{
    d.state = d.state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(d.state >> 33) % below;
}

__attribute__((format(printf, 1, 2))) static void wrong(const char *format, ...)
{
    va_list args;
    if (!d.wrong) {
        va_start(args, format);
        vsnprintf(d.why, sizeof d.why, format, args);
        va_end(args);
    }
    d.wrong = true;
}

static void say(const char *what, cw_server s)
{
    if (d.verbose) {
        printf("  %.3f ms: %s %u\n", (double)world_now(mc_world).ns / 1e6, what, s);
    }
}

/*
 * ---- What happens -------------------------------------------------------------------------------------------------
 */

static void hurt(cw_server s, cw_span span)
{
    d.hurt[s] = true;
    d.hurt_at[s] = cw_time_add(world_now(mc_world), span);
}

static void cut(cw_server s, bool off)
{
    for (cw_links left = torus_links(world_torus(mc_world)); left != 0; left &= (cw_links)(left - 1)) {
        world_cable(mc_world, s, (cw_link)__builtin_ctz(left), true, !off);
        cw_server next = torus_neighbour(world_torus(mc_world), s, (cw_link)__builtin_ctz(left));
        d.cut[next] = d.cut[next] && off; /* a cable that works again may end at one that was cut off too */
        hurt(next, (cw_span){0});
        d.hurt[next] = d.hurt[next] && next != d.source;
    }
    d.cut[s] = off;
    hurt(s, (cw_span){0});
}

/* Who has no way to the source any more, as all around it are dead or cut off, is as good as gone for that time. */
static void find_lonely(void)
{
    const struct torus *t = world_torus(mc_world);
    bool joined[MOST] = {false};
    joined[d.source] = true;
    for (bool more = true; more;) {
        more = false;
        for (cw_server s = 0; s < d.servers; s++) {
            for (cw_links left = torus_links(t); left != 0; left &= (cw_links)(left - 1)) {
                cw_server next = torus_neighbour(t, s, (cw_link)__builtin_ctz(left));
                if (joined[s] && !joined[next] && world_state(mc_world, next) == WORLD_RUNS && !d.cut[next] &&
                    !d.cut[s]) {
                    joined[next] = more = true;
                }
            }
        }
    }
    for (cw_server s = 0; s < d.servers; s++) {
        if (!joined[s]) {
            hurt(s, (cw_span){0});
        }
    }
}

static void start(cw_server s)
{
    if (world_start(mc_world, s) != 0) {
        wrong("server %u does not start again", s);
    }
    hurt(s, (cw_span){0});
    say("start", s);
}

static void event(void)
{
    cw_server s = draw(d.servers);
    if (s == d.source) {
        return;
    }
    if (world_state(mc_world, s) == WORLD_DEAD) {
        start(s);
        return;
    }
    if (world_state(mc_world, s) != WORLD_RUNS) {
        return;
    }
    uint32_t kind = draw(10);
    cw_span span = CW_MS(1 + draw(400));
    if (kind < 6) {
        hurt(s, (cw_span){0});
        world_kill(mc_world, s, false);
        say("kill", s);
    } else if (kind < 8) {
        hurt(s, span);
        world_pause(mc_world, s, span);
        say("pause", s);
    } else {
        cut(s, !d.cut[s]);
        say(d.cut[s] ? "cut off" : "join", s);
    }
}

/* The rest of what happened is put right: the dead start, who is cut off is joined. */
static void heal(void)
{
    for (cw_server s = 0; s < d.servers; s++) {
        if (d.cut[s]) {
            cut(s, false);
            say("join", s);
        }
        if (world_state(mc_world, s) == WORLD_DEAD && draw(2) == 0) {
            start(s);
        }
    }
}

/*
 * ---- The oracle ---------------------------------------------------------------------------------------------------
 */

static cw_server read_server(const char *name)
{
    cw_coord c;
    return torus_parse(world_torus(mc_world), name, strlen(name), &c) == 0 ? torus_id(world_torus(mc_world), c)
                                                                           : CW_SERVER_NONE;
}

/* In the world for so long without a break that the source must have seen it. */
static bool steady(cw_server s)
{
    return world_state(mc_world, s) == WORLD_RUNS && !d.cut[s] &&
           (!d.hurt[s] || cw_time_since(world_now(mc_world), d.hurt_at[s]).ns > CW_SEC(SETTLE_S).ns);
}

static void judge_member(cw_server s, int64_t status)
{
    static struct fake_result r;
    if (status != 0) {
        bool reason = status == -ENETUNREACH || (status == -ETIMEDOUT && d.hurt[s]);
        if (!d.hurt[s] || steady(s) || !reason) {
            wrong("member %u was there and is not complete: %lld", s, (long long)status);
        }
        return;
    }
    if (!steady(s) || d.hurt[s]) {
        return; /* it may have died since, and forgotten */
    }
    if (!mc_command(s, "status", &r) || r.fields == 0) {
        wrong("member %u knows nothing of what it has", s);
        return;
    }
    if (fake_int(&r, 0, "ended") != 1 || fake_int(&r, 0, "status") != 0 ||
        fake_int(&r, 0, "has") != fake_int(&r, 0, "pieces")) {
        wrong("member %u is told as complete, and is not: status %lld, %lld of %lld", s,
              (long long)fake_int(&r, 0, "status"), (long long)fake_int(&r, 0, "has"),
              (long long)fake_int(&r, 0, "pieces"));
    }
}

static void judge(const struct fake_result *r)
{
    int64_t status[MOST] = {0};
    unsigned members = 0, not_complete = 0;
    for (unsigned row = 1; row < r->rows; row++) {
        cw_server s = read_server(fake_text(r, row, "incomplete"));
        if (s >= d.servers || !d.member[s]) {
            wrong("'%s' is told as incomplete, and is no member", fake_text(r, row, "incomplete"));
            return;
        }
        status[s] = fake_int(r, row, "status");
        not_complete++;
    }
    for (cw_server s = 0; s < d.servers; s++) {
        members += d.member[s];
        if (d.member[s]) {
            judge_member(s, status[s]);
        }
    }
    if (fake_int(r, 0, "members") != members || fake_int(r, 0, "complete") + not_complete != members) {
        wrong("%u members, %lld complete, %u not", members, (long long)fake_int(r, 0, "complete"), not_complete);
    }
}

/* No server keeps more than its windows. */
static void watch_memory(bool at_end)
{
    static struct fake_result r;
    int64_t most = (int64_t)CW_LINK_COUNT * CAST_WINDOW * PIECE_MOST + 100000;
    for (cw_server s = 0; s < d.servers; s++) {
        if (world_state(mc_world, s) != WORLD_RUNS || !mc_command(s, "status", &r) || r.fields == 0) {
            continue;
        }
        if (d.calm && (fake_int(&r, 0, "skipped") > 0 || fake_int(&r, 0, "round") > 0)) {
            wrong("server %u: %lld pieces did not come in their round, though nothing had happened", s,
                  (long long)fake_int(&r, 0, "skipped"));
        }
        int64_t memory = fake_int(&r, 0, "memory");
        if (memory > (at_end && !d.hurt[s] ? 100000 : most)) {
            wrong("server %u keeps %lld bytes%s", s, (long long)memory, at_end ? " when all is over" : "");
        }
    }
}

/*
 * ---- A world ------------------------------------------------------------------------------------------------------
 */

static void begin(struct fake_result *r)
{
    char line[1200];
    int at = snprintf(line, sizeof line, "send %u to", 1 + draw(1 << (10 + draw(13))));
    unsigned count = 0;
    for (cw_server s = 0; s < d.servers; s++) {
        d.member[s] = s != d.source && (draw(3) > 0 || (count == 0 && s + 2 >= d.servers));
        count += d.member[s];
        cw_coord c = torus_coord(world_torus(mc_world), s);
        at += d.member[s] ? snprintf(line + at, sizeof line - (size_t)at, " %u,%u,%u", c.x, c.y, c.z) : 0;
    }
    if (d.verbose) {
        printf("source %u: %s\n", d.source, line);
    }
    (void)mc_command(d.source, line, r);
}

/* Some begin dead: they come later. One that nobody can reach at the beginning is a refusal, not a message. */
static void some_dead(void)
{
    for (unsigned n = draw(3); n > 0; n--) {
        cw_server s = draw(d.servers);
        if (s != d.source && world_state(mc_world, s) == WORLD_RUNS && world_running(mc_world) > 3) {
            hurt(s, (cw_span){0});
            world_kill(mc_world, s, false);
            say("kill", s);
        }
    }
    find_lonely();
    mc_run(CW_MS(draw(300)));
}

bool mc_drawn(uint64_t seed, bool verbose, const char **why)
{
    static const cw_dims shapes[] = {{3, 3, 3}, {3, 3, 3}, {2, 3, 4}, {1, 4, 4}, {1, 1, 5}, {4, 4, 4}, {2, 2, 2}};
    static const uint32_t losses[] = {0, 0, 1000, 20000};
    static struct fake_result r;
    memset(&d, 0, sizeof d);
    d.state = seed * 77777 + 1;
    d.verbose = verbose;
    (void)draw(2);
    cw_dims dims = shapes[draw(sizeof shapes / sizeof *shapes)];
    mc_open(dims, seed, draw(2) == 0);
    d.servers = world_torus(mc_world)->servers;
    d.source = draw(d.servers);
    uint32_t loss = losses[draw(4)];
    mc_lose(loss);
    some_dead();
    begin(&r);
    for (unsigned left = draw(EVENTS); left > 0 && !r.done; left--) {
        mc_run(CW_US(draw(draw(4) == 0 ? 300000 : 3000)));
        find_lonely();
        event();
        find_lonely();
        watch_memory(false);
    }
    mc_run(CW_US(draw(30000)));
    find_lonely();
    heal();
    find_lonely();
    mc_wait(&r, 1, CW_SEC(90));
    if (!r.done) {
        wrong("the source did not end");
    } else if (r.rc == 0) {
        judge(&r);
        d.calm = loss <= 1000;
        for (cw_server s = 0; s < d.servers; s++) {
            d.calm = d.calm && !d.hurt[s];
        }
        mc_run(CW_SEC(3));
        watch_memory(true);
    } else if (r.rc != -EINVAL) {
        wrong("the source ended with %d", r.rc);
    }
    mc_close();
    *why = d.why;
    return !d.wrong;
}
