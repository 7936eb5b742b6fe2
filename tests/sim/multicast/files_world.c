/* SPDX-License-Identifier: Apache-2.0 */
#include "files_world.h"

#include "keyspace/torus.h"
#include "nmu/book.h"
#include "seeds.h"
#include "services/multicast/cast/head.h"
#include "services/multicast/file/label.h"
#include "services/multicast/file/progress.h"
#include "services/multicast/multicast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world *fw_world;
struct fake_files fw_disk[FW_SERVERS];
uint8_t fw_bytes[FW_BYTES_MOST];
char *fw_wrong;
static struct node_object objects[FW_SERVERS][2];
static const char *patience;

void fw_must(bool good, const char *what)
{
    if (!good) {
        printf("WRONG: %s\n", what);
        seeds_fail(fw_wrong, "files", "%s", what);
    }
}

void fw_run(cw_span span)
{
    if (world_run(fw_world, cw_time_add(world_now(fw_world), span)) != 0) {
        fprintf(stderr, "%s\n", world_violation(fw_world) != NULL ? world_violation(fw_world)->text : "stopped");
        exit(1);
    }
}

/* ---- The world --------------------------------------------------------------------------------------------------- */

static const struct node_object *objects_of(void *context, cw_server s)
{
    (void)context;
    return objects[s];
}

static const char *option_of(void *context, const char *service, const char *name)
{
    (void)context;
    (void)service;
    return strcmp(name, "folder") == 0 ? "/files" : strcmp(name, "patience_ms") == 0 ? patience : NULL;
}

void fw_settle(void)
{
    for (int i = 0; i < 500 && (world_active(fw_world) < FW_SERVERS || world_agreeing(fw_world) < FW_SERVERS); i++) {
        fw_run(CW_MS(10));
    }
    fw_run(CW_MS(100)); /* services hear of it */
}

void fw_open(const struct fw_setup *setup)
{
    static const struct world_service services[] = {{.table = &multicast_service}};
    static const struct book_grant grants[] = {
        {.from = MULTICAST_JOB, .to = MULTICAST_JOB, .port = MULTICAST_PORT, .all_processes = true},
        {.from = MULTICAST_JOB, .to = MULTICAST_JOB, .port = FILE_PORT, .all_processes = true}};
    struct world_config config = world_config_default();
    config.seed = setup->seed;
    patience = setup->patience_ms;
    if (setup->bits_per_second > 0) {
        config.wire.bits_per_second = setup->bits_per_second;
    }
    if (setup->mtu > 0) {
        config.node.mtu = setup->mtu;
    }
    if (setup->calm_damping) {
        config.node.timers.damp = config.node.timers.damp_max = CW_MS(10);
    }
    config.services = services;
    config.service_count = 1;
    config.option = option_of;
    config.grants = grants;
    config.grant_count = 2;
    config.objects = objects_of;
    for (cw_server s = 0; s < FW_SERVERS; s++) {
        fake_files_init(&fw_disk[s]);
        objects[s][0] = (struct node_object){FILES_HOST_NAME, FILES_HOST_VERSION, &fw_disk[s].host};
    }
    for (size_t i = 0; i < FW_BYTES_MOST; i++) {
        fw_bytes[i] = (uint8_t)(i * 131 + (i >> 8) * 17 + (i >> 16) * setup->seed);
    }
    if (world_open(&fw_world, &config) != 0) {
        exit(1);
    }
    world_start_all(fw_world, CW_MS(1));
    fw_settle();
}

void fw_close(void)
{
    world_close(fw_world);
    for (cw_server s = 0; s < FW_SERVERS; s++) {
        fw_must(fw_disk[s].handles == 0, "a file was left open");
        fake_files_free(&fw_disk[s]);
    }
}

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

struct fake_result *fw_send(cw_server from, size_t length, const char *to)
{
    enum { RESULTS = 32 };
    static struct fake_result results[RESULTS];
    static struct node_request_sink sinks[RESULTS];
    static unsigned used;
    char line[400];
    struct fake_result *r = &results[used % RESULTS];
    struct node_request_sink *sink = &sinks[used++ % RESULTS];
    *sink = (struct node_request_sink){r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    fake_result_init(r);
    snprintf(line, sizeof line, "file-send ticket=%llu name=image to %s",
             (unsigned long long)fake_files_pass(&fw_disk[from], fw_bytes, length, 0644), to);
    struct fake_words words = fake_words_of(line);
    if (world_command(fw_world, from, "multicast", words.argc, words.argv, sink) != 0) {
        exit(1);
    }
    return r;
}

void fw_wait(const struct fake_result *r, cw_span most)
{
    cw_time end = cw_time_add(world_now(fw_world), most);
    while (!r->done && cw_time_before(world_now(fw_world), end)) {
        fw_run(CW_MS(1));
    }
    fw_must(r->done, "a sending does not end");
}

bool fw_has(cw_server s, size_t length)
{
    const struct fake_blob *b = fake_files_find(&fw_disk[s], "image");
    bool whole = b != NULL && b->length == length && (length == 0 || memcmp(b->bytes, fw_bytes, length) == 0);
    fw_must(b == NULL || whole, "a file stands there that is not what was sent");
    return whole;
}

unsigned fw_parts(cw_server s)
{
    unsigned count = 0;
    for (unsigned i = 0; i < FAKE_BLOBS; i++) {
        count += file_label_is_part(fw_disk[s].blob[i].name);
    }
    return count;
}

const char *fw_reason(const struct fake_result *r, cw_server s)
{
    char name[TORUS_TEXT];
    torus_format(torus_coord(world_torus(fw_world), s), name);
    for (unsigned row = 1; row < r->rows; row++) {
        if (strcmp(fake_text(r, row, "server"), name) == 0) {
            return strcmp(fake_text(r, row, "state"), "failed") == 0 ? fake_text(r, row, "reason") : NULL;
        }
    }
    return "no member";
}

void fw_told(const struct fake_result *r, cw_server s, int error)
{
    const char *said = r->done ? fw_reason(r, s) : NULL;
    if (said == NULL || strcmp(said, file_reason(error)) != 0) {
        printf("server %u: %s\n", s, said != NULL ? said : "complete");
        fw_must(false, "a member's reason is another one");
    }
}

void fw_lose(uint32_t per_million)
{
    const struct wire_harm harm = {.loss = per_million};
    for (cw_server s = 0; s < FW_SERVERS; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            world_harm(fw_world, s, link, &harm);
        }
    }
}

int fw_command(cw_server s, const char *line, struct fake_result *r)
{
    static struct node_request_sink sink;
    struct fake_words words = fake_words_of(line);
    sink = (struct node_request_sink){r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    fake_result_init(r);
    return world_command(fw_world, s, "multicast", words.argc, words.argv, &sink);
}

uint64_t fw_draw(uint64_t *state, uint64_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % below;
}
