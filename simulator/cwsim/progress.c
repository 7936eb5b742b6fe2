/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/progress.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

static const cw_span show_every = CW_MS(250);

static int64_t wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * CW_SEC(1).ns + t.tv_nsec;
}

double progress_seconds(void)
{
    return (double)wall_ns() / 1e9;
}

double progress_processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void progress_open(struct progress *p, FILE *out, const char *what)
{
    *p = (struct progress){.out = out != NULL && isatty(fileno(out)) ? out : NULL, .what = what};
    p->started_ns = p->shown_ns = wall_ns();
}

void progress_show(struct progress *p, uint64_t done, uint64_t total, cw_time now, uint64_t hops)
{
    if (p->out == NULL) {
        return;
    }
    int64_t wall = wall_ns();
    int64_t passed = wall - p->shown_ns;
    if (passed < show_every.ns) {
        return;
    }
    double rate = (double)(hops - p->shown_hops) * 1e3 / (double)passed; /* millions a second */
    fprintf(p->out, "\r\033[K%s  %" PRId64 ".%03" PRId64 " s simulated", p->what, now.ns / CW_SEC(1).ns,
            now.ns / CW_MS(1).ns % 1000);
    if (total > 0) {
        fprintf(p->out, "  %3" PRIu64 " %%", done * 100 / total);
    }
    fprintf(p->out, "  %" PRIu64 " packet-hops  %.2f M/s  %" PRId64 " s", hops, rate,
            (wall - p->started_ns) / CW_SEC(1).ns);
    fflush(p->out);
    p->shown_ns = wall;
    p->shown_hops = hops;
    p->shown = true;
}

void progress_close(struct progress *p)
{
    if (p->out != NULL && p->shown) {
        fputs("\r\033[K", p->out);
        fflush(p->out);
    }
    p->out = NULL;
}
