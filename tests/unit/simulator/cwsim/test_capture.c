/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem() */
/* test_capture.c - which links are captured, under which names, and that every frame given to them is there. */
#include "simulator/cwsim/capture.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

START_TEST(links)
{
    struct world_config config = world_config_default();
    struct world *w;
    struct capture *c;
    char path[] = "capture-test-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    config.dims = (cw_dims){2, 3, 1};
    ck_assert_int_eq(world_open(&w, &config), 0);
    ck_assert_int_eq(capture_open(&c, w, path), 0);
    ck_assert_int_eq(capture_links(c, 0, cw_links_of(CW_LINK_XP)), 0);
    ck_assert_int_eq(capture_links(c, 0, cw_links_of(CW_LINK_XP)), 0); /* once only */
    ck_assert_int_eq(capture_links(c, 3, cw_links_of(CW_LINK_XM)), 0); /* the other end of the same cable */
    ck_assert_int_eq(capture_links(c, 0, cw_links_of(CW_LINK_ZP)), 0); /* no such link */
    world_watch(w, &(struct world_watch){.context = c, .frame = capture_frame});
    world_start_all(w, CW_NS(0));
    ck_assert_int_eq(world_run(w, (cw_time){50000000}), 0);
    const struct wire *out = world_wire(w, 0, CW_LINK_XP), *in = world_wire(w, 3, CW_LINK_XM);
    ck_assert_uint_gt(out->frames, 4);
    ck_assert_uint_eq(capture_frames(c), (uint64_t)out->frames + in->frames);
    ck_assert_int_eq(capture_close(c), 0);
    world_close(w);

    static char bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    remove(path);
    ck_assert_ptr_nonnull(memmem(bytes, length, "0,0,0 +x", 8));
    ck_assert_ptr_nonnull(memmem(bytes, length, "1,0,0 -x", 8));
    ck_assert_ptr_null(memmem(bytes, length, "0,0,0 +z", 8));
    /* Control, from server 3 by link 1 to server 0 by link 0. */
    ck_assert_ptr_nonnull(memmem(bytes, length, "\x02\x00\x00\x00\x00\x00\x02\x01\x00\x00\x00\x03\x88\xb6", 14));
}
END_TEST

START_TEST(no_file)
{
    struct world_config config = world_config_default();
    struct world *w;
    struct capture *c;
    ck_assert_int_eq(world_open(&w, &config), 0);
    ck_assert_int_eq(capture_open(&c, w, "no/such/folder/file"), -ENOENT);
    ck_assert_int_eq(capture_close(NULL), 0);
    world_close(w);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(links), SUITE_TEST(no_file)};
SUITE_MAIN("capture", tests)
