/* SPDX-License-Identifier: Apache-2.0 */
/* test_config.c - a file becomes a configuration, or everything that is wrong with it is said. */
#include "daemon_said.h"
#include "suite.h"

#include <stdlib.h>
#include <unistd.h>

static const char whole[] = "cluster = 7\n"
                            "name = west\n"
                            "torus { dims = \"3x4x5\"; coordinate = \"0,1,2\" }\n"
                            "state_dir = /tmp/x\n"
                            "control { socket = /tmp/y.sock; mode = 0600; group = ops }\n"
                            "metrics { listen = \"127.0.0.1:9464\" }\n"
                            "log { level = debug }\n"
                            "mtu = 4000\n"
                            "ethertype = 0x88b6; ethertype_control = 0x1234\n"
                            "timers { hello = 2ms; profile = fast }\n"
                            "queue { packets = 99; bytes = 1M; hold_bytes = 2M }\n"
                            "pump { busy_poll = 50us; io_threads = yes; nap = 20us }\nnmu { seal_tables = yes }\n"
                            "user = nobody; watcher = no; priority = normal; alone = yes\n"
                            "links {\n"
                            "  +x { shim = raw; interface = eth0 }\n"
                            "  \"-x\" { shim = udp; local = 10.0.0.1:7001; remote = \"10.0.0.2:7002\"; rate = 1gbit;\n"
                            "         fault { loss = 1%; delay = 2ms; seed = 5 } }\n"
                            "  +y { shim = pcap; interface = eth1 }\n"
                            "}\n"
                            "service kv { file = /lib/kv.so; weight = 2; background = yes; drop = oldest; options { "
                            "depth = 7; where = \"a b\" } }\n"
                            "service bench { enabled = false }\n";

START_TEST(every_key_arrives)
{
    struct daemon_config c;
    struct said said;
    ck_assert_msg(try_config(whole, &c, &said) == 0, "%s", said.text[0]);
    ck_assert_uint_eq(c.cluster, 7);
    ck_assert_str_eq(c.name, "west");
    ck_assert(c.place == CONFIG_STATIC && c.dims.z == 5 && c.self.y == 1 && c.self.z == 2 && c.labelled);
    ck_assert_str_eq(c.state_dir, "/tmp/x");
    ck_assert_str_eq(c.control_socket, "/tmp/y.sock");
    ck_assert_uint_eq(c.control_mode, 0600);
    ck_assert_str_eq(c.control_group, "ops");
    ck_assert_str_eq(c.metrics_listen, "127.0.0.1:9464");
    ck_assert(c.log_level == CW_LOG_DEBUG && c.mtu == 4000 && c.ethertype == 0x88b6);
    ck_assert_uint_eq(c.ethertype_control, 0x1234);
    ck_assert(c.timers.hello.ns == CW_MS(2).ns && c.timers.dead.ns == CW_MS(15).ns); /* the profile first */
    ck_assert(c.queue_packets == 99 && c.queue_bytes == 1000000 && c.hold_bytes == 2000000);
    ck_assert(c.busy_poll.ns == 50000 && c.io_threads && c.nap.ns == 20000 && c.seal_tables && !c.watcher &&
              c.priority == CONFIG_NORMAL && c.alone);
    ck_assert_str_eq(c.user, "nobody");
    ck_assert(c.link[0].shim == CONFIG_RAW && c.link[1].shim == CONFIG_UDP && c.link[2].shim == CONFIG_PCAP);
    ck_assert_str_eq(c.link[0].interface, "eth0");
    ck_assert_str_eq(c.link[1].remote, "10.0.0.2:7002");
    ck_assert(c.link[1].bits_per_second == 1000000000 && c.link[1].fault.loss_ppm == 10000);
    ck_assert(c.link[1].fault.delay.ns == CW_MS(2).ns && c.link[1].fault.seed == 5);
    ck_assert_uint_eq(c.service_count, 2);
    ck_assert(c.service[0].policy.weight == 2 && c.service[0].policy.background);
    ck_assert(c.service[0].policy.drop == NODE_DROP_OLDEST && c.service[0].policy.queue_packets == 99);
    ck_assert(!c.service[1].enabled && c.service[1].options == 0);
    ck_assert_uint_eq(c.service[0].options, 2);
    ck_assert_str_eq(c.service[0].option[0].name, "depth");
    ck_assert_str_eq(c.service[0].option[0].value, "7");
    ck_assert_str_eq(c.service[0].option[1].value, "a b");
    ck_assert_str_eq(config_shim_name(c.link[2].shim), "pcap");
    ck_assert_str_eq(config_link_name(&c, 1), "-x");
}
END_TEST

