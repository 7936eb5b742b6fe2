/* SPDX-License-Identifier: Apache-2.0 */
/* test_watch_look.c - three requests become a look; a key's order and way become marks; events come in order. */
#include "ctl/watch_look.h"

#include "fake_daemon.h"
#include "suite.h"

static struct fake_daemon d;
static const struct arguments arguments = {.timeout = {0}};
static struct call call = {.arguments = &arguments};

static void begin(const char *const says[])
{
    char why[CLIENT_WHY];
    fake_daemon_start(&d, says, 1);
    call.out = stdout;
    call.errors = stderr;
    ck_assert_int_eq(client_open(&call.client, d.path, why), 0);
}

static void end(void)
{
    client_close(call.client);
    fake_daemon_end(&d);
}

START_TEST(a_look)
{
    static const char *const says[] = {
        "{\"id\":1,\"row\":{\"server\":\"1,0,0\",\"torus\":\"2x1x1\"}}\n{\"id\":1,\"done\":true,\"rc\":1}\n",
        "{\"id\":2,\"row\":{\"server\":\"0,0,0\",\"state\":\"down\"}}\n"
        "{\"id\":2,\"row\":{\"server\":\"1,0,0\",\"state\":\"up\"}}\n{\"id\":2,\"done\":true,\"rc\":0}\n",
        "{\"id\":3,\"row\":{\"server\":\"1,0,0\",\"state\":\"serving\",\"now_ns\":5,\"inside\":4}}\n"
        "{\"id\":3,\"row\":{\"asked\":1,\"answered\":1}}\n{\"id\":3,\"done\":true,\"rc\":0}\n",
        NULL,
    };
    cw_dims dims;
    char self[TORUS_TEXT];
    struct scene *s;
    begin(says);
    ck_assert_int_eq(watch_ask_torus(&call, &dims, self), EXIT_FINE);
    ck_assert_uint_eq(dims.x, 2);
    ck_assert_str_eq(self, "1,0,0");
    ck_assert_int_eq(watch_look(&call, dims, NULL, &s), EXIT_FINE);
    ck_assert_int_eq(s->server[0].state, SCENE_DOWN);
    ck_assert_int_eq(s->server[1].state, SCENE_SERVING);
    ck_assert_uint_eq(s->server[1].inside, 4);
    scene_free(s);
    end();
}
END_TEST

START_TEST(a_server_without_a_place)
{
    static const char *const says[] = {
        "{\"id\":1,\"row\":{\"state\":\"searching\"}}\n{\"id\":1,\"done\":true,\"rc\":1}\n",
        NULL,
    };
    cw_dims dims;
    char self[TORUS_TEXT];
    begin(says);
    ck_assert_int_eq(watch_ask_torus(&call, &dims, self), EXIT_NO);
    end();
}
END_TEST

START_TEST(a_key)
{
    static const char *const says[] = {
        "{\"id\":1,\"row\":{\"part\":\"key\",\"home\":\"1,0,0\",\"root\":\"2,0,0\"}}\n"
        "{\"id\":1,\"row\":{\"part\":\"order\",\"place\":0,\"server\":\"1,0,0\",\"state\":\"down\",\"role\":\"\"}}\n"
        "{\"id\":1,\"row\":{\"part\":\"order\",\"place\":1,\"server\":\"2,0,0\",\"state\":\"up\",\"role\":\"root\"}}\n"
        "{\"id\":1,\"row\":{\"part\":\"order\",\"place\":2,\"server\":\"0,0,0\",\"state\":\"up\",\"role\":\"heir\"}}\n"
        "{\"id\":1,\"done\":true,\"rc\":0}\n",
        "{\"id\":2,\"row\":{\"leg\":\"there\",\"hop\":0,\"server\":\"0,0,0\",\"out\":\"-x\"}}\n"
        "{\"id\":2,\"row\":{\"leg\":\"back\",\"hop\":0,\"server\":\"2,0,0\",\"out\":\"+x\"}}\n"
        "{\"id\":2,\"row\":{\"server\":\"2,0,0\",\"rtt_ns\":12300,\"hops_there\":1}}\n"
        "{\"id\":2,\"done\":true,\"rc\":0}\n",
        NULL,
    };
    struct torus t;
    char mark[3], note[WATCH_NOTE];
    cw_links way[3];
    ck_assert_int_eq(torus_init(&t, (cw_dims){3, 1, 1}), 0);
    begin(says);
    ck_assert_int_eq(watch_ask_key(&call, &t, "hello", mark, way, note), EXIT_FINE);
    ck_assert_mem_eq(mark, "1HR", 3);
    ck_assert_uint_eq(way[0], 1U << CW_LINK_XM);
    ck_assert_uint_eq(way[2], 0);
    ck_assert_str_eq(note, "key hello: home 1,0,0 (H), root 2,0,0 (R), 1 hops there, back after 12.3 us");
    end();
}
END_TEST

START_TEST(events_in_order)
{
    static const char *const says[] = {
        "{\"id\":1,\"row\":{\"at_us\":1700000000300000,\"server\":\"1,0,0\",\"kind\":\"link\",\"text\":\"b\"}}\n"
        "{\"id\":1,\"row\":{\"at_us\":1700000000100000,\"server\":\"0,0,0\",\"kind\":\"view\",\"text\":\"a\"}}\n"
        "{\"id\":1,\"row\":{\"server\":\"2,0,0\",\"unanswered\":1}}\n{\"id\":1,\"done\":true,\"rc\":0}\n",
        NULL,
    };
    struct watch_events events = {.after_us = 1};
    begin(says);
    ck_assert_int_eq(watch_ask_events(&call, &events), EXIT_FINE);
    ck_assert_uint_eq(events.count, 2);
    ck_assert_ptr_nonnull(strstr(events.line[0], ".100  0,0,0    view: a"));
    ck_assert_ptr_nonnull(strstr(events.line[1], ".300  1,0,0    link: b"));
    ck_assert_int_eq(events.after_us, 1700000000300000);
    end();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_look), SUITE_TEST(a_server_without_a_place), SUITE_TEST(a_key),
                                          SUITE_TEST(events_in_order)};
SUITE_MAIN("watch_look", tests)
