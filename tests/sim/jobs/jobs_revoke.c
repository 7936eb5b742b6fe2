/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs_revoke - how long a change takes until nobody who can send does so by an older record, in simulated time, and
 * what signed jobs say at rest.
 *
 *     jobs_revoke [--smoke]
 *
 * Ed25519 counts as 150 us and a store as 1 ms, away from the server's thread (services/jobs/take.c); links are the
 * simulator's default, 1 Gb/s. The figures of docs/services/jobs.md are what this prints; they are the same on every
 * machine.
 */
#include "jobs_world.h"

static struct jobs_world j;

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static cw_server running(void)
{
    cw_server s;
    do {
        s = (cw_server)prng_below(&j.random, j.servers);
    } while (world_state(j.world, s) != WORLD_RUNS);
    return s;
}

static void tell(const char *what)
{
    qsort(j.took_us, j.complete, sizeof j.took_us[0], by_value);
    printf("%4u servers, %-28s %3llu changes: median %6.1f ms, worst %6.1f ms; not complete in 3 s: %llu\n", j.servers,
           what, (unsigned long long)j.complete, (double)j.took_us[j.complete / 2] / 1000,
           (double)j.took_us[j.complete - 1] / 1000, (unsigned long long)j.incomplete);
}

/*
 * A change at a time, each at a random server. kills: servers that die (every second one without power) and return
 * meanwhile, a second.
 */
static void changes(cw_dims dims, unsigned count, unsigned kills, const char *what)
{
    jobs_world_open(&j, dims, 4242, CW_NS(0));
    cw_time next_kill = world_now(j.world);
    for (unsigned i = 0; i < count; i++) {
        (void)jobs_world_put(&j, running(), jobs_world_sign(&j, TALK_FIRST, SIGN_NEXT));
        for (unsigned ms = 0; ms < 200; ms++) {
            jobs_world_run(&j, CW_MS(1));
            if (kills > 0 && cw_time_due(next_kill, world_now(j.world))) {
                next_kill = cw_time_add(world_now(j.world), CW_MS((int64_t)prng_below(&j.random, 2000 / kills)));
                world_kill(j.world, running(), prng_below(&j.random, 2) == 0);
            }
            for (cw_server s = 0; s < j.servers && kills > 0; s++) { /* down for half a second on average */
                if (world_state(j.world, s) == WORLD_DEAD && prng_below(&j.random, 500) == 0) {
                    (void)world_start(j.world, s);
                }
            }
        }
    }
    jobs_world_settle(&j);
    tell(what);
    if (j.unlawful != 0) {
        printf("TOLD COMPLETE WHILE IT WAS NOT: %llu\n", (unsigned long long)j.unlawful);
        exit(1);
    }
    jobs_world_close(&j);
}

/*
 * A server is away for a change, and returns with the old record on its disk: how long it is in view and decides by
 * that.
 */
static void returns(cw_dims dims, unsigned count)
{
    static int64_t late_us[LOG_MAX];
    jobs_world_open(&j, dims, 99, CW_NS(0));
    (void)jobs_world_put(&j, 0, jobs_world_sign(&j, TALK_FIRST, SIGN_NEXT));
    jobs_world_settle(&j);
    for (unsigned i = 0; i < count; i++) {
        cw_server s = 1 + (cw_server)prng_below(&j.random, j.servers - 1);
        world_kill(j.world, s, true);
        jobs_world_run(&j, CW_MS(300));
        unsigned l = jobs_world_sign(&j, TALK_FIRST, SIGN_NEXT);
        (void)jobs_world_put(&j, 0, l);
        jobs_world_settle(&j);
        if (!j.log[l].complete || world_start(j.world, s) != 0) {
            i--; /* the operator did not know of the latest */
            (void)world_start(j.world, s);
            jobs_world_run(&j, CW_MS(300));
            continue;
        }
        cw_time since = CW_NEVER;
        const struct node *n = world_node(j.world, s);
        while (nmu_job(node_nmu(n), TALK_FIRST)->version < j.log[l].mark.version) {
            jobs_world_run(&j, CW_US(10));
            if (since.ns == CW_NEVER.ns && ls_committed(node_linkstate(world_node(j.world, s)))->members > 1) {
                since = world_now(j.world);
            }
        }
        late_us[i] = since.ns == CW_NEVER.ns ? 0 : cw_time_since(world_now(j.world), since).ns / 1000;
        jobs_world_run(&j, CW_MS(100));
    }
    qsort(late_us, count, sizeof late_us[0], by_value);
    printf("%4u servers, one returns, %u times: in view and behind for %.2f ms in the median, %.2f at worst\n",
           j.servers, count, (double)late_us[count / 2] / 1000, (double)late_us[count - 1] / 1000);
    jobs_world_close(&j);
}

static void at_rest(cw_dims dims, unsigned seconds)
{
    struct world_totals before, after;
    jobs_world_open(&j, dims, 1, CW_NS(0));
    (void)jobs_world_put(&j, 0, jobs_world_sign(&j, TALK_FIRST, SIGN_NEXT));
    jobs_world_settle(&j);
    jobs_world_run(&j, CW_SEC(5));
    world_totals(j.world, &before);
    jobs_world_run(&j, CW_SEC(seconds));
    world_totals(j.world, &after);
    double bytes = (double)(after.bytes - after.control_bytes - (before.bytes - before.control_bytes));
    printf("%4u servers at rest: %.1f bytes a second and server (in frames of the link), all of it hellos\n", j.servers,
           bytes / seconds / j.servers);
    jobs_world_close(&j);
}

int main(int argc, char **argv)
{
    bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    unsigned n = smoke ? 3 : 200;
    changes((cw_dims){3, 3, 3}, n, 0, "all well:");
    changes((cw_dims){3, 3, 3}, n, 2, "2 failures a second:");
    returns((cw_dims){3, 3, 3}, smoke ? 2 : 100);
    at_rest((cw_dims){3, 3, 3}, smoke ? 2 : 60);
    if (!smoke) {
        changes((cw_dims){8, 8, 8}, 50, 0, "all well:");
        changes((cw_dims){8, 8, 8}, 50, 2, "2 failures a second:");
    }
    return 0;
}
