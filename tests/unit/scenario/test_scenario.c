/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_scenario.c - scenario files: what every line means, what every mistake is told, and that what is written reads
 * back.
 */
#include "base/quantity.h"
#include "scenario/report.h"
#include "scenario/scenario.h"
#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct scenario read_good(const char *text)
{
    struct scenario s;
    char error[SCENARIO_ERROR];
    int rc = scenario_read(&s, "t.txt", text, strlen(text), error);
    ck_assert_msg(rc == 0, "%s\n%s", error, text);
    return s;
}

START_TEST(settings)
{
    struct scenario s =
        read_good("torus 2x3x4\nseed 99\nrate 10gbit\npropagation 200ns\nring 4\nmtu 1500\ntimers fast\n"
                  "timer damp 7ms\nlimit queue-packets 3\nlimit hops 20\nlimit cpu-queue 5\n"
                  "host 49700ns byte=8.2ns\ncpu 2us\nclocks 1% offset=5s\ncarrier 1ms\ncorrupted pass\n"
                  "boot 3ms\ncapture 1,2,3 +x -z\ncapture 0,0,0\nservice a.so\noption ping timeout_us 5000\nend 2s\n");
    const struct world_config *c = &s.config;
    ck_assert(c->dims.x == 2 && c->dims.y == 3 && c->dims.z == 4 && c->seed == 99);
    ck_assert(c->wire.bits_per_second == UINT64_C(10000000000) && c->wire.propagation.ns == 200 && c->wire.ring == 4);
    ck_assert(c->node.mtu == 1500 && c->node.timers.hello.ns == ls_timers_fast().hello.ns);
    ck_assert(c->node.timers.damp.ns == 7000000 && c->node.queue_packets == 3 && c->node.hop_limit == 20);
    ck_assert(c->cpu_queue == 5 && c->wire.hop_delay.ns == 49700 && c->wire.hop_ps_per_byte == 8200);
    ck_assert(c->cpu_per_frame.ns == 2000 && c->clock_ppm == 10000 && c->clock_offset.ns == 5000000000);
    ck_assert(c->carrier.ns == 1000000 && c->corrupt_passes && s.boot.ns == 3000000 && s.end.ns == 2000000000);
    ck_assert(s.captures == 2 && s.capture[0].server == 23 && s.capture[0].links == 0x21 && s.capture[1].links == 0x3f);
    ck_assert(s.services == 1 && strcmp(s.service[0], "a.so") == 0);
    ck_assert(s.options == 1 && strcmp(s.option[0].service, "ping") == 0);
    ck_assert(strcmp(s.option[0].name, "timeout_us") == 0 && strcmp(s.option[0].value, "5000") == 0);
    scenario_free(&s);
}
END_TEST

