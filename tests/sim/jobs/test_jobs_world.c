/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signed jobs on real nodes under churn: servers die with and without power, return with what their disk kept (now and
 * then it kept nothing), stop for a while, cables fail, links lose packets; meanwhile changes, destructions and forks
 * are put at random servers.
 */
#include "jobs_world.h"
#include "sanitized.h"
#include "suite.h"

static struct jobs_world j;
static struct fake_result r;

static cw_server any(void)
{
    return (cw_server)prng_below(&j.random, j.servers);
}

/* One thing that goes wrong or right again. */
static void stir(unsigned down_at_most)
{
    unsigned down = j.servers - world_running(j.world);
    cw_server s = any();
    cw_link link = (cw_link)prng_below(&j.random, CW_LINK_COUNT);
    switch (prng_below(&j.random, 8)) {
    case 0:
    case 1:
        if (world_state(j.world, s) == WORLD_RUNS && down < down_at_most) {
            world_kill(j.world, s, prng_below(&j.random, 2) == 0);
        }
        break;
    case 2:
    case 3:
        for (unsigned i = 0; i < j.servers; i++, s = (s + 1) % j.servers) {
            if (world_state(j.world, s) == WORLD_DEAD) {
                ck_assert_int_eq(world_start(j.world, s), 0);
                break;
            }
        }
        break;
    case 4:
        world_cable(j.world, s, link, true, false);
        break;
    case 5:
    case 6:
        world_cable(j.world, s, link, true, true);
        break;
    default:
        if (world_state(j.world, s) == WORLD_RUNS) {
            world_pause(j.world, s, CW_MS(1 + (int64_t)prng_below(&j.random, 150)));
        }
        break;
    }
}

static void mend(void)
{
    for (cw_server s = 0; s < j.servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            const struct wire_harm none = {0};
            world_cable(j.world, s, link, true, true);
            world_harm(j.world, s, link, &none);
        }
    }
    jobs_world_run(&j, CW_MS(300));
    for (cw_server s = 0; s < j.servers; s++) {
        if (world_state(j.world, s) == WORLD_DEAD) {
            ck_assert_int_eq(world_start(j.world, s), 0);
        }
    }
}

/* All hold the same; it is of the operator's, and nothing less than what was told to be complete. */
static void all_hold_the_latest(void)
{
    char digest[17];
    for (unsigned i = 0; i < 100 && world_agreeing(j.world) < j.servers; i++) {
        jobs_world_run(&j, CW_MS(50));
    }
    ck_assert_uint_eq(world_agreeing(j.world), j.servers);
    bool agrees = false;
    for (unsigned i = 0; i < 20 && !agrees; i++) {
        jobs_world_run(&j, CW_SEC(1));
        agrees = jobs_world_agrees(&j, digest);
    }
    ck_assert_msg(agrees, "after 20 s they do not agree");
    for (cw_job job = TALK_FIRST; job < TALK_FIRST + TALK_JOBS; job++) {
        struct jobs_mark least = {.job = job}, held = {.job = job};
        for (unsigned i = 0; i < j.logged; i++) {
            if (j.log[i].mark.job == job && j.log[i].complete && jobs_mark_compare(&j.log[i].mark, &least, NULL) > 0) {
                least = j.log[i].mark;
            }
        }
        if (least.version == 0) {
            continue;
        }
        char line[32];
        snprintf(line, sizeof line, "show %u", job);
        for (cw_server s = 0; s < j.servers; s++) {
            jobs_world_command(&j, s, line, &r);
            ck_assert_int_eq(r.rc, 0);
            held.version = (uint64_t)fake_int(&r, 0, "version");
            held.generation = (uint64_t)fake_int(&r, 0, "generation");
            held.destroyed = fake_int(&r, 0, "destroyed");
            held.digest = strtoull(fake_text(&r, 0, "digest"), NULL, 16);
            ck_assert_msg(jobs_mark_compare(&held, &least, NULL) >= 0, "job %u went back at %u", job, s);
            /* And the NMU decides by it. */
            const struct map_job *decides = nmu_job(node_nmu(world_node(j.world, s)), job);
            ck_assert_uint_eq(decides->version, held.version);
            ck_assert_uint_eq(decides->generation, held.generation);
        }
    }
}

static enum sign draw_sign(void)
{
    static const enum sign signs[] = {SIGN_NEXT, SIGN_NEXT, SIGN_NEXT, SIGN_DESTROY, SIGN_LATE, SIGN_LATE};
    return signs[prng_below(&j.random, sizeof signs / sizeof *signs)];
}

