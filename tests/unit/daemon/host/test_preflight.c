/* SPDX-License-Identifier: Apache-2.0 */
/* test_preflight.c - what the start would refuse is told in advance, all of it at once, with its line. */
#include "daemon/host/preflight.h"

#include "netns.h"
#include "preflight_look.h"
#include "suite.h"

#include <stdlib.h>
#include <unistd.h>

START_TEST(a_good_file_says_nothing)
{
    struct said said;
    struct preflight p = look(WHOLE, &said);
    ck_assert_msg(said.count == 0, "%s", said.text[0]);
    ck_assert_uint_eq(p.mistakes + p.warnings, 0);
}
END_TEST

START_TEST(every_mistake_is_told_at_once)
{
    struct said said;
    struct preflight p = look("user = cw-nobody-here\n"
                              "state_dir = /nowhere/at/all\n"
                              "torus { dims = 3x1x1; coordinate = '0,0,0' }\n"
                              "control { socket = /dev/null;\n"
                              "  group = cw-away }\n"
                              "metrics { listen = '192.0.2.1:9464' }\n"
                              "links {\n"
                              "  +x { shim = raw\n"
                              "       interface = lp }\n"
                              "  -x { shim = udp\n"
                              "       local = '192.0.2.1:7'; remote = '192.0.2.2:7' }\n"
                              "}\n"
                              "operator_key = /nowhere/key.pub\n"
                              "colour = red\n",
                              &said);
    expect(&said, "F:14: colour: no such key at the top; cubewayd.conf(5) lists them");
    expect(
        &said,
        "F:1: user: there is no user cw-nobody-here; make it (useradd --system cw-nobody-here), or take the key out");
    expect(&said, "F:2: state_dir: /nowhere/at: No such file or directory");
    expect(&said, "F:4: control.socket: /dev/null: is there and is no socket; remove it, or choose another path");
    expect(&said, "F:5: control.group: there is no group cw-away; make it (groupadd --system cw-away), or "
                  "take the key out");
    expect(&said, "F:6: metrics.listen: 192.0.2.1:9464: no interface here has that address");
    expect(&said, "F:9: warning: links.+x.interface: lp: there is no such interface now, and the daemon will wait for "
                  "it; did you mean lo?");
    expect(&said, "F:11: links.-x.local: 192.0.2.1:7: no interface here has that address");
    expect(&said, "F:13: operator_key: '/nowhere/key.pub': expected 64 hex digits, or a file that holds a public key");
    ck_assert_uint_eq(p.mistakes, 7);
    ck_assert_uint_eq(p.warnings, 1);
}
END_TEST

/* A hint is given once, and a folder that the start would make is said. */
START_TEST(what_the_start_puts_up_with)
{
    struct said said;
    struct preflight p = look("torus { dims = 3x1x1; coordinate = '0,0,0' }\n"
                              "control { socket = /tmp/cubeway-no-such-folder/of/ours/d.sock }\n"
                              "state_dir = /tmp\n"
                              "links {\n"
                              "  +x { shim = raw; interface = lp }\n"
                              "  -x { shim = raw; interface = lq }\n"
                              "}\n",
                              &said);
    expect(&said,
           "F:2: warning: control.socket: /tmp/cubeway-no-such-folder/of/ours: there is no such folder; the start "
           "makes it, and leaves it there");
    expect(&said, "F:5: warning: links.+x.interface: lp: there is no such interface now, and the daemon will wait for "
                  "it; did you mean lo?");
    expect(&said, "F:6: warning: links.-x.interface: lq: there is no such interface now, and the daemon will wait for "
                  "it");
    ck_assert_uint_eq(p.mistakes, 0);
    ck_assert_uint_eq(p.warnings, 3);
}
END_TEST

/* What follows from a mistake is not told: of a coordinate that is none, or of a link that was half understood. */
START_TEST(one_mistake_is_told_once)
{
    struct said said;
    struct preflight p = look("torus { dims = 3x3x1; coordinate = '0,1,9' }\n"
                              "control { socket = '' }\n"
                              "links {\n"
                              "  +x { shim = rwa; interface = lo }\n"
                              "  -x { shim = raw; interfaec = lo }\n"
                              "  +y { shim = none; interface = lo }\n"
                              "}\n"
                              "timers { dead = never; hello = 1s }\n"
                              "state_dir = /tmp\n",
                              &said);
    expect(&said, "F:1: torus.coordinate: '0,1,9' lies outside the dims 3x3x1");
    expect(&said, "F:4: links.+x.shim: 'rwa': expected none, raw, pcap or udp; did you mean raw?");
    expect(&said, "F:5: links.-x.interfaec: no such key of a link; did you mean interface?");
    expect(&said, "F:3: warning: links.-y: not configured: there will be no link");
    ck_assert_msg(said.count == 5, "%s", said.text[5]); /* and the one of timers.dead */
    ck_assert_uint_eq(p.mistakes, 0);
    ck_assert_uint_eq(p.warnings, 1);
    look("torus { dims = 3x3; coordinate = '0,1,1' }\ncontrol { socket = '' } state_dir = /tmp\n", &said);
    ck_assert_uint_eq(said.count, 2); /* dims, and that there is no link at all */
}
END_TEST

