/* SPDX-License-Identifier: Apache-2.0 */
/* test_waits.c - two sets of descriptors: frames of data wake nobody who waits on the calm one. */
#include "suite.h"

#include "daemon/machine/waits.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <unistd.h>

enum { MANY = 2 * WAITS_AT_ONCE + 5 };

struct bell {
    struct waits_item item;
    int fd;
    unsigned calls;
    struct waits *leaves; /* it removes itself from there when it is called */
};

static void on_bell(void *context)
{
    struct bell *b = context;
    b->calls++;
    if (b->leaves != NULL) {
        waits_remove(b->leaves, &b->item);
    }
}

static void bell_open(struct bell *b, struct waits *w, bool calm)
{
    *b = (struct bell){.item = {.fn = on_bell, .context = b, .calm = calm}, .fd = eventfd(0, EFD_NONBLOCK)};
    ck_assert_int_ge(b->fd, 0);
    ck_assert_int_eq(waits_add(w, &b->item, b->fd, EPOLLIN), 0);
}

static void bell_ring(const struct bell *b)
{
    ck_assert_int_eq(eventfd_write(b->fd, 1), 0);
}

static void bell_still(const struct bell *b)
{
    eventfd_t value;
    ck_assert_int_eq(eventfd_read(b->fd, &value), 0);
}

static struct waits opened(void)
{
    struct waits w;
    ck_assert_int_eq(waits_open(&w), 0);
    return w;
}

START_TEST(data_wakes_nobody_who_is_calm)
{
    struct waits w = opened();
    struct bell data, other;
    bell_open(&data, &w, false);
    bell_open(&other, &w, true);
    bell_ring(&data);
    ck_assert_uint_eq(waits_look(&w, WAITS_CALM, CW_NS(0)), 0);
    ck_assert_uint_eq(waits_look(&w, WAITS_CALM, CW_US(30)), 0);
    ck_assert_uint_eq(data.calls, 0);
    ck_assert_uint_eq(waits_look(&w, WAITS_ALL, WAITS_FOR_EVER), 1);
    ck_assert_uint_eq(data.calls, 1);
    bell_ring(&other);
    ck_assert_uint_eq(waits_look(&w, WAITS_CALM, WAITS_FOR_EVER), 1);
    ck_assert_uint_eq(waits_look(&w, WAITS_ALL, WAITS_FOR_EVER), 2);
    ck_assert_uint_eq(other.calls, 2);
    ck_assert_uint_eq(data.calls, 2);
    bell_still(&data);
    bell_still(&other);
    ck_assert_uint_eq(waits_look(&w, WAITS_ALL, CW_MS(1)), 0);
    waits_close(&w);
}
END_TEST

START_TEST(an_item_goes_when_it_likes)
{
    struct waits w = opened();
    struct bell b;
    bell_open(&b, &w, true);
    b.leaves = &w;
    bell_ring(&b);
    ck_assert_uint_eq(waits_look(&w, WAITS_ALL, CW_NS(0)), 1);
    ck_assert(!b.item.watched);
    ck_assert_uint_eq(waits_look(&w, WAITS_ALL, CW_NS(0)), 0);
    ck_assert_uint_eq(waits_look(&w, WAITS_CALM, CW_NS(0)), 0);
    waits_remove(&w, &b.item);
    b.leaves = NULL;
    ck_assert_int_eq(waits_add(&w, &b.item, b.fd, EPOLLIN), 0);
    ck_assert_uint_eq(waits_look(&w, WAITS_CALM, CW_NS(0)), 1);
    waits_close(&w);
}
END_TEST

/* What one of the two sets refuses is in neither. */
START_TEST(a_descriptor_is_in_a_set_once)
{
    struct waits w = opened();
    struct bell b;
    bell_open(&b, &w, false);
    struct bell again = {.item = {.fn = on_bell, .context = &again, .calm = true}};
    ck_assert_int_eq(waits_add(&w, &again.item, b.fd, EPOLLIN), -EEXIST);
    ck_assert(!again.item.watched);
    bell_ring(&b);
    ck_assert_uint_eq(waits_look(&w, WAITS_CALM, CW_NS(0)), 0);
    int copy = dup(b.fd);
    ck_assert_int_eq(waits_add(&w, &again.item, copy, EPOLLIN), 0);
    ck_assert_uint_eq(waits_look(&w, WAITS_ALL, CW_NS(0)), 2);
    ck_assert_uint_eq(again.calls, 1);
    ck_assert_int_eq(waits_add(&w, &(struct waits_item){.fn = on_bell}, -1, EPOLLIN), -EBADF);
    waits_close(&w);
}
END_TEST

/* However many are ready, each is called before any is called a second time. */
START_TEST(none_of_many_is_left_out)
{
    struct waits w = opened();
    static struct bell bells[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        bell_open(&bells[i], &w, i % 2 == 0);
        bell_ring(&bells[i]);
    }
    unsigned calls = 0;
    for (unsigned looks = 0; looks < 3; looks++) {
        unsigned some = waits_look(&w, WAITS_ALL, WAITS_FOR_EVER);
        ck_assert_uint_le(some, WAITS_AT_ONCE);
        calls += some;
    }
    ck_assert_uint_ge(calls, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        SUITE_HOLDS(bells[i].calls >= 1, "bell %u", i);
    }
    waits_close(&w);
}
END_TEST

static volatile sig_atomic_t alarms;

static void on_alarm(int signal)
{
    (void)signal;
    alarms++;
}

START_TEST(a_signal_ends_a_wait)
{
    struct waits w = opened();
    struct sigaction action = {.sa_handler = on_alarm};
    ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
    struct itimerval often = {.it_interval = {.tv_usec = 2000}, .it_value = {.tv_usec = 2000}};
    ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
    ck_assert_uint_eq(waits_look(&w, WAITS_CALM, WAITS_FOR_EVER), 0);
    ck_assert_uint_eq(waits_look(&w, WAITS_ALL, CW_NS(999999999)), 0);
    ck_assert_int_ge(alarms, 2);
    waits_close(&w);
}
END_TEST

START_TEST(the_set_that_watches_is_found)
{
    struct waits w = opened();
    int lonely = eventfd(0, 0);
    struct bell data, other;
    bell_open(&data, &w, false);
    bell_open(&other, &w, true);
    ck_assert_int_eq(waits_find(data.fd), w.set[WAITS_ALL]);
    ck_assert_int_eq(waits_find(other.fd), -EEXIST);
    ck_assert_int_eq(waits_find(lonely), -ENOENT);
    waits_remove(&w, &data.item);
    ck_assert_int_eq(waits_find(data.fd), -ENOENT);
    waits_close(&w);
}
END_TEST

START_TEST(limits_may_be_short)
{
    ck_assert(waits_are_fine());
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(data_wakes_nobody_who_is_calm), SUITE_TEST(an_item_goes_when_it_likes),
    SUITE_TEST(a_descriptor_is_in_a_set_once), SUITE_TEST(none_of_many_is_left_out),
    SUITE_TEST(a_signal_ends_a_wait),          SUITE_TEST(the_set_that_watches_is_found),
    SUITE_TEST(limits_may_be_short),
};
SUITE_MAIN("waits", tests)
