/* SPDX-License-Identifier: Apache-2.0 */
/* test_rows.c - what is told on the way: how far, who is slowest, by which trees; and each member. */
#include "fake_engine.h"
#include "services/multicast/file/internal.h"
#include "suite.h"

#include <errno.h>

enum { BYTES = 700000 };
static uint8_t bytes[BYTES];
static struct fake_result r, s;

static void note(cw_server from, enum file_part_state state, uint64_t there)
{
    uint8_t packet[FILE_PROGRESS_BYTES];
    struct file_progress n = {.state = state, .there = there};
    cw_rx rx = {.src_job = 7, .src_process = from};
    memcpy(n.id, town.engine.order.id, sizeof n.id);
    file_progress_encode(&n, packet);
    ck_assert_int_eq(files_packet(town.files, packet, sizeof packet, &rx), 0);
}

START_TEST(on_the_way)
{
    ck_assert_int_eq(fake_town_begin(NULL), 0);
    char line[100];
    snprintf(line, sizeof line, "file-send ticket=%llu name=image progress=200 to 3 5 7",
             (unsigned long long)fake_files_pass(&town.disk, bytes, BYTES, 0644));
    fake_command(town.s, line, &r);
    fake_command(town.s, "file-status", &s);
    ck_assert_str_eq(fake_text(&s, 0, "state"), "digesting");
    fake_run(town.s, CW_MS(150));
    static struct cast_edge edges[2] = {{.tree = 0, .links = 1 << 0}, {.tree = 3, .links = 1 << 3}};
    town.engine.session.edge = edges;
    town.engine.session.edges = 2;
    note(3, FILE_PART_TAKING, 1000);
    note(5, FILE_PART_TAKING, BYTES * 2);
    note(9, FILE_PART_TAKING, 5); /* is no member */
    town.engine.member[2] = (struct cast_member){.server = 7, .state = CAST_LOST, .status = -13};
    fake_run(town.s, CW_MS(100));
    ck_assert(!r.done);
    ck_assert_str_eq(fake_text(&r, 0, "state"), "sending");
    ck_assert_int_eq(fake_int(&r, 0, "members"), 3);
    ck_assert_int_eq(fake_int(&r, 0, "failed"), 1);
    ck_assert_str_eq(fake_text(&r, 0, "slowest"), "0,1,0");
    ck_assert_int_eq(fake_int(&r, 0, "slowest_bytes"), 1000);
    ck_assert_int_eq(fake_int(&r, 0, "there_bytes"), (1000 + BYTES) / 2);
    ck_assert_str_eq(fake_text(&r, 0, "trees"), "+x -y");
    ck_assert_str_eq(fake_text(&r, 0, "links"), "+x -y");
    unsigned rows = r.rows;
    fake_run(town.s, CW_MS(400));
    ck_assert_uint_eq(r.rows, rows + 4); /* each with a row for 0,1,0, which the other waits for */
    ck_assert_str_eq(fake_text(&r, rows, "what"), "slow");
    ck_assert_str_eq(fake_text(&r, rows, "server"), "0,1,0");
    ck_assert_str_eq(fake_text(&r, rows, "state"), "taking");
    fake_command(town.s, "file-status members=1", &s);
    ck_assert_uint_eq(s.rows, 4);
    ck_assert_str_eq(fake_text(&s, 1, "state"), "taking");
    ck_assert_str_eq(fake_text(&s, 3, "state"), "failed");
    ck_assert_int_eq(fake_int(&s, 3, "status"), -13);
    town.engine.member[0].state = town.engine.member[1].state = CAST_HAS;
    fake_engine_done(0);
    ck_assert(r.done && r.rc == 1);
    fake_command(town.s, "file-status", &s); /* remembered for a while */
    ck_assert_str_eq(fake_text(&s, 0, "state"), "done");
    ck_assert_int_eq(fake_int(&s, 0, "complete"), 2);
    fake_run(town.s, CW_SEC(700));
    fake_command(town.s, "file-status", &s);
    ck_assert_uint_eq(s.fields, 0);
    ck_assert_uint_eq(fake_town_end(), 0);
}
END_TEST

