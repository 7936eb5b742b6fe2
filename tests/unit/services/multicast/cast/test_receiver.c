/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/receiver.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { PIECE = 8, MOST = 4096 };
static struct {
    uint8_t bytes[MOST];
    bool had[MOST / PIECE];
    unsigned writes, ends;
    int write_rc, end_rc, ended_with;
} at;
static struct cast_receiver t;
static cw_time now;

static int write_it(void *context, uint64_t offset, const uint8_t *bytes, size_t length)
{
    (void)context;
    if (at.write_rc == 0) {
        at.writes++;
        memcpy(at.bytes + offset, bytes, length);
    }
    return at.write_rc;
}

static bool has(void *context, uint64_t piece)
{
    (void)context;
    return at.had[piece];
}

static int end(void *context, int status)
{
    (void)context;
    at.ends++;
    at.ended_with = status;
    return at.end_rc;
}

static void setup(uint64_t bytes)
{
    const struct cast_sink sink = {NULL, write_it, has, end};
    struct cast_cut cut;
    ck_assert_int_eq(cast_cut_init(&cut, bytes, PIECE), 0);
    at.writes = at.ends = 0;
    at.write_rc = at.end_rc = 0;
    now = (cw_time){1000};
    ck_assert_int_eq(cast_receiver_open(&t, &sink, &cut), 0);
}

static int give(uint32_t piece)
{
    uint8_t bytes[PIECE];
    memset(bytes, (int)piece + 1, sizeof bytes);
    const struct cast_head h = {.piece = piece,
                                .sum = piece + 1,
                                .rest = bytes,
                                .rest_bytes = piece < t.cut.pieces ? cast_cut_length(&t.cut, piece) : PIECE};
    return cast_receiver_give(&t, &h, CW_SEC(2), now);
}

START_TEST(cuts)
{
    struct cast_cut cut;
    ck_assert_int_eq(cast_cut_init(&cut, 0, 8), -EINVAL);
    ck_assert_int_eq(cast_cut_init(&cut, 1, 0), -EINVAL);
    ck_assert_int_eq(cast_cut_init(&cut, UINT64_C(1) << 40, 64), -E2BIG);
    ck_assert_int_eq(cast_cut_init(&cut, 17, 8), 0);
    ck_assert(cut.pieces == 3 && cast_cut_length(&cut, 0) == 8 && cast_cut_length(&cut, 2) == 1);
    ck_assert_int_eq(cast_cut_init(&cut, 16, 8), 0);
    ck_assert(cut.pieces == 2 && cast_cut_length(&cut, 1) == 8);
}
END_TEST

START_TEST(each_piece_once)
{
    memset(at.had, 0, sizeof at.had);
    setup(19);
    ck_assert(give(2) == 0 && give(0) == 0 && give(2) == 0 && at.writes == 2 && !cast_receiver_lacks(&t, 2));
    ck_assert_int_eq(give(3), -EINVAL);
    ck_assert(cast_receiver_lacks(&t, 1) && cast_receiver_sum(&t) == 0 && at.ends == 0);
    ck_assert_int_eq(give(1), 0);
    ck_assert(at.ends == 1 && at.ended_with == 0 && t.state == CAST_ENDED && t.status == 0);
    ck_assert(cast_receiver_sum(&t) == 6 && at.bytes[18] == 3 && !cast_receiver_lacks(&t, 1));
    cast_receiver_stop(&t, -EPIPE);
    ck_assert(at.ends == 1 && t.status == 0 && cast_receiver_memory(&t) > 0);
    cast_receiver_close(&t);
    cast_receiver_refuse(&t, &t.cut, -EACCES);
    ck_assert(t.state == CAST_ENDED && t.status == -EACCES && give(0) == 0 && cast_receiver_memory(&t) == 0);
}
END_TEST

START_TEST(what_was_there)
{
    memset(at.had, 1, sizeof at.had);
    at.had[1] = false;
    setup(30);
    ck_assert(t.count == 3 && !cast_receiver_lacks(&t, 0) && cast_receiver_lacks(&t, 1));
    at.end_rc = -EINPROGRESS;
    ck_assert_int_eq(give(1), 0);
    ck_assert(t.state == CAST_ENDING && at.writes == 1 && cast_receiver_sum(&t) == 0);
    cast_receiver_ended(&t, -EIO);
    ck_assert(t.state == CAST_ENDED && t.status == -EIO);
    cast_receiver_ended(&t, 0);
    ck_assert_int_eq(t.status, -EIO);
    cast_receiver_close(&t);
    at.had[1] = true;
    setup(30); /* all of it */
    ck_assert(at.ends == 1 && t.state == CAST_ENDED && t.status == 0);
    cast_receiver_close(&t);
}
END_TEST

START_TEST(a_sink_that_fails)
{
    memset(at.had, 0, sizeof at.had);
    setup(100);
    at.write_rc = -ENOSPC;
    ck_assert_int_eq(give(0), 0);
    ck_assert(at.ends == 1 && at.ended_with == -ENOSPC && t.state == CAST_ENDED && t.status == -ENOSPC);
    ck_assert(give(1) == 0 && !cast_receiver_lacks(&t, 1));
    cast_receiver_close(&t);
    setup(100);
    at.end_rc = -EINPROGRESS; /* nobody waits for the end of what is unfinished */
    cast_receiver_stop(&t, -EPIPE);
    ck_assert(at.ended_with == -EPIPE && t.state == CAST_ENDED && t.status == -EPIPE);
    cast_receiver_close(&t);
}
END_TEST

