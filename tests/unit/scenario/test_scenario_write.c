/* SPDX-License-Identifier: Apache-2.0 */
/* What is written reads as the same scenario: of a person's file, and of hundreds that are drawn. */
#include "scenario/scenario.h"
#include "simulator/faults.h"

#include "suite.h"

#include <string.h>

enum { ROOM = 1 << 20 };

/* Written text; the caller frees it. */
static char *written(const struct scenario *s)
{
    char *text = calloc(1, ROOM);
    FILE *out = fmemopen(text, ROOM, "w");
    ck_assert_int_eq(scenario_write(s, out), 0);
    fclose(out);
    return text;
}

static void same_fault(const struct fault *a, const struct fault *b)
{
    ck_assert(a->at.ns == b->at.ns && a->kind == b->kind);
    switch (a->kind) {
    case FAULT_KILL_SLAB:
    case FAULT_PARTITION:
    case FAULT_REJOIN:
        ck_assert(a->axis == b->axis && a->number == b->number);
        break;
    case FAULT_KILL_ROW:
        ck_assert(a->server == b->server && a->axis == b->axis);
        break;
    case FAULT_HEAL:
        break;
    case FAULT_HARM:
        ck_assert(a->harm.loss == b->harm.loss && a->harm.duplicate == b->harm.duplicate);
        ck_assert(a->harm.corrupt == b->harm.corrupt && a->harm.delayed == b->harm.delayed);
        ck_assert(a->harm.delay_most.ns == b->harm.delay_most.ns && a->server == b->server && a->link == b->link);
        break;
    default:
        ck_assert(a->server == b->server && a->span.ns == b->span.ns);
        ck_assert(a->kind != FAULT_CLOCK || a->number == b->number);
        ck_assert((a->kind != FAULT_CUT && a->kind != FAULT_CUT_OUT && a->kind != FAULT_MEND) || a->link == b->link);
        break;
    }
}

/* Writes s, reads it, and gives that when it is the same. */
static void round_trip(const struct scenario *s, struct scenario *again)
{
    char error[SCENARIO_ERROR];
    char *text = written(s);
    ck_assert_msg(scenario_read(again, "again", text, strlen(text), error) == 0, "%s\n%s", error, text);
    char *twice = written(again);
    ck_assert_str_eq(text, twice);
    ck_assert_uint_eq(s->plan.count, again->plan.count);
    for (uint32_t i = 0; i < s->plan.count; i++) {
        same_fault(&s->plan.fault[i], &again->plan.fault[i]);
    }
    const struct world_config *a = &s->config, *b = &again->config;
    ck_assert(a->seed == b->seed && a->dims.x == b->dims.x && a->dims.y == b->dims.y && a->dims.z == b->dims.z);
    ck_assert_mem_eq(&a->node.timers, &b->node.timers, sizeof a->node.timers);
    ck_assert(a->node.mtu == b->node.mtu && a->node.hop_limit == b->node.hop_limit);
    ck_assert(a->node.queue_packets == b->node.queue_packets && a->node.queue_bytes == b->node.queue_bytes);
    ck_assert(a->node.hold_bytes == b->node.hold_bytes && a->packets_max == b->packets_max);
    ck_assert(a->wire.bits_per_second == b->wire.bits_per_second && a->wire.ring == b->wire.ring);
    ck_assert(a->wire.propagation.ns == b->wire.propagation.ns && a->wire.hop_delay.ns == b->wire.hop_delay.ns);
    ck_assert(a->wire.hop_ps_per_byte == b->wire.hop_ps_per_byte && a->cpu_ps_per_byte == b->cpu_ps_per_byte);
    ck_assert(a->cpu_per_frame.ns == b->cpu_per_frame.ns && a->cpu_queue == b->cpu_queue);
    ck_assert(a->clock_ppm == b->clock_ppm && a->clock_offset.ns == b->clock_offset.ns);
    ck_assert(a->carrier.ns == b->carrier.ns && a->corrupt_passes == b->corrupt_passes);
    ck_assert(s->boot.ns == again->boot.ns && s->end.ns == again->end.ns);
    ck_assert(s->loads == again->loads && s->quiets == again->quiets && s->captures == again->captures);
    ck_assert_mem_eq(s->quiet, again->quiet, s->quiets * sizeof *s->quiet);
    for (unsigned i = 0; i < s->expects; i++) {
        ck_assert_str_eq(s->expect[i].field, again->expect[i].field);
        ck_assert(s->expect[i].relation == again->expect[i].relation);
        ck_assert_int_eq(s->expect[i].millionths, again->expect[i].millionths);
    }
    free(text);
    free(twice);
}

