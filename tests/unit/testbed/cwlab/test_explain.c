/* SPDX-License-Identifier: Apache-2.0 */
#include "lab_place.h"
#include "testbed/cwlab/explain.h"

#include <unistd.h>

static void row(struct explain *e, const char *server, const char *state, const char *ended, int64_t pid,
                double seconds)
{
    struct message *m = message_open();
    message_text(m, "server", server);
    message_text(m, "state", state);
    message_integer(m, "pid", pid);
    message_integer(m, "since_ns", (int64_t)(seconds * 1e9));
    if (ended != NULL) {
        message_text(m, "ended", ended);
    }
    explain_row(e, m);
    message_close(m);
}

static void told(const struct explain *e, const struct lab *lab, char *text, size_t room)
{
    FILE *out = tmpfile();
    ck_assert(out != NULL);
    explain_tell(e, lab, out);
    rewind(out);
    text[fread(text, 1, room - 1, out)] = '\0';
    fclose(out);
}

START_TEST(who_is_dead)
{
    struct explain e = {.processors = 2};
    struct lab lab = {.name = "x", .folder = "/nowhere", .scale = 3};
    char text[2000];
    row(&e, "0,0,0", "running", NULL, 0, 10);
    told(&e, &lab, text, sizeof text);
    ck_assert_str_eq(text, "");
    row(&e, "1,0,0", "dead", "signal 9, as ordered", 0, 10);
    ck_assert(e.running == 1 && e.dead == 1 && e.unordered == 0);
    told(&e, &lab, text, sizeof text);
    ck_assert(strstr(text, "1 daemon is dead: 1,0,0 (signal 9, as ordered); cwlab restore 1,0,0 --name x ") == text);
    ck_assert(strstr(text, "logs: /nowhere/*.log\n") != NULL);
    for (int i = 0; i < 8; i++) {
        row(&e, "2,0,0", "dead", "exit code 3", 0, 1);
    }
    row(&e, "2,2,2", "paused", NULL, 0, 1);
    ck_assert(e.dead == 9 && e.unordered == 8 && e.paused == 1);
    told(&e, &lab, text, sizeof text);
    ck_assert(strstr(text, "9 daemons are dead:") == text && strstr(text, ", and others;") != NULL);
    ck_assert(strstr(text, "1 daemon is paused\n") != NULL);
    e.goes = true;
    told(&e, &lab, text, sizeof text);
    ck_assert(strstr(text, ", and others\n") != NULL && strstr(text, "restore") == NULL &&
              strstr(text, "logs:") == NULL);
}
END_TEST

/* Whoever told them to: cwctl leave and drain are no orders of the keeper's. */
START_TEST(who_has_left)
{
    struct explain e = {.processors = 2};
    struct lab lab = {.name = "x", .folder = "/nowhere", .scale = 3};
    char text[2000];
    row(&e, "1,0,0", "dead", "exit code 0", 0, 10);
    row(&e, "1,1,0", "dead", "exit code 0, as ordered", 0, 10);
    ck_assert(e.dead == 2 && e.left == 2 && e.unordered == 0);
    told(&e, &lab, text, sizeof text);
    ck_assert(strstr(text, "2 servers have left: 1,0,0 (exit code 0), 1,1,0") == text);
    ck_assert(strstr(text, "the log of") == NULL);
    lab.driver = LAB_PROCESS;
    told(&e, &lab, text, sizeof text);
    ck_assert(strstr(text, "; cwlab down --name x removes the lab") != NULL && strstr(text, "restore") == NULL);
}
END_TEST

