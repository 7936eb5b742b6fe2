/* SPDX-License-Identifier: Apache-2.0 */
/* What a scenario says of the cluster, and the bounds of it. */
#include "scenario/scenario.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static char error[SCENARIO_ERROR];

static int reads(struct scenario *s, const char *text)
{
    return scenario_read(s, "shop.txt", text, strlen(text), error);
}

START_TEST(every_setting_is_read)
{
    struct scenario s;
    ck_assert_msg(reads(&s, "torus 3x4x5\nseed 9\nrate 2.5gbit\npropagation 3us\nring 2\nmtu 1500\ntimers fast\n"
                            "timer refresh 7s\nlimit queue-packets 11\nlimit queue-bytes 12k\nlimit hold-bytes 13k\n"
                            "limit packets 14\nlimit cpu-queue 15\nlimit hops 16\nhost 49.7us byte=8.2ns\ncpu 5us\n"
                            "clocks 0.5% offset=3s\ncarrier 200us\ncorrupted pass\nboot 5ms\ncapture 2,3,4 +x -z\n"
                            "capture 0,0,0\nend 4s\n") == 0,
                  "%s", error);
    const struct world_config *c = &s.config;
    ck_assert(c->dims.x == 3 && c->dims.y == 4 && c->dims.z == 5 && c->seed == 9);
    ck_assert(c->wire.bits_per_second == 2500000000 && c->wire.propagation.ns == 3000 && c->wire.ring == 2);
    ck_assert(c->node.mtu == 1500 && c->node.hop_limit == 16);
    struct ls_timers timers = ls_timers_fast();
    timers.refresh = CW_SEC(7);
    ck_assert_mem_eq(&c->node.timers, &timers, sizeof timers);
    ck_assert(c->node.queue_packets == 11 && c->node.queue_bytes == 12000 && c->node.hold_bytes == 13000);
    ck_assert(c->packets_max == 14 && c->cpu_queue == 15);
    ck_assert(c->wire.hop_delay.ns == 49700 && c->wire.hop_ps_per_byte == 8200);
    ck_assert(c->cpu_per_frame.ns == 5000 && c->cpu_ps_per_byte == 0);
    ck_assert(c->clock_ppm == 5000 && c->clock_offset.ns == 3000000000);
    ck_assert(c->carrier.ns == 200000 && c->corrupt_passes);
    ck_assert(s.boot.ns == 5000000 && s.end.ns == 4000000000);
    ck_assert_uint_eq(s.captures, 2);
    ck_assert(s.capture[0].server == 59 && s.capture[1].links == CW_LINKS_ALL);
    ck_assert_uint_eq(s.capture[0].links, cw_links_of(CW_LINK_XP) | cw_links_of(CW_LINK_ZM));
    ck_assert_int_eq(reads(&s, "carrier never\ncorrupted drop\ntimers default\nend 1s"), 0);
    timers = ls_timers_default();
    ck_assert(s.config.carrier.ns < 0 && !s.config.corrupt_passes);
    ck_assert_mem_eq(&s.config.node.timers, &timers, sizeof timers);
    ck_assert_int_eq(reads(&s, "boot settled\nend 1s"), 0);
    ck_assert(s.config.settled && s.boot.ns == 0);
    ck_assert_int_eq(reads(&s, "boot settled\nboot 2ms\nend 1s"), 0);
    ck_assert(!s.config.settled && s.boot.ns == 2000000);
}
END_TEST

START_TEST(every_timer_is_its_own)
{
    static const char *const words[] = {"hello",         "dead", "hold", "flood-bound", "retry",
                                        "pending-limit", "pace", "damp", "damp-max",    "refresh"};
    struct scenario s;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct ls_timers base = ls_timers_default();
        char text[80];
        (void)snprintf(text, sizeof text, "timers default\ntimer %s 123456us\nend 1s", words[i]);
        int rc = reads(&s, text);
        if (rc < 0) {
            ck_assert_ptr_nonnull(strstr(error, "shop.txt:2: these timers")); /* a pair that cannot be */
            continue;
        }
        cw_span before[sizeof base / sizeof(cw_span)], after[sizeof base / sizeof(cw_span)];
        unsigned changed = 0;
        memcpy(before, &base, sizeof before);
        memcpy(after, &s.config.node.timers, sizeof after);
        for (size_t k = 0; k < sizeof before / sizeof *before; k++) {
            changed += before[k].ns != after[k].ns;
            ck_assert(before[k].ns == after[k].ns || after[k].ns == 123456000);
        }
        ck_assert_msg(changed == 1, "%s", words[i]);
    }
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
    static const struct {
        const char *text, *says;
    } known[] = {
        {"torus 3x3", "shop.txt:1: found '3x3', expected dimensions of 1 to 256 each"},
        {"torus 257x1x1", "found '257x1x1', expected dimensions"},
        {"capture 0,0,0\ntorus 4x4x4", "shop.txt:2: the torus must be said before the first line that names a server"},
        {"at 1s kill 0,0,0\ntorus 4x4x4", "shop.txt:2: the torus must be said before"},
        {"seed -1", "found '-1', expected a whole number"},
        {"seed 9223372036854775808", "expected a whole number from 0 to 9223372036854775807"},
        {"rate 999bit", "found '999bit', expected a rate with its unit from 1kbit to 8000gbit"},
        {"rate 8001gbit", "found '8001gbit', expected a rate with its unit from 1kbit to 8000gbit"},
        {"ring 3", "found '3', expected 1, 2 or 4 frames"},
        {"mtu 1499", "found '1499', expected a whole number from 1500 to 9000 bytes"},
        {"mtu 9001", "found '9001', expected a whole number from 1500 to 9000 bytes"},
        {"timers quick", "found 'quick', expected fast or default"},
        {"timer bye 1s", "found 'bye', expected hello, dead"},
        {"limit hops 256", "found '256', expected a whole number from 0 to 255"},
        {"limit all 1", "found 'all', expected queue-packets"},
        {"host 1us byte=8", "expected ns for each byte"},
        {"host 1us byte=0.0001ns", "expected ns for each byte"},
        {"clocks 11%", "found '11%', expected a share from 0 to 10%"},
        {"corrupted maybe", "found 'maybe', expected drop"},
        {"capture 3,0,0", "expected a server x,y,z inside 3x3x3"},
        {"capture 0,0,0 +w", "found '+w', expected a link"},
        {"boot setled", "found 'setled', expected a time"},
        {"boot 5ms 6ms", "found '6ms', expected the end of the line"},
    };
    struct scenario s;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[120];
        (void)snprintf(text, sizeof text, "%s\nend 1s\n", known[i].text);
        ck_assert_int_eq(reads(&s, text), -EINVAL);
        ck_assert_msg(strstr(error, known[i].says) != NULL, "'%s' is not in: %s", known[i].says, error);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_setting_is_read),
    SUITE_TEST(every_timer_is_its_own),
    SUITE_TEST(what_cannot_be_is_refused),
};
SUITE_MAIN("simulator/scenario_setting", tests)
