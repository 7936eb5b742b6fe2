/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_files_world.c - files on real nodes in a simulated 3x3x3 torus of 1 Gb/s links and 9,000-byte frames. Each
 * server has a disk in memory that outlives it. Scenes: full disks, disks that fail, members and sources that die
 * midway and begin again; then worlds that are drawn from seeds.
 *
 *   test_files_world with the options of seeds.h; with seeds on the command line only drawn worlds run. Exit code 1:
 *   something is not as promised.
 */
#include "fake_files.h"
#include "fake_result.h"
#include "keyspace/torus.h"
#include "nmu/book.h"
#include "sanitized.h"
#include "seeds.h"
#include "services/multicast/cast/head.h"
#include "services/multicast/cast/session_table.h"
#include "services/multicast/file/label.h"
#include "services/multicast/file/progress.h"
#include "services/multicast/multicast.h"
#include "simulator/world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sanitized world sends half as much, and what happens midway happens in half of the time. */
enum { SERVERS = 27, SHARE = SANITIZED ? 4 : 1, MOST = 20 * 1000 * 1000 / SHARE };
static struct world *world;
static struct fake_files disk[SERVERS];
static struct node_object objects[SERVERS][2];
static uint8_t bytes[MOST];
static char *wrong; /* what was wrong first, in a scene or a seed; shared with the child that runs the seed */

static void must(bool good, const char *what)
{
    if (!good) {
        printf("WRONG: %s\n", what);
        seeds_fail(wrong, "files", "%s", what);
    }
}

static void run(cw_span span)
{
    if (world_run(world, cw_time_add(world_now(world), span)) != 0) {
        fprintf(stderr, "%s\n", world_violation(world) != NULL ? world_violation(world)->text : "stopped");
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
    return strcmp(name, "folder") == 0 ? "/files" : NULL;
}

static void settle(void)
{
    for (int i = 0; i < 500 && (world_active(world) < SERVERS || world_agreeing(world) < SERVERS); i++) {
        run(CW_MS(10));
    }
    run(CW_MS(100)); /* services hear of it */
}

static void open_world(uint64_t seed)
{
    static const struct world_service services[] = {{.table = &multicast_service}};
    static const struct book_grant grants[] = {
        {.from = MULTICAST_JOB, .to = MULTICAST_JOB, .port = MULTICAST_PORT, .all_processes = true},
        {.from = MULTICAST_JOB, .to = MULTICAST_JOB, .port = FILE_PORT, .all_processes = true}};
    struct world_config config = world_config_default();
    config.seed = seed;
    config.services = services;
    config.service_count = 1;
    config.option = option_of;
    config.grants = grants;
    config.grant_count = 2;
    config.objects = objects_of;
    for (cw_server s = 0; s < SERVERS; s++) {
        fake_files_init(&disk[s]);
        objects[s][0] = (struct node_object){FILES_HOST_NAME, FILES_HOST_VERSION, &disk[s].host};
    }
    for (size_t i = 0; i < MOST; i++) {
        bytes[i] = (uint8_t)(i * 131 + (i >> 8) * 17 + (i >> 16) * seed);
    }
    if (world_open(&world, &config) != 0) {
        exit(1);
    }
    world_start_all(world, CW_MS(1));
    settle();
}

static void close_world(void)
{
    world_close(world);
    for (cw_server s = 0; s < SERVERS; s++) {
        must(disk[s].handles == 0, "a file was left open");
        fake_files_free(&disk[s]);
    }
}

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

/* A command that is not done when its server dies says so later: each has a result of its own. */
static struct fake_result *send(cw_server from, size_t length, const char *to)
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
             (unsigned long long)fake_files_pass(&disk[from], bytes, length, 0644), to);
    struct fake_words words = fake_words_of(line);
    if (world_command(world, from, "multicast", words.argc, words.argv, sink) != 0) {
        exit(1);
    }
    return r;
}

static void wait_for(const struct fake_result *r, cw_span most)
{
    cw_time end = cw_time_add(world_now(world), most);
    while (!r->done && cw_time_before(world_now(world), end)) {
        run(CW_MS(1));
    }
    must(r->done, "a sending does not end");
}

static bool has(cw_server s, size_t length)
{
    const struct fake_blob *b = fake_files_find(&disk[s], "image");
    bool whole = b != NULL && b->length == length && (length == 0 || memcmp(b->bytes, bytes, length) == 0);
    must(b == NULL || whole, "a file stands there that is not what was sent");
    return whole;
}

