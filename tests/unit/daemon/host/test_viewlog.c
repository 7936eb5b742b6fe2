/* SPDX-License-Identifier: Apache-2.0 */
/* test_viewlog.c - the log says what an operator must know: links, strangers, another server with our coordinate. */
#define _GNU_SOURCE /* pipe2 */
#include "daemon/host/internal.h"
#include "daemon_town.h"
#include "shim/fault.h"
#include "shim/pair.h"
#include "suite.h"

#include "wire/frame.h"
#include "wire/goodbye.h"

#include <fcntl.h>
#include <unistd.h>

static int ends[2];

static const char *heard(void)
{
    static char text[65536];
    ssize_t n = read(ends[0], text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

struct wills {
    unsigned count;
    struct goodbye last;
};

static void will(void *context, cw_link link, const uint8_t *bytes, uint32_t length)
{
    struct wills *w = context;
    struct frame_head head;
    struct frame_walk walk;
    struct frame_slice slice;
    ck_assert(link < CW_LINK_COUNT);
    ck_assert_int_eq(frame_decode(bytes, length, &head, &walk), WIRE_OK);
    ck_assert(frame_next(bytes, &walk, &slice));
    ck_assert_int_eq(goodbye_decode(bytes + slice.at, slice.size, &w->last), WIRE_OK);
    w->count++;
}

static struct host *open_logged(const char *text, struct shim *xp, struct shim *xm, struct wills *wills)
{
    struct daemon_config config = town_config(text);
    struct shim *shims[CW_LINK_COUNT] = {xp, xm};
    if (ends[1] == 0) {
        ck_assert_int_eq(pipe2(ends, O_NONBLOCK), 0);
    }
    struct host_options options = {
        .config = &config,
        .log = log_open(ends[1], CW_LOG_DEBUG, false),
        .incarnation = 1000,
        .id = config.place == CONFIG_AUTO ? 77 : 0,
        .shim = shims,
        .will = wills != NULL ? will : NULL,
        .will_context = wills,
    };
    struct host *h = NULL;
    char why[HOST_WHY];
    ck_assert_msg(host_open(&h, &options, why) == 0, "%s", why);
    return h;
}

static void close_logged(struct host *h)
{
    struct log *log = host_log(h);
    host_close(h);
    log_close(log);
}

/* Lets both run until the log has said all that is expected (NULL ends the list), however long the machine takes. */
static void run_until(struct host *a, struct host *b, const char *const *expected)
{
    static char said[1 << 16];
    size_t length = 0;
    unsigned next = 0;
    cw_time end = cw_time_add(clock_now(), CW_SEC(15));
    said[0] = '\0';
    while (expected[next] != NULL && cw_time_before(clock_now(), end)) {
        for (int turn = 0; turn < 100; turn++) {
            host_turn(a, CW_NS(0));
            host_turn(b, CW_NS(0));
        }
        length += (size_t)snprintf(said + length, sizeof said - length, "%s", heard());
        ck_assert_uint_lt(length, sizeof said);
        while (expected[next] != NULL && strstr(said, expected[next]) != NULL) {
            next++;
        }
    }
    ck_assert_msg(expected[next] == NULL, "not said: %s\nbut:\n%s", expected[next], said);
}
#define RUN_UNTIL(a, b, ...) run_until(a, b, (const char *const[]){__VA_ARGS__, NULL})

START_TEST(links_and_servers)
{
    struct shim *cable[2];
    struct wills wills = {.count = 0};
    ck_assert_int_eq(pair_open(cable, "blue cable", 1500, PAIR_DEPTH), 0);
    struct host *a = open_logged("torus { dims = 3x1x1; coordinate = '0,0,0' }", cable[0], NULL, &wills);
    struct host *b = open_logged("torus { dims = 3x1x1; coordinate = '1,0,0' }", NULL, cable[1], NULL);
    RUN_UNTIL(a, b, "msg=\"link is up\" server=0,0,0 link=+x neighbour=1,0,0", "count=2 of=3 delivers_keys=yes");
    ck_assert_uint_gt(wills.count, 0);
    ck_assert(wills.last.reason == GOODBYE_DIED &&
              wills.last.incarnation == ls_incarnation(node_linkstate(host_server(a, 0)->node)));
    pair_cut(cable[0], true);
    RUN_UNTIL(a, b, "msg=\"carrier is lost\" server=0,0,0 link=+x on=\"blue cable\" why=cut",
              "msg=\"link is down\" server=0,0,0");
    close_logged(a);
    close_logged(b);
}
END_TEST

START_TEST(neighbours_that_do_not_come)
{
    struct shim *cable[2];
    ck_assert_int_eq(pair_open(cable, "blue cable", 1500, PAIR_DEPTH), 0);
    struct host *a = open_logged("torus { dims = 3x1x1; coordinate = '0,0,0' }", cable[0], NULL, NULL);
    (void)heard();
    ck_assert(host_log_neighbours(a));
    ck_assert_ptr_nonnull(strstr(heard(), "msg=\"no neighbour yet\" server=0,0,0 links=+x "));
    struct host *b = open_logged("torus { dims = 3x1x1; coordinate = '1,0,0' }", NULL, cable[1], NULL);
    RUN_UNTIL(a, b, "msg=\"link is up\" server=0,0,0 link=+x neighbour=1,0,0");
    (void)heard();
    ck_assert(host_log_neighbours(a));
    ck_assert_ptr_null(strstr(heard(), "neighbour"));
    pair_cut(cable[0], true);
    RUN_UNTIL(a, b, "msg=\"link is down\" server=0,0,0");
    (void)heard();
    ck_assert(host_log_neighbours(a));
    const char *said = heard();
    ck_assert_ptr_null(strstr(said, "no neighbour yet"));
    ck_assert_ptr_nonnull(strstr(said, "msg=\"has lost neighbours\" server=0,0,0 links=+x "));
    close_logged(a);
    close_logged(b);
}
END_TEST

static void try_stranger(const char *other, bool straight, const char *said, const char *expected)
{
    struct shim *cable[2];
    ck_assert_int_eq(pair_open(cable, "blue cable", 1500, PAIR_DEPTH), 0);
    struct host *a = open_logged("torus { dims = 3x1x1; coordinate = '0,0,0' }", cable[0], NULL, NULL);
    struct host *b = open_logged(other, straight ? NULL : cable[1], straight ? cable[1] : NULL, NULL);
    RUN_UNTIL(a, b, said, expected);
    close_logged(a);
    close_logged(b);
}

START_TEST(strangers_are_named)
{
    try_stranger("torus { dims = 3x1x1; coordinate = '2,0,0' }", true,
                 "msg=\"another server or port is heard on this cable than belongs there\" server=0,0,0 link=+x",
                 "server 2,0,0 port -x was heard, expected server 1,0,0 port -x");
    try_stranger("torus { dims = 3x1x1; coordinate = '1,0,0' }", false,
                 "next=\"cwctl doctor says whether a cable or a coordinate is wrong\"",
                 "server 1,0,0 port +x was heard, expected server 1,0,0 port -x");
    try_stranger("torus { dims = 3x1x1; coordinate = '1,0,0' } cluster = 9", true,
                 "msg=\"this cable leads to another cluster\" server=0,0,0 link=+x",
                 "a server of cluster 9 was heard, ours is 1");
    try_stranger("torus { dims = 3x1x1; coordinate = '1,0,0' } timers { hello = 11ms }", true,
                 "msg=\"the neighbour on this cable has another configuration\" server=0,0,0 link=+x",
                 "server 1,0,0 has another configuration");
}
END_TEST

/* On a machine that is busy, too: links hold for 2 s. */
#define PATIENT " timers { hello = 100ms; dead = 2s; hold = 2100ms; flood_bound = 100ms; pending_limit = 5s }"

/* 0 - 1 - 2 - 0', in a torus of four: the far end says that it is 0 as well. */
START_TEST(a_second_server_with_our_coordinate)
{
    struct shim *cable[3][2];
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(pair_open(cable[i], "cable", 1500, PAIR_DEPTH), 0);
    }
    struct host *h[4] = {
        open_logged("torus { dims = 3x1x1; coordinate = '0,0,0' }" PATIENT, cable[0][0], NULL, NULL),
        open_logged("torus { dims = 3x1x1; coordinate = '1,0,0' }" PATIENT, cable[1][0], cable[0][1], NULL),
        open_logged("torus { dims = 3x1x1; coordinate = '2,0,0' }" PATIENT, cable[2][0], cable[1][1], NULL),
        open_logged("torus { dims = 3x1x1; coordinate = '0,0,0' }" PATIENT, NULL, cable[2][1], NULL),
    };
    bool said = false;
    cw_time end = cw_time_add(clock_now(), CW_SEC(15));
    while (!said && cw_time_before(clock_now(), end)) {
        for (int turn = 0; turn < 1000; turn++) {
            for (int i = 0; i < 4; i++) {
                host_turn(h[i], CW_NS(0));
            }
        }
        said = strstr(heard(), "another server says that it is us: two daemons have the same coordinate") != NULL;
    }
    ck_assert(said);
    for (int i = 0; i < 4; i++) {
        close_logged(h[i]);
    }
}
END_TEST

/* One way of the cable loses every tenth frame: both ends say so, each in its own words, and when it is over. */
START_TEST(a_cable_that_loses_frames)
{
    struct shim *cable[2];
    char why[SHIM_WHY_BYTES];
    ck_assert_int_eq(pair_open(cable, "blue cable", 1500, PAIR_DEPTH), 0);
    ck_assert_int_eq(fault_open(&cable[0], cable[0], &(struct fault_options){.loss = 100000, .seed = 7}, 0, NULL, why),
                     0);
    const char *timers = " timers { hello = 1ms; dead = 2s; hold = 2100ms; flood_bound = 100ms; pending_limit = 5s }";
    char text[2][200];
    for (int i = 0; i < 2; i++) {
        snprintf(text[i], sizeof text[i], "torus { dims = 3x1x1; coordinate = '%d,0,0' }%s", i, timers);
    }
    struct host *a = open_logged(text[0], cable[0], NULL, NULL);
    struct host *b = open_logged(text[1], NULL, cable[1], NULL);
    RUN_UNTIL(a, b, "msg=\"this cable loses frames\" server=", "lost=\"");
    struct ls_link_info info;
    ls_link_info(node_linkstate(host_server(a, 0)->node), CW_LINK_XP, &info);
    ck_assert(info.loss_out.ppm > 50000 && info.loss_out.ppm < 150000);
    ck_assert_int_eq(info.loss_in.ppm, 0);
    close_logged(a);
    close_logged(b);
}
END_TEST

/* Frames of a release that spoke another version are named once, whether a node runs here or not. */
START_TEST(another_version_is_named)
{
    static const char *const places[] = {"torus { dims = 3x1x1; coordinate = '0,0,0' }", "torus { coordinate = auto }"};
    for (int i = 0; i < 2; i++) {
        struct shim *cable[2];
        uint8_t bytes[SHIM_HEADROOM + 80] = {[SHIM_HEADROOM] = 0x10, [SHIM_HEADROOM + 1] = 1};
        struct shim_frame frame = {.bytes = bytes + SHIM_HEADROOM, .length = 72};
        ck_assert_int_eq(pair_open(cable, "blue cable", 1500, PAIR_DEPTH), 0);
        struct host *a = open_logged(places[i], cable[0], NULL, NULL);
        (void)heard();
        for (int sent = 0; sent < 3; sent++) {
            (void)shim_send(cable[1], &frame, 1);
            host_turn(a, CW_NS(0));
            host_turn(a, CW_NS(0));
        }
        const char *said = heard();
        const char *line = strstr(said, "a neighbour speaks another version of the wire, and is not understood");
        ck_assert_msg(line != NULL, "%s", said);
        ck_assert_ptr_nonnull(strstr(line, "its_version=1 ours=2"));
        ck_assert_ptr_null(strstr(line + 1, "a neighbour speaks another version"));
        close_logged(a);
        shim_close(cable[1]);
    }
}
END_TEST

/* What lasts longer than anything before is said, when it is longer than hold less dead. */
START_TEST(a_long_turn)
{
    struct host *h = open_logged("torus { dims = 3x1x1; coordinate = '0,0,0' } timers { dead = 50ms; hold = 60ms }",
                                 NULL, NULL, NULL);
    h->turn_longest = CW_MS(0);
    viewlog_turn(h, CW_MS(500));
    ck_assert(h->turn_longest.ns == 0); /* it has just begun, and delivers no keys */
    h->server[0].viewlog.serving = true;
    viewlog_turn(h, CW_MS(10));
    ck_assert(h->turn_longest.ns == CW_MS(10).ns && strstr(heard(), "in the middle of a turn") == NULL);
    viewlog_turn(h, CW_MS(25));
    ck_assert(strstr(heard(), "for longer than hold less dead\" for=25ms at_most=10ms") != NULL);
    viewlog_turn(h, CW_MS(24));
    ck_assert(h->turn_longest.ns == CW_MS(25).ns && strstr(heard(), "24ms") == NULL);
    ck_assert(h->turn_waited.ns > 0);
    close_logged(h);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_long_turn),
    SUITE_TEST(links_and_servers),
    SUITE_TEST(a_cable_that_loses_frames),
    SUITE_TEST(another_version_is_named),
    SUITE_TEST(neighbours_that_do_not_come),
    SUITE_TEST(strangers_are_named),
    SUITE_TEST(a_second_server_with_our_coordinate),
};
SUITE_MAIN("viewlog", tests)