static void churn(cw_dims dims, uint64_t seed, unsigned steps)
{
    jobs_world_open(&j, dims, seed, CW_MS(2));
    j.disk_fails = 10;
    const struct wire_harm harm = {.loss = (uint32_t)prng_below(&j.random, 20000)};
    for (cw_server s = 0; s < j.servers && seed % 2 == 0; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            world_harm(j.world, s, link, &harm);
        }
    }
    for (unsigned i = 0; i < steps; i++) {
        stir(j.servers / 3);
        if (prng_below(&j.random, 3) == 0) {
            cw_job job = TALK_FIRST + (cw_job)prng_below(&j.random, TALK_JOBS);
            unsigned l = jobs_world_sign(&j, job, draw_sign());
            (void)jobs_world_put(&j, any(), l);
        }
        if (j.logged > 0 && prng_below(&j.random, 10) == 0) { /* a replay of anything ever signed */
            (void)jobs_world_put(&j, any(), (unsigned)prng_below(&j.random, j.logged));
        }
        jobs_world_run(&j, CW_MS(1 + (int64_t)prng_below(&j.random, 60)));
    }
    mend();
    jobs_world_settle(&j);
    all_hold_the_latest();
    ck_assert_uint_eq(j.wrong, 0);
    ck_assert_uint_eq(j.unlawful, 0);
    ck_assert_uint_gt(j.let_in, 100);
    ck_assert_uint_gt(j.refused, 100);
    printf("seed %llu: %u signed, %llu complete, %llu not, %llu declined; %llu words, %llu let in, %llu refused\n",
           (unsigned long long)seed, j.logged, (unsigned long long)j.complete, (unsigned long long)j.incomplete,
           (unsigned long long)j.declined, (unsigned long long)j.said, (unsigned long long)j.let_in,
           (unsigned long long)j.refused);
    jobs_world_close(&j);
}

static unsigned seeds(unsigned few)
{
    const char *soak = getenv("CUBEWAY_SOAK");
    return soak != NULL ? few * (unsigned)strtoul(soak, NULL, 10) : few;
}

START_TEST(churn_small)
{
    static const cw_dims dims[] = {{2, 2, 2}, {3, 2, 1}, {4, 1, 1}, {3, 3, 1}};
    for (unsigned i = 0; i < seeds(SANITIZED ? 4 : 8); i++) {
        churn(dims[i % 4], 100 + i, 120);
    }
}
END_TEST

START_TEST(churn_27)
{
    for (unsigned i = 0; i < seeds(SANITIZED ? 1 : 2); i++) {
        churn((cw_dims){3, 3, 3}, 200 + i, 120);
    }
}
END_TEST

/* Two halves, cut off from one another: each goes on, and when they meet the higher one wins on both sides. */
START_TEST(both_sides_of_a_partition)
{
    for (unsigned turn = 0; turn < 2; turn++) {
        jobs_world_open(&j, (cw_dims){4, 1, 1}, 7 + turn, CW_MS(5));
        unsigned first = jobs_world_sign(&j, TALK_FIRST, SIGN_NEXT);
        ck_assert(jobs_world_put(&j, 0, first));
        jobs_world_settle(&j);
        ck_assert_uint_eq(j.complete, 1);
        world_cable(j.world, 0, 1, true, false); /* -x */
        world_cable(j.world, 1, 0, true, false);
        jobs_world_run(&j, CW_MS(500));
        unsigned low = jobs_world_sign(&j, TALK_FIRST, SIGN_NEXT),
                 high = jobs_world_sign(&j, TALK_FIRST, turn == 1 ? SIGN_DESTROY : SIGN_NEXT);
        ck_assert(jobs_world_put(&j, 0, low));
        jobs_world_settle(&j);
        ck_assert(jobs_world_put(&j, 2, high));
        jobs_world_settle(&j);
        ck_assert_uint_eq(j.complete, 3);
        char digest[17];
        ck_assert(!jobs_world_agrees(&j, digest));
        mend();
        all_hold_the_latest();
        ck_assert_uint_eq(j.wrong + j.unlawful, 0);
        jobs_world_close(&j);
    }
}
END_TEST

/*
 * One side destroys the job; the other, which does not know, goes on to higher versions of it. It is no more, on both.
 */