/* It is waited for two seconds in all, however often it takes something between. */
START_TEST(a_sink_that_is_slow)
{
    memset(at.had, 0, sizeof at.had);
    setup(1000);
    uint32_t piece = 0;
    for (int i = 0; i < 19; i++) {
        at.write_rc = -EAGAIN;
        ck_assert_int_eq(give(piece), -EAGAIN);
        now = cw_time_add(now, CW_MS(100));
        at.write_rc = 0;
        ck_assert_int_eq(give(piece++), 0);
        now = cw_time_add(now, CW_SEC(1)); /* when it takes, time does not count */
    }
    at.write_rc = -EAGAIN;
    ck_assert_int_eq(give(piece), -EAGAIN);
    now = cw_time_add(now, CW_MS(100));
    ck_assert_int_eq(give(piece), 0);
    ck_assert(t.out && cast_receiver_lacks(&t, piece));
    at.write_rc = 0;
    ck_assert_int_eq(give(piece + 1), 0); /* nobody waits for it, and it gets what it can take at once */
    ck_assert(!cast_receiver_lacks(&t, piece + 1));
    at.write_rc = -EAGAIN;
    ck_assert_int_eq(give(piece + 2), 0);
    ck_assert(cast_receiver_lacks(&t, piece + 2));
    at.write_rc = 0;
    cast_receiver_round(&t);
    ck_assert(give(piece) == 0 && !cast_receiver_lacks(&t, piece) && at.ends == 0);
    cast_receiver_stop(&t, -ECANCELED);
    cast_receiver_close(&t);
}
END_TEST

/* In later rounds it is waited for as long as it goes on taking something, and no longer. */
START_TEST(a_slow_sink_later)
{
    memset(at.had, 0, sizeof at.had);
    setup(1000);
    at.write_rc = -EAGAIN;
    ck_assert_int_eq(give(0), -EAGAIN);
    now = cw_time_add(now, CW_SEC(2));
    ck_assert_int_eq(give(0), 0);
    ck_assert(t.out);
    cast_receiver_round(&t);
    for (uint32_t piece = 0; piece < 9; piece++) {
        at.write_rc = -EAGAIN;
        ck_assert_int_eq(give(piece), -EAGAIN);
        now = cw_time_add(now, CW_MS(1900));
        ck_assert_int_eq(give(piece), -EAGAIN);
        at.write_rc = 0;
        ck_assert_int_eq(give(piece), 0);
        ck_assert(!cast_receiver_lacks(&t, piece));
    }
    at.write_rc = -EAGAIN;
    ck_assert_int_eq(give(9), -EAGAIN);
    now = cw_time_add(now, CW_SEC(2));
    ck_assert_int_eq(give(9), 0);
    ck_assert(t.out && cast_receiver_lacks(&t, 9));
    cast_receiver_stop(&t, -ECANCELED);
    cast_receiver_close(&t);
}
END_TEST

START_TEST(what_is_lacking)
{
    struct cast_head h;
    uint8_t bits[4];
    memset(at.had, 0, sizeof at.had);
    setup(100 * PIECE);
    cast_receiver_lack(&t, 0, sizeof bits, &h, bits);
    ck_assert(h.piece == 0 && h.count == 100 && h.missing == 100 && h.rest_bytes == 0);
    for (uint32_t i = 0; i < 100; i += 2) {
        ck_assert_int_eq(give(i), 0);
    }
    unsigned chunks = 0, seen = 0;
    for (uint32_t from = 0;; from = h.piece + h.count, chunks++) {
        cast_receiver_lack(&t, from, sizeof bits, &h, bits);
        if (h.count == 0) {
            break;
        }
        for (uint32_t i = 0; i < h.count; i++) {
            bool lacks = h.rest_bytes == 0 || (bits[i / 8] >> i % 8 & 1);
            ck_assert(lacks == cast_receiver_lacks(&t, h.piece + i));
            seen += lacks;
        }
    }
    ck_assert(chunks == 4 && seen == 50 && h.missing == 50);
    cast_receiver_stop(&t, -ECANCELED);
    cast_receiver_lack(&t, 0, sizeof bits, &h, bits);
    ck_assert(h.count == 0 && h.missing == 0);
    cast_receiver_close(&t);
}
END_TEST

/* Whole bytes are passed over at once: from everywhere, the same as one by one. */
START_TEST(runs_of_all_lengths)
{
    enum { PIECES = 203 };
    struct cast_head h;
    uint8_t bits[1];
    for (unsigned length = 1; length < 70; length++) {
        for (uint32_t i = 0; i < PIECES; i++) {
            at.had[i] = i / length % 2 == length % 2;
        }
        setup(PIECES * PIECE);
        for (uint32_t from = 0; from <= PIECES && t.state == CAST_RECEIVING; from++) {
            uint32_t first = from, end;
            while (first < PIECES && at.had[first]) {
                first++;
            }
            for (end = first; end < PIECES && !at.had[end]; end++) {
            }
            cast_receiver_lack(&t, from, sizeof bits, &h, bits);
            ck_assert_uint_eq(h.piece, first);
            uint32_t most = PIECES - first < 8 ? PIECES - first : 8;
            ck_assert_uint_eq(h.count, end == first || end - first >= most ? end - first : most);
        }
        cast_receiver_stop(&t, -ECANCELED);
        cast_receiver_close(&t);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(cuts),
                                          SUITE_TEST(each_piece_once),
                                          SUITE_TEST(what_was_there),
                                          SUITE_TEST(a_sink_that_fails),
                                          SUITE_TEST(a_sink_that_is_slow),
                                          SUITE_TEST(a_slow_sink_later),
                                          SUITE_TEST(what_is_lacking),
                                          SUITE_TEST(runs_of_all_lengths)};
SUITE_MAIN("cast_receiver", tests)
