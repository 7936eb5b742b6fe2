/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/disk/journal.h"

#include "base/container.h"
#include "simulator/disk.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { SEGMENT = 1 << 20, FOUND = 64 };

/* What the journal told. */
struct told {
    struct journal *j;
    unsigned found, opened, landed, died, damaged;
    enum journal_state state;
    char value[FOUND][16];
    uint8_t kind[FOUND];
};

static void on_found(void *arg, uint8_t kind, const uint8_t *value, size_t size)
{
    struct told *t = arg;
    ck_assert_uint_lt(t->found, FOUND);
    size_t kept = size < sizeof t->value[0] ? size : 0; /* what is long is only counted */
    memcpy(t->value[t->found], value, kept);
    t->value[t->found][kept] = '\0';
    t->kind[t->found++] = kind;
}

static void on_opened(void *arg, enum journal_state state)
{
    struct told *t = arg;
    t->opened++;
    t->state = state;
}

static void on_landed(void *arg)
{
    ((struct told *)arg)->landed++;
}

static void on_died(void *arg)
{
    ((struct told *)arg)->died++;
}

static void on_damaged(void *arg, uint8_t kind, const cw_key *key)
{
    (void)kind;
    (void)key;
    ((struct told *)arg)->damaged++;
}

static void settle(struct sim_disk *d)
{
    while (sim_disk_step(d)) {
    }
}

/* Opens, and runs the disk until it has told all. */
static void open_with(struct told *t, struct sim_disk *d, uint64_t owner, uint64_t bytes_max)
{
    static uint64_t lives = 70;
    *t = (struct told){.j = NULL};
    const struct journal_options options = {
        .owner = owner, .fresh_id = ++lives, .segment = SEGMENT, .bytes_max = bytes_max};
    const struct journal_events events = {
        .arg = t, .found = on_found, .opened = on_opened, .landed = on_landed, .died = on_died, .damaged = on_damaged};
    ck_assert_int_eq(journal_open(&t->j, &options, &events, sim_disk_face(d)), 0);
    ck_assert_uint_eq(t->opened, 0);
    settle(d);
    ck_assert_uint_eq(t->opened, 1);
}

static void open_as(struct told *t, struct sim_disk *d, uint64_t owner)
{
    open_with(t, d, owner, 0);
}

static void end(struct told *t, struct sim_disk *d)
{
    sim_disk_kill(d);
    journal_close(t->j);
}

static void put(struct told *t, uint8_t kind, uint8_t number, const char *value)
{
    const cw_key key = {.b = {number}};
    journal_put(t->j, kind, &key, value, strlen(value));
}

struct wait {
    struct journal_waiter waiter;
    unsigned good, bad;
};

static void wait_told(struct journal_waiter *waiter, bool good)
{
    struct wait *w = container_of(waiter, struct wait, waiter);
    w->good += good;
    w->bad += !good;
}

START_TEST(what_was_told_is_there_after_a_loss_of_power)
{
    static const uint8_t none[4096];
    struct sim_disk *d = sim_disk_open(&(struct sim_disk_config){.seed = 1});
    struct told t;
    struct wait w = {.waiter = {.told = wait_told}}, later = w;
    open_as(&t, d, 9);
    ck_assert_int_eq(t.state, JOURNAL_OPEN);
    ck_assert_uint_eq(journal_boot(t.j), 1);
    ck_assert(journal_is_settled(t.j));
    put(&t, 3, 1, "first");
    put(&t, 1, 2, "class");
    put(&t, 3, 1, "second");
    ck_assert(!journal_is_settled(t.j));
    journal_wait(t.j, &w.waiter);
    ck_assert_uint_eq(w.good, 0);
    settle(d);
    ck_assert_uint_eq(w.good, 1);
    ck_assert(journal_is_settled(t.j));
    ck_assert_uint_gt(t.landed, 0);
    uint64_t position = journal_position(t.j), id = journal_id(t.j);
    put(&t, 3, 3, "lost");
    journal_wait(t.j, &later.waiter);
    end(&t, d);
    ck_assert_uint_eq(later.bad, 1); /* nobody knows */
    sim_disk_crash(d, none, SIM_DISK_KEEPS);
    open_as(&t, d, 9);
    ck_assert_int_eq(t.state, JOURNAL_OPEN);
    ck_assert_uint_eq(t.found, 2);
    ck_assert_str_eq(t.value[0], "class"); /* lower kinds first */
    ck_assert_str_eq(t.value[1], "second");
    ck_assert_uint_eq(t.kind[1], 3);
    ck_assert_uint_eq(journal_id(t.j), id);
    ck_assert_uint_eq(journal_boot(t.j), 2);
    ck_assert_uint_ge(journal_position(t.j), position);
    end(&t, d);
    sim_disk_close(d);
}
END_TEST

