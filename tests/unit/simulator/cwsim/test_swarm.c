/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/swarm.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

static char *as_text(const struct scenario *s)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    ck_assert_int_eq(scenario_write(s, out), 0);
    fclose(out);
    return text;
}

/* A seed is a scenario for ever, a sound one, within the limit; and it can be written down. */
START_TEST(draws)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct scenario a, b, back;
        char error[SCENARIO_ERROR];
        ck_assert_int_eq(swarm_draw(seed, 64, &a), 0);
        ck_assert_int_eq(swarm_draw(seed, 64, &b), 0);
        char *text = as_text(&a), *again = as_text(&b);
        if (strcmp(text, again) != 0 || a.config.dims.x * a.config.dims.y * a.config.dims.z > 64) {
            ck_abort_msg("seed %llu: %s", (unsigned long long)seed, text);
        }
        int rc = scenario_read(&back, "drawn", text, strlen(text), error);
        ck_assert_msg(rc == 0, "seed %llu: %s\n%s", (unsigned long long)seed, error, text);
        ck_assert_uint_eq(back.plan.count, a.plan.count);
        scenario_free(&a);
        scenario_free(&b);
        scenario_free(&back);
        free(text);
        free(again);
    }
}
END_TEST

/* Fails like a bug that needs a kill of server 0,1,1 and a later cut, and two servers along y and z. */
static bool needs_two(void *context, const struct scenario *s, cw_time *when)
{
    unsigned *calls = context;
    struct torus torus;
    ++*calls;
    ck_assert_int_eq(torus_init(&torus, s->config.dims), 0);
    bool killed = false;
    for (uint32_t i = 0; i < s->plan.count; i++) {
        const struct fault *f = &s->plan.fault[i];
        if (cw_time_before(s->end, f->at)) {
            break;
        }
        cw_coord c = f->kind == FAULT_KILL ? torus_coord(&torus, f->server) : (cw_coord){9, 9, 9};
        killed |= c.x == 0 && c.y == 1 && c.z == 1;
        if (killed && f->kind == FAULT_CUT) {
            *when = f->at;
            return true;
        }
    }
    return false;
}

START_TEST(shrinks)
{
    struct scenario s;
    char error[SCENARIO_ERROR];
    char text[8000] = "torus 4x4x4\nseed 5\nclocks 1%\nring 4\nat 1ms workload keys rate=9\n";
    size_t used = strlen(text);
    for (unsigned i = 0; i < 60; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "at %ums %s 0,%u,%u\n", 10 + i,
                                 i % 3 ? "kill" : "start", i % 4, i / 4 % 4);
    }
    snprintf(text + used, sizeof text - used, "at 90ms cut 0,0,0 +y\nat 95ms cut 0,0,1 +y\nat 2s quiet\nend 2s\n");
    ck_assert_msg(scenario_read(&s, "t", text, strlen(text), error) == 0, "%s", error);
    unsigned calls = 0;
    cw_time when = {0};
    ck_assert(needs_two(&calls, &s, &when));
    struct swarm_shrink how = {.fails = needs_two, .context = &calls, .tries_max = 1000};
    swarm_shrink(&how, &s, when);
    ck_assert(s.config.dims.x == 1 && s.config.dims.y == 2 && s.config.dims.z == 2);
    ck_assert_uint_eq(s.plan.count, 2);
    ck_assert(s.plan.fault[0].kind == FAULT_KILL && s.plan.fault[1].kind == FAULT_CUT);
    ck_assert(s.quiets == 0 && s.loads == 0 && s.config.clock_ppm == 0 && s.config.wire.ring != 4);
    ck_assert(s.end.ns < 100000000 && needs_two(&calls, &s, &when));
    ck_assert_uint_le(how.tries, 1000);
    scenario_free(&s);
}
END_TEST

/* No more tries than allowed, and what is left still fails. */
START_TEST(gives_up)
{
    struct scenario s;
    char error[SCENARIO_ERROR];
    const char text[] = "torus 4x4x4\nat 1ms kill 0,1,1\nat 2ms kill 0,0,1\nat 3ms cut 0,0,0 +x\nend 1s\n";
    ck_assert_int_eq(scenario_read(&s, "t", text, strlen(text), error), 0);
    unsigned calls = 0;
    struct swarm_shrink how = {.fails = needs_two, .context = &calls, .tries_max = 2};
    swarm_shrink(&how, &s, (cw_time){3000000});
    cw_time when;
    ck_assert(how.tries == 2 && calls == 2 && needs_two(&calls, &s, &when));
    scenario_free(&s);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(draws), SUITE_TEST(shrinks), SUITE_TEST(gives_up)};
SUITE_MAIN("swarm", tests)