START_TEST(what_is_left_out_has_defaults)
{
    struct daemon_config c;
    struct said said;
    ck_assert_int_eq(try_config("torus { coordinate = '1,0,2'; dims = 3x3x3 }", &c, &said), 0);
    ck_assert_str_eq(c.name, "1,0,2");
    ck_assert_str_eq(c.control_socket, "/run/cubeway/1,0,2.sock");
    ck_assert_str_eq(c.state_dir, "/var/lib/cubeway");
    ck_assert(c.watcher && c.priority == CONFIG_HIGH && c.mtu == 0 && c.log_level == CW_LOG_INFO);
    ck_assert_int_eq(try_config("torus { coordinate = all; dims = 3x3x3 } control { socket = \"\" }", &c, &said), 0);
    ck_assert_str_eq(c.name, "all");
    ck_assert_str_eq(c.control_socket, "");
    ck_assert_int_eq(try_config("torus { coordinate = auto } links { port0 { shim = raw; interface = a } }", &c, &said),
                     0);
    ck_assert(c.place == CONFIG_AUTO && !c.labelled && c.name[0] != '\0');
    ck_assert_str_eq(config_link_name(&c, 0), "port0");
}
END_TEST

START_TEST(all_mistakes_are_said_at_once)
{
    struct daemon_config c = {.cluster = 99};
    struct said said;
    try_config("cluster = x\n"
               "colour = red\n"
               "torus { dims = 3x3x3; coordinate = \"0,3,0\"; dims = 2x2x2 }\n"
               "links {\n"
               "  up { }\n"
               "  +x { shim = wire }\n"
               "  -x { shim = raw; colour = red }\n"
               "}\n"
               "service { }\n"
               "log = debug\n"
               "cluster = 8\n",
               &c, &said);
    static const char *const expected[] = {
        "c:1: cluster: 'x': expected a whole number from 0 to 4294967295, as 1000 or 10k",
        "c:2: colour: no such key at the top; cubewayd.conf(5) lists them",
        "c:3: torus.dims: it was given before, in line 3",
        "c:3: torus.coordinate: '0,3,0' lies outside the dims 2x2x2",
        "c:5: links.up: expected a link: +x, -x, +y, -y, +z or -z, or port0 to port5 when coordinate is auto",
        "c:6: links.+x.shim: 'wire': expected none, raw, pcap or udp",
        "c:7: links.-x.colour: no such key of a link; cubewayd.conf(5) lists them",
        "c:9: service: this section needs a name: service \"name\" { ... }",
        "c:10: log: expected a section: log { ... }",
        "c:11: cluster: it was given before, in line 1",
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        ck_assert_msg(was_said(&said, expected[i]), "'%s' was not said", expected[i]);
    }
    ck_assert_uint_eq(c.cluster, 99); /* untouched */
}
END_TEST

/* A list without quotes is one mistake, whether or not the key takes a list. */
START_TEST(a_list_is_one_mistake)
{
    struct daemon_config c;
    struct said said;
    try_config("torus { dims = 2x2x2; coordinate = 0,0,0 }\nlog { level = info, debug }", &c, &said);
    ck_assert(was_said(&said, "c:1: torus.coordinate: a value with commas stands in quotes: coordinate = \"0,0,0\""));
    ck_assert(was_said(&said, "c:2: log.level: a value with commas stands in quotes: level = \"info,debug\""));
    ck_assert_uint_eq(said.count, 2);
}
END_TEST

START_TEST(options_have_bounds)
{
    char text[2000] = "torus { dims = 2x2x2; coordinate = all } service ping { options { ";
    struct daemon_config c;
    struct said said;
    for (int i = 0; i <= CONFIG_OPTIONS; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "k%d = 1\n", i);
    }
    strcat(text, "k0 = 2\n nested { a = 1 } } options { a = 1 } }");
    try_config(text, &c, &said);
    ck_assert(was_said(&said, "c:17: service \"ping\".options.k16: expected name = value: at most 16 of a service, "
                              "names of 31 letters, values of 159"));
    ck_assert(was_said(&said, "c:19: service \"ping\".options: it was given before, in line 1"));
}
END_TEST

START_TEST(mistakes_without_end_are_counted)
{
    char text[4000] = "";
    struct daemon_config c;
    struct said said;
    for (int i = 0; i < 100; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "k%d = 1\n", i);
    }
    try_config(text, &c, &said);
    ck_assert_uint_eq(said.count, CONFIG_MISTAKES + 1);
    ck_assert_ptr_nonnull(strstr(said.text[CONFIG_MISTAKES], "and 81 more mistakes")); /* torus is missing too */
}
END_TEST

START_TEST(a_file_is_read)
{
    char path[] = "/tmp/cubeway-config-XXXXXX";
    int fd = mkstemp(path);
    struct daemon_config c;
    struct said said = {.count = 0};
    ck_assert_int_eq(write(fd, whole, sizeof whole - 1), (ssize_t)sizeof whole - 1);
    close(fd);
    ck_assert_int_eq(config_load(path, &c, say, &said), 0);
    ck_assert_str_eq(c.file, path);
    unlink(path);
    ck_assert_int_eq(config_load(path, &c, say, &said), -ENOENT);
    ck_assert_uint_eq(said.count, 1);
    ck_assert_int_eq(config_load("/", &c, say, &said), -EISDIR);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_key_arrives),
    SUITE_TEST(what_is_left_out_has_defaults),
    SUITE_TEST(all_mistakes_are_said_at_once),
    SUITE_TEST(a_list_is_one_mistake),
    SUITE_TEST(options_have_bounds),
    SUITE_TEST(mistakes_without_end_are_counted),
    SUITE_TEST(a_file_is_read),
};
SUITE_MAIN("config", tests)
