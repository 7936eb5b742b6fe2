/* SPDX-License-Identifier: Apache-2.0 */
#include "mc_world.h"

#include "linkstate/linkstate.h"
#include "nmu/book.h"
#include "services/multicast/cast/head.h"
#include "services/multicast/multicast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world *mc_world;

void mc_run(cw_span span)
{
    if (world_run(mc_world, cw_time_add(world_now(mc_world), span)) != 0) {
        fprintf(stderr, "%s\n", world_violation(mc_world) != NULL ? world_violation(mc_world)->text : "stopped");
        exit(1);
    }
}

void mc_open(cw_dims dims, uint64_t seed, bool fast_timers)
{
    static const struct world_service services[] = {{.table = &multicast_service}};
    static const struct book_grant grants[] = {
        {.from = MULTICAST_JOB, .to = MULTICAST_JOB, .port = MULTICAST_PORT, .all_processes = true}};
    struct world_config config = world_config_default();
    config.dims = dims;
    config.seed = seed;
    config.services = services;
    config.service_count = 1;
    config.grants = grants;
    config.grant_count = 1;
    if (fast_timers) {
        config.node.timers = ls_timers_fast();
    }
    if (world_open(&mc_world, &config) != 0) {
        fprintf(stderr, "no such world\n");
        exit(1);
    }
    world_start_all(mc_world, CW_MS(1));
    unsigned servers = world_torus(mc_world)->servers;
    for (int i = 0; i < 500 && (world_active(mc_world) < servers || world_agreeing(mc_world) < servers); i++) {
        mc_run(CW_MS(10));
    }
}

void mc_close(void)
{
    world_close(mc_world);
    mc_world = NULL;
}

void mc_lose(uint32_t per_million)
{
    const struct wire_harm harm = {.loss = per_million};
    for (cw_server s = 0; s < world_torus(mc_world)->servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            if (torus_links(world_torus(mc_world)) & cw_links_of(link)) {
                world_harm(mc_world, s, link, &harm);
            }
        }
    }
}

bool mc_command(cw_server s, const char *line, struct fake_result *r)
{
    static struct node_request_sink sinks[64];
    static unsigned used;
    struct fake_words words = fake_words_of(line);
    struct node_request_sink *sink = &sinks[used++ % 64];
    *sink = (struct node_request_sink){r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    fake_result_init(r);
    return world_command(mc_world, s, "multicast", words.argc, words.argv, sink) == 0;
}

void mc_wait(struct fake_result *r, unsigned count, cw_span most)
{
    cw_time end = cw_time_add(world_now(mc_world), most);
    for (unsigned i = 0; i < count;) {
        if (r[i].done) {
            i++;
        } else if (cw_time_before(world_now(mc_world), end)) {
            mc_run(CW_US(200));
        } else {
            return;
        }
    }
}

int64_t mc_has(cw_server s)
{
    static struct fake_result r;
    if (world_state(mc_world, s) != WORLD_RUNS || !mc_command(s, "status", &r) || r.fields == 0) {
        return -1;
    }
    return fake_int(&r, 0, "has");
}
