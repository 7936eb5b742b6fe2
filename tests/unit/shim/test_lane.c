/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/lane.h"

#include "suite.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* Two queues in the place of two sockets. */
static struct {
    unsigned left[LANES]; /* frames that wait */
    unsigned asked[LANES];
    int error[LANES]; /* what a receive of the lane gives instead, when it is not 0 */
} fake;

static int receive(struct shim *s, enum frame_lane lane, struct shim_frame *frames, unsigned count)
{
    (void)s;
    fake.asked[lane]++;
    if (fake.error[lane] != 0) {
        return fake.error[lane];
    }
    unsigned given = fake.left[lane] < count ? fake.left[lane] : count;
    for (unsigned i = 0; i < given; i++) {
        frames[i].length = 1 + lane;
    }
    fake.left[lane] -= given;
    return (int)given;
}

enum { ROOM = 8 };

/* Which lanes the frames came from, as text: "ddc". */
static const char *receive_all(struct shim *s, struct lane_turns *turns)
{
    static char text[ROOM + 1];
    struct shim_frame frames[ROOM];
    int got = lane_receive(s, turns, receive, frames, ROOM);
    ck_assert_int_ge(got, 0);
    for (int i = 0; i < got; i++) {
        text[i] = frames[i].length == 1 + FRAME_DATA ? 'd' : 'c';
    }
    text[got] = '\0';
    return text;
}

static void wait_for(unsigned data, unsigned control)
{
    memset(&fake, 0, sizeof fake);
    fake.left[FRAME_DATA] = data;
    fake.left[FRAME_CONTROL] = control;
}

/* What was sent before the last data has then been given too. */
START_TEST(data_comes_first)
{
    struct shim s = {0};
    struct lane_turns turns = {0};
    wait_for(2, 3);
    ck_assert_str_eq(receive_all(&s, &turns), "ddccc");
    ck_assert_str_eq(receive_all(&s, &turns), "");
    wait_for(0, 1);
    ck_assert_str_eq(receive_all(&s, &turns), "c");
}
END_TEST

START_TEST(in_a_flood_control_is_first_every_second_time)
{
    struct shim s = {0};
    struct lane_turns turns = {0};
    wait_for(20, 2);
    ck_assert_str_eq(receive_all(&s, &turns), "dddddddd");
    ck_assert_str_eq(receive_all(&s, &turns), "ccdddddd");
    ck_assert_str_eq(receive_all(&s, &turns), "dddddd");
}
END_TEST

START_TEST(an_attentive_owner_says_when_there_is_control)
{
    struct shim s = {.attentive = true};
    struct lane_turns turns = {0};
    wait_for(1, 1);
    ck_assert_str_eq(receive_all(&s, &turns), "d");
    ck_assert_uint_eq(fake.asked[FRAME_CONTROL], 0);
    ck_assert_str_eq(receive_all(&s, &turns), "c"); /* no data: it is looked for */
    wait_for(1, 1);
    s.urgent = true;
    ck_assert_str_eq(receive_all(&s, &turns), "dc");
    ck_assert(!s.urgent);
    wait_for(0, 1);
    for (unsigned i = 0; i < SHIM_BATCH; i++) {
        fake.left[FRAME_DATA] = 1;
        ck_assert_str_eq(receive_all(&s, &turns), "d");
    }
    fake.left[FRAME_DATA] = 1;
    ck_assert_str_eq(receive_all(&s, &turns), "dc"); /* a batch of data later */
}
END_TEST

START_TEST(an_error_is_told_when_nothing_was_given)
{
    struct shim s = {0};
    struct lane_turns turns = {0};
    struct shim_frame frames[ROOM];
    wait_for(1, 0);
    fake.error[FRAME_CONTROL] = -EIO;
    ck_assert_int_eq(lane_receive(&s, &turns, receive, frames, ROOM), 1);
    ck_assert_int_eq(lane_receive(&s, &turns, receive, frames, ROOM), -EIO);
    fake.error[FRAME_DATA] = -ENOMEM;
    ck_assert_int_eq(lane_receive(&s, &turns, receive, frames, ROOM), -ENOMEM);
}
END_TEST

START_TEST(what_is_no_socket_is_told)
{
    int fd[2];
    ck_assert_int_lt(lane_drop_others(-1), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM, 0, fd), 0);
    ck_assert_int_eq(lane_drop_others(fd[0]), 0); /* test_raw.c shows what it drops */
    close(fd[0]);
    close(fd[1]);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(data_comes_first),
    SUITE_TEST(in_a_flood_control_is_first_every_second_time),
    SUITE_TEST(an_attentive_owner_says_when_there_is_control),
    SUITE_TEST(an_error_is_told_when_nothing_was_given),
    SUITE_TEST(what_is_no_socket_is_told),
};

int main(void)
{
    return suite_run("lane", tests, sizeof tests / sizeof *tests);
}
