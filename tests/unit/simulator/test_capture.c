/* SPDX-License-Identifier: Apache-2.0 */
/* Both directions of a link, named, with the addresses of their ends, and what became of a frame. */
#include "simulator/capture.h"

#include "town.h"

#include <unistd.h>

static uint8_t file[1 << 20];
static size_t length;

static uint32_t le32(size_t at)
{
    return file[at] | (uint32_t)file[at + 1] << 8 | (uint32_t)file[at + 2] << 16 | (uint32_t)file[at + 3] << 24;
}

START_TEST(a_link_is_captured_both_ways)
{
    char path[] = "capture-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    struct world *w = town_up((cw_dims){3, 3, 3}, 1);
    struct capture *c = NULL;
    ck_assert_int_eq(capture_open(&c, w, path), 0);
    cw_server far = world_neighbours(w)[CW_LINK_XP];
    ck_assert_int_eq(capture_links(c, 0, cw_links_of(CW_LINK_XP)), 0);
    ck_assert_int_eq(capture_links(c, far, cw_links_of(CW_LINK_XM)), 0); /* the same cable */
    world_watch(w, &(struct world_watch){.context = c, .frame = capture_frame});
    town_send(w, 0, town_key(w, far), 0);
    town_send(w, far, town_key(w, 0), 0);
    town_run(w, CW_MS(1));
    world_cable(w, 0, CW_LINK_XP, true, false);
    town_send(w, 0, town_key(w, far), 0);
    town_run(w, CW_MS(1));
    uint64_t frames = capture_frames(c);
    ck_assert_int_eq(capture_close(c), 0);
    world_close(w);
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    length = fread(file, 1, sizeof file, f);
    fclose(f);
    unlink(path);
    static const char *const names[] = {"0,0,0 +x", "1,0,0 -x"};
    unsigned interfaces = 0, packets[2] = {0}, cut = 0;
    for (size_t at = 0; at < length; at += le32(at + 4)) {
        if (le32(at) == 1) {
            ck_assert_uint_lt(interfaces, 2);
            ck_assert_mem_eq(file + at + 20, names[interfaces++], 8);
        } else if (le32(at) == 6) {
            uint32_t side = le32(at + 8), captured = le32(at + 20);
            size_t end = at + 28 + (captured + 3) / 4 * 4;
            ck_assert_uint_lt(side, 2);
            uint8_t zero[6] = {2, CW_LINK_XP, 0, 0, 0, 0}, other[6] = {2, CW_LINK_XM, 0, 0, 0, (uint8_t)far};
            ck_assert_mem_eq(file + at + 28, side == 0 ? other : zero, 6);
            ck_assert_mem_eq(file + at + 34, side == 0 ? zero : other, 6);
            packets[side]++;
            bool comment = end + 4 < at + le32(at + 4);
            cut += comment && memcmp(file + end + 4, wire_fate_name(WIRE_CUT), strlen(wire_fate_name(WIRE_CUT))) == 0;
        }
    }
    ck_assert_uint_eq(interfaces, 2);
    ck_assert_uint_ge(packets[0], 2);
    ck_assert_uint_ge(packets[1], 1);
    ck_assert_uint_eq(packets[0] + packets[1], frames);
    ck_assert_uint_ge(cut, 1);
}
END_TEST

START_TEST(errors_are_told)
{
    struct world *w = town_up((cw_dims){1, 1, 2}, 1);
    struct capture *c = NULL;
    ck_assert_int_eq(capture_open(&c, w, "no/such/folder/file"), -ENOENT);
    ck_assert_ptr_null(c);
    ck_assert_int_eq(capture_close(NULL), 0);
    world_close(w);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_link_is_captured_both_ways),
    SUITE_TEST(errors_are_told),
};
SUITE_MAIN("simulator/capture", tests)
