/* SPDX-License-Identifier: Apache-2.0 */
/* test_part.c - files come in pieces of any order, break off, go on, and fail in every way that a disk has. */
/* The source itself: the tests reach into its private structure, to damage it. */
#include "services/multicast/file/part.c"

#include "file_kit.h"
#include "stops.h"
#include "suite.h"

#include <errno.h>
#include <stdlib.h>

enum { PIECE = 1000, BYTES = 500 * PIECE + 77, PIECES = 501, LARGE = 40 << 20, LARGE_PIECE = 8192 };
static uint8_t *bytes;
static struct file_label label;
static struct file_part *part;
static struct cast_sink sink;

static void begin(size_t length)
{
    file_kit_begin();
    bytes = malloc(length + 1);
    file_kit_fill(bytes, length);
    label = (struct file_label){.bytes = length, .mode = 0640, .name = "image"};
    fake_files_digest(bytes, length, label.digest);
}

static void end(void)
{
    free(bytes);
    ck_assert_uint_eq(file_kit_end(), 0);
}

static int open_it(uint32_t piece, uint64_t ticket)
{
    struct cast_offer offer = {.ticket = ticket, .bytes = file_label_message(&label), .piece_bytes = piece};
    ck_assert_int_eq(file_part_open(&part, &kit.env, &offer, &label), 0);
    ck_assert_int_eq(file_part_ready(part), -EAGAIN);
    unsigned before = kit.resumes;
    fake_run(kit.s, CW_MS(1));
    ck_assert_uint_eq(kit.resumes, before + 1);
    ck_assert_uint_eq(kit.ticket, ticket);
    int rc = file_part_ready(part);
    if (rc == 0) {
        sink = file_part_sink(part);
    }
    return rc;
}

static size_t length_of(uint64_t piece, uint32_t piece_bytes)
{
    uint64_t left = label.bytes - piece * piece_bytes;
    return left < piece_bytes ? (size_t)left : piece_bytes;
}

/* As an engine does: what is refused for now comes again. */
static int put(uint64_t piece, uint32_t piece_bytes)
{
    int rc;
    while ((rc = sink.write(sink.context, piece * piece_bytes, bytes + piece * piece_bytes,
                            length_of(piece, piece_bytes))) == -EAGAIN) {
        unsigned before = kit.resumes;
        while (kit.resumes == before) {
            fake_run(kit.s, CW_US(10));
        }
    }
    return rc;
}

static void finish(int expected)
{
    unsigned before = kit.ends;
    ck_assert_int_eq(sink.end(sink.context, 0), -EINPROGRESS);
    fake_run(kit.s, CW_SEC(1));
    ck_assert_uint_eq(kit.ends, before + 1);
    ck_assert_int_eq(kit.status, expected);
    ck_assert(file_part_is_over(part));
    file_part_close(part);
}

static void check_whole(void)
{
    struct fake_blob *b = fake_files_find(&kit.disk, "image");
    ck_assert_ptr_nonnull(b);
    ck_assert_uint_eq(b->length, label.bytes);
    ck_assert(label.bytes == 0 || memcmp(b->bytes, bytes, label.bytes) == 0);
    ck_assert_uint_eq(b->mode, 0640);
}

static unsigned left_beside(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < FAKE_BLOBS; i++) {
        count += file_label_is_part(kit.disk.blob[i].name);
    }
    return count;
}

START_TEST(pieces_in_any_order)
{
    static const unsigned steps[] = {1, 2, 250, 499, 500};
    for (size_t k = 0; k < 5; k++) {
        begin(BYTES);
        ck_assert_int_eq(open_it(PIECE, 5), 0);
        ck_assert(!sink.has(sink.context, 0));
        for (uint64_t i = 0, piece = 3; i < PIECES; i++, piece = (piece + steps[k]) % PIECES) {
            ck_assert_int_eq(put(piece, PIECE), 0);
            ck_assert_ptr_null(fake_files_find(&kit.disk, "image"));
        }
        finish(0);
        check_whole();
        ck_assert_uint_eq(left_beside(), 0);
        end();
    }
}
END_TEST