START_TEST(events)
{
    struct scenario s =
        read_good("torus 3x3x3\n"
                  "at 500ms kill 1,0,2\nat 100ms workload keys rate=1k bytes=300\nat 900ms restart 1,0,2\n"
                  "at 1s cut 0,0,0 +x oneway\nat 1200ms pause 2,2,2 80ms\nfrom 1s to 2s loss 5%\n"
                  "from 100ms to 200ms workload all load=40%\nat 1s tell 0,0,0 ping to 1,1,1 count=3\n"
                  "at 2s quiet\nat 1s clock 0,0,1 -300ppm\nat 1s partition y 2\nat 1s heal\n"
                  "at 1s harm 0,0,0 +x loss=1% delay=2ms\nat 1s harm 0,0,0 duplicate=2% delayed=3%\n"
                  "end 3s\nexpect misdelivered = 0\nexpect dropped_by_cause.no-route <= 10\n"
                  "expect dropped_share < 0.3%\n");
    static const struct fault want[] = {
        {.at = {500000000}, .kind = FAULT_KILL, .server = 11, .link = CW_LINK_SELF},
        {.at = {900000000}, .kind = FAULT_START, .server = 11, .link = CW_LINK_SELF},
        {.at = {1000000000}, .kind = FAULT_CUT_OUT, .server = 0, .link = CW_LINK_XP},
        {.at = {1000000000},
         .kind = FAULT_HARM,
         .server = CW_SERVER_NONE,
         .link = CW_LINK_SELF,
         .harm = {.loss = 50000}},
        {.at = {1000000000}, .kind = FAULT_CLOCK, .server = 1, .link = CW_LINK_SELF, .number = -300},
        {.at = {1000000000},
         .kind = FAULT_PARTITION,
         .server = CW_SERVER_NONE,
         .link = CW_LINK_SELF,
         .axis = 1,
         .number = 2},
        {.at = {1000000000}, .kind = FAULT_HEAL, .server = CW_SERVER_NONE, .link = CW_LINK_SELF},
        {.at = {1000000000},
         .kind = FAULT_HARM,
         .server = 0,
         .link = CW_LINK_XP,
         .harm = {.loss = 10000, .delayed = 1000000, .delay_most = {2000000}}},
        {.at = {1000000000},
         .kind = FAULT_HARM,
         .server = 0,
         .link = CW_LINK_SELF,
         .harm = {.duplicate = 20000, .delayed = 30000}},
        {.at = {1200000000}, .kind = FAULT_PAUSE, .server = 26, .link = CW_LINK_SELF, .span = {80000000}},
        {.at = {2000000000}, .kind = FAULT_HARM, .server = CW_SERVER_NONE, .link = CW_LINK_SELF},
    };
    ck_assert_uint_eq(s.plan.count, sizeof want / sizeof *want);
    for (size_t i = 0; i < s.plan.count; i++) {
        const struct fault *a = &s.plan.fault[i], *b = &want[i];
        ck_assert_msg(a->at.ns == b->at.ns && a->kind == b->kind && a->server == b->server && a->link == b->link &&
                          a->axis == b->axis && a->number == b->number && a->span.ns == b->span.ns &&
                          memcmp(&a->harm, &b->harm, sizeof a->harm) == 0,
                      "fault %zu", i);
    }
    ck_assert_uint_eq(s.loads, 3);
    ck_assert(s.load[0].load.kind == WORKLOAD_KEYS && s.load[0].load.rate == 1000 && s.load[0].load.bytes == 300);
    ck_assert(s.load[1].load.kind == WORKLOAD_ALL_TO_ALL && s.load[1].load.load_ppm == 400000 && !s.load[1].stop);
    ck_assert(s.load[2].stop && s.load[2].at.ns == 200000000);
    ck_assert(s.quiets == 1 && s.quiet[0].ns == 2000000000 && s.end.ns == 3000000000);
    ck_assert(s.tells == 1 && strcmp(s.tell[0].service, "ping") == 0 &&
              strcmp(s.tell[0].text, "to 1,1,1 count=3") == 0);
    ck_assert(s.expects == 3 && s.expect[0].line == 17 && s.expect[0].relation == SCENARIO_EQUAL);
    ck_assert(s.expect[1].relation == SCENARIO_MOST && s.expect[1].millionths == 10000000);
    ck_assert(s.expect[2].relation == SCENARIO_LESS && s.expect[2].millionths == 3000);
    scenario_free(&s);
}
END_TEST

