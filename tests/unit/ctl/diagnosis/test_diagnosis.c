/* SPDX-License-Identifier: Apache-2.0 */
/* test_diagnosis.c - what several servers see of one fault is told once. */
#include "ctl/diagnosis/diagnosis.h"

#include "suite.h"

#include <stdlib.h>
#include <string.h>

static struct rows rows;

/* Fields as "name=value;name=value". */
static void add(const char *fields)
{
    char text[600], *save = NULL;
    struct message *m = message_open();
    snprintf(text, sizeof text, "%s", fields);
    for (char *f = strtok_r(text, ";", &save); f != NULL; f = strtok_r(NULL, ";", &save)) {
        char *value = strchr(f, '=');
        *value++ = '\0';
        if (strcmp(f, "severity") == 0 || strcmp(f, "unanswered") == 0 || strcmp(f, "loss_ppm") == 0) {
            message_integer(m, f, atoi(value));
        } else {
            message_text(m, f, value);
        }
    }
    if (!message_has(m, "part") && !message_has(m, "unanswered")) {
        message_text(m, "part", "finding");
    }
    rows_add(&rows, m);
}

static const char *text_of(size_t i, const char *field)
{
    ck_assert_uint_lt(i, rows.count);
    return message_get_text(rows.row[i], field, "");
}

static void clear(void)
{
    rows_clear(&rows);
}

START_TEST(nothing_is_nothing)
{
    add("part=about;server=0,0,0;version=1.0");
    add("part=about;server=1,0,0;version=1.0");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 0);
    clear();
}
END_TEST

START_TEST(plugs_of_two_servers)
{
    /* +x of 0,0,0 and +x of 0,1,0 are exchanged: four ends, one fault. */
    add("severity=2;cause=cable;server=0,0,0;link=+x;expected=1,0,0;expected_port=-x;seen=1,1,0;seen_port=-x");
    add("severity=2;cause=cable;server=0,1,0;link=+x;expected=1,1,0;expected_port=-x;seen=1,0,0;seen_port=-x");
    add("severity=2;cause=cable;server=1,0,0;link=-x;expected=0,0,0;expected_port=+x;seen=0,1,0;seen_port=+x");
    add("severity=2;cause=cable;server=1,1,0;link=-x;expected=0,1,0;expected_port=+x;seen=0,0,0;seen_port=+x");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_str_eq(text_of(0, "cause"), "swapped");
    ck_assert_str_eq(text_of(0, "text"),
                     "the cables in +x of 0,0,0 and +x of 0,1,0 are exchanged: each leads where the other belongs");
    ck_assert_str_eq(text_of(0, "do"), "exchange the plugs in +x of 0,0,0 and +x of 0,1,0, then: cwctl wiring");
    clear();
}
END_TEST

START_TEST(plugs_of_one_server)
{
    add("severity=2;cause=cable;server=1,0,0;link=-x;expected=0,0,0;expected_port=+x;seen=0,0,0;seen_port=-y;text=a");
    add("severity=2;cause=swapped;server=0,0,0;link=+x;other_link=-y;expected=1,0,0;expected_port=-x;seen=0,2,0;"
        "seen_port=+y;text=mine");
    add("severity=2;cause=cable;server=0,2,0;link=+y;expected=0,0,0;expected_port=-y;seen=0,0,0;seen_port=+x;text=b");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_str_eq(text_of(0, "text"), "mine");
    clear();
}
END_TEST

START_TEST(a_wrong_coordinate)
{
    add("severity=2;cause=cable;server=0,0,2;link=-z;expected=0,0,1;expected_port=+z;seen=0,0,0;seen_port=+z");
    add("severity=2;cause=cable;server=1,0,1;link=-x;expected=0,0,1;expected_port=+x;seen=0,0,0;seen_port=+x");
    add("severity=2;cause=cable;server=0,1,1;link=-y;expected=0,0,1;expected_port=+y;seen=0,0,0;seen_port=+y");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_str_eq(text_of(0, "cause"), "twin");
    ck_assert_str_eq(text_of(0, "server"), "0,0,1");
    ck_assert_str_eq(text_of(0, "text"),
                     "the server that is cabled as 0,0,1 says that it is 0,0,0: by its cables it is 0,0,1");
    clear();
}
END_TEST