/* 700 pieces of 1,000 bytes to five: one had all, two had 600 of the pieces, one is away, of one nothing is known. */
START_TEST(sent_again)
{
    enum { PIECE = 1000 };
    ck_assert_int_eq(fake_town_begin(NULL), 0);
    char line[100];
    snprintf(line, sizeof line, "file-send ticket=%llu name=image progress=1000 to 3 5 7 9 11",
             (unsigned long long)fake_files_pass(&town.disk, bytes, BYTES, 0644));
    fake_command(town.s, line, &r);
    fake_run(town.s, CW_MS(150));
    struct cast_member *m = town.engine.member;
    town.engine.session.cut.piece_bytes = PIECE;
    m[0] = (struct cast_member){.server = 3, .state = CAST_HAS, .lacked = 0, .took = CW_MS(1)};
    m[1] = (struct cast_member){.server = 5, .lacked = 100};
    m[2] = (struct cast_member){.server = 7, .lacked = 100};
    m[3] = (struct cast_member){.server = 9, .state = CAST_AWAY, .lacked = UINT32_MAX};
    fake_run(town.s, CW_MS(100));
    fake_run(town.s, CW_MS(400));
    note(7, FILE_PART_TAKING, BYTES - 99 * PIECE); /* its pace begins */
    fake_run(town.s, CW_MS(1500));
    note(5, FILE_PART_TAKING, BYTES - 50 * PIECE);
    note(7, FILE_PART_TAKING, BYTES - 75 * PIECE);
    note(11, FILE_PART_TAKING, BYTES);
    fake_command(town.s, "file-status members=1", &s);
    ck_assert_int_eq(fake_int(&s, 0, "had_already"), 1);
    ck_assert_int_eq(fake_int(&s, 0, "before_bytes"), (BYTES + 2 * 600 * PIECE) / 5);
    /* 25 pieces in the time that has passed, and 75 are left: its last tenth counts, and not the 600 from before. */
    int64_t left = fake_int(&s, 3, "left_ns");
    ck_assert_int_ge(left, CW_MS(3 * 1400).ns);
    ck_assert_int_le(left, CW_MS(3 * 2100).ns);
    ck_assert_int_eq(fake_int(&s, 1, "bits_per_s"), 0);
    ck_assert_int_eq(fake_int(&s, 1, "before_bytes"), BYTES);
    ck_assert_str_eq(fake_text(&s, 4, "state"), "away");
    ck_assert(fake_find(&s, 4, "before_bytes") == NULL && fake_find(&s, 4, "left_ns") == NULL);
    m[1] = (struct cast_member){.server = 5, .state = CAST_HAS, .lacked = 100, .missed = 40, .took = CW_SEC(2)};
    m[2] = (struct cast_member){.server = 7, .state = CAST_HAS, .lacked = 100, .took = CW_SEC(1)};
    m[4].state = CAST_HAS;
    m[4].took = CW_SEC(1);
    town.engine.session.repeats = (struct cast_repeats){.lost = 2, .missed = 40, .mended = 7};
    unsigned rows = r.rows;
    fake_engine_done(0);
    ck_assert(r.done && r.rc == 1 && r.rows == rows + 5);
    ck_assert_int_eq(fake_int(&r, rows - 1, "had_already"), 1);
    ck_assert_int_eq(fake_int(&r, rows - 1, "lost_bytes"), 2 * PIECE);
    ck_assert_int_eq(fake_int(&r, rows - 1, "missed_bytes"), 40 * PIECE);
    ck_assert_int_eq(fake_int(&r, rows - 1, "mended_bytes"), 7 * PIECE);
    ck_assert_int_eq(fake_int(&r, rows - 1, "least_bits_per_s"), BYTES * 8 / 2);
    ck_assert_int_eq(fake_int(&r, rows + 1, "missed_bytes"), 40 * PIECE);
    ck_assert_int_eq(fake_int(&r, rows + 1, "bits_per_s"), 100 * PIECE * 8 / 2);
    ck_assert_int_eq(fake_int(&r, rows + 3, "status"), -ENETUNREACH);
    ck_assert_uint_eq(fake_town_end(), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(on_the_way), SUITE_TEST(sent_again)};
SUITE_MAIN("file_rows", tests)
