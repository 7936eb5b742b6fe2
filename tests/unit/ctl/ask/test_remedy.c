/* SPDX-License-Identifier: Apache-2.0 */
/* test_remedy.c - what the doctor says to do names the server, and in a lab the command of cwlab. */
#include "ctl/ask/remedy.h"

#include "suite.h"

#include <string.h>

static struct message *finding(const char *cause, const char *where, const char *what)
{
    struct message *m = message_open();
    message_text(m, "server", "1,0,0");
    message_text(m, "link", "+x");
    message_text(m, "expected", "2,0,0");
    message_text(m, "cause", cause);
    if (where != NULL) {
        message_text(m, "where", where);
    }
    message_text(m, "do", what);
    return m;
}

static const char *what_of(const struct rows *rows, size_t i)
{
    return message_get_text(rows->row[i], "do", "");
}

START_TEST(where_it_is_typed)
{
    struct rows rows = {NULL, 0, 0};
    rows_add(&rows, finding("mtu", "1,0,0", "ip link set px mtu 3000"));
    rows_add(&rows, finding("left", NULL, "on 2,0,0: systemctl start cubewayd"));
    remedy_place(&rows);
    ck_assert_str_eq(what_of(&rows, 0), "on 1,0,0: ip link set px mtu 3000");
    ck_assert_str_eq(what_of(&rows, 1), "on 2,0,0: systemctl start cubewayd");
    remedies_in_lab(&rows, NULL, ""); /* there is none */
    ck_assert_str_eq(what_of(&rows, 1), "on 2,0,0: systemctl start cubewayd");
    rows_clear(&rows);
}
END_TEST

START_TEST(the_words_of_a_lab)
{
    static const char *const texts[][2] = {
        {"on 1,0,2: systemctl start cubewayd", "cwlab restore 1,0,2"},
        {"on 1,0,2: systemctl status cubewayd", "cwlab logs 1,0,2"},
        {"on 1,0,2: cwctl doctor; journalctl -u cubewayd", "cwlab ctl 1,0,2 doctor; cwlab logs 1,0,2"},
        {"on 1,0,2: cwctl doctor; ip -s link", "cwlab ctl 1,0,2 doctor; cwlab exec 1,0,2 ip -s link"},
        {"on 1,0,2: cwctl doctor --all; here again in some seconds",
         "cwlab ctl 1,0,2 doctor --all; here again in some seconds"},
        {"on 1,0,2: ip link set px mtu 9000 && systemctl restart cubewayd",
         "cwlab exec 1,0,2 ip link set px mtu 9000 && cwlab leave 1,0,2 && cwlab restore 1,0,2"},
        {"on 1,0,2: ip -s link show mx: errors are the cable's",
         "cwlab exec 1,0,2 ip -s link show mx: errors are the cable's"},
        {"on 1,0,2: cubewayd --version (here: 0.1.0)", "on 1,0,2: cubewayd --version (here: 0.1.0)"},
        {"on the machine at 1,0,2: set it", "on the machine at 1,0,2: set it"},
        {"on 1,0,2: exchange the plugs in +x and -x, then: cwctl wiring",
         "on 1,0,2: exchange the plugs in +x and -x, then: cwlab ctl 1,0,2 wiring"},
        {"exchange the plugs, then: cwctl wiring", "exchange the plugs, then: cwctl wiring"},
        {"", ""},
    };
    char out[REMEDY_TEXT];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ck_assert_str_eq(remedy_in_lab(texts[i][0], "", out), texts[i][1]);
    }
    ck_assert_str_eq(remedy_in_lab(texts[2][0], "--name x ", out),
                     "cwlab ctl --name x 1,0,2 doctor; cwlab logs --name x 1,0,2");
}
END_TEST