static unsigned parts(cw_server s)
{
    unsigned count = 0;
    for (unsigned i = 0; i < FAKE_BLOBS; i++) {
        count += file_label_is_part(disk[s].blob[i].name);
    }
    return count;
}

/* What the end says of a server; NULL: complete. */
static const char *reason(const struct fake_result *r, cw_server s)
{
    char name[TORUS_TEXT];
    torus_format(torus_coord(world_torus(world), s), name);
    for (unsigned row = 1; row < r->rows; row++) {
        if (strcmp(fake_text(r, row, "server"), name) == 0) {
            return strcmp(fake_text(r, row, "state"), "failed") == 0 ? fake_text(r, row, "reason") : NULL;
        }
    }
    return "no member";
}

static void told(const struct fake_result *r, cw_server s, int error)
{
    const char *said = r->done ? reason(r, s) : NULL;
    if (said == NULL || strcmp(said, file_reason(error)) != 0) {
        printf("server %u: %s\n", s, said != NULL ? said : "complete");
        must(false, "a member's reason is another one");
    }
}

/* ---- What is promised -------------------------------------------------------------------------------------------- */

static void all_well(void)
{
    enum { BYTES = 20 * 1000 * 1000 / SHARE };
    open_world(1);
    struct fake_result *r = send(0, BYTES, "all");
    wait_for(r, CW_SEC(10));
    must(r->rc == 0, "not all have it");
    for (cw_server s = 1; s < SERVERS; s++) {
        must(has(s, BYTES) && parts(s) == 0, "a member has not all, or something is left beside it");
    }
    printf("%d MB to 26: least %.3f Gb/s from the command on (digests and disks of 2 GB/s), %lld sent again\n",
           BYTES / 1000000, (double)BYTES * 8 / (double)fake_int(r, 0, "took_ns"),
           (long long)fake_int(r, 0, "repeated"));
    r = send(13, BYTES, "all");
    wait_for(r, CW_SEC(10));
    must(r->rc == 0 && has(0, BYTES), "the first source has it not from the second");
    r = send(13, BYTES, "all");
    wait_for(r, CW_SEC(10));
    must(fake_int(r, 0, "sent_bytes") == 0, "what all have is sent");
    close_world();
}

static void disks(void)
{
    enum { BYTES = 5 * 1000 * 1000 };
    open_world(2);
    disk[3].room = BYTES - 1;
    fake_files_fail(&disk[5], "open", 0, -EACCES, false);
    fake_files_fail(&disk[9], "write", 20, -EIO, true);
    fake_files_fail(&disk[20], "finish", 0, -EROFS, false);
    fake_files_fail(&disk[26], "have", 0, -ENOENT, false);
    struct fake_result *r = send(0, BYTES, "all");
    wait_for(r, CW_SEC(60));
    must(r->rc == 1 && fake_int(r, 0, "complete") == 21, "who is well has not all");
    told(r, 3, -ENOSPC);
    told(r, 5, -EACCES);
    told(r, 9, -EIO);
    told(r, 20, -EROFS);
    told(r, 26, -ENOENT);
    for (cw_server s = 1; s < SERVERS; s++) {
        must(has(s, BYTES) == (reason(r, s) == NULL), "what is told of a member is not so");
    }
    must(parts(3) == 0, "a full disk is not left alone");
    printf("five disks of 26 fail: %lld complete, all five named\n", (long long)fake_int(r, 0, "complete"));
    close_world();
}

static void lose(uint32_t per_million)
{
    const struct wire_harm harm = {.loss = per_million};
    for (cw_server s = 0; s < SERVERS; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            world_harm(world, s, link, &harm);
        }
    }
}

