/* SPDX-License-Identifier: Apache-2.0 */
/* test_write.c - what is written is read back as the same configuration. */
#include "daemon_said.h"
#include "suite.h"

#include <stdlib.h>

static const char *const texts[] = {
    "torus { dims = 3x3x3; coordinate = '0,1,2' }",
    "torus { dims = 3x3x3; coordinate = all } links { fault { loss = 1%; duplicate = 2ppm; rate = 10mbit; seed = 3 } }",
    "torus { coordinate = auto } links { port3 { shim = raw; interface = e0 } port4 { shim = pcap; file = \"a b.pcap\" "
    "} }",
    "cluster = 9; name = \"q\\\"q\"; torus { dims = 4x1x2; coordinate = '3,0,1' } user = u; mtu = 2000;"
    "control { socket = \"\"; group = g; mode = 0777 } metrics { listen = \":9\" } log { level = error }"
    "timers { profile = fast; refresh = 90s } queue { packets = 5 } pump { busy_poll = 1us; io_threads = yes; nap = 0s "
    "} "
    "nmu { "
    "seal_tables = yes } watcher "
    "= no;"
    "links { -x { shim = udp; local = \"1.2.3.4:5\"; remote = \"6.7.8.9:1\"; rate = 5kbit; fault { delay = 1us } } }"
    "service ping { weight = 77; queue_bytes = 20000; options { timeout_us = 5000; b = c } } service bench { enabled = "
    "no } service z { file = /z.so; drop = "
    "oldest }",
    "torus { dims = 3x3x3; coordinate = '0,1,2' } network ip { device = t0; gateway { servers = \"0 13\"; device = "
    "eth0 } } network blue { job = 5003; subnet = 10.80.0.0/12; weight = 3 } network red { job = 5004; enabled = no }",
};

START_TEST(there_and_back)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct daemon_config first, second;
        struct said said;
        char *text = NULL;
        size_t size = 0;
        ck_assert_msg(try_config(texts[i], &first, &said) == 0, "%s", said.text[0]);
        FILE *out = open_memstream(&text, &size);
        config_write(&first, out);
        fclose(out);
        ck_assert_msg(try_config(text, &second, &said) == 0, "%s\n%s", text, said.text[0]);
        ck_assert_msg(memcmp(&first, &second, sizeof first) == 0, "%s", text);
        free(text);
    }
}
END_TEST

struct seen {
    char text[8000];
};

static void see(void *context, const char *key, const char *value)
{
    struct seen *s = context;
    size_t used = strlen(s->text);
    snprintf(s->text + used, sizeof s->text - used, "%s=%s\n", key, value);
}

START_TEST(as_a_list)
{
    struct daemon_config c;
    struct said said;
    struct seen seen = {""};
    ck_assert_int_eq(try_config(texts[3], &c, &said), 0);
    config_visit(&c, see, &seen);
    static const char *const lines[] = {
        "cluster=9\n",
        "torus.dims=4x1x2\n",
        "torus.coordinate=3,0,1\n",
        "control.mode=0777\n",
        "\ntimers.refresh=90s\n",
        "\nlinks.-x.fault.delay=1us\n",
        "\nservice.ping.weight=77\n",
        "\nservice.ping.options.timeout_us=5000\n",
        "\nservice.ping.options.b=c\n",
        "\nservice.bench.enabled=false\n",
        "\nservice.z.file=/z.so\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        ck_assert_msg(strstr(seen.text, lines[i]) != NULL, "%s is not in\n%s", lines[i], seen.text);
    }
}
END_TEST

START_TEST(the_hash_tells_what_must_be_equal)
{
    struct daemon_config a, b;
    struct said said;
    ck_assert_int_eq(try_config(texts[0], &a, &said), 0);
    b = a;
    ck_assert_uint_eq(config_hash(&a, a.dims, 1500), config_hash(&b, b.dims, 1500));
    ck_assert_uint_ne(config_hash(&a, a.dims, 1500), config_hash(&b, b.dims, 1501));
    b.queue_packets++;
    ck_assert_uint_eq(config_hash(&a, a.dims, 1500), config_hash(&b, b.dims, 1500));
    b.timers.dead.ns++;
    ck_assert_uint_ne(config_hash(&a, a.dims, 1500), config_hash(&b, b.dims, 1500));
    ck_assert_uint_ne(config_hash(&a, a.dims, 1500), config_hash(&a, (cw_dims){3, 3, 4}, 1500));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(there_and_back),
    SUITE_TEST(as_a_list),
    SUITE_TEST(the_hash_tells_what_must_be_equal),
};
SUITE_MAIN("config_write", tests)