START_TEST(the_log_of_one_that_died_by_itself)
{
    char *place = place_make(), why[LAB_WHY], path[LAB_PATH], text[4000];
    struct explain e = {.processors = 2};
    struct lab lab = {.scale = 1};
    ck_assert(lab_place(&lab, "e", why) == 0 && lab_make_folder(&lab) == 0);
    FILE *log = fopen(lab_path(&lab, "0,0,1", ".log", path), "w");
    ck_assert(log != NULL);
    for (int i = 0; i < 500; i++) {
        fprintf(log, "line %d\n", i);
    }
    fprintf(log, "this is why");
    fclose(log);
    row(&e, "0,0,0", "dead", "signal 9, as ordered", 0, 10);
    row(&e, "0,0,1", "dead", "exit code 1", 0, 10);
    told(&e, &lab, text, sizeof text);
    ck_assert(strstr(text, "the log of 0,0,1 ends:\nline ") != NULL && strstr(text, "line 499\nthis is why\n") != NULL);
    ck_assert(strstr(text, "line 10\n") == NULL);
    ck_assert(!explain_look(&e, &lab)); /* nobody keeps it */
    place_remove(place);
}
END_TEST

/* The line that says in what it crashed stands before a backtrace that is longer than what is shown else. */
START_TEST(the_log_of_one_that_crashed)
{
    char *place = place_make(), why[LAB_WHY], path[LAB_PATH], text[8000];
    struct explain e = {.processors = 2};
    struct lab lab = {.scale = 1};
    ck_assert(lab_place(&lab, "e", why) == 0 && lab_make_folder(&lab) == 0);
    FILE *log = fopen(lab_path(&lab, "0,0,1", ".log", path), "w");
    ck_assert(log != NULL);
    for (int i = 0; i < 3000; i++) {
        fprintf(log, "%s%d\n", i == 100 ? "crashed: long ago " : "line ", i);
    }
    fprintf(log, "time=x msg=\"crashed: SIGSEGV in service bug\"\n");
    for (int i = 0; i < 40; i++) {
        fprintf(log, "/a/file/of/some/length/that/is/loaded.so(+0x%x)[0x7f06d5a3b3f4]\n", i);
    }
    fclose(log);
    row(&e, "0,0,1", "dead", "signal 11", 0, 10);
    told(&e, &lab, text, sizeof text);
    ck_assert(strstr(text, "the log of 0,0,1 ends:\ntime=x msg=\"crashed: SIGSEGV in service bug\"\n/a/file") != NULL);
    ck_assert(strstr(text, "(+0x27)[") != NULL);
    place_remove(place);
}
END_TEST

/* This process wants to run while it reads that. */
START_TEST(somebody_wants_to_run)
{
    struct explain e = {.load = 0};
    explain_load(&e);
    ck_assert(e.load >= 1);
}
END_TEST

START_TEST(too_few_processors)
{
    struct explain e = {.timed = 27, .waited = 0.83, .seconds = 30, .load = 45, .processors = 2};
    struct lab lab = {.name = "x", .folder = "/nowhere", .scale = 3};
    char text[2000];
    ck_assert(explain_is_starved(&e));
    told(&e, &lab, text, sizeof text);
    ck_assert(strstr(text, "too little processor time: daemons have waited 83 % of their lives") == text);
    ck_assert(strstr(text, "(cwlab rescale --name x --scale 6)") != NULL);
    ck_assert_uint_ge(explain_scale(&e, &lab, 0), 6);
    e.goes = true; /* what cwlab up takes down again cannot be given other timers */
    e.again = "cwlab run SCENARIO";
    told(&e, &lab, text, sizeof text);
    ck_assert(strstr(text, "longer timers (cwlab run SCENARIO --scale 6)") != NULL);
    e.again = NULL;
    told(&e, &lab, text, sizeof text);
    ck_assert(strstr(text, "(cwlab up --scale 6)") != NULL);
    e.seconds = 1; /* all begin at once */
    ck_assert(!explain_is_starved(&e));
    e = (struct explain){.processors = 2};
    row(&e, "0,0,0", "running", NULL, getpid(), 1000); /* of us the kernel knows, if of anybody */
    ck_assert(e.timed <= 1 && e.waited < 0.5 && !explain_is_starved(&e));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(who_is_dead),
    SUITE_TEST(who_has_left),
    SUITE_TEST(the_log_of_one_that_died_by_itself),
    SUITE_TEST(the_log_of_one_that_crashed),
    SUITE_TEST(somebody_wants_to_run),
    SUITE_TEST(too_few_processors),
};

SUITE_MAIN("explain", tests)