START_TEST(mistakes)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"tors 3x3x3\n", "t.txt:1: found 'tors', expected a setting (torus, seed, rate"},
        {"tors 3x3x3\n", "did you mean torus?"},
        {"torus 3x3\n", "t.txt:1: found '3x3', expected dimensions of 1 to 256 each, as 3x3x3"},
        {"torus 3x3x3 4\n", "t.txt:1: found '4', expected the end of the line"},
        {"end 1s\nat 5ms kil 0,0,0\n",
         "t.txt:2: found 'kil', expected what happens: workload, stop, quiet, tell, kill"},
        {"end 1s\nat 5ms kil 0,0,0\n", "did you mean kill?"},
        {"at 5 kill 0,0,0\n", "t.txt:1: found '5', expected a time with its unit"},
        {"at 5ms kill 0,0,3\n", "found '0,0,3', expected a server x,y,z inside 3x3x3"},
        {"at 5ms kill\n", "t.txt:1: found the end of the line, expected a server"},
        {"at 5ms\n", "found the end of the line, expected what happens"},
        {"at 5ms cut 0,0,0 x\n", "expected a link: +x -x"},
        {"at 5ms kill 0,0,0\ntorus 4x4x4\n",
         "t.txt:2: the torus must be said before the first line that names a server"},
        {"from 2s to 1s loss 5%\n", "t.txt:1: the second time must be after the first"},
        {"from 1s until 2s loss 5%\n", "found 'until', expected 'to' and a time"},
        {"from 1s to 2s pause 0,0,0 5ms\n", "pause happens at one instant: say 'at TIME pause'"},
        {"at 1s loss 101%\n", "found '101%', expected a share from 0 to 100%"},
        {"at 1s harm 0,0,0 +x\n", "expected loss=, duplicate="},
        {"at 1s harm 0,0,0 +x los=5%\n", "found 'los=5%', expected loss=, duplicate="},
        {"at 1s partition x 0\n", "found '0', expected a plane from 1 on"},
        {"at 1s kill-plane x 3\n", "found '3', expected a whole number from 0 to 2"},
        {"at 1s kill-plane w 1\n", "expected an axis: x, y or z"},
        {"at 1s workload key\n", "expected keys, all or neighbours"},
        {"at 1s workload keys load=5%\n", "expected bytes=, or rate= (keys), load= (all), links= (neighbours)"},
        {"timers slow\n", "expected fast or default"},
        {"timer helo 5ms\n", "expected hello, dead, hold, flood-bound"},
        {"end 1s\ntimer dead 15ms\n", "t.txt:2: these timers cannot keep the guarantee: expected dead >= 2 hello"},
        {"ring 3\nend 1s\n", "found '3', expected 1, 2 or 4 frames"},
        {"mtu 1499\n", "found '1499', expected a whole number from 1500 to 9000 bytes"},
        {"rate 1bit\n", "expected a rate with its unit from 1kbit to 8000gbit"},
        {"host 1us byte=8\n", "expected ns for each byte, as 8.2ns"},
        {"limit hop 5\n", "expected queue-packets, queue-bytes"},
        {"expect misdeliverd = 0\n", "did you mean misdelivered?"},
        {"expect dropped_by_cause = 0\n", "found 'dropped_by_cause', expected a number of the report"},
        {"expect dropped_by_cause.nothing = 0\n", "expected a number of the report"},
        {"expect delivered == 0\n", "found '==', expected = != < <= > or >="},
        {"expect delivered = many\n", "found 'many', expected a number, as 0, 0.96 or 0.3%"},
        {"at 2s kill 0,0,0\nend 1s\n", "something happens at 2s, after the end"},
        {"torus 3x3x3\n", "t.txt:1: the file ends without an 'end TIME' line"},
        {"# nothing\n", "t.txt:1: the file ends without an 'end TIME' line"},
        {"", "t.txt: the file is empty: a scenario has at least an 'end TIME' line"},
        {"torus 3x3x3\n\ntorus 3x3x3\nend 1s\n", "t.txt:3: the torus was said before, in line 1"},
        {"end 1s\nat 1ms kill 0,0,0\nend 2s\n", "t.txt:3: the end was said before, in line 1"},
        {"at 1s tell 0,0,0\n", "expected the name of a service, as ping"},
        {"option ping a\n", "expected the option's value, one word"},
        {"option ping a 1\noption ping a 2\n", "option a of ping was given already"},
        {"service\n", "found the end of the line, expected the path of a service's .so"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scenario s;
        char error[SCENARIO_ERROR];
        int rc = scenario_read(&s, "t.txt", rows[i].text, strlen(rows[i].text), error);
        ck_assert_msg(rc == -EINVAL, "%s", rows[i].text);
        ck_assert_msg(strstr(error, rows[i].says) != NULL, "%s\nsaid: %s\nnot:  %s", rows[i].text, error, rows[i].says);
    }
}
END_TEST

static const char *told(const char *text)
{
    static char error[SCENARIO_ERROR];
    struct scenario s;
    ck_assert_int_eq(scenario_read(&s, "t.txt", text, strlen(text), error), -EINVAL);
    return error;
}

START_TEST(all_mistakes_are_told)
{
    static const char *const lines = "torus 2x2x1\nat 1ms kil 0,0,0\nat 2ms kill 0,0,0\nseed many\n"
                                     "a b c d e f g h i j k l m n o p q r s t u v w x y z\nat 3ms kill 5,0,0\n";
    const char *error = told(lines);
    ck_assert_int_eq(strncmp(error, "t.txt:2: found 'kil', ", 22), 0);
    ck_assert_ptr_nonnull(strstr(error, "; did you mean kill?\nt.txt:4: found 'many', "));
    ck_assert_ptr_nonnull(strstr(error, "\nt.txt:5: more than 24 words on this line\nt.txt:6: found '5,0,0', "));
    ck_assert_ptr_null(strstr(error, "t.txt:3"));
    ck_assert_ptr_null(strstr(error, "without an 'end")); /* it may stand in a line that could not be read */
    ck_assert(error[strlen(error) - 1] != '\n');
    /* Without the torus nothing is known of the servers. */
    ck_assert_ptr_null(strchr(told("torus 2x2\nat 1ms kill 0,0,3\nend soon\n"), '\n'));
    char many[64 * 12] = "";
    for (unsigned i = 0; i < SCENARIO_MISTAKES + 2; i++) {
        strcat(many, "no such line\n");
    }
    ck_assert_ptr_nonnull(strstr(told(many), "\nt.txt: and 2 more mistakes"));
    ck_assert_ptr_null(strstr(told(many), "t.txt:11"));
}
END_TEST

static char *written(const struct scenario *s, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    ck_assert_int_eq(scenario_write(s, out), 0);
    fclose(out);
    return text;
}