START_TEST(destroyed_on_one_side)
{
    jobs_world_open(&j, (cw_dims){4, 1, 1}, 9, CW_MS(5));
    ck_assert(jobs_world_put(&j, 0, jobs_world_sign(&j, TALK_FIRST, SIGN_NEXT)));
    jobs_world_settle(&j);
    unsigned low = jobs_world_sign(&j, TALK_FIRST, SIGN_DESTROY), high = jobs_world_sign(&j, TALK_FIRST, SIGN_LATE);
    ck_assert_uint_gt(j.log[high].mark.version, j.log[low].mark.version);
    world_cable(j.world, 0, 1, true, false); /* -x */
    world_cable(j.world, 1, 0, true, false);
    jobs_world_run(&j, CW_MS(500));
    ck_assert(jobs_world_put(&j, 0, low));
    ck_assert(jobs_world_put(&j, 2, high));
    jobs_world_settle(&j);
    ck_assert_uint_eq(j.complete, 3);
    mend();
    jobs_world_run(&j, CW_SEC(5));
    char digest[17];
    ck_assert(jobs_world_agrees(&j, digest));
    for (cw_server s = 0; s < j.servers; s++) {
        jobs_world_command(&j, s, "show 2000", &r);
        ck_assert_int_eq(fake_int(&r, 0, "destroyed"), 1);
        ck_assert_uint_eq(nmu_job(node_nmu(world_node(j.world, s)), TALK_FIRST)->version, j.log[low].mark.version);
    }
    ck_assert_uint_eq(j.wrong + j.unlawful, 0);
    jobs_world_close(&j);
}
END_TEST

/* It was away when its job was destroyed, and has the old record on its disk. */
START_TEST(no_resurrection)
{
    jobs_world_open(&j, (cw_dims){3, 1, 1}, 5, CW_MS(5));
    ck_assert(jobs_world_put(&j, 0, jobs_world_sign(&j, TALK_FIRST, SIGN_NEXT)));
    jobs_world_settle(&j);
    world_kill(j.world, 2, true);
    jobs_world_run(&j, CW_MS(500));
    ck_assert(jobs_world_put(&j, 0, jobs_world_sign(&j, TALK_FIRST, SIGN_DESTROY)));
    jobs_world_settle(&j);
    ck_assert_uint_eq(j.complete, 2);
    ck_assert_int_eq(world_start(j.world, 2), 0);
    all_hold_the_latest();
    jobs_world_command(&j, 2, "show 2000", &r);
    ck_assert_int_eq(fake_int(&r, 0, "destroyed"), 1);
    /* The operator tries the old one again, at the one that returned. */
    ck_assert(jobs_world_put(&j, 2, 0));
    jobs_world_settle(&j);
    ck_assert_uint_eq(j.declined, 1);
    ck_assert(jobs_world_put(&j, 2, jobs_world_sign(&j, TALK_FIRST, SIGN_NEXT))); /* the next generation */
    jobs_world_settle(&j);
    ck_assert_uint_eq(j.complete, 3);
    all_hold_the_latest();
    jobs_world_close(&j);
}
END_TEST

/* All lose power at once: what they kept is what they start with. */
START_TEST(over_a_restart_of_all)
{
    char before[17], after[17];
    jobs_world_open(&j, (cw_dims){2, 2, 1}, 6, CW_MS(5));
    for (cw_job job = TALK_FIRST; job < TALK_FIRST + TALK_JOBS; job++) {
        ck_assert(jobs_world_put(&j, 0, jobs_world_sign(&j, job, SIGN_NEXT)));
        jobs_world_settle(&j);
    }
    ck_assert(jobs_world_agrees(&j, before));
    for (cw_server s = 0; s < j.servers; s++) {
        world_kill(j.world, s, true);
    }
    jobs_world_run(&j, CW_SEC(1));
    mend();
    all_hold_the_latest();
    ck_assert(jobs_world_agrees(&j, after));
    ck_assert_str_eq(before, after);
    jobs_world_close(&j);
}
END_TEST

START_TEST(who_is_dead_is_fenced_and_named)
{
    jobs_world_open(&j, (cw_dims){3, 3, 1}, 8, CW_MS(5));
    unsigned l = jobs_world_sign(&j, TALK_FIRST, SIGN_NEXT);
    world_kill(j.world, 4, false); /* its neighbours still believe in it */
    char *text = malloc(4096);
    ck_assert_ptr_nonnull(text);
    ck_assert(jobs_world_put(&j, 0, l));
    jobs_world_settle(&j);
    ck_assert_uint_eq(j.complete, 1);
    ck_assert_int_gt(j.took_us[0], 60 * 1000); /* detection, and the hold */
    ck_assert_int_lt(j.took_us[0], 400 * 1000);
    free(text);
    jobs_world_close(&j);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(churn_small),
    SUITE_TEST(churn_27),
    SUITE_TEST(both_sides_of_a_partition),
    SUITE_TEST(no_resurrection),
    SUITE_TEST(destroyed_on_one_side),
    SUITE_TEST(over_a_restart_of_all),
    SUITE_TEST(who_is_dead_is_fenced_and_named),
};
SUITE_MAIN("jobs_world", tests)