START_TEST(a_dead_server_is_one_finding)
{
    add("severity=2;cause=server-down;server=0,0,1;link=+x;expected=1,0,1;expected_port=-x;text=t;do=d");
    add("severity=2;cause=server-down;server=0,0,1;link=-x;expected=1,0,1;expected_port=+x;text=t;do=d");
    add("severity=2;cause=server-down;server=1,1,1;link=-y;expected=1,0,1;expected_port=+y;text=t;do=d");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_str_eq(text_of(0, "text"), "1,0,1 is down: none of its neighbours hears it (asked: 0,0,1 1,1,1)");
    ck_assert_str_eq(text_of(0, "server"), "1,0,1");
    clear();
}
END_TEST

START_TEST(effects_go_and_causes_stay)
{
    add("severity=2;cause=no-carrier;server=0,0,0;link=+x;expected=1,0,0;expected_port=-x;text=effect");
    add("severity=2;cause=interface-down;server=1,0,0;link=-x;expected=0,0,0;expected_port=+x;text=cause");
    add("severity=2;cause=deaf;server=0,1,0;link=+x;expected=1,1,0;expected_port=-x;text=effect");
    add("severity=2;cause=half;server=1,1,0;link=-x;expected=0,1,0;expected_port=+x;text=half");
    add("severity=3;cause=flapping;server=0,0,1;link=+x;expected=1,0,1;expected_port=-x;text=effect");
    add("severity=1;cause=stalled;server=1,0,1;text=stalled");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 3);
    ck_assert_str_eq(text_of(0, "text"), "stalled");
    ck_assert_str_eq(text_of(1, "text"), "half");
    ck_assert_str_eq(text_of(2, "text"), "cause");
    clear();
}
END_TEST

START_TEST(who_differs_is_told_once)
{
    add("severity=2;cause=mtu;server=1,0,0;link=+x;expected=0,0,0;expected_port=-x;text=1500 here;do=same");
    add("severity=2;cause=mtu;server=1,0,0;link=-x;expected=2,0,0;expected_port=+x;text=1500 here;do=same");
    add("severity=2;cause=mtu;server=0,0,0;link=+x;expected=1,0,0;expected_port=-x;seen=1,0,0;text=they have 1500");
    add("severity=2;cause=mtu;server=2,0,0;link=-x;expected=1,0,0;expected_port=+x;seen=1,0,0;text=they have 1500");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_str_eq(text_of(0, "text"), "1500 here (2 links, to 0,0,0 2,0,0)");
    clear();
    /* The one that differs cannot be asked. */
    add("severity=2;cause=mtu;server=0,0,0;link=+x;expected=1,0,0;expected_port=-x;seen=1,0,0;text=they have 1500");
    add("severity=2;cause=mtu;server=2,0,0;link=-x;expected=1,0,0;expected_port=+x;seen=1,0,0;text=they have 1500");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_str_eq(text_of(0, "text"), "they have 1500 (so say 0,0,0 2,0,0)");
    clear();
}
END_TEST

#define SAYS(server, far, ours)                                                                                    \
    "severity=2;cause=settings;server=" server ";link=+x;expected=" far ";expected_port=-x;seen=" far ";text=" far \
    " has timers.dead = " ours ", and this server has 50ms;do=compare"

