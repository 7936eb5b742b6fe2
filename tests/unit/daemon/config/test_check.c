/* SPDX-License-Identifier: Apache-2.0 */
/* test_check.c - settings that do not fit one another. */
#include "daemon_said.h"
#include "suite.h"

#define TORUS "torus { dims = 3x3x3; coordinate = '0,0,0' }\n"

START_TEST(what_does_not_fit)
{
    static const struct {
        const char *text, *said; /* NULL: it is good */
    } rows[] = {
        {TORUS, NULL},
        {"torus { coordinate = '0,0,0' }", "c:1: torus.dims: expected the extent of the torus, as 3x3x3"},
        {"torus { coordinate = auto }", NULL},
        {"torus { dims = 2x2x2; cordinate = auto }",
         "c:1: torus.cordinate: no such key in this section; did you mean coordinate?"},
        {"torus { dims = 256x256x1; coordinate = '0,0,0' }",
         "c:1: torus.dims: this torus is wider than the hop limit of 64: dx/2 + dy/2 + dz/2 links"},
        {"torus { dims = 30x30x30; coordinate = all }", "c:1: torus.dims: at most 4096 servers run in one process"},
        {TORUS "links { +x { interface = a } }", "c:2: links.+x: expected shim = raw, pcap or udp"},
        {TORUS "links { +x { io_thread = yes } }", "c:2: links.+x: expected shim = raw, pcap or udp"},
        {TORUS "links { +x { shim = raw; interface = a; io_thread = yes } } pump { io_threads = yes }", NULL},
        {TORUS "links { +x { shim = raw; interface = a; io_thread = maybe } }",
         "c:2: links.+x.io_thread: 'maybe': expected true or false"},
        {"torus { dims = 2x2x2; coordinate = all } pump { io_threads = yes }",
         "c:1: pump.io_threads: only for links with cables: a torus inside one process has no system calls to make"},
        {TORUS "links { +x { shim = raw } }",
         "c:2: links.+x: shim raw needs interface, and neither file, local nor remote"},
        {TORUS "links { +x { shim = pcap; interface = a; file = b } }",
         "c:2: links.+x: shim pcap needs interface or file, and neither local nor remote"},
        {TORUS "links { +x { shim = udp; local = 1.1.1.1:1 } }",
         "c:2: links.+x: shim udp needs local and remote, as 10.0.0.1:7001, and neither interface nor file"},
        {TORUS "links { +x { shim = raw; interface = a }\n -x { shim = raw; interface = a } }",
         "c:3: links.-x: another link is on it already: each link needs a cable of its own"},
        {TORUS "links { fault { loss = 1% } }",
         "c:2: links.fault: only for a torus inside one process; a cable's is links.+x.fault"},
        {"torus { dims = 2x2x2; coordinate = all } links { fault { loss = 1% } }", NULL},
        {"torus { dims = 2x2x2; coordinate = all }\nlinks { +x { shim = raw; interface = a } }",
         "c:2: links.+x: a torus inside one process makes its links itself; links.fault may be given for all"},
        {"torus { dims = 3x3x1; coordinate = '0,0,0' }\nlinks { +z { shim = raw; interface = a } }",
         "c:2: links.+z: this axis of the torus is 1 long and has no links"},
        {TORUS "links { port0 { shim = raw; interface = a } }",
         "c:2: links: links port0 to port5 need coordinate = auto, which finds out where they lead"},
        {"torus { coordinate = auto } links { port0 { shim = raw; interface = a } +x { shim = raw; interface = b } }",
         "c:1: links: either all links have directions (+x) or all have numbers (port0)"},
        {TORUS "timers { hold = 20ms }",
         "c:2: timers.hold: expected hold >= dead + flood_bound, and hold is 20ms, dead "
         "50ms, flood_bound 5ms: keys could be delivered at two servers"},
        {TORUS "timers {\ndead = 15ms }",
         "c:3: timers.dead: expected dead >= 2 hello, and dead is 15ms, hello 10ms: one lost hello would be a death"},
        {TORUS "timers { damp = 30s; damp_max = 20s }",
         "c:2: timers.damp_max: expected damp_max >= damp, and damp_max is 20s, damp 30s"},
        {TORUS "timers { hello = 20ms }", NULL}, /* lint_timers() says something */
        {TORUS "transit = kernel\ntimers { hello = 20ms }",
         "c:3: timers: transit = kernel needs dead >= 3 hello: with less, a lease ends whenever an echo is late"},
        {TORUS "transit = kernel\ntimers { profile = fast }", NULL},
        {TORUS "service nobody { }",
         "c:2: service \"nobody\": no service of this name is built in: expected file, the path of its .so"},
        {TORUS "service pong { }",
         "c:2: service \"pong\": no service of this name is built in: expected file, the path of "
         "its .so; did you mean ping?"},
        {TORUS "service ipp { }",
         "c:2: service \"ipp\": no service of this name is built in: expected file, the path of "
         "its .so; did you mean ip?"},
        {TORUS "service ping { weight = 3 }", NULL},
        {TORUS "network ip { }", NULL},
        {TORUS "network blue { job = 5003 } network red { job = 5004; device = cw1 }", NULL},
        {TORUS "network ip { job = 5003 }",
         "c:2: network \"ip\": the network that is built in has a job of its own: take the key job out"},
        {TORUS "network blue { subnet = 10.80.0.0/12 }",
         "c:2: network \"blue\": expected job = N, 1024 or above: each network is a job (cwctl job create makes one)"},
        {TORUS "network blue { job = 9 }",
         "c:2: network \"blue\".job: '9': expected a whole number from 1024 to 4294967295, as 1000 or 10k"},
        {TORUS "network 'b c' { job = 5003 }",
         "c:2: network \"b c\": its name is not 1 to 31 letters, digits and dashes"},
        {TORUS "network ping { job = 5003 }",
         "c:2: network \"ping\": a service that is built in has this name: call the network otherwise"},
        {TORUS "network blue { job = 5003 }\nnetwork red { job = 5003 }",
         "c:3: network \"red\": job 5003 is that of network \"blue\""},
        {TORUS "network blue { job = 5003; }\nnetwork red {\njob = 5004\ndevice = cw-blue }",
         "c:5: network \"red\".device: device cw-blue is that of network \"blue\""},
        {TORUS "service ip { }\nnetwork blue { job = 5003; device = cw0 }",
         "c:3: network \"blue\".device: device cw0 is that of network \"ip\""},
        {TORUS "service ip { }\nnetwork ip { }", "c:3: network \"ip\": it was given before, as service \"ip\""},
        {TORUS "ethertype = 0x9000; ethertype_control = 0x8fff", NULL},
        {TORUS "ethertype = 0xfffe", NULL},
        {TORUS "ethertype = 0xffff; ethertype_control = 0x600", NULL},
        {TORUS "ethertype = 0x9000; ethertype_control = 0x9000",
         "c:2: ethertype_control: expected another EtherType than that of data frames (ethertype)"},
        {TORUS "ethertype_control = 0x88b5",
         "c:2: ethertype_control: expected another EtherType than that of data frames (ethertype)"},
        {TORUS "ethertype = 0xffff",
         "c:2: ethertype: control frames have the EtherType behind it, and there is none: set ethertype_control"},
        {TORUS "name = a/b", "c:2: name: a name is used for files: expected no / in it, and no . at its beginning"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct daemon_config c;
        struct said said;
        int rc = try_config(rows[i].text, &c, &said);
        ck_assert_msg(rows[i].said == NULL ? rc == 0 : was_said(&said, rows[i].said), "%s\nsaid %u: %s", rows[i].text,
                      said.count, said.text[0]);
    }
}
END_TEST

/* One mistake, one sentence: what follows from it is not told. */
START_TEST(one_mistake_is_one_sentence)
{
    static const struct {
        const char *text, *said;
    } rows[] = {
        {"torsu { dims = 3x3x3; coordinate = '0,0,0' }\n", "c:1: torsu: no such key at the top; did you mean torus?"},
        {"torus { dims = '3x3x3; coordinate = '0,0,0' }\n",
         "c:1: the text that begins with '3x3x3 has no closing quote"},
        {"torus { dims = 3x3x3; coordinate = '0,0,0 }\n", "c:1: the text that begins with '0,0,0 has no closing quote"},
        {TORUS "links { \"+x\" { shim = raw; interface = \"eth1; }\n}\n",
         "c:2: the text that begins with \"eth1 has no closing quote"},
        {TORUS "links {\n\"+x { shim = raw; interface = \"eth1\"; }\n}\n",
         "c:3: the text that begins with \"+x has no closing quote"},
        {TORUS "state_dir = \"/tmp;\ncluster = 1\n", "c:2: the text that begins with \"/tmp has no closing quote"},
        {TORUS "log { level = \"loud; }\n", "c:2: the text that begins with \"loud has no closing quote"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct daemon_config c;
        struct said said;
        (void)!try_config(rows[i].text, &c, &said);
        ck_assert_msg(said.count == 1 && was_said(&said, rows[i].said), "%s\nsaid %u: %s; %s", rows[i].text, said.count,
                      said.text[0], said.count > 1 ? said.text[1] : "");
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_does_not_fit), SUITE_TEST(one_mistake_is_one_sentence)};
SUITE_MAIN("config_check", tests)
