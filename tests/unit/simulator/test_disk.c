/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/disk.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { TOLD = 64 };

struct listener {
    struct disk_waiter waiter;
    struct sim_disk *disk;
    struct {
        uint64_t ticket;
        int64_t result;
    } told[TOLD];
    unsigned count;
};

static void told(struct disk_waiter *waiter, uint64_t ticket, int64_t result)
{
    struct listener *l = (struct listener *)waiter;
    l->told[l->count].ticket = ticket;
    l->told[l->count++].result = result;
}

static struct listener listener_on(const struct sim_disk_config *config)
{
    return (struct listener){.waiter = {told}, .disk = sim_disk_open(config)};
}

static void give(struct listener *l, struct disk_order order)
{
    order.waiter = &l->waiter;
    disk_submit(sim_disk_face(l->disk), &order);
}

/* The order's result, once it alone has been carried out. */
static int64_t at_once(struct listener *l, struct disk_order order)
{
    order.ticket = 77;
    give(l, order);
    while (sim_disk_step(l->disk)) {
    }
    ck_assert_uint_eq(l->told[l->count - 1].ticket, 77);
    return l->told[l->count - 1].result;
}

static uint32_t open_new(struct listener *l, const char *name)
{
    int64_t handle = at_once(l, (struct disk_order){.what = DISK_OPEN, .name = name, .create = true});
    ck_assert_int_ge(handle, 0);
    return (uint32_t)handle;
}

static int64_t put(struct listener *l, uint32_t file, const char *text, bool sync)
{
    return at_once(l,
                   (struct disk_order){
                       .what = DISK_WRITE, .file = file, .from = text, .size = (uint32_t)strlen(text), .sync = sync});
}

START_TEST(orders_do_what_they_say)
{
    struct listener l = listener_on(&(struct sim_disk_config){0});
    ck_assert_int_eq(at_once(&l, (struct disk_order){.what = DISK_OPEN, .name = "a"}), -ENOENT);
    uint32_t a = open_new(&l, "a"), b = open_new(&l, "b");
    ck_assert_uint_eq(open_new(&l, "a"), a);
    ck_assert_int_eq(put(&l, a, "hello", true), 0);
    char text[8] = "";
    ck_assert_int_eq(at_once(&l, (struct disk_order){.what = DISK_READ, .file = a, .to = text, .size = 8}), 5);
    ck_assert_str_eq(text, "hello");
    ck_assert_int_eq(at_once(&l, (struct disk_order){.what = DISK_ALLOCATE, .file = b, .offset = 100}), 0);
    struct disk_file list[1];
    ck_assert_int_eq(at_once(&l, (struct disk_order){.what = DISK_LIST, .list = list, .size = 1}), 2);
    ck_assert_str_eq(list[0].name, "a");
    ck_assert_uint_eq(list[0].size, 5);
    ck_assert_int_eq(at_once(&l, (struct disk_order){.what = DISK_REMOVE, .file = a}), 0);
    ck_assert_int_eq(at_once(&l, (struct disk_order){.what = DISK_OPEN, .name = "a"}), -ENOENT);
    ck_assert_uint_eq(sim_disk_file(l.disk, 0)->size, 100);
    sim_disk_close(l.disk);
}
END_TEST

START_TEST(a_lane_keeps_its_order_and_time_passes)
{
    struct listener l = listener_on(&(struct sim_disk_config){.sync = CW_US(120), .per_kib = CW_NS(600)});
    uint32_t a = open_new(&l, "a");
    l.count = 0;
    static const char kib[10 << 10];
    cw_time start = sim_disk_next(l.disk);
    ck_assert_int_eq(start.ns, CW_NEVER.ns);
    start = (cw_time){CW_MS(1).ns};
    sim_disk_run(l.disk, start);
    give(&l, (struct disk_order){.what = DISK_WRITE, .file = a, .from = kib, .size = sizeof kib, .sync = true});
    give(&l, (struct disk_order){.what = DISK_SYNC, .file = a, .ticket = 1});
    give(&l, (struct disk_order){.what = DISK_SYNC, .lane = DISK_LANE_SIDE, .file = a, .ticket = 2});
    ck_assert_int_eq(cw_time_since(sim_disk_next(l.disk), start).ns, CW_US(120).ns);
    sim_disk_run(l.disk, cw_time_add(start, CW_US(125)));
    ck_assert_uint_eq(l.count, 1);
    ck_assert_uint_eq(l.told[0].ticket, 2);
    sim_disk_run(l.disk, cw_time_add(start, CW_US(126)));
    ck_assert_uint_eq(l.count, 2);
    ck_assert_int_eq(cw_time_since(sim_disk_next(l.disk), start).ns, CW_US(246).ns);
    sim_disk_close(l.disk);
}
END_TEST

