/* SPDX-License-Identifier: Apache-2.0 */
/* test_paint.c - a scene as text: every state and every load, within the room, with and without colour. */
#include "ctl/watch/paint.h"
#include "scene_kit.h"

#include <stdlib.h>

static char *text;
static size_t length;

static const char *painted(void (*paint)(const struct scene *, const struct paint_view *, FILE *),
                           const struct scene *s, const struct paint_view *v)
{
    free(text);
    FILE *out = open_memstream(&text, &length);
    paint(s, v, out);
    fclose(out);
    return text;
}

static struct paint_view plain(const struct scene *s)
{
    return (struct paint_view){.columns = 80, .lines = 24, .ascii = true, .selected = s->torus.servers};
}

/* A torus at rest whose cables carry nothing, but one 30 %, one 70 % and one 1 % of a gigabit. */
static struct scene *busy(void)
{
    static const cw_dims dims = {3, 2, 2};
    struct scene *before = kit_whole(dims, 0, 0), *s = kit_whole(dims, 1000000000, 0);
    kit_picture(s, "{\"server\": \"0,0,0\", \"link\": \"+x\", \"state\": \"up\", \"sent_bytes\": 37500000}");
    kit_picture(s, "{\"server\": \"1,0,0\", \"link\": \"+y\", \"state\": \"up\", \"sent_bytes\": 87500000}");
    kit_picture(s, "{\"server\": \"2,0,0\", \"link\": \"+z\", \"state\": \"up\", \"sent_bytes\": 1250000}");
    kit_picture(s, "{\"server\": \"0,1,1\", \"link\": \"-x\", \"state\": \"no-carrier\"}");
    scene_close_look(s, before);
    scene_free(before);
    return s;
}

START_TEST(planes)
{
    struct scene *s = busy();
    struct paint_view v = plain(s);
    v.full = 1000 * 1000 * 1000;
    ck_assert_str_eq(painted(paint_scene, s, &v), "z=0            z=1\n"
                                                  " o===o...o...   o...o...o...\n"
                                                  " :.  #.  :-     :.  :.  :.\n"
                                                  " o...o...o...   o...o...o x\n"
                                                  " :.  :.  :.     :.  :.  :.\n");
    ck_assert_str_eq(painted(paint_legend, s, &v),
                     "cables: . idle  - some  = from 25 %  # from 60 % of 1.00 Gbit/s  x down\n");
    v.full = 0; /* the busiest, 700 Mb/s, is full */
    ck_assert_ptr_nonnull(strstr(painted(paint_legend, s, &v), "of 700 Mbit/s (the busiest)"));
    v.ascii = false;
    ck_assert_ptr_nonnull(strstr(painted(paint_scene, s, &v), " ●═══●┈┈┈●┈┈┈"));
    ck_assert_ptr_nonnull(strstr(text, "┃."));
    scene_free(s);
}
END_TEST

/* Where only hellos cross, no cable looks full. */
START_TEST(rest_is_not_load)
{
    static const cw_dims dims = {2, 1, 1};
    struct scene *before = kit_whole(dims, 0, 0), *s = kit_whole(dims, 1000000000, 2000);
    struct paint_view v = plain(s);
    scene_close_look(s, before);
    ck_assert_str_eq(painted(paint_scene, s, &v), "z=0\n o---o---\n\n");
    ck_assert_str_eq(painted(paint_legend, s, &v),
                     "cables: . idle  - some  = from 25 %  # from 60 % of 1.00 Mbit/s  x down\n");
    scene_free(before);
    scene_free(s);
}
END_TEST

START_TEST(each_state_has_its_sign)
{
    static const cw_dims dims = {8, 1, 1};
    struct scene *s = kit_whole(dims, 0, 0);
    struct paint_view v = plain(s);
    for (unsigned i = 0; i < SCENE_STATES; i++) {
        s->server[i].state = (enum scene_state)i;
    }
    ck_assert_ptr_nonnull(strstr(painted(paint_scene, s, &v), " X...o...+...!...>...-...?...z..."));
    scene_free(s);
}
END_TEST