/* Nor of a value that nobody wrote: what a quote that is not closed was meant to hold. */
START_TEST(a_guess_is_not_looked_at)
{
    static const struct {
        const char *text, *told;
    } cases[] = {
        {"torus { dims = 3x3x3; coordinate = all }\ncontrol { socket = \"/dev/null }\n",
         "F:2: the text that begins with \"/dev/null has no closing quote"},
        {WHOLE "state_dir = \"/nowhere/it's;\n", "F:3: the text that begins with \"/nowhere/it's has no closing quote"},
        {WHOLE "state_dir = \"/nowhere/x // note\n",
         "F:3: the text that begins with \"/nowhere/x has no closing quote"},
        {WHOLE "user = 'cw-nobody-here;\n", "F:3: the text that begins with 'cw-nobody-here has no closing quote"},
        {WHOLE "name = 'a;b'x\n", "F:3: expected ; or the end of the line after a value, found 'x'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct said said;
        struct preflight p = look(cases[i].text, &said);
        expect(&said, cases[i].told);
        ck_assert_msg(said.count == 1, "%s: %s", said.text[0], said.text[1]);
        ck_assert_uint_eq(p.mistakes + p.warnings, 0);
    }
}
END_TEST

START_TEST(keys_that_stand_in_the_wrong_place)
{
    struct said said;
    look(WHOLE "memcached { listen = ':11211' }\n"
               "bench { }\n"
               "service kvcache { memory = 5M\n"
               "  weigth = 3\n"
               "  option { } }\n",
         &said);
    expect(&said, "F:3: memcached: no such key at the top; did you mean service \"kvcache\" { ... }?");
    expect(&said, "F:4: bench: no such key at the top; did you mean service \"bench\" { ... }?");
    expect(&said, "F:5: service \"kvcache\".memory: no such key of a service: an option of the service itself belongs "
                  "into options { memory "
                  "= 5M }");
    expect(&said, "F:6: service \"kvcache\".weigth: no such key of a service; did you mean weight?");
    expect(&said, "F:7: service \"kvcache\".option: no such key of a service; did you mean options?");
    ck_assert_uint_eq(said.count, 5);
}
END_TEST

START_TEST(keys_and_job_files)
{
    struct said said;
    struct preflight p = look(WHOLE "operator_key = /nowhere/key.pub\njob_file = /nowhere/jobs\n", &said);
    expect(&said, "F:3: operator_key: '/nowhere/key.pub': expected 64 hex digits, or a file that holds a public key");
    expect(&said, "F:4: job_file: /nowhere/jobs: No such file or directory");
    ck_assert_uint_eq(p.mistakes, 2);
}
END_TEST

START_TEST(folders_that_are_made_are_no_mistake)
{
    struct said said;
    struct preflight p = look("torus { dims = 1x1x1; coordinate = '0,0,0' } state_dir = /tmp/cw-preflight-made\n"
                              "control { socket = /tmp/cw-preflight-made/a/b/s }\n",
                              &said);
    ck_assert_msg(p.mistakes == 0, "%s", said.text[0]);
    expect(&said, "F:1: warning: state_dir: /tmp/cw-preflight-made: there is no such folder; the start makes it, and "
                  "leaves it there");
    expect(&said, "F:2: warning: control.socket: /tmp/cw-preflight-made/a/b: there is no such folder; the start makes "
                  "it, and leaves it there");
    ck_assert_uint_eq(p.warnings, 2);
    ck_assert_int_ne(access("/tmp/cw-preflight-made", F_OK), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_good_file_says_nothing),    SUITE_TEST(every_mistake_is_told_at_once),
    SUITE_TEST(what_the_start_puts_up_with), SUITE_TEST(one_mistake_is_told_once),
    SUITE_TEST(a_guess_is_not_looked_at),    SUITE_TEST(keys_that_stand_in_the_wrong_place),
    SUITE_TEST(keys_and_job_files),          SUITE_TEST(folders_that_are_made_are_no_mistake),
};
SUITE_MAIN("preflight", tests)