START_TEST(an_empty_file)
{
    begin(0);
    ck_assert_int_eq(open_it(PIECE, 5), 0);
    ck_assert_int_eq(sink.write(sink.context, 0, (const uint8_t *)"", 1), 0);
    finish(0);
    check_whole();
    end();
}
END_TEST

START_TEST(wrong_pieces)
{
    begin(BYTES);
    ck_assert_int_eq(open_it(PIECE, 5), 0);
    ck_assert_int_eq(sink.write(sink.context, 1, bytes, PIECE), -EINVAL);
    ck_assert_int_eq(sink.write(sink.context, 0, bytes, PIECE - 1), -EINVAL);
    ck_assert_int_eq(sink.write(sink.context, 500 * PIECE, bytes, PIECE), -EINVAL);
    ck_assert_int_eq(sink.write(sink.context, 501 * PIECE, bytes, PIECE), -EINVAL);
    ck_assert_int_lt(sink.end(sink.context, -ECANCELED), 0);
    fake_run(kit.s, CW_MS(10));
    ck_assert(file_part_is_over(part));
    file_part_close(part);
    ck_assert_uint_eq(left_beside(), 0); /* nothing was there to keep */
    end();
}
END_TEST

/* Memory is bounded, and nothing is lost for it; checkpoints are made on the way. */
START_TEST(a_large_file_through_two_buffers)
{
    begin(LARGE);
    ck_assert_int_eq(open_it(LARGE_PIECE, 5), 0);
    unsigned refused = 0;
    for (uint64_t i = 0; i < LARGE / LARGE_PIECE; i++) {
        int rc = sink.write(sink.context, i * LARGE_PIECE, bytes + i * LARGE_PIECE, LARGE_PIECE);
        refused += rc == -EAGAIN;
        ck_assert(rc == 0 || rc == -EAGAIN);
        ck_assert_int_eq(rc == 0 ? 0 : put(i, LARGE_PIECE), 0);
    }
    ck_assert_uint_gt(refused, 0);
    ck_assert_uint_ge(kit.disk.stores, LARGE / FILE_PART_CHECKPOINT - 1);
    ck_assert_uint_le(kit.disk.stores, LARGE / FILE_PART_CHECKPOINT + 1);
    struct file_part_view v = file_part_look(part);
    ck_assert_uint_ge(v.there, LARGE - 2 * FILE_PART_BUFFER);
    finish(0);
    check_whole();
    end();
}
END_TEST

/* Broken off by the source, by an orderly end, and by a death of which only the checkpoint is left. */
START_TEST(it_goes_on_where_it_was)
{
    for (int how = 0; how < 3; how++) {
        begin(BYTES);
        ck_assert_int_eq(open_it(PIECE, 5), 0);
        for (uint64_t i = 0; i < 300; i++) {
            ck_assert_int_eq(put((i * 7) % PIECES, PIECE), 0);
        }
        fake_run(kit.s, CW_SEC(3));
        ck_assert_int_eq(put((300 * 7) % PIECES, PIECE),
                         0); /* 2 s later: a checkpoint, which says nothing of this one yet */
        fake_run(kit.s, CW_MS(1));
        if (how == 0) {
            ck_assert_int_eq(sink.end(sink.context, -ENETUNREACH), -ENETUNREACH);
            fake_run(kit.s, CW_MS(10));
            ck_assert(file_part_is_over(part));
        }
        if (how == 2) {
            fake_files_fail(&kit.disk, "store", 0, -EIO, false); /* what a death does to the last note */
        }
        file_part_close(part);
        ck_assert_uint_eq(left_beside(), 2);
        ck_assert_uint_eq(kit.disk.handles, 0);
        ck_assert_int_eq(open_it(PIECE, 6), 0);
        unsigned lacks = 0;
        for (uint64_t i = 0; i < PIECES; i++) {
            lacks += !sink.has(sink.context, i);
        }
        ck_assert_uint_eq(lacks, PIECES - (how == 2 ? 300 : 301));
        ck_assert_uint_eq(file_part_look(part).before, (uint64_t)(PIECES - lacks) * PIECE);
        for (uint64_t i = 0; i < PIECES; i++) {
            ck_assert(sink.has(sink.context, i) || put(i, PIECE) == 0);
        }
        finish(0);
        check_whole();
        ck_assert_uint_eq(left_beside(), 0);
        end();
    }
}
END_TEST