START_TEST(a_failed_write_is_the_end_of_the_id)
{
    struct sim_disk *d = sim_disk_open(&(struct sim_disk_config){.seed = 1});
    struct told t;
    struct wait w = {.waiter = {.told = wait_told}};
    open_as(&t, d, 9);
    sim_disk_fail_nth(d, 1, 1u << DISK_WRITE, EIO);
    put(&t, 3, 1, "x");
    journal_wait(t.j, &w.waiter);
    settle(d);
    ck_assert_uint_eq(w.bad, 1);
    ck_assert_uint_eq(t.died, 1);
    ck_assert_int_eq(journal_state(t.j), JOURNAL_DEAD);
    ck_assert(!journal_is_settled(t.j));
    put(&t, 3, 1, "y"); /* to nobody */
    end(&t, d);
    open_as(&t, d, 9);
    ck_assert_int_eq(t.state, JOURNAL_OPEN);
    ck_assert_uint_eq(t.found, 0);
    ck_assert_uint_eq(journal_id(t.j), 72);
    ck_assert_ptr_nonnull(strstr(journal_why(t.j), "begun anew"));
    end(&t, d);
    sim_disk_close(d);
}
END_TEST

START_TEST(who_gives_up_begins_anew)
{
    struct sim_disk *d = sim_disk_open(&(struct sim_disk_config){.seed = 1});
    struct told t;
    open_as(&t, d, 9);
    put(&t, 3, 1, "x");
    settle(d);
    journal_give_up(t.j);
    ck_assert_int_eq(journal_state(t.j), JOURNAL_DEAD);
    ck_assert_uint_eq(t.died, 0);
    settle(d);
    end(&t, d);
    open_as(&t, d, 9);
    ck_assert_uint_eq(t.found, 0);
    ck_assert_int_eq(t.state, JOURNAL_OPEN);
    settle(d);
    end(&t, d);
    open_as(&t, d, 9); /* and what the former id held is gone for good */
    ck_assert_uint_eq(t.found, 0);
    end(&t, d);
    sim_disk_close(d);
}
END_TEST

/* Who waits for a record that was lost is told nothing good, though one before it lands; and the id votes no more. */
START_TEST(a_record_without_memory_is_the_end_of_the_id)
{
    struct sim_disk *d = sim_disk_open(&(struct sim_disk_config){.seed = 1});
    struct told t;
    struct wait before = {.waiter = {.told = wait_told}}, behind = before;
    open_as(&t, d, 9);
    uint64_t id = journal_id(t.j);
    put(&t, 3, 1, "first");
    journal_wait(t.j, &before.waiter);
    journal_doom(t.j);
    ck_assert(journal_is_doomed(t.j));
    journal_wait(t.j, &behind.waiter);
    ck_assert_uint_gt(journal_put_last(t.j), journal_put_told(t.j) + 1);
    settle(d);
    journal_tick(t.j, (cw_time){1});
    ck_assert_uint_eq(before.good, 1);
    ck_assert_uint_eq(behind.good, 0);
    ck_assert_uint_eq(behind.bad, 1);
    ck_assert_uint_eq(t.died, 1);
    settle(d);
    end(&t, d);
    open_as(&t, d, 9);
    ck_assert_int_eq(t.state, JOURNAL_OPEN);
    ck_assert_uint_eq(t.found, 0);
    ck_assert(journal_id(t.j) != id);
    end(&t, d);
    sim_disk_close(d);
}
END_TEST

START_TEST(the_folder_of_another_is_refused)
{
    struct sim_disk *d = sim_disk_open(&(struct sim_disk_config){.seed = 1});
    struct told t;
    open_as(&t, d, 9);
    put(&t, 3, 1, "x");
    settle(d);
    end(&t, d);
    open_as(&t, d, 10);
    ck_assert_int_eq(t.state, JOURNAL_REFUSED);
    ck_assert_ptr_nonnull(strstr(journal_why(t.j), "another cluster or server"));
    end(&t, d);
    open_as(&t, d, 9);
    ck_assert_uint_eq(t.found, 1);
    end(&t, d);
    sim_disk_close(d);
}
END_TEST