START_TEST(a_key_and_a_way)
{
    static const cw_dims dims = {3, 3, 1};
    struct scene *s = kit_whole(dims, 0, 0);
    struct paint_view v = plain(s);
    char mark[9] = {0};
    cw_links way[9] = {0};
    mark[torus_id(&s->torus, (cw_coord){2, 1, 0})] = 'R';
    mark[torus_id(&s->torus, (cw_coord){1, 2, 0})] = '1';
    way[torus_id(&s->torus, (cw_coord){0, 0, 0})] = 1U << CW_LINK_XM; /* around to 2,0,0, and down */
    way[torus_id(&s->torus, (cw_coord){2, 0, 0})] = 1U << CW_LINK_YP;
    v.mark = mark;
    v.way = way;
    v.selected = torus_id(&s->torus, (cw_coord){1, 0, 0});
    ck_assert_str_eq(painted(paint_scene, s, &v), "z=0\n"
                                                  " o..[o]..o.<.\n"
                                                  " :   :   v\n"
                                                  " o...o...R...\n"
                                                  " :   :   :\n"
                                                  " o...1...o...\n"
                                                  " :   :   :\n");
    scene_free(s);
}
END_TEST

/* 16 planes of 16 by 16 where there is room for one; 4,096 servers. Lines stay within the room, whatever it is. */
START_TEST(rooms)
{
    static const cw_dims shapes[] = {{3, 3, 3}, {16, 16, 16}, {64, 2, 2}, {1, 1, 1}, {2, 30, 3}};
    static const unsigned columns[] = {20, 80, 200}, lines[] = {4, 19, 60};
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
        struct scene *s = kit_whole(shapes[shape], 0, 0);
        struct paint_view v = plain(s);
        for (size_t i = 0; i < 9; i++) {
            v.columns = columns[i / 3];
            v.lines = lines[i % 3];
            unsigned many = paint_planes(s, &v);
            ck_assert_uint_ge(many, 1);
            ck_assert_uint_le(many, shapes[shape].z);
            painted(paint_scene, s, &v);
            for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1) {
                ck_assert_uint_le(strcspn(at, "\n"), v.columns);
            }
        }
        scene_free(s);
    }
    struct scene *s = kit_whole(shapes[1], 0, 0);
    struct paint_view v = plain(s);
    v.lines = 40;
    ck_assert_uint_eq(paint_planes(s, &v), 1);
    v.plane = 7;
    ck_assert_ptr_nonnull(strstr(painted(paint_scene, s, &v), "z=7\n o...o"));
    ck_assert_ptr_null(strstr(text, "z=8"));
    scene_free(s);
}
END_TEST

/* Colours say nothing that characters do not: without the escape sequences it is the same text. */
START_TEST(colours)
{
    struct scene *s = busy();
    struct paint_view v = plain(s);
    char *without = strdup(painted(paint_scene, s, &v)), bare[4000];
    size_t used = 0;
    v.colour = true;
    painted(paint_scene, s, &v);
    ck_assert_ptr_nonnull(strstr(text, "\033[0;32m"));
    for (const char *at = text; *at != '\0';) {
        if (*at == '\033') {
            at += strcspn(at, "m") + 1;
        } else {
            bare[used++] = *at++;
        }
    }
    bare[used] = '\0';
    ck_assert_str_eq(bare, without);
    free(without);
    scene_free(s);
}
END_TEST

START_TEST(one_server)
{
    struct scene *s = busy();
    struct paint_view v = plain(s);
    free(text);
    v.columns = 200;
    FILE *out = open_memstream(&text, &length);
    paint_server(s, &v, 0, out);
    fclose(out);
    ck_assert_str_eq(text, "0,0,0: serving, delivers 0/s, drops 0/s, 3 inside; sends +x 300 Mbit/s -x 0 +y 0 -y 0 +z 0 "
                           "-z 0\n");
    free(text);
    s->server[1] = (struct scene_server){.state = SCENE_FEARED};
    out = open_memstream(&text, &length);
    paint_server(s, &v, 1, out);
    fclose(out);
    ck_assert_str_eq(text, "0,0,1: feared\n");
    scene_free(s);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(planes),
    SUITE_TEST(rest_is_not_load),
    SUITE_TEST(each_state_has_its_sign),
    SUITE_TEST(a_key_and_a_way),
    SUITE_TEST(rooms),
    SUITE_TEST(colours),
    SUITE_TEST(one_server),
};
SUITE_MAIN("paint", tests)