START_TEST(a_person_s_file_is_written_and_reads_as_the_same)
{
    static const char text[] = "torus 3x4x5\nseed 9223372036854775807\nrate 2.5gbit\nmtu 4000\nring 4\ntimers fast\n"
                               "timer hello 2.5ms\nhost 49.7us byte=8.2ns\ncpu 0 byte=0.001ns\nclocks 0.5% offset=3s\n"
                               "carrier 200us\ncorrupted pass\nlimit packets 77777\nlimit hops 30\nboot 5ms\n"
                               "capture 2,3,4 +x -z\ncapture 0,0,0\n"
                               "at 100ms workload keys rate=2000 bytes=64\nfrom 200ms to 300ms workload all load=98%\n"
                               "at 1s workload neighbours links=3\nfrom 1s to 2s loss 5%\nat 2s stop\n"
                               "from 500ms to 900ms kill 1,0,2\nat 1s cut 0,0,0 +x oneway\nat 1.2s pause 2,2,2 80ms\n"
                               "at 1s harm all -y delay=2ms\nat 1s harm 0,0,0 loss=1ppm duplicate=2ppm\n"
                               "at 1s clock 1,1,1 -300ppm\nat 1s kill-plane z 4\nat 1s kill-row 1,1,1 y\n"
                               "from 1s to 2s partition y 2\nat 2.9s heal\nat 3s quiet\nend 3.000000001s\n"
                               "expect misdelivered = 0\nexpect ratio >= 0.96\nexpect lost != -0.3%\n"
                               "expect dropped_by_cause.no-route < 5\n";
    struct scenario s, again;
    char error[SCENARIO_ERROR];
    ck_assert_msg(scenario_read(&s, "shop", text, sizeof text - 1, error) == 0, "%s", error);
    round_trip(&s, &again);
    ck_assert_uint_eq(again.config.seed, INT64_MAX);
    ck_assert_uint_eq(again.config.wire.hop_ps_per_byte, 8200);
    ck_assert_uint_eq(again.capture[1].links, CW_LINKS_ALL);
    scenario_free(&s);
    scenario_free(&again);
}
END_TEST

START_TEST(a_settled_start_is_written_and_reads_as_the_same)
{
    struct scenario s, again;
    scenario_init(&s);
    s.config.settled = true;
    s.boot = CW_NS(0);
    round_trip(&s, &again);
    ck_assert(again.config.settled);
}
END_TEST

START_TEST(what_is_drawn_is_written_and_reads_as_the_same)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct scenario s, again;
        struct torus torus;
        scenario_init(&s);
        world_config_draw(&s.config, seed, 100);
        ck_assert_int_eq(torus_init(&torus, s.config.dims), 0);
        ck_assert_int_eq(
            fault_plan_draw(&s.plan, &torus, &s.config.node.timers, seed, (cw_time){100000000}, (cw_time){900000000}),
            0);
        fault_plan_sort(&s.plan);
        s.quiet[s.quiets++] = s.end;
        round_trip(&s, &again);
        scenario_free(&s);
        scenario_free(&again);
    }
}
END_TEST

START_TEST(a_full_disk_is_an_error)
{
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL) {
        return;
    }
    struct scenario s;
    scenario_init(&s);
    ck_assert_int_lt(scenario_write(&s, full), 0);
    fclose(full);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_person_s_file_is_written_and_reads_as_the_same),
    SUITE_TEST(a_settled_start_is_written_and_reads_as_the_same),
    SUITE_TEST(what_is_drawn_is_written_and_reads_as_the_same),
    SUITE_TEST(a_full_disk_is_an_error),
};
SUITE_MAIN("simulator/scenario_write", tests)