START_TEST(power_loss_keeps_what_was_synced)
{
    for (unsigned lies = 0; lies < 2; lies++) {
        struct listener l = listener_on(&(struct sim_disk_config){.lies = lies != 0});
        uint32_t a = open_new(&l, "a");
        ck_assert_int_eq(put(&l, a, "synced", true), 0);
        ck_assert_int_eq(put(&l, a, "lost!!", false), 0);
        ck_assert_uint_eq(sim_disk_unsynced(l.disk), 1);
        sim_disk_crash(l.disk, &(uint8_t){0}, 0);
        char text[7] = "";
        sim_disk_peek(l.disk, "a", 0, text, 6);
        ck_assert_str_eq(text, lies != 0 ? "" : "synced");
        sim_disk_close(l.disk);
    }
}
END_TEST

START_TEST(habits_of_names_and_lengths)
{
    struct listener l = listener_on(&(struct sim_disk_config){0});
    uint32_t a = open_new(&l, "a");
    ck_assert_int_eq(put(&l, a, "abc", true), 0);
    ck_assert_int_eq(put(&l, a, "abcdef", false), 0);
    (void)open_new(&l, "b");
    static const struct {
        unsigned habits;
        const char *text;
        uint64_t size;
        bool named;
    } cases[] = {
        {SIM_DISK_KEEPS, "abcdef", 6, true},
        {SIM_DISK_FORGETS_NEW, "abcdef", 6, false},
        {SIM_DISK_CUTS_LENGTH, "abc", 3, true},
        {SIM_DISK_LENGTH_FIRST, "abc", 6, true},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sim_disk *d = sim_disk_copy(l.disk);
        sim_disk_crash(d, &(uint8_t){0xff}, cases[i].habits);
        char text[7] = "";
        sim_disk_peek(d, "a", 0, text, 6);
        ck_assert_str_eq(text, cases[i].text);
        ck_assert_uint_eq(sim_disk_file(d, 0)->size, cases[i].size);
        ck_assert_int_eq(sim_disk_file(d, 1) != NULL, cases[i].named);
        sim_disk_close(d);
    }
    sim_disk_close(l.disk);
}
END_TEST

START_TEST(the_nth_order_fails_and_the_disk_fills_up)
{
    struct listener l = listener_on(&(struct sim_disk_config){.room = 10});
    uint32_t a = open_new(&l, "a");
    sim_disk_fail_nth(l.disk, 2, 1u << DISK_SYNC, EIO);
    ck_assert_int_eq(put(&l, a, "one", true), 0);
    ck_assert(sim_disk_fail_pending(l.disk));
    ck_assert_int_eq(put(&l, a, "two", true), -EIO);
    ck_assert(!sim_disk_fail_pending(l.disk));
    ck_assert_int_eq(put(&l, a, "tri", true), 0);
    ck_assert_int_eq(put(&l, a, "more than ten", false), -ENOSPC);
    sim_disk_close(l.disk);
}
END_TEST

START_TEST(a_seed_breaks_a_disk_for_good)
{
    struct listener l = listener_on(&(struct sim_disk_config){.seed = 3, .error_in = 20});
    uint32_t a = open_new(&l, "a");
    bool broken = false;
    for (int i = 0; i < 200 && l.count < TOLD; i++) {
        int64_t rc = put(&l, a, "x", true);
        ck_assert(!broken || rc == -EIO);
        broken = broken || rc == -EIO;
    }
    ck_assert(broken);
    sim_disk_close(l.disk);
}
END_TEST

START_TEST(faults_between_two_lives)
{
    struct sim_disk *d = sim_disk_open(&(struct sim_disk_config){0});
    char text[4] = "";
    sim_disk_put(d, "a", "abc", 3);
    sim_disk_flip(d, "a", 8 + 1);
    sim_disk_peek(d, "a", 0, text, 3);
    ck_assert_str_eq(text, "a`c");
    sim_disk_cut(d, "a", 1);
    sim_disk_peek(d, "a", 0, text, 3);
    ck_assert_str_eq(text, "a");
    ck_assert_uint_eq(sim_disk_file(d, 0)->size, 1);
    ck_assert_uint_gt(sim_disk_memory(d), 0);
    ck_assert_uint_eq(sim_disk_steps(d), 0);
    sim_disk_close(d);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(orders_do_what_they_say),
    SUITE_TEST(a_lane_keeps_its_order_and_time_passes),
    SUITE_TEST(power_loss_keeps_what_was_synced),
    SUITE_TEST(habits_of_names_and_lengths),
    SUITE_TEST(the_nth_order_fails_and_the_disk_fills_up),
    SUITE_TEST(a_seed_breaks_a_disk_for_good),
    SUITE_TEST(faults_between_two_lives),
};
SUITE_MAIN("disk", tests)
