/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* mkostemp() */
#include "simulator/cwsim/slow.h"
#include "suite.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What a kernel would say of the thread's waiting. */
static void stat_says(const struct slow *s, long long waited_ns)
{
    char text[96];
    int n = snprintf(text, sizeof text, "5 %lld 3\n", waited_ns);
    ck_assert_int_eq(ftruncate(s->stat, 0), 0);
    ck_assert_int_eq(pwrite(s->stat, text, (size_t)n, 0), n);
}

static void begin(struct slow *s, FILE *errors)
{
    char path[] = "/tmp/slow-XXXXXX";
    slow_begin(s, errors, CW_MS(15));
    slow_end(s);
    s->stat = mkostemp(path, O_CLOEXEC);
    ck_assert_int_ge(s->stat, 0);
    unlink(path);
    stat_says(s, 0);
    s->waited_ns = 0;
}

/* An upcall of 40 ms, in which the thread waited for a processor that long. */
static bool upcall(struct slow *s, const char *name, long long waited_ms)
{
    static long long all_ms;
    stat_says(s, all_ms * 1000000);
    s->looked_ns = 0;
    int64_t began = slow_read(s);
    all_ms += waited_ms;
    stat_says(s, all_ms * 1000000);
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    ck_assert_int_gt(slow_read(s), began);
    return slow_tell(s, "mine", name, "0,1,2", (cw_time){1500000000}, CW_MS(40));
}

START_TEST(a_machine_with_other_work_is_not_the_service)
{
    struct slow s;
    FILE *errors = tmpfile();
    begin(&s, errors);
    ck_assert(!upcall(&s, "on_packet", 33)); /* 7 ms of its own, and half of dead is 7.5 */
    ck_assert_int_eq(ftell(errors), 0);
    ck_assert(upcall(&s, "on_packet", 30));
    rewind(errors);
    char line[400] = "";
    ck_assert_ptr_nonnull(fgets(line, sizeof line, errors));
    ck_assert_str_eq(line, "service mine held the thread for 10ms of the wall clock in on_packet, on server 0,1,2, at "
                           "1.500000000 s: neighbours of a daemon count it out after 15ms (timers.dead); work above "
                           "some 10 us goes to cw_offload()\n");
    fclose(errors);
    slow_end(&s);
}
END_TEST

START_TEST(is_told_three_times)
{
    struct slow s;
    FILE *errors = tmpfile();
    begin(&s, errors);
    for (int i = 0; i < SLOW_TOLD; i++) {
        ck_assert(upcall(&s, "on_packet", 0));
    }
    ck_assert(!upcall(&s, "on_packet", 0));
    ck_assert(upcall(&s, "on_event", 0)); /* another upcall is another matter */
    rewind(errors);
    char line[400] = "";
    for (int i = 0; i < SLOW_TOLD; i++) {
        ck_assert_ptr_nonnull(fgets(line, sizeof line, errors));
    }
    ck_assert_ptr_nonnull(strstr(line, "cw_offload() (this is not told again)\n"));
    fclose(errors);
    slow_end(&s);
}
END_TEST

/* Where the system has no such numbers, nothing is taken off. */
START_TEST(where_there_are_no_numbers)
{
    struct slow s;
    FILE *errors = tmpfile();
    begin(&s, errors);
    slow_end(&s);
    s.stat = -1;
    (void)slow_read(&s);
    ck_assert_int_eq(s.lately_ns, 0);
    ck_assert(slow_tell(&s, "mine", "open", "0,0,0", (cw_time){0}, CW_MS(8)));
    fclose(errors);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_machine_with_other_work_is_not_the_service),
    SUITE_TEST(is_told_three_times),
    SUITE_TEST(where_there_are_no_numbers),
};
SUITE_MAIN("slow", tests)