/* Its source was told to stop, or has another file there by now: the rest will never come. */
START_TEST(what_is_broken_off_for_good_goes)
{
    static const int whys[] = {-ECANCELED, -ENODATA};
    for (size_t why = 0; why < sizeof whys / sizeof *whys; why++) {
        begin(BYTES);
        ck_assert_int_eq(open_it(PIECE, 5), 0);
        for (uint64_t i = 0; i < 300; i++) {
            ck_assert_int_eq(put(i, PIECE), 0);
        }
        ck_assert_int_eq(sink.end(sink.context, whys[why]), whys[why]);
        fake_run(kit.s, CW_MS(10));
        ck_assert(file_part_is_over(part));
        file_part_close(part);
        ck_assert_uint_eq(left_beside(), 0);
        ck_assert_uint_eq(kit.disk.handles, 0);
        end();
    }
}
END_TEST

/* Other pieces, or a map that is torn: all of it comes again. */
START_TEST(a_map_of_no_use)
{
    for (int how = 0; how < 2; how++) {
        begin(BYTES);
        ck_assert_int_eq(open_it(PIECE, 5), 0);
        for (uint64_t i = 0; i < 100; i++) {
            ck_assert_int_eq(put(i, PIECE), 0);
        }
        fake_run(kit.s, CW_MS(10));
        file_part_close(part);
        char map[FILE_BESIDE];
        file_label_map(&label, map);
        if (how == 0) {
            fake_files_find(&kit.disk, map)->bytes[70] ^= 1;
        }
        uint32_t piece = how == 0 ? PIECE : PIECE / 2;
        ck_assert_int_eq(open_it(piece, 6), 0);
        for (uint64_t i = 0; i < (label.bytes + piece - 1) / piece; i++) {
            ck_assert(!sink.has(sink.context, i));
            ck_assert_int_eq(put(i, piece), 0);
        }
        finish(0);
        check_whole();
        end();
    }
}
END_TEST

/* Somebody has deleted a part, and left its map: nothing of it is there. */
START_TEST(a_map_without_its_part)
{
    char beside[FILE_BESIDE];
    begin(BYTES);
    ck_assert_int_eq(open_it(PIECE, 5), 0);
    for (uint64_t i = 0; i < 100; i++) {
        ck_assert_int_eq(put(i, PIECE), 0);
    }
    fake_run(kit.s, CW_MS(10));
    file_part_close(part);
    file_label_part(&label, beside);
    ck_assert_int_eq(kit.disk.host.drop(&kit.disk, "/files", beside), 0);
    file_label_map(&label, beside);
    ck_assert_ptr_nonnull(fake_files_find(&kit.disk, beside));
    ck_assert_int_eq(open_it(PIECE, 6), 0);
    ck_assert_ptr_null(fake_files_find(&kit.disk, beside)); /* also for who opens it next */
    for (uint64_t i = 0; i < PIECES; i++) {
        ck_assert(!sink.has(sink.context, i));
        ck_assert_int_eq(put(i, PIECE), 0);
    }
    finish(0);
    check_whole();
    end();
}
END_TEST

/* The program ends: what its last map says has been synced, or the map is not written. */
START_TEST(the_last_map_is_true)
{
    char map[FILE_BESIDE];
    for (int fails = 0; fails < 2; fails++) {
        begin(BYTES);
        ck_assert_int_eq(open_it(PIECE, 5), 0);
        ck_assert_int_eq(put(0, PIECE), 0);
        fake_run(kit.s, CW_MS(10));
        unsigned syncs = kit.disk.syncs;
        if (fails) {
            fake_files_fail(&kit.disk, "sync", 0, -EIO, false);
        }
        file_part_close(part);
        file_label_map(&label, map);
        ck_assert_uint_eq(kit.disk.syncs, syncs + 1);
        ck_assert((fake_files_find(&kit.disk, map) == NULL) == (fails == 1));
        end();
    }
}
END_TEST

