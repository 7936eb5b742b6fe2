/* SPDX-License-Identifier: Apache-2.0 */
/* test_scene.c - rows become a scene: states, rates, and what makes no sense is passed over. */
#include "scene_kit.h"

static const cw_dims dims = {3, 3, 1};

static cw_server id(const struct scene *s, uint8_t x, uint8_t y)
{
    return torus_id(&s->torus, (cw_coord){x, y, 0});
}

START_TEST(states)
{
    struct scene *s = scene_new(dims, 5);
    ck_assert_uint_eq(scene_count(s, SCENE_DOWN), 9);
    kit_server(s, "{\"server\": \"0,0,0\", \"state\": \"up\"}");
    kit_server(s, "{\"server\": \"1,0,0\", \"state\": \"up\"}");
    kit_server(s, "{\"server\": \"2,0,0\", \"state\": \"feared\"}");
    kit_server(s, "{\"server\": \"0,1,0\", \"state\": \"left\"}");
    kit_server(s, "{\"server\": \"1,1,0\", \"state\": \"leaving\"}");
    kit_server(s, "{\"server\": \"2,1,0\", \"state\": \"down\"}");
    ck_assert_int_eq(s->server[id(s, 0, 0)].state, SCENE_SILENT); /* in view, and has said nothing yet */
    kit_picture(s, "{\"server\": \"0,0,0\", \"state\": \"fenced\", \"now_ns\": 1, \"inside\": 7, \"delivered\": 9}");
    kit_picture(s, "{\"server\": \"1,0,0\", \"unanswered\": 1}");
    ck_assert_int_eq(s->server[id(s, 0, 0)].state, SCENE_FENCED);
    ck_assert(s->server[id(s, 0, 0)].told);
    ck_assert_uint_eq(s->server[id(s, 0, 0)].inside, 7);
    ck_assert_int_eq(s->server[id(s, 1, 0)].state, SCENE_SILENT);
    ck_assert(!s->server[id(s, 1, 0)].told);
    ck_assert_int_eq(s->server[id(s, 2, 0)].state, SCENE_FEARED);
    ck_assert_int_eq(s->server[id(s, 0, 1)].state, SCENE_LEFT);
    ck_assert_int_eq(s->server[id(s, 1, 1)].state, SCENE_LEAVING);
    ck_assert_int_eq(s->server[id(s, 2, 1)].state, SCENE_DOWN);
    scene_free(s);
}
END_TEST

START_TEST(each_state_has_its_word)
{
    for (unsigned i = 0; i < SCENE_STATES; i++) {
        for (unsigned k = 0; k < i; k++) {
            ck_assert_str_ne(scene_state_name((enum scene_state)i), scene_state_name((enum scene_state)k));
        }
    }
}
END_TEST

/* 125,000 bytes in a tenth of a second are 10 Mb/s; by the server's clock, whatever the time of day did. */
START_TEST(rates)
{
    struct scene *before = kit_whole(dims, 1000000000, 5000), *now = kit_whole(dims, 1100000000, 130000);
    kit_picture(now, "{\"server\": \"1,0,0\", \"state\": \"serving\", \"now_ns\": 1100000000, \"delivered\": 50, "
                     "\"dropped\": 2}");
    scene_close_look(now, NULL);
    ck_assert_uint_eq(scene_busiest(now), 0);
    scene_close_look(now, before);
    ck_assert_uint_eq(now->server[0].link[CW_LINK_XP].bits_per_s, 10000000);
    ck_assert_uint_eq(scene_busiest(now), 10000000);
    ck_assert_uint_eq(scene_cable(now, 0, CW_LINK_YM), 10000000);
    ck_assert_uint_eq(now->server[id(now, 1, 0)].delivered_per_s, 500);
    ck_assert_uint_eq(now->server[id(now, 1, 0)].dropped_per_s, 20);
    scene_free(before);
    scene_free(now);
}
END_TEST

START_TEST(no_rates_over_a_restart_or_a_silence)
{
    struct scene *before = kit_whole(dims, 2000000000, 50000), *now = kit_whole(dims, 2100000000, 60000);
    kit_picture(now, "{\"server\": \"0,0,0\", \"link\": \"+x\", \"state\": \"up\", \"sent_bytes\": 10}");
    now->server[1].told = false;
    now->server[2].now_ns = 1; /* its machine has started again */
    scene_close_look(now, before);
    ck_assert_uint_eq(now->server[0].link[CW_LINK_XP].bits_per_s, 0);
    ck_assert_uint_eq(now->server[1].link[CW_LINK_XP].bits_per_s, 0);
    ck_assert_uint_eq(now->server[2].link[CW_LINK_XP].bits_per_s, 0);
    ck_assert_uint_gt(now->server[3].link[CW_LINK_XP].bits_per_s, 0);
    scene_free(before);
    scene_free(now);
}
END_TEST

/* A cable is up when both of its ends say so, and carries what the busier of its directions does. */
START_TEST(cables)
{
    struct scene *before = kit_whole(dims, 0, 0), *s = kit_whole(dims, 1000000000, 1000);
    cw_server other = id(s, 1, 0);
    kit_picture(s, "{\"server\": \"1,0,0\", \"link\": \"-x\", \"state\": \"up\", \"sent_bytes\": 9000}");
    scene_close_look(s, before);
    ck_assert(scene_cable_up(s, 0, CW_LINK_XP));
    ck_assert_uint_eq(scene_cable(s, 0, CW_LINK_XP), 72000);
    ck_assert_uint_eq(scene_cable(s, other, CW_LINK_XM), 72000);
    kit_picture(s, "{\"server\": \"1,0,0\", \"link\": \"-x\", \"state\": \"no-carrier\", \"sent_bytes\": 9000}");
    ck_assert(!scene_cable_up(s, 0, CW_LINK_XP));
    ck_assert(!scene_cable_up(s, other, CW_LINK_XM));
    ck_assert(!s->server[0].link[CW_LINK_ZP].exists); /* an axis of one server */
    scene_free(before);
    scene_free(s);
}
END_TEST

START_TEST(nonsense_is_passed_over)
{
    struct scene *s = scene_new(dims, 0);
    kit_server(s, "{\"server\": \"9,9,9\", \"state\": \"up\"}");
    kit_server(s, "{\"state\": \"up\"}");
    kit_server(s, "{\"server\": 7, \"state\": \"up\"}");
    kit_picture(s, "{\"server\": \"0,0,7\", \"state\": \"serving\"}");
    kit_picture(s, "{\"server\": \"0,0,0\", \"link\": \"up\", \"state\": \"up\", \"sent_bytes\": 5}");
    kit_picture(s, "{\"server\": \"0,0,0\", \"link\": \"+x\", \"state\": \"up\", \"sent_bytes\": -5}");
    ck_assert_uint_eq(scene_count(s, SCENE_DOWN), 9);
    ck_assert_uint_eq(s->server[0].link[CW_LINK_XP].sent_bytes, 0);
    scene_free(s);
    scene_free(NULL);
    ck_assert_ptr_null(scene_new((cw_dims){0, 1, 1}, 0));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(states), SUITE_TEST(each_state_has_its_word),
    SUITE_TEST(rates),  SUITE_TEST(no_rates_over_a_restart_or_a_silence),
    SUITE_TEST(cables), SUITE_TEST(nonsense_is_passed_over),
};
SUITE_MAIN("scene", tests)
