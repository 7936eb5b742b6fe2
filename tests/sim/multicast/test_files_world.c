/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_files_world.c - files on real nodes in a simulated torus (files_world.h). Scenes: full disks, disks that fail,
 * members and sources that die midway and begin again, links that flap (files_flaps.h), servers that come and go
 * (files_storm.h); then worlds that are drawn from seeds.
 *
 *   test_files_world with the options of seeds.h; with seeds on the command line only drawn worlds run. Exit code 1:
 *   something is not as promised.
 */
#include "files_flaps.h"
#include "files_storm.h"
#include "files_world.h"
#include "seeds.h"
#include "services/multicast/cast/session_table.h"
#include "services/multicast/file/progress.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- What is promised -------------------------------------------------------------------------------------------- */

static void all_well(void)
{
    enum { BYTES = 20 * 1000 * 1000 / FW_SHARE };
    fw_open(&(struct fw_setup){.seed = 1});
    struct fake_result *r = fw_send(0, BYTES, "all");
    fw_wait(r, CW_SEC(10));
    fw_must(r->rc == 0, "not all have it");
    for (cw_server s = 1; s < FW_SERVERS; s++) {
        fw_must(fw_has(s, BYTES) && fw_parts(s) == 0, "a member has not all, or something is left beside it");
    }
    printf("%d MB to 26: least %.3f Gb/s from the command on (digests and disks of 2 GB/s), %lld sent again\n",
           BYTES / 1000000, (double)BYTES * 8 / (double)fake_int(r, 0, "took_ns"),
           (long long)fake_int(r, 0, "repeated"));
    r = fw_send(13, BYTES, "all");
    fw_wait(r, CW_SEC(10));
    fw_must(r->rc == 0 && fw_has(0, BYTES), "the first source has it not from the second");
    r = fw_send(13, BYTES, "all");
    fw_wait(r, CW_SEC(10));
    fw_must(fake_int(r, 0, "sent_bytes") == 0, "what all have is sent");
    fw_close();
}

static void disks(void)
{
    enum { BYTES = 5 * 1000 * 1000 };
    fw_open(&(struct fw_setup){.seed = 2});
    fw_disk[3].room = BYTES - 1;
    fake_files_fail(&fw_disk[5], "open", 0, -EACCES, false);
    fake_files_fail(&fw_disk[9], "write", 20, -EIO, true);
    fake_files_fail(&fw_disk[20], "finish", 0, -EROFS, false);
    fake_files_fail(&fw_disk[26], "have", 0, -ENOENT, false);
    struct fake_result *r = fw_send(0, BYTES, "all");
    fw_wait(r, CW_SEC(60));
    fw_must(r->rc == 1 && fake_int(r, 0, "complete") == 21, "who is well has not all");
    fw_told(r, 3, -ENOSPC);
    fw_told(r, 5, -EACCES);
    fw_told(r, 9, -EIO);
    fw_told(r, 20, -EROFS);
    fw_told(r, 26, -ENOENT);
    for (cw_server s = 1; s < FW_SERVERS; s++) {
        fw_must(fw_has(s, BYTES) == (fw_reason(r, s) == NULL), "what is told of a member is not so");
    }
    fw_must(fw_parts(3) == 0, "a full disk is not left alone");
    printf("five disks of 26 fail: %lld complete, all five named\n", (long long)fake_int(r, 0, "complete"));
    fw_close();
}

/* Messages that servers keep pieces of, or know of no end of. */
static unsigned left_over(unsigned *known)
{
    static struct fake_result r;
    unsigned left = 0;
    *known = 0;
    for (cw_server s = 0; s < FW_SERVERS; s++) {
        fw_must(fw_command(s, "status", &r) == 0, "no status");
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
        fw_run(CW_SEC(1));
        (void)left_over(&known);
    }
    return known == 0;
}

/* A message that nobody takes ends before all of it was dealt: it must end everywhere, or it takes a place for ever. */
static void nobody_takes_it(void)
{
    /* A source has CAST_BUSY_MOST places: more messages than that. */
    enum { BYTES = 10 * 1000 * 1000 / FW_SHARE, TIMES = CAST_BUSY_MOST + (SANITIZED ? 1 : 4) };
    unsigned known;
    fw_open(&(struct fw_setup){.seed = 4});
    for (cw_server s = 1; s < FW_SERVERS; s++) {
        fake_files_fail(&fw_disk[s], "write", 1, -ENOSPC, true);
    }
    for (unsigned i = 0; i < TIMES; i++) {
        struct fake_result *r = fw_send(0, BYTES - i, "all"); /* another file each time */
        fw_wait(r, CW_SEC(2));
        fw_must(r->rc != 0 && fake_int(r, 0, "complete") == 0, "a full disk took it");
        fw_must(fake_int(r, 0, "sent_bytes") < BYTES / 2, "most of it was dealt before it ended");
        fw_told(r, 13, -ENOSPC);
    }
    for (cw_server s = 1; s < FW_SERVERS; s++) {
        memset(fw_disk[s].fault, 0, sizeof fw_disk[s].fault);
    }
    struct fake_result *r = fw_send(0, BYTES, "all");
    fw_wait(r, CW_SEC(5));
    fw_must(r->rc == 0 && fake_int(r, 0, "complete") == FW_SERVERS - 1, "it is not taken after others were refused");
    fw_run(CW_SEC(3));
    fw_must(left_over(&known) == 0, "something is kept of what nobody took");
    printf("%d files refused by all at their second write, the next one complete\n", (int)TIMES);
    /* 40 s in which nothing happens are long under a sanitizer: there, stopped() alone waits for them. */
    fw_must(SANITIZED || forgotten_within(60), "refused messages are never forgotten");
    fw_close();
}