/* The file is there, and nothing that could be sent again: a success, and whoever reads the log knows. */
START_TEST(a_folder_that_is_not_synced)
{
    begin(BYTES);
    ck_assert_int_eq(open_it(PIECE, 5), 0);
    for (uint64_t i = 0; i < PIECES; i++) {
        ck_assert_int_eq(put(i, PIECE), 0);
    }
    fake_files_fail(&kit.disk, "folder", 0, -EIO, false);
    finish(0);
    check_whole();
    ck_assert_uint_eq(left_beside(), 0);
    ck_assert_ptr_nonnull(strstr(kit.s->logged, "file image is whole, but its folder cannot be synced"));
    end();
}
END_TEST

START_TEST(what_is_there_needs_nothing)
{
    begin(BYTES);
    ck_assert_int_eq(open_it(PIECE, 5), 0);
    for (uint64_t i = 0; i < PIECES; i++) {
        ck_assert_int_eq(put(i, PIECE), 0);
    }
    finish(0);
    ck_assert_int_eq(open_it(PIECE, 6), 0);
    for (uint64_t i = 0; i < PIECES; i++) {
        ck_assert(sink.has(sink.context, i));
    }
    ck_assert_uint_eq(file_part_look(part).there, BYTES);
    ck_assert_int_eq(sink.end(sink.context, 0), 0);
    ck_assert(file_part_is_over(part));
    file_part_close(part);
    check_whole();
    /* Something else stands there: replaced, or, when it is to be kept, refused before a byte is sent. */
    fake_files_put(&kit.disk, "image", "mine", 4);
    label.keep = true;
    ck_assert_int_eq(open_it(PIECE, 7), -EEXIST);
    file_part_abandon(part, 0);
    ck_assert(file_part_is_over(part));
    file_part_close(part);
    label.keep = false;
    ck_assert_int_eq(open_it(PIECE, 8), 0);
    for (uint64_t i = 0; i < PIECES; i++) {
        ck_assert_int_eq(put(i, PIECE), 0);
    }
    finish(0);
    check_whole();
    end();
}
END_TEST

START_TEST(another_digest_is_dropped)
{
    begin(BYTES);
    label.digest[3] ^= 1;
    ck_assert_int_eq(open_it(PIECE, 5), 0);
    for (uint64_t i = 0; i < PIECES; i++) {
        ck_assert_int_eq(put(i, PIECE), 0);
    }
    finish(-EBADMSG);
    ck_assert_uint_eq(left_beside(), 0);
    ck_assert_ptr_null(fake_files_find(&kit.disk, "image"));
    end();
}
END_TEST

/*
 * Every operation fails once, for every reason: the reason is told, nothing half stands under the name, no handle is
 * left.
 */
START_TEST(disks_that_fail)
{
    static const char *const ops[] = {"have", "open", "write", "read_back", "sync", "store", "finish", "digest"};
    static const int errors[] = {-EIO, -ENOSPC, -EACCES, -EROFS};
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
        for (size_t e = 0; e < sizeof errors / sizeof *errors; e++) {
            begin(BYTES);
            fake_files_fail(&kit.disk, ops[o], 0, errors[e], false);
            int rc = open_it(PIECE, 5);
            for (uint64_t i = 0; i < PIECES && rc == 0; i++) {
                if (i == 400) {
                    fake_run(kit.s, CW_SEC(3)); /* time for a checkpoint */
                }
                rc = put(i, PIECE);
            }
            if (rc < 0 && file_part_ready(part) < 0 && sink.context != part) {
                file_part_abandon(part, 0);
            } else if (rc < 0) {
                (void)sink.end(sink.context, rc);
            } else {
                ck_assert_int_eq(sink.end(sink.context, 0), -EINPROGRESS);
            }
            fake_run(kit.s, CW_SEC(1));
            rc = rc < 0 ? rc : kit.status;
            ck_assert_msg(rc == (o == 7 ? -ENOMEM : errors[e]), "%s %d: %d", ops[o], errors[e], rc);
            ck_assert(file_part_is_over(part));
            file_part_close(part);
            ck_assert_ptr_null(fake_files_find(&kit.disk, "image"));
            ck_assert_uint_eq(kit.disk.handles, 0);
            if (errors[e] == -ENOSPC) {
                ck_assert_uint_eq(left_beside(), 0);
            }
            sink.context = NULL;
            /* The disk is well again. */
            ck_assert_int_eq(open_it(PIECE, 6), 0);
            for (uint64_t i = 0; i < PIECES; i++) {
                ck_assert(sink.has(sink.context, i) || put(i, PIECE) == 0);
            }
            finish(0);
            check_whole();
            sink.context = NULL;
            end();
        }
    }
}
END_TEST