static int command(cw_server s, const char *line, struct fake_result *r)
{
    static struct node_request_sink sink;
    struct fake_words words = fake_words_of(line);
    sink = (struct node_request_sink){r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    fake_result_init(r);
    return world_command(world, s, "multicast", words.argc, words.argv, &sink);
}

/* Messages that servers keep pieces of, or know of no end of. */
static unsigned left_over(unsigned *known)
{
    static struct fake_result r;
    unsigned left = 0;
    *known = 0;
    for (cw_server s = 0; s < SERVERS; s++) {
        must(command(s, "status", &r) == 0, "no status");
        for (unsigned row = 0; row < r.rows && r.fields > 0; row++) {
            left += fake_int(&r, row, "memory") > 100000 ||
                    (fake_int(&r, row, "ended") == 0 && strcmp(fake_text(&r, row, "role"), "forwarder") != 0);
            ++*known;
        }
    }
    return left;
}

/* Do all servers forget all messages in so many seconds? */
static bool forgotten_within(unsigned seconds)
{
    unsigned known = 1;
    for (unsigned i = 0; i < seconds && known > 0; i++) {
        run(CW_SEC(1));
        (void)left_over(&known);
    }
    return known == 0;
}

/* A message that nobody takes ends before all of it was dealt: it must end everywhere, or it takes a place for ever. */
static void nobody_takes_it(void)
{
    /* A source has CAST_BUSY_MOST places: more messages than that. */
    enum { BYTES = 10 * 1000 * 1000 / SHARE, TIMES = CAST_BUSY_MOST + (SANITIZED ? 1 : 4) };
    unsigned known;
    open_world(4);
    for (cw_server s = 1; s < SERVERS; s++) {
        fake_files_fail(&disk[s], "write", 1, -ENOSPC, true);
    }
    for (unsigned i = 0; i < TIMES; i++) {
        struct fake_result *r = send(0, BYTES - i, "all"); /* another file each time */
        wait_for(r, CW_SEC(2));
        must(r->rc != 0 && fake_int(r, 0, "complete") == 0, "a full disk took it");
        must(fake_int(r, 0, "sent_bytes") < BYTES / 2, "most of it was dealt before it ended");
        told(r, 13, -ENOSPC);
    }
    for (cw_server s = 1; s < SERVERS; s++) {
        memset(disk[s].fault, 0, sizeof disk[s].fault);
    }
    struct fake_result *r = send(0, BYTES, "all");
    wait_for(r, CW_SEC(5));
    must(r->rc == 0 && fake_int(r, 0, "complete") == SERVERS - 1, "it is not taken after others were refused");
    run(CW_SEC(3));
    must(left_over(&known) == 0, "something is kept of what nobody took");
    printf("%d files refused by all at their second write, the next one complete\n", (int)TIMES);
    must(forgotten_within(60), "refused messages are never forgotten");
    close_world();
}

/* One that is stopped while frames get lost, so that some never hear the STOP itself. */
static void stopped(uint64_t seed)
{
    enum { BYTES = 20 * 1000 * 1000 / SHARE };
    static struct fake_result stop;
    unsigned known, left;
    char line[40];
    open_world(seed);
    lose(50000);
    struct fake_result *r = send(0, BYTES, "all");
    run(CW_US(25000 / SHARE)); /* in the whole size, 10 ms of digest */
    must(command(0, "file-status", &stop) == 0 && stop.rows > 0, "it is not being sent");
    snprintf(line, sizeof line, "file-stop %lld", (long long)fake_int(&stop, 0, "id"));
    must(!r->done && command(0, line, &stop) == 0, "it cannot be stopped");
    wait_for(r, CW_SEC(2));
    must(r->rc != 0, "it was stopped, and is said to be complete");
    run(CW_SEC(3));
    left = left_over(&known);
    printf("stopped at 5 %% loss: %u servers know of it after 3 s, and %u keep something\n", known, left);
    must(left == 0, "servers go on with what was stopped");
    must(forgotten_within(120), "what was stopped is not forgotten");
    close_world();
}

/* A member dies and is back; then its source. What was there is not sent again. */
static void deaths(void)
{
    enum { BYTES = 20 * 1000 * 1000 / SHARE };
    open_world(3);
    struct fake_result *r = send(0, BYTES, "all");
    run(CW_US(34000 / SHARE)); /* in the whole size, 10 ms of digest, and 24 of the 27 that it takes */
    world_kill(world, 14, false);
    wait_for(r, CW_SEC(60));
    must(r->rc == 1 && fake_int(r, 0, "complete") == 25 && parts(14) == 2,
         "a member's death is not told, or left nothing");
    must(world_start(world, 14) == 0, "it does not start");
    settle();
    r = send(0, BYTES, "all");
    wait_for(r, CW_SEC(60));
    must(r->rc == 0 && has(14, BYTES) && parts(14) == 0, "it has not all after its return");
    printf("a member died and came back: %lld of %d bytes sent for it\n", (long long)fake_int(r, 0, "sent_bytes"),
           (int)BYTES);
    must(fake_int(r, 0, "sent_bytes") < BYTES * 3 / 4, "what was there is sent again");
    close_world();
    open_world(4);
    (void)send(0, BYTES, "all");
    run(CW_US(34000 / SHARE));
    world_kill(world, 0, false);
    run(CW_SEC(1));
    must(world_start(world, 0) == 0, "the source does not start");
    settle();
    r = send(0, BYTES, "all");
    wait_for(r, CW_SEC(60));
    must(r->rc == 0, "not all have it from the source that began anew");
    for (cw_server s = 1; s < SERVERS; s++) {
        must(has(s, BYTES) && parts(s) == 0, "a member has not all");
    }
    printf("the source died and came back: %lld of %d bytes sent the second time\n",
           (long long)fake_int(r, 0, "sent_bytes"), (int)BYTES);
    must(fake_int(r, 0, "sent_bytes") < BYTES * 3 / 4, "what was there is sent again");
    close_world();
}

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % below;
}