/* Each of several that differ is named, whoever tells of it; other values are another finding. */
START_TEST(all_that_differ_are_named)
{
    add(SAYS("0,0,0", "1,0,0", "1s"));
    add(SAYS("0,0,0", "0,1,0", "1s"));
    add(SAYS("0,0,0", "0,0,1", "1s"));
    diagnose(&rows); /* no other server tells of them */
    ck_assert_uint_eq(rows.count, 1);
    for (unsigned i = 0; i < 3; i++) {
        static const char *const far[] = {"0,0,1", "0,1,0", "1,0,0"};
        ck_assert_ptr_nonnull(strstr(strchr(text_of(0, "text"), '('), far[i]));
    }
    clear();
    add(SAYS("0,0,0", "1,0,0", "1s"));
    add(SAYS("0,0,0", "0,1,0", "2s"));
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 2);
    clear();
    for (unsigned i = 0; i < 2; i++) { /* two sound neighbours of each of three */
        add(i == 0 ? SAYS("0,0,0", "1,0,0", "1s") : SAYS("1,1,1", "1,0,0", "1s"));
        add(i == 0 ? SAYS("0,0,0", "0,1,0", "1s") : SAYS("1,1,1", "0,1,0", "1s"));
        add(i == 0 ? SAYS("0,0,0", "0,0,1", "1s") : SAYS("1,1,1", "0,0,1", "1s"));
    }
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 3);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_ptr_nonnull(strstr(text_of(i, "text"), "(so say 0,0,0 1,1,1)"));
    }
    clear();
}
END_TEST

/* A server of another wire hears that from each neighbour; it says so once, and so is it told by its neighbours. */
START_TEST(versions_of_the_wire_are_one_finding)
{
    static const char *const far[] = {"0,0,0", "1,0,0", "0,1,0"};
    for (unsigned i = 0; i < 3; i++) {
        char text[200];
        snprintf(text, sizeof text, "severity=2;cause=version;server=9,9,9;link=+x;expected=%s;text=old;do=on %s",
                 far[i], far[i]);
        add(text);
    }
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_ptr_nonnull(strstr(text_of(0, "text"), "old (3 links, to "));
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_ptr_nonnull(strstr(text_of(0, "text"), far[i]));
    }
    ck_assert_str_eq(text_of(0, "do"), "on each of these: cubewayd --version, then install the same release on all");
    clear();
    for (unsigned i = 0; i < 3; i++) {
        char text[200];
        snprintf(text, sizeof text, "severity=2;cause=version;server=%s;link=+x;expected=9,9,9;text=old;do=one",
                 far[i]);
        add(text);
    }
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_ptr_nonnull(strstr(text_of(0, "text"), "old (so say "));
    clear();
}
END_TEST

/* Both ends of a cable tell of its loss; the end where the frames arrive is the one that is kept. */
START_TEST(loss_is_told_where_it_is_seen)
{
    static const char at[] = "severity=3;cause=lossy;server=0,0,0;link=+x;expected=1,0,0;expected_port=-x;text=here;";
    static const char far[] = "severity=3;cause=lossy;server=1,0,0;link=-x;expected=0,0,0;expected_port=+x;text=there;";
    static const struct {
        const char *here, *there, *kept;
    } row[] = {
        {"way=out", "way=in", "there"}, {"way=in", "way=out", "here"}, {"way=in", "way=in", "here"}, /* both ways */
    };
    for (unsigned i = 0; i < 3; i++) {
        char fields[300];
        snprintf(fields, sizeof fields, "%s%s", at, row[i].here);
        add(fields);
        snprintf(fields, sizeof fields, "%s%s", far, row[i].there);
        add(fields);
        diagnose(&rows);
        ck_assert_uint_eq(rows.count, 1);
        ck_assert_str_eq(text_of(0, "text"), row[i].kept);
        clear();
    }
}
END_TEST

START_TEST(who_left_is_a_note)
{
    add("severity=4;cause=left;server=0,0,1;link=+x;expected=1,0,1;expected_port=-x;text=1,0,1 left at noon;do=d");
    add("severity=4;cause=left;server=0,0,1;link=-x;expected=1,0,1;expected_port=+x;text=1,0,1 left at noon;do=d");
    add("severity=4;cause=left;server=1,1,1;link=-y;expected=1,0,1;expected_port=+y;text=1,0,1 left at one;do=d");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_str_eq(text_of(0, "server"), "1,0,1");
    ck_assert_str_eq(text_of(0, "link"), "");
    ck_assert_str_eq(text_of(0, "text"), "1,0,1 left at noon");
    clear();
}
END_TEST