START_TEST(a_disk_that_is_full)
{
    begin(BYTES);
    kit.disk.room = BYTES - 1;
    ck_assert_int_eq(open_it(PIECE, 5), -ENOSPC);
    ck_assert_ptr_nonnull(strstr(kit.s->logged, "file image cannot be put into "));
    ck_assert_ptr_nonnull(strstr(kit.s->logged, ": its disk is full"));
    file_part_abandon(part, 0);
    ck_assert(file_part_is_over(part));
    file_part_close(part);
    ck_assert_uint_eq(left_beside(), 0);
    end();
}
END_TEST

/* ---- Damage ------------------------------------------------------------------------------------------------------ */

/* Three pieces have come: the first is being written, and the other two wait for that. */
static void take_three(void)
{
    begin(BYTES);
    ck_assert_int_eq(open_it(PIECE, 5), 0);
    for (uint64_t i = 0; i < 3; i++) {
        ck_assert_int_eq(put(i, PIECE), 0);
    }
    ck_assert(part->task == TASK_TURN && part->filling->count == 2);
}

/* As take_three(), and all three have been written and digested. */
static void write_three(void)
{
    take_three();
    fake_run(kit.s, CW_MS(10));
    ck_assert(part->task == TASK_NONE && part->hashed == 3 * PIECE);
}

START_TEST(sound)
{
    take_three();
    ck_assert(file_part_audit(part));
    fake_run(kit.s, CW_MS(10));
    ck_assert(file_part_audit(part));
    file_part_close(part);
    end();
}
END_TEST

STOPS(a_batch_is_miscounted, "files F2: a batch counts its bytes right", take_three(); part->filling->used++;
      (void)file_part_audit(part))
STOPS(digested_and_not_on_the_disk, "files F2: only what is on the disk is digested", write_three(); part->hashed++;
      (void)file_part_audit(part))
STOPS(over_and_still_at_work, "files F2: what is over has no work under way", take_three();
      part->state = FILE_PART_OVER; (void)file_part_audit(part))
STOPS(its_map_is_wrong, "files F1: a map counts its pieces right", write_three(); part->map.have++;
      (void)file_part_audit(part))

static const struct suite_test tests[] = {
    SUITE_TEST(sound),
    SUITE_TEST(a_batch_is_miscounted),
    SUITE_TEST(digested_and_not_on_the_disk),
    SUITE_TEST(over_and_still_at_work),
    SUITE_TEST(its_map_is_wrong),
    SUITE_TEST(pieces_in_any_order),
    SUITE_TEST(an_empty_file),
    SUITE_TEST(wrong_pieces),
    SUITE_TEST(a_large_file_through_two_buffers),
    SUITE_TEST(what_is_broken_off_for_good_goes),
    SUITE_TEST(it_goes_on_where_it_was),
    SUITE_TEST(a_map_of_no_use),
    SUITE_TEST(a_map_without_its_part),
    SUITE_TEST(the_last_map_is_true),
    SUITE_TEST(a_folder_that_is_not_synced),
    SUITE_TEST(what_is_there_needs_nothing),
    SUITE_TEST(another_digest_is_dropped),
    SUITE_TEST(disks_that_fail),
    SUITE_TEST(a_disk_that_is_full),
};
SUITE_MAIN("file_part", tests)