/* One that is stopped while frames get lost, so that some never hear the STOP itself. */
static void stopped(uint64_t seed)
{
    enum { BYTES = 20 * 1000 * 1000 / FW_SHARE };
    static struct fake_result stop;
    unsigned known, left;
    char line[40];
    fw_open(&(struct fw_setup){.seed = seed});
    fw_lose(50000);
    struct fake_result *r = fw_send(0, BYTES, "all");
    fw_run(CW_US(25000 / FW_SHARE)); /* in the whole size, 10 ms of digest */
    fw_must(fw_command(0, "file-status", &stop) == 0 && stop.rows > 0, "it is not being sent");
    snprintf(line, sizeof line, "file-stop %lld", (long long)fake_int(&stop, 0, "id"));
    fw_must(!r->done && fw_command(0, line, &stop) == 0, "it cannot be stopped");
    fw_wait(r, CW_SEC(2));
    fw_must(r->rc != 0, "it was stopped, and is said to be complete");
    fw_run(CW_SEC(3));
    left = left_over(&known);
    printf("stopped at 5 %% loss: %u servers know of it after 3 s, and %u keep something\n", known, left);
    fw_must(left == 0, "servers go on with what was stopped");
    fw_must(forgotten_within(120), "what was stopped is not forgotten");
    fw_close();
}

/* A member dies and is back; then its source. What was there is not sent again. */
static void deaths(void)
{
    enum { BYTES = 20 * 1000 * 1000 / FW_SHARE };
    fw_open(&(struct fw_setup){.seed = 3});
    struct fake_result *r = fw_send(0, BYTES, "all");
    fw_run(CW_US(34000 / FW_SHARE)); /* in the whole size, 10 ms of digest, and 24 of the 27 that it takes */
    world_kill(fw_world, 14, false);
    fw_wait(r, CW_SEC(60));
    fw_must(r->rc == 1 && fake_int(r, 0, "complete") == 25 && fw_parts(14) == 2,
            "a member's death is not told, or left nothing");
    fw_must(world_start(fw_world, 14) == 0, "it does not start");
    fw_settle();
    r = fw_send(0, BYTES, "all");
    fw_wait(r, CW_SEC(60));
    fw_must(r->rc == 0 && fw_has(14, BYTES) && fw_parts(14) == 0, "it has not all after its return");
    printf("a member died and came back: %lld of %d bytes sent for it\n", (long long)fake_int(r, 0, "sent_bytes"),
           (int)BYTES);
    fw_must(fake_int(r, 0, "sent_bytes") < BYTES * 3 / 4, "what was there is sent again");
    fw_close();
    fw_open(&(struct fw_setup){.seed = 4});
    (void)fw_send(0, BYTES, "all");
    fw_run(CW_US(34000 / FW_SHARE));
    world_kill(fw_world, 0, false);
    fw_run(CW_SEC(1));
    fw_must(world_start(fw_world, 0) == 0, "the source does not start");
    fw_settle();
    r = fw_send(0, BYTES, "all");
    fw_wait(r, CW_SEC(60));
    fw_must(r->rc == 0, "not all have it from the source that began anew");
    for (cw_server s = 1; s < FW_SERVERS; s++) {
        fw_must(fw_has(s, BYTES) && fw_parts(s) == 0, "a member has not all");
    }
    printf("the source died and came back: %lld of %d bytes sent the second time\n",
           (long long)fake_int(r, 0, "sent_bytes"), (int)BYTES);
    fw_must(fake_int(r, 0, "sent_bytes") < BYTES * 3 / 4, "what was there is sent again");
    fw_close();
}