/* 1,0,1 was killed again and again. Some neighbours have heard of its new life, and others not yet. */
START_TEST(a_server_that_restarts_is_one_finding)
{
    add("severity=3;cause=restarts;server=0,0,1;link=+x;expected=1,0,1;expected_port=-x;text=anew;do=d");
    add("severity=3;cause=flapping;server=1,1,1;link=-y;expected=1,0,1;expected_port=+y;text=effect;do=d");
    add("severity=3;cause=restarts;server=1,0,0;link=+z;expected=1,0,1;expected_port=-z;text=anew;do=d");
    add("severity=3;cause=flapping;server=1,0,1;link=-z;expected=1,0,0;expected_port=+z;text=effect;do=d");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_str_eq(text_of(0, "cause"), "restarts");
    ck_assert_str_eq(text_of(0, "server"), "1,0,1");
    ck_assert_str_eq(text_of(0, "text"), "anew");
    clear();
}
END_TEST

/* Four cables of 1,0,1, one of them told by both ends; a fifth cable has nothing to do with it. */
START_TEST(cables_that_share_a_server)
{
    add("severity=3;cause=flapping;server=0,0,1;link=+x;expected=1,0,1;expected_port=-x;text=a;do=d");
    add("severity=3;cause=flapping;server=1,0,1;link=-x;expected=0,0,1;expected_port=+x;text=a;do=d");
    add("severity=3;cause=flapping;server=0,0,1;link=-x;expected=1,0,1;expected_port=+x;text=b;do=d");
    add("severity=3;cause=flapping;server=1,1,1;link=-y;expected=1,0,1;expected_port=+y;text=c;do=d");
    add("severity=3;cause=flapping;server=1,0,1;link=+z;expected=1,0,0;expected_port=-z;text=d;do=d");
    add("severity=3;cause=flapping;server=0,1,0;link=+z;expected=0,1,1;expected_port=-z;text=alone;do=d");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 2);
    ck_assert_str_eq(text_of(1, "server"), "1,0,1");
    ck_assert_str_eq(text_of(1, "text"), "4 cables of 1,0,1 went down lately (to 0,0,1 1,0,0 1,1,1): look at 1,0,1, or "
                                         "at what these cables share");
    ck_assert_str_eq(text_of(0, "text"), "alone");
    clear();
    /* The name of one server may be a part of another's. */
    add("severity=3;cause=flapping;server=11,0,1;link=+x;expected=12,0,1;expected_port=-x;text=a;do=d");
    add("severity=3;cause=flapping;server=12,0,1;link=+y;expected=1,0,1;expected_port=-y;text=b;do=d");
    add("severity=3;cause=flapping;server=12,0,1;link=+z;expected=1,0,1;expected_port=-z;text=c;do=d");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_ptr_nonnull(strstr(text_of(0, "text"), "3 cables of 12,0,1 went down lately (to "));
    ck_assert_ptr_nonnull(strstr(text_of(0, "text"), "11,0,1"));
    ck_assert_ptr_nonnull(strstr(text_of(0, "text"), " 1,0,1"));
    clear();
}
END_TEST

/* A machine that is too slow for its servers is one fault, not one for each of them. */
START_TEST(what_is_true_of_many_is_told_once)
{
    add("severity=3;cause=waited;server=0,0,0;text=a;do=d");
    add("severity=3;cause=waited;server=1,0,0;text=b;do=d");
    add("severity=3;cause=stalled;server=0,0,1;text=alone;do=d");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 3); /* two are not many */
    clear();
    static const char *const servers[] = {"0,0,0", "1,0,0", "0,1,0", "0,0,1", "1,1,0", "0,1,1", "1,1,1"};
    for (unsigned i = 0; i < 7; i++) {
        char fields[100];
        snprintf(fields, sizeof fields, "severity=3;cause=waited;server=%s;text=t;do=d", servers[i]);
        add(fields);
    }
    add("severity=3;cause=stalled;server=0,0,1;text=alone;do=d");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 2);
    ck_assert_str_eq(text_of(0, "server"), "");
    ck_assert_str_eq(text_of(0, "text"), "7 servers had no processor in the middle of their work, for longer than "
                                         "timers.hold less timers.dead (0,0,0 0,0,1 0,1,0 0,1,1 1,0,0 1,1,0 ..)");
    ck_assert_str_eq(text_of(1, "text"), "alone");
    clear();
}
END_TEST

