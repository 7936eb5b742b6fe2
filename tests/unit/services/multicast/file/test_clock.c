/* SPDX-License-Identifier: Apache-2.0 */
/* The clock runs while something is on its way, and only once. */
#include "fake_host.h"
#include "services/multicast/file/internal.h"
#include "suite.h"

static unsigned ticks;

static void tick(cw_svc *s, void *state, void *arg)
{
    (void)s, (void)state;
    struct files *f = arg;
    f->timer = NULL;
    ticks++;
    files_wake(f);
}

static cw_verdict no_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)state, (void)p, (void)rx;
    return CW_DROP;
}

static const cw_service service = {CW_SERVICE_INIT, .name = "x", .version = "1.0", .job = 7, .on_packet = no_packet};

START_TEST(runs_while_busy)
{
    cw_svc *s = fake_open(&service, (cw_dims){3, 1, 1}, (cw_coord){0, 0, 0});
    struct file_slot slot = {.next = NULL};
    struct files f = {.s = s, .tick = tick};
    files_wake(&f);
    ck_assert_ptr_null(f.timer); /* nothing is on its way */
    f.slots = &slot;
    files_wake(&f);
    files_wake(&f);
    ck_assert_ptr_nonnull(f.timer);
    fake_run(s, CW_MS(350));
    ck_assert_uint_eq(ticks, 3);
    f.slots = NULL;
    fake_run(s, CW_MS(350));
    ck_assert_uint_eq(ticks, 4);
    ck_assert_ptr_null(f.timer);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(runs_while_busy)};
SUITE_MAIN("files_clock", tests)
