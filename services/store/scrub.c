/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/scrub.h"

#include "services/store/common.h"
#include "services/store/disk/journal.h"
#include "services/store/durable.h"

/* What is read at a time, and the shortest breaks between: 1 MB a second by itself, and 12 when an operator asks. */
enum { STEP_RECORDS = 256, STEP_BYTES = 256 << 10, NOW_MS = 20, SLOW_MS = 250 };
/* A pass takes fourteen days. The longest break is shorter than that, since a store may grow meanwhile. */
enum { PASS_MS = 14 * 24 * 3600 * 1000, BREAK_MS = 6 * 3600 * 1000 };

static void due(cw_svc *svc, void *state, void *arg);

static cw_span pace(const struct store *s)
{
    struct journal_status disk;
    if (s->scrub.now) {
        return CW_MS(NOW_MS);
    }
    journal_status(s->journal, &disk);
    const uint64_t by_records = disk.records / STEP_RECORDS, by_bytes = disk.live / STEP_BYTES;
    const uint64_t steps = (by_records > by_bytes ? by_records : by_bytes) + 1;
    const int64_t ms = (int64_t)(PASS_MS / steps);
    return CW_MS(ms < SLOW_MS ? SLOW_MS : ms > BREAK_MS ? BREAK_MS : ms);
}

static void wind(struct store *s)
{
    if (s->scrub.timer == NULL && (s->registers > 0 || s->scrub.now)) {
        s->scrub.timer = cw_timer_start(s->svc, pace(s), due, NULL);
    }
}

static void due(cw_svc *svc, void *state, void *arg)
{
    struct store *s = state;
    struct store_scrub *scrub = &s->scrub;
    struct journal_status disk;
    (void)svc;
    (void)arg;
    scrub->timer = NULL;
    if (!store_durable_ready(s)) {
        scrub->now = false; /* it is dead, and its next life begins anew */
        return;
    }
    journal_status(s->journal, &disk);
    uint64_t bytes = 0, one = 1;
    /* A slow disk has not brought the last ones yet: no more than one step is under way. */
    for (unsigned i = 0; i < STEP_RECORDS && bytes < STEP_BYTES && one > 0 && scrub->asked == disk.scrubbed + i; i++) {
        one = journal_scrub(s->journal);
        scrub->asked += one > 0;
        scrub->read += one > 0;
        bytes += one;
    }
    if (one == 0) {
        scrub->passes++;
        scrub->read = 0;
        scrub->now = false;
    }
    wind(s);
}

void store_scrub_wake(struct store *s)
{
    if (s->scrub.timer == NULL && s->of.disk && store_durable_ready(s)) {
        wind(s);
    }
}

bool store_scrub_now(struct store *s)
{
    if (!store_durable_ready(s)) {
        return false;
    }
    s->scrub.now = true;
    cw_timer_stop(s->svc, s->scrub.timer);
    s->scrub.timer = NULL;
    wind(s);
    return true;
}