START_TEST(what_a_lab_undoes)
{
    struct rows rows = {NULL, 0, 0};
    rows_add(&rows, finding("interface-down", "1,0,0", "ip link set px up"));
    rows_add(&rows, finding("server-down", NULL, "see whether the machine at 2,0,0 is on"));
    rows_add(&rows, finding("deaf", "1,0,0", "ip -s link show px"));
    rows_add(&rows, finding("waited", "1,0,0", "give it a processor: priority = realtime, or longer timers"));
    remedy_place(&rows);
    remedies_in_lab(&rows, "", "0,0,0");
    ck_assert_str_eq(what_of(&rows, 0), "cwlab link 1,0,0 +x up");
    ck_assert_str_eq(what_of(&rows, 1), "cwlab logs 2,0,0; cwlab restore 2,0,0");
    ck_assert_str_eq(what_of(&rows, 2), "cwlab exec 1,0,0 ip -s link show px");
    ck_assert_str_eq(what_of(&rows, 3), "cwlab status: is this machine busy? Then fewer servers, or longer timers: "
                                        "cwlab rescale");
    remedies_in_lab(&rows, "--name x ", "0,0,0");
    ck_assert_str_eq(what_of(&rows, 3), "cwlab status --name x: is this machine busy? Then fewer servers, or longer "
                                        "timers: cwlab rescale --name x");
    struct message *lost =
        finding("no-majority", NULL, "systemctl start cubewayd on these 2, in this order: 0,0,1 1,0,0");
    message_text(lost, "start", "0,0,1 1,0,0");
    rows_add(&rows, lost);
    rows_add(&rows, finding("fell-once", NULL, "cwctl events --all says when"));
    rows_add(&rows, finding("no-carrier", "1,0,0", "ip link show memory"));
    remedies_in_lab(&rows, "", "0,0,0");
    ck_assert_str_eq(what_of(&rows, 4), "cwlab restore 0,0,1 && cwlab restore 1,0,0");
    ck_assert_str_eq(what_of(&rows, 5), "cwlab ctl 0,0,0 events --all says when");
    remedies_in_lab(&rows, "--name x ", "all");
    ck_assert_str_eq(what_of(&rows, 4), "cwlab ctl --name x 0,0,1 restore && cwlab ctl --name x 1,0,0 restore");
    ck_assert_str_eq(what_of(&rows, 6), "cwlab ctl --name x 1,0,0 mend +x");
    ck_assert_str_eq(what_of(&rows, 1), "cwlab ctl --name x 2,0,0 restore");
    ck_assert_str_eq(what_of(&rows, 3), "cwlab status --name x: is this machine busy? Then fewer servers, or longer "
                                        "timers: cwlab up --scale N");
    rows_clear(&rows);
}
END_TEST

/* Nobody writes the configuration of a lab's daemons. */
START_TEST(a_service_that_is_off)
{
    static const char says[] = "service 'ip' is switched off here: to switch it on, give the daemon's configuration a "
                               "section service ip { }, and restart the daemon";
    char out[REMEDY_TEXT];
    ck_assert_str_eq(remedy_for("", "0,0,0", says, out),
                     "service 'ip' is switched off here: to switch it on, begin the lab with cwlab up --tunnel");
    ck_assert_str_eq(remedy_for("", "0,0,0", "give the daemon's configuration a section service store { }", out),
                     "begin the lab with cwlab up --service store");
    ck_assert_str_eq(remedy_for(NULL, "0,0,0", says, out), says);
}
END_TEST

/* Wherever a command begins; a word about cwctl stays. */
START_TEST(commands_in_a_sentence)
{
    char out[REMEDY_TEXT];
    ck_assert_str_eq(remedy_for("", "0,0,0", "no such job; cwctl job list and cwctl services say more", out),
                     "no such job; cwlab ctl 0,0,0 job list and cwlab ctl 0,0,0 services say more");
    ck_assert_str_eq(remedy_for("", "0,0,0", "it counts (cwctl job show a); \"cwctl file status\" shows it", out),
                     "it counts (cwlab ctl 0,0,0 job show a); \"cwlab ctl 0,0,0 file status\" shows it");
    ck_assert_str_eq(remedy_for("", "0,0,0", "by another cwctl than this", out), "by another cwctl than this");
}
END_TEST

/* Text that is longer than what there is room for is cut, and does no harm. */
START_TEST(long_text)
{
    char text[2000], out[REMEDY_TEXT];
    strcpy(text, "on 1,0,0: ip ");
    memset(text + strlen(text), 'x', sizeof text - strlen(text));
    text[sizeof text - 1] = '\0';
    ck_assert_uint_eq(strlen(remedy_in_lab(text, "", out)), REMEDY_TEXT - 1);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(where_it_is_typed),     SUITE_TEST(the_words_of_a_lab),     SUITE_TEST(what_a_lab_undoes),
    SUITE_TEST(a_service_that_is_off), SUITE_TEST(commands_in_a_sentence), SUITE_TEST(long_text),
};
SUITE_MAIN("remedy", tests)