START_TEST(many_that_were_told_to_fail)
{
    add("severity=4;cause=ended;server=0,0,0;text=a;do=d;where=0,0,0");
    add("severity=4;cause=ended;server=1,0,0;text=b;do=d;where=1,0,0");
    add("severity=4;cause=ended;server=1,1,0;text=c;do=d;where=1,1,0");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_str_eq(text_of(0, "text"), "3 servers were taken out lately by cwctl fail, and brought back by cwctl "
                                         "restore, which was no mishap (0,0,0 1,0,0 1,1,0)");
    ck_assert_str_eq(text_of(0, "do"), "cwctl events --all says when");
    clear();
}
END_TEST

START_TEST(versions_and_silence_are_told)
{
    add("part=about;server=0,0,0;version=1.0");
    add("part=about;server=1,0,0;version=1.1");
    add("server=2,0,0;unanswered=1");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 2);
    ck_assert_str_eq(text_of(0, "cause"), "unanswered");
    ck_assert_str_eq(text_of(1, "text"), "2 versions run side by side: 1.0 on 1 (0,0,0), 1.1 on 1 (1,0,0)");
    clear();
}
END_TEST

/* Each end wonders about the cable; the end whose interface was switched off by hand knows. */
START_TEST(what_somebody_switched)
{
    add("severity=4;cause=switched-off;server=1,1,1;links_off=+x -z;text=mine");
    add("severity=3;cause=flapping;server=0,1,1;link=-x;expected=1,1,1;expected_port=+x");
    add("severity=4;cause=carrier-lost;server=1,1,2;link=-z;expected=1,1,1;expected_port=+z");
    add("severity=4;cause=carrier-lost;server=1,1,0;link=+z;expected=1,1,1;expected_port=-z");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 2);
    ck_assert_str_eq(text_of(0, "server"), "1,1,2");
    ck_assert_str_eq(text_of(1, "text"), "mine");
    clear();
}
END_TEST

/* It says itself that it stood still: that its neighbours lost it follows. */
START_TEST(one_stall_is_one_finding)
{
    add("severity=3;cause=stalled;server=1,1,1;text=mine");
    add("severity=3;cause=stalls;server=0,1,1;link=+x;expected=1,1,1;expected_port=-x");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_str_eq(text_of(0, "text"), "mine");
    clear();
}
END_TEST

static const struct suite_test tests[] = {

    SUITE_TEST(what_somebody_switched),
    SUITE_TEST(one_stall_is_one_finding),
    SUITE_TEST(nothing_is_nothing),
    SUITE_TEST(plugs_of_two_servers),
    SUITE_TEST(plugs_of_one_server),
    SUITE_TEST(a_wrong_coordinate),
    SUITE_TEST(a_dead_server_is_one_finding),
    SUITE_TEST(effects_go_and_causes_stay),
    SUITE_TEST(who_differs_is_told_once),
    SUITE_TEST(all_that_differ_are_named),
    SUITE_TEST(versions_of_the_wire_are_one_finding),
    SUITE_TEST(loss_is_told_where_it_is_seen),
    SUITE_TEST(who_left_is_a_note),
    SUITE_TEST(a_server_that_restarts_is_one_finding),
    SUITE_TEST(cables_that_share_a_server),
    SUITE_TEST(what_is_true_of_many_is_told_once),
    SUITE_TEST(many_that_were_told_to_fail),
    SUITE_TEST(versions_and_silence_are_told),
};
SUITE_MAIN("diagnosis", tests)
