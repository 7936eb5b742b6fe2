/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/slow.h"

#include "base/quantity.h"
#include "simulator/cwsim/progress.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { STAT_BYTES = 96 };

static const cw_span between_looks = CW_MS(1);

/* For how long this thread has been ready to run, and did not; 0: unknown. */
static int64_t waited(const struct slow *s)
{
    char text[STAT_BYTES];
    unsigned long long ran, ready;
    ssize_t n = s->stat >= 0 ? pread(s->stat, text, sizeof text - 1, 0) : -1;
    text[n > 0 ? n : 0] = '\0';
    return sscanf(text, "%llu %llu", &ran, &ready) == 2 ? (int64_t)ready : 0;
}

void slow_begin(struct slow *s, FILE *errors, cw_span dead)
{
    *s = (struct slow){.errors = errors, .dead = dead, .limit = {dead.ns / 2}};
    s->stat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    s->waited_ns = waited(s);
}

void slow_end(struct slow *s)
{
    if (s->stat >= 0) {
        close(s->stat);
    }
}

int64_t slow_read(void *context)
{
    struct slow *s = context;
    int64_t now = (int64_t)(progress_seconds() * 1e9);
    if (now - s->looked_ns >= between_looks.ns) {
        int64_t all = waited(s);
        s->lately_ns = all - s->waited_ns;
        s->waited_ns = all;
        s->looked_ns = now;
    }
    return now;
}

static struct slow_kind *kind_of(struct slow *s, const char *service, const char *upcall)
{
    for (unsigned i = 0; i < s->kinds; i++) {
        if (strcmp(s->kind[i].service, service) == 0 && strcmp(s->kind[i].upcall, upcall) == 0) {
            return &s->kind[i];
        }
    }
    if (s->kinds == SLOW_KINDS) {
        return &s->kind[SLOW_KINDS - 1];
    }
    s->kind[s->kinds] = (struct slow_kind){service, upcall, 0};
    return &s->kind[s->kinds++];
}

bool slow_tell(struct slow *s, const char *service, const char *upcall, const char *server, cw_time at, cw_span held)
{
    char lasted[QUANTITY_TEXT], dead[QUANTITY_TEXT];
    cw_span own = {held.ns - s->lately_ns};
    struct slow_kind *kind = kind_of(s, service, upcall);
    if (own.ns <= s->limit.ns || kind->lines == SLOW_TOLD) {
        return false;
    }
    kind->lines++;
    quantity_span_format(own.ns >= CW_MS(1).ns ? CW_MS(cw_span_ms(own)) : own, lasted);
    quantity_span_format(s->dead, dead);
    fprintf(s->errors,
            "service %s held the thread for %s of the wall clock in %s, on server %s, at %.9f s: neighbours of a "
            "daemon count it out after %s (timers.dead); work above some 10 us goes to cw_offload()%s\n",
            service, lasted, upcall, server, (double)at.ns / 1e9, dead,
            kind->lines == SLOW_TOLD ? " (this is not told again)" : "");
    return true;
}