START_TEST(records_are_dropped_and_counted)
{
    struct sim_disk *d = sim_disk_open(&(struct sim_disk_config){.seed = 1});
    struct told t;
    struct journal_status status;
    const cw_key key = {.b = {1}};
    open_as(&t, d, 9);
    put(&t, 3, 1, "x");
    put(&t, 3, 2, "y");
    settle(d);
    journal_status(t.j, &status);
    ck_assert_uint_eq(status.records, 2);
    ck_assert_uint_eq(status.put, 2);
    ck_assert_uint_eq(journal_put_last(t.j), 2);
    ck_assert_uint_eq(journal_put_told(t.j), 2);
    ck_assert(!journal_is_full(t.j));
    journal_drop(t.j, 3, &key);
    settle(d);
    journal_status(t.j, &status);
    ck_assert_uint_eq(status.records, 1);
    /* A moment later an empty group follows, and then there is nothing to wake up for. */
    journal_tick(t.j, (cw_time){1});
    cw_time wake = journal_next_wake(t.j);
    ck_assert_int_ne(wake.ns, CW_NEVER.ns);
    journal_tick(t.j, wake);
    settle(d);
    journal_tick(t.j, cw_time_add(wake, CW_SEC(1)));
    ck_assert_int_eq(journal_next_wake(t.j).ns, CW_NEVER.ns);
    end(&t, d);
    sim_disk_close(d);
}
END_TEST

static void back(void *arg)
{
    ++*(unsigned *)arg;
}

START_TEST(what_is_lent_comes_back_once)
{
    static uint8_t value[JOURNAL_VALUE_MAX], other[JOURNAL_INLINE_MAX];
    struct sim_disk *d = sim_disk_open(&(struct sim_disk_config){.seed = 1});
    struct told t;
    unsigned times = 0, others = 0;
    const cw_key key = {.b = {1}}, next = {.b = {2}};
    open_as(&t, d, 9);
    memset(value, 'v', sizeof value);
    journal_lend(t.j, 3, &key, value, sizeof value, back, &times);
    ck_assert_uint_eq(times, 0); /* the first file with such places is made */
    journal_lend(t.j, 3, &next, other, sizeof other, back, &others);
    ck_assert(!journal_is_settled(t.j));
    settle(d);
    ck_assert(journal_is_settled(t.j));
    ck_assert_uint_eq(times, 1);
    ck_assert_uint_eq(others, 1);
    journal_lend(t.j, 3, &key, value, sizeof value, back, &times);
    end(&t, d);
    ck_assert_uint_eq(times, 2); /* by the end at the latest */
    open_as(&t, d, 9);
    ck_assert_uint_eq(t.found, 2);
    end(&t, d);
    sim_disk_close(d);
}
END_TEST

/* A small disk: what finds no room waits in its order, and is told to be full before that. */
START_TEST(without_room_all_wait_in_order)
{
    static char value[8000];
    struct sim_disk *d = sim_disk_open(&(struct sim_disk_config){.seed = 1, .room = 5 << 20});
    struct told t;
    struct wait w = {.waiter = {.told = wait_told}};
    open_as(&t, d, 9);
    memset(value, 'v', sizeof value);
    for (unsigned i = 0; i < 1000; i++) {
        const cw_key key = {.b = {(uint8_t)i, (uint8_t)(i >> 8)}};
        journal_put(t.j, 3, &key, value, sizeof value);
    }
    journal_wait(t.j, &w.waiter);
    settle(d);
    ck_assert(journal_is_full(t.j));
    ck_assert_uint_eq(w.good + w.bad, 0);
    ck_assert_uint_lt(journal_put_told(t.j), 1000);
    end(&t, d);
    ck_assert_uint_eq(w.bad, 1);
    sim_disk_close(d);
}
END_TEST

/* Time goes on for some seconds. */
static void pass(struct told *t, struct sim_disk *d)
{
    static int64_t now = 1;
    for (unsigned i = 0; i < 40; i++) {
        settle(d);
        journal_tick(t->j, (cw_time){now += CW_MS(200).ns});
    }
    settle(d);
}