/* Written, read, and written again: nothing is lost on the way. */
static void there_and_back(const struct scenario *s)
{
    size_t length, again_length;
    char *text = written(s, &length), error[SCENARIO_ERROR];
    struct scenario back;
    int rc = scenario_read(&back, "written", text, length, error);
    ck_assert_msg(rc == 0, "%s\n%s", error, text);
    char *again = written(&back, &again_length);
    ck_assert_str_eq(text, again);
    ck_assert_uint_eq(back.plan.count, s->plan.count);
    for (uint32_t i = 0; i < s->plan.count; i++) {
        const struct fault *a = &s->plan.fault[i], *b = &back.plan.fault[i];
        if (a->at.ns != b->at.ns || a->kind != b->kind || a->span.ns != b->span.ns ||
            memcmp(&a->harm, &b->harm, sizeof a->harm) != 0) {
            ck_abort_msg("fault %u of\n%s", i, text);
        }
    }
    scenario_free(&back);
    free(text);
    free(again);
}

START_TEST(round_trip)
{
    struct scenario s =
        read_good("torus 2x3x4\nseed 99\nrate 10gbit\npropagation 200ns\nring 4\nmtu 1500\ntimers fast\n"
                  "timer damp 7ms\nlimit queue-packets 3\nlimit hops 20\nlimit hold-bytes 9000\n"
                  "host 49700ns byte=8.2ns\ncpu 2us byte=0.5ns\nclocks 1% offset=5s\ncarrier 1ms\n"
                  "corrupted pass\nboot 3ms\ncapture 1,2,3 +x -z\nservice a.so\noption a b c\n"
                  "at 1s tell 0,0,0 ping to 1,1,1\nat 1ms workload neighbours links=3\n"
                  "at 2ms workload keys rate=5\nat 3ms workload all load=0.1%\nat 9ms stop\nat 10ms quiet\n"
                  "end 2s\nexpect hops_mean >= 1.25\nexpect dropped != 7\nexpect lost > 0\n");
    there_and_back(&s);
    scenario_free(&s);
}
END_TEST

/* Every kind of fault that faults.c can say is understood. */
START_TEST(every_fault)
{
    struct scenario s = read_good("torus 4x4x4\nend 9s\n");
    for (unsigned kind = 0; kind < FAULT_KINDS; kind++) {
        struct fault f = {
            .at = {1000000 + kind},
            .kind = (enum fault_kind)kind,
            .server = kind == FAULT_HEAL || kind == FAULT_PARTITION || kind == FAULT_REJOIN ? CW_SERVER_NONE : 37,
            .link = CW_LINK_YM,
            .axis = 2,
            .number = kind == FAULT_CLOCK ? -1234 : 3,
            .span = {kind == FAULT_PAUSE ? 1234567 : 0},
        };
        if (kind == FAULT_HARM) {
            f.harm = (struct wire_harm){1, 22, 333, 4444, {55555}};
        }
        ck_assert_int_eq(fault_plan_add(&s.plan, &f), 0);
    }
    there_and_back(&s);
    scenario_free(&s);
}
END_TEST

START_TEST(relations)
{
    ck_assert(scenario_relation_holds(SCENARIO_EQUAL, 2, 2000000) &&
              !scenario_relation_holds(SCENARIO_EQUAL, 2.1, 2000000));
    ck_assert(scenario_relation_holds(SCENARIO_NOT, 1, 2000000) && !scenario_relation_holds(SCENARIO_NOT, 2, 2000000));
    ck_assert(scenario_relation_holds(SCENARIO_LESS, 1, 2000000) &&
              !scenario_relation_holds(SCENARIO_LESS, 2, 2000000));
    ck_assert(scenario_relation_holds(SCENARIO_MOST, 2, 2000000) &&
              !scenario_relation_holds(SCENARIO_MOST, 3, 2000000));
    ck_assert(scenario_relation_holds(SCENARIO_MORE, 3, 2000000) &&
              !scenario_relation_holds(SCENARIO_MORE, 2, 2000000));
    ck_assert(scenario_relation_holds(SCENARIO_LEAST, 2, 2000000) &&
              !scenario_relation_holds(SCENARIO_LEAST, 1, 2000000));
    ck_assert_str_eq(scenario_relation_name(SCENARIO_LEAST), ">=");
}
END_TEST

START_TEST(files)
{
    struct scenario s;
    char error[SCENARIO_ERROR];
    ck_assert_int_eq(scenario_load_file(&s, "no/such/file.txt", error), -EINVAL);
    ck_assert_str_eq(error, "no/such/file.txt: No such file or directory");
    ck_assert_int_eq(scenario_load_file(&s, "/", error), -EINVAL);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(settings),   SUITE_TEST(events),      SUITE_TEST(mistakes),  SUITE_TEST(all_mistakes_are_told),
    SUITE_TEST(round_trip), SUITE_TEST(every_fault), SUITE_TEST(relations), SUITE_TEST(files),
};
SUITE_MAIN("scenario", tests)
