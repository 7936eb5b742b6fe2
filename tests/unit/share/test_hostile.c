/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A daemon works on an attachment, and takes from a lane, while another thread overwrites whatever a process may write,
 * at full speed. For the thread sanitizer (no access of the product races) and for the address sanitizer (none leaves
 * its area); tests/sim/share has an enemy whose every step a seed decides.
 */
#include "sanitized.h"
#include "share/lane.h"
#include "share_kit.h"
#include "suite.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { ROUNDS = SANITIZED ? 2000 : 20000 };

static struct share_kit k;
static _Alignas(SHARE_LINE) unsigned char area[2][SHARE_LANE_AREA];
static atomic_bool stop;

static void poke(unsigned char *at, uint64_t word)
{
    atomic_store_explicit((_Atomic share_word64 *)(void *)at, word, memory_order_relaxed);
}

static void poke_32(unsigned char *at, uint32_t word)
{
    atomic_store_explicit((_Atomic share_word32 *)(void *)at, word, memory_order_relaxed);
}

/* Indices near what is right most of the time: nonsense alone would end all at the first look. */
static void *enemy(void *arg)
{
    struct dice d = {(uint64_t)(uintptr_t)arg};
    uint32_t tail = 0;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        uint64_t word = dice_word(&d);
        unsigned slot = dice_below(&d, k.g.commands);
        unsigned char *at = k.sub + SHARE_SUB_COMMANDS + SHARE_SLOT_BYTES * (size_t)slot;
        struct share_command c = {
            .op = (uint8_t)(1 + word % 26), .endpoint = 1, .peer = 2, .length = (uint32_t)(word >> 60)};
        uint64_t words[SHARE_COMMAND_WORDS];
        switch (dice_below(&d, 8)) {
        case 0:
            share_command_encode(&c, words);
            for (unsigned i = 0; i < SHARE_COMMAND_WORDS; i++) {
                poke(at + 8 * (size_t)i, words[i]);
            }
            break;
        case 1:
            poke(at + 8 * (size_t)dice_below(&d, SHARE_SLOT_BYTES / 8), word);
            break;
        case 2:
            tail += dice_below(&d, 3);
            poke_32(k.sub + SHARE_SUB_COMMAND_TAIL, dice_below(&d, 1000) ? tail : (uint32_t)word);
            break;
        case 3:
            poke(k.region[0] + 8 * (size_t)dice_below(&d, 8192), word);
            break;
        case 4:
            poke_32(k.sub + SHARE_SUB_REST, (uint32_t)(word % 4));
            break;
        case 5: /* a head that is fine but for some bit at times */
            at = area[1] + SHARE_LANE_RECORDS + SHARE_RECORD_BYTES * (size_t)dice_below(&d, 32);
            for (unsigned i = 0; i < SHARE_RECORD_WORDS; i++) {
                poke(at + 8 * (size_t)i, i == 0 ? SHARE_RECORD_SHORT | (word & 0x7f) << 32 : 0);
            }
            if (word >> 62 == 0) {
                poke(at + 8 * (size_t)dice_below(&d, SHARE_RECORD_WORDS), UINT64_C(1) << dice_below(&d, 64));
            }
            break;
        case 6:
            poke_32(area[1] + SHARE_LANE_TAIL, 64 * dice_below(&d, 1024));
            break;
        default:
            poke(k.sub + SHARE_SUB_COMPLETION_HEAD, word % 64);
        }
    }
    return NULL;
}

START_TEST(whatever_it_writes)
{
    static unsigned char to[SHARE_LANE_RING];
    pthread_t thread;
    uint64_t taken = 0, refused = 0, detached = 0, lanes = 0;
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    struct share_out ours = share_out_of(area[0], SHARE_LANE_AREA);
    struct share_in theirs = share_in_of(area[1], SHARE_LANE_AREA);
    struct share_lane lane;
    share_lane_open(&lane, &ours, &theirs, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, enemy, (void *)(uintptr_t)7), 0);
    /* Until each has come of it; where one processor is shared, the enemy's turn takes a while to come. */
    for (unsigned i = 0; i < ROUNDS || (i < 100 * ROUNDS && !(taken && refused && detached && lanes)); i++) {
        struct share_taken t;
        struct share_lane_message m;
        int waiting = share_taker_look(&k.taker), rc = 1;
        SUITE_HOLDS(waiting <= 16, "%d waiting", waiting);
        for (int n = 0; n < waiting && rc != 0 && rc != -EPROTO; n++) {
            rc = share_taker_next(&k.taker, &k.tables, &t);
            refused += rc == -EINVAL || rc == -ENOENT;
            if (rc != 1) {
                continue;
            }
            taken++;
            SUITE_HOLDS(share_model_faults(&t.c, &k.tables) == 0 && share_model_parts(&t, &k.tables) == 0, "op %u",
                        t.c.op);
            if (t.shape.body == SHARE_BODY_BYTES) {
                share_taker_body(&k.taker, &k.tables, &t, to);
            }
            share_teller_keep_silent(&k.teller);
        }
        share_taker_publish(&k.taker);
        (void)share_teller_publish(&k.teller);
        (void)!share_waker_published(&k.waker);
        if (waiting < 0 || rc == -EPROTO) {
            detached++;
            /* Attached again: the daemon's side starts where the enemy happens to be. */
            uint32_t start = share_load_32(&k.daemon_sub, SHARE_SUB_COMMAND_TAIL);
            share_teller_open(&k.teller, &k.daemon_com, &k.daemon_sub, &k.g, 0);
            share_taker_open(&k.taker, &k.daemon_sub, &k.daemon_com, &k.teller, &k.g, start);
        }
        if (i % 64 == 0) {
            sched_yield();
        }
        rc = share_lane_take(&lane, UINT64_MAX, &m, to, sizeof to);
        lanes += rc == 1;
        if (rc < 0) {
            share_lane_open(&lane, &ours, &theirs, 0);
        }
    }
    atomic_store(&stop, true);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert(share_kit_close(&k));
    ck_assert_msg(taken > 0 && refused > 0 && detached > 0 && lanes > 0, "%lu taken, %lu refused, %lu detached, %lu",
                  (unsigned long)taken, (unsigned long)refused, (unsigned long)detached, (unsigned long)lanes);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(whatever_it_writes)};
SUITE_MAIN("hostile", tests)