/*
 * Faults, deaths and losses of a seed. Whatever happens: nothing false under the name, and once all are well all have
 * it.
 */
static void drawn(uint64_t seed)
{
    static const char *const ops[] = {"have",  "open",   "write", "read_back", "sync",
                                      "store", "finish", "load",  "digest"};
    static const int errors[] = {-EIO, -ENOSPC, -EACCES, -EROFS};
    static const uint32_t losses[] = {0, 0, 1000, 10000};
    uint64_t state = seed * 77777;
    size_t length = draw(&state, 10) == 0 ? draw(&state, 3) : draw(&state, 8 * 1000 * 1000 / SHARE);
    open_world(seed);
    lose(losses[draw(&state, 4)]);
    for (uint64_t left = draw(&state, 8); left > 0; left--) {
        fake_files_fail(&disk[draw(&state, SERVERS)], ops[draw(&state, 9)], (unsigned)draw(&state, 30),
                        errors[draw(&state, 4)], draw(&state, 2) != 0);
    }
    for (unsigned round = 0; round < 2; round++) {
        cw_server source = (cw_server)draw(&state, SERVERS);
        struct fake_result *r = send(source, length, "all");
        bool alive = true;
        for (uint64_t left = draw(&state, 6); left > 0; left--) {
            cw_server victim = (cw_server)draw(&state, SERVERS);
            run(CW_US((int64_t)draw(&state, 8000)));
            if (world_state(world, victim) == WORLD_RUNS) {
                world_kill(world, victim, false);
                alive = alive && victim != source;
            } else {
                must(world_start(world, victim) == 0, "a server does not start");
            }
        }
        if (alive) {
            wait_for(r, CW_SEC(120));
        }
        for (cw_server s = 0; s < SERVERS; s++) {
            if (world_state(world, s) == WORLD_DEAD) {
                must(world_start(world, s) == 0, "a server does not start");
            }
            if (alive && r->done && s != source && r->rc >= 0 && reason(r, s) == NULL) {
                must(has(s, length), "a member is told complete, and is not");
            }
            (void)has(s, length);
        }
        settle();
    }
    for (cw_server s = 0; s < SERVERS; s++) {
        memset(disk[s].fault, 0, sizeof disk[s].fault);
    }
    struct fake_result *r = send(0, length, "all");
    wait_for(r, CW_SEC(120));
    for (cw_server s = 1; s < SERVERS; s++) {
        if (!has(s, length)) {
            printf("server %u: %s\n", s, r->done && reason(r, s) != NULL ? reason(r, s) : "complete?");
        }
        must(has(s, length), "all are well, and a member has it not");
    }
    run(CW_SEC(1));
    for (cw_server s = 1; s < SERVERS; s++) {
        must(parts(s) == 0, "a part is left beside a file that is whole");
    }
    close_world();
}

int main(int argc, char **argv)
{
    wrong = seeds_share(SEEDS_WRONG_BYTES);
    struct seeds seeds = {
        .count = SANITIZED ? 1 : 6, .ledger = wrong, .ledger_bytes = SEEDS_WRONG_BYTES, .wrong = wrong, .run = drawn};
    if (seeds_read(&seeds, argc, argv) != 0) {
        return 2;
    }
    if (!seeds.named) {
        all_well();
        disks();
        deaths();
        nobody_takes_it();
        stopped(5);
        stopped(6);
        if (wrong[0] != '\0') {
            return 1;
        }
    }
    return seeds_run(&seeds);
}