/* Two sources send two files of one name: both come whole, members may differ, and both sources are told so. */
static void two_of_one_name(void)
{
    enum { ONE = 5 * 1000 * 1000, OTHER = ONE - 1000 };
    unsigned with_one = 0, with_other = 0;
    fw_open(&(struct fw_setup){.seed = 9});
    struct fake_result *r[] = {fw_send(0, ONE, "all"), fw_send(13, OTHER, "all")};
    fw_wait(r[0], CW_SEC(10));
    fw_wait(r[1], CW_SEC(10));
    for (cw_server s = 1; s < FW_SERVERS; s++) {
        const struct fake_blob *b = fake_files_find(&fw_disk[s], "image");
        with_one += b != NULL && b->length == ONE;
        with_other += b != NULL && b->length == OTHER;
    }
    printf("two files of one name at once: %u servers have one, %u the other; told %s and %s\n", with_one, with_other,
           fake_text(r[0], 0, "contested_by"), fake_text(r[1], 0, "contested_by"));
    fw_must(with_one + with_other == FW_SERVERS - 1, "a member has neither");
    for (unsigned i = 0; i < 2; i++) {
        int64_t sure = fake_int(r[i], 0, "complete") - fake_int(r[i], 0, "contested");
        fw_must(r[i]->rc == 1, "a source calls it done, though members may have the other's");
        fw_must(sure <= (int64_t)(i == 0 ? with_one : with_other), "more are said to have it than do");
    }
    fw_must(strcmp(fake_text(r[0], 0, "contested_by"), "1,1,1") == 0, "the first source is not told of the second");
    fw_must(strcmp(fake_text(r[1], 0, "contested_by"), "0,0,0") == 0, "the second source is not told of the first");
    fw_close();
    fw_open(&(struct fw_setup){.seed = 9});
    r[0] = fw_send(0, ONE, "all");
    fw_wait(r[0], CW_SEC(10));
    r[1] = fw_send(13, OTHER, "all");
    fw_wait(r[1], CW_SEC(10));
    fw_must(fake_find(r[0], 0, "contested_by") == NULL && fake_find(r[1], 0, "contested_by") == NULL,
            "one file after the other is called a contest");
    fw_close();
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
    size_t length = fw_draw(&state, 10) == 0 ? fw_draw(&state, 3) : fw_draw(&state, 8 * 1000 * 1000 / FW_SHARE);
    fw_open(&(struct fw_setup){.seed = seed});
    fw_lose(losses[fw_draw(&state, 4)]);
    for (uint64_t left = fw_draw(&state, 8); left > 0; left--) {
        fake_files_fail(&fw_disk[fw_draw(&state, FW_SERVERS)], ops[fw_draw(&state, 9)], (unsigned)fw_draw(&state, 30),
                        errors[fw_draw(&state, 4)], fw_draw(&state, 2) != 0);
    }
    for (unsigned round = 0; round < 2; round++) {
        cw_server source = (cw_server)fw_draw(&state, FW_SERVERS);
        struct fake_result *r = fw_send(source, length, "all");
        bool alive = true;
        for (uint64_t left = fw_draw(&state, 6); left > 0; left--) {
            cw_server victim = (cw_server)fw_draw(&state, FW_SERVERS);
            fw_run(CW_US((int64_t)fw_draw(&state, 8000)));
            if (world_state(fw_world, victim) == WORLD_RUNS) {
                world_kill(fw_world, victim, false);
                alive = alive && victim != source;
            } else {
                fw_must(world_start(fw_world, victim) == 0, "a server does not start");
            }
        }
        if (alive) {
            fw_wait(r, CW_SEC(120));
        }
        for (cw_server s = 0; s < FW_SERVERS; s++) {
            if (world_state(fw_world, s) == WORLD_DEAD) {
                fw_must(world_start(fw_world, s) == 0, "a server does not start");
            }
            if (alive && r->done && s != source && r->rc >= 0 && fw_reason(r, s) == NULL) {
                fw_must(fw_has(s, length), "a member is told complete, and is not");
            }
            (void)fw_has(s, length);
        }
        fw_settle();
    }
    for (cw_server s = 0; s < FW_SERVERS; s++) {
        memset(fw_disk[s].fault, 0, sizeof fw_disk[s].fault);
    }
    struct fake_result *r = fw_send(0, length, "all");
    fw_wait(r, CW_SEC(120));
    for (cw_server s = 1; s < FW_SERVERS; s++) {
        if (!fw_has(s, length)) {
            printf("server %u: %s\n", s, r->done && fw_reason(r, s) != NULL ? fw_reason(r, s) : "complete?");
        }
        fw_must(fw_has(s, length), "all are well, and a member has it not");
    }
    fw_run(CW_SEC(1));
    for (cw_server s = 1; s < FW_SERVERS; s++) {
        fw_must(fw_parts(s) == 0, "a part is left beside a file that is whole");
    }
    fw_close();
}

int main(int argc, char **argv)
{
    fw_wrong = seeds_share(SEEDS_WRONG_BYTES);
    struct seeds seeds = {.count = SANITIZED ? 1 : 4,
                          .ledger = fw_wrong,
                          .ledger_bytes = SEEDS_WRONG_BYTES,
                          .wrong = fw_wrong,
                          .run = drawn};
    if (seeds_read(&seeds, argc, argv) != 0) {
        return 2;
    }
    if (!seeds.named) {
        all_well();
        disks();
        deaths();
        nobody_takes_it();
        stopped(5);
        two_of_one_name();
        if (!SANITIZED) {
            stopped(6);
            files_flaps();
            files_storm();
        }
        if (fw_wrong[0] != '\0') {
            return 1;
        }
    }
    return seeds_run(&seeds);
}
