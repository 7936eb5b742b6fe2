/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_relay_world.c - the judge of the relay, by seed: drawn frames in drawn states, judged as by the reference of
 * kit/model/relay_kit.c, bytes and state alike; and judges that run while generations are published.
 */
#include "relay_kit.h"
#include "relay_orders.h"
#include "sanitized.h"
#include "seeds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { STATES = 100, FRAMES = 50, ROUNDS = 300 };

static struct ledger {
    char wrong[SEEDS_WRONG_BYTES];
    uint64_t judged, by_reason[RELAY_REASONS], passed_between;
} * ledger;
static struct ledger sums;

static void compare_one(struct dice *d, struct relay_state *state, uint64_t now)
{
    static struct relay_state expected; /* 10 KB */
    struct relay_kit_frame frame, changed;
    struct relay_verdict verdict;
    relay_kit_frame(d, state, &frame);
    changed = frame;
    expected = *state;
    struct relay_verdict right = relay_kit_judge(&expected, &changed, now);
    relay_judge(state, frame.bytes, frame.bytes + frame.here, frame.size, frame.in, now, &verdict);
    ledger->judged++;
    if (verdict.reason != right.reason) {
        seeds_fail(ledger->wrong, "reason", "the judge says %s and the reference %s", relay_reason_name(verdict.reason),
                   relay_reason_name(right.reason));
        return;
    }
    ledger->by_reason[right.reason]++;
    if (right.reason == RELAY_PASSED &&
        (verdict.out != right.out || verdict.ifindex != right.ifindex || verdict.place != right.place)) {
        seeds_fail(ledger->wrong, "verdict", "link %u, not %u; place %u, not %u", verdict.out, right.out, verdict.place,
                   right.place);
    }
    for (unsigned i = 0; i < sizeof frame.bytes; i++) {
        if (frame.bytes[i] != changed.bytes[i]) {
            seeds_fail(ledger->wrong, "bytes", "byte %u is %02x and not %02x", i, frame.bytes[i], changed.bytes[i]);
        }
    }
    if (memcmp(state, &expected, sizeof expected) != 0) {
        seeds_fail(ledger->wrong, "state", "the judge left another state than the reference");
    }
}

static void run(uint64_t seed)
{
    static struct relay_state state;
    struct dice d = {seed};
    for (unsigned i = 0; i < STATES / (SANITIZED ? 4 : 1); i++) {
        uint64_t now = 3 * RELAY_KIT_FAR + dice_below(&d, 1000);
        relay_kit_state(&d, &state, now);
        for (unsigned k = 0; k < FRAMES; k++) {
            compare_one(&d, &state, now);
        }
    }
    ledger->passed_between = relay_orders(&d, ROUNDS, ledger->wrong);
}

static void add(void)
{
    sums.judged += ledger->judged;
    sums.passed_between += ledger->passed_between;
    for (unsigned i = 0; i < RELAY_REASONS; i++) {
        sums.by_reason[i] += ledger->by_reason[i];
    }
}

static void say(void)
{
    printf("%" PRIu64 " frames, %" PRIu64 " passed, %" PRIu64 " between publications", ledger->judged,
           ledger->by_reason[RELAY_PASSED], ledger->passed_between);
}

int main(int argc, char **argv)
{
    ledger = seeds_share(sizeof *ledger);
    struct seeds s = {.count = 25,
                      .ledger = ledger,
                      .ledger_bytes = sizeof *ledger,
                      .wrong = ledger->wrong,
                      .run = run,
                      .add = add,
                      .say = say};
    int rc = seeds_read(&s, argc, argv);
    if (rc != 0) {
        return rc;
    }
    rc = seeds_run(&s);
    printf("%" PRIu64 " frames judged as by the reference", sums.judged);
    for (unsigned i = 0; i < RELAY_REASONS; i++) {
        printf(", %s %" PRIu64, relay_reason_name(i), sums.by_reason[i]);
    }
    printf("; %" PRIu64 " relayed between stores\n", sums.passed_between);
    /* A reason that no frame is refused for would not be tried. (None is torn: nobody publishes meanwhile.) */
    for (unsigned i = 0; i < RELAY_REASONS && rc == 0 && !s.named; i++) {
        rc = sums.by_reason[i] == 0 && i != RELAY_TORN ? 1 : rc;
    }
    return rc;
}