static uint8_t long_value[JOURNAL_VALUE_MAX];
static unsigned lent_back;

static void lend(struct told *t, unsigned number)
{
    const cw_key key = {.b = {(uint8_t)number, 1}};
    journal_lend(t->j, 3, &key, long_value, sizeof long_value, back, &lent_back);
}

static void drop(struct told *t, unsigned number)
{
    const cw_key key = {.b = {(uint8_t)number, 1}};
    journal_drop(t->j, 3, &key);
}

/* Puts long values as long as that may be; gives the number behind the last. */
static unsigned fill(struct told *t, struct sim_disk *d, unsigned number)
{
    while (!journal_is_full(t->j)) {
        if (journal_room(t->j, sizeof long_value, 0) == JOURNAL_ROOM) {
            lend(t, number++);
        }
        pass(t, d);
        ck_assert(journal_is_settled(t->j));
        ck_assert_uint_lt(number, 100);
    }
    return number;
}

START_TEST(long_values_are_refused_before_the_room_is_used_up)
{
    struct sim_disk *d = sim_disk_open(&(struct sim_disk_config){.seed = 1});
    struct told t;
    open_with(&t, d, 9, 96 << 20);
    unsigned count = fill(&t, d, 0), more = count;
    ck_assert_uint_ge(count, 6);
    /* What was under way when it was full has room as well, until that is said to be over. */
    while (journal_room(t.j, sizeof long_value, 0) == JOURNAL_ROOM) {
        lend(&t, more++);
        pass(&t, d);
        ck_assert(journal_is_settled(t.j));
    }
    ck_assert_uint_gt(more, count);
    ck_assert_int_eq(journal_room(t.j, sizeof long_value, 0), JOURNAL_ROOM_NONE);
    /* Deletes go: of each file one value stays, and these move together. */
    for (unsigned i = 0; i < more; i++) {
        if (i % 3 != 0) {
            drop(&t, i);
            pass(&t, d);
            ck_assert(journal_is_settled(t.j));
        }
    }
    ck_assert_uint_ge(fill(&t, d, more), more + 3);
    for (unsigned i = 0; i < 100; i++) {
        drop(&t, i);
    }
    pass(&t, d);
    ck_assert(journal_is_settled(t.j));
    ck_assert_uint_ge(fill(&t, d, 0), count);
    end(&t, d);
    open_with(&t, d, 9, 96 << 20);
    ck_assert_uint_ge(t.found, count);
    end(&t, d);
    sim_disk_close(d);
}
END_TEST

START_TEST(a_full_disk_gets_room_again)
{
    struct sim_disk *d = sim_disk_open(&(struct sim_disk_config){.seed = 1, .room = 24 << 20});
    struct told t;
    open_as(&t, d, 9);
    put(&t, 3, 1, "short");
    pass(&t, d);
    ck_assert(!journal_is_full(t.j));
    ck_assert_int_eq(journal_room(t.j, sizeof long_value, 0), JOURNAL_ROOM_SOON);
    settle(d);
    ck_assert_int_eq(journal_room(t.j, sizeof long_value, 0), JOURNAL_ROOM_NONE);
    ck_assert(journal_is_full(t.j));
    put(&t, 3, 1, "again");
    settle(d);
    ck_assert(journal_is_settled(t.j));
    sim_disk_room(d, 0);
    pass(&t, d);
    ck_assert_int_eq(journal_room(t.j, sizeof long_value, 0), JOURNAL_ROOM);
    ck_assert(!journal_is_full(t.j));
    lend(&t, 7);
    pass(&t, d);
    ck_assert(journal_is_settled(t.j));
    end(&t, d);
    sim_disk_close(d);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_was_told_is_there_after_a_loss_of_power),
    SUITE_TEST(a_failed_write_is_the_end_of_the_id),
    SUITE_TEST(who_gives_up_begins_anew),
    SUITE_TEST(a_record_without_memory_is_the_end_of_the_id),
    SUITE_TEST(the_folder_of_another_is_refused),
    SUITE_TEST(records_are_dropped_and_counted),
    SUITE_TEST(what_is_lent_comes_back_once),
    SUITE_TEST(without_room_all_wait_in_order),
    SUITE_TEST(long_values_are_refused_before_the_room_is_used_up),
    SUITE_TEST(a_full_disk_gets_room_again),
};
SUITE_MAIN("store journal", tests)
