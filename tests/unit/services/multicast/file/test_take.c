/* SPDX-License-Identifier: Apache-2.0 */
/* test_take.c - offers of others: taken, refused, repeated, and two messages with one file. */
#include "fake_engine.h"
#include "services/multicast/file/internal.h"
#include "suite.h"

#include <errno.h>

enum { BYTES = 5000, PIECE = 1000 };
static const char *const options[] = {"folder=/files", NULL};
static uint8_t bytes[BYTES], label_bytes[FILE_LABEL_MOST];
static struct file_label label;
static struct cast_offer offer;
static struct cast_sink sink;

static void begin(const char *const *with)
{
    ck_assert_int_eq(fake_town_begin(with), 0);
    for (unsigned i = 0; i < BYTES; i++) {
        bytes[i] = (uint8_t)(i * 7);
    }
    label = (struct file_label){.bytes = BYTES, .mode = 0600, .name = "image"};
    fake_files_digest(bytes, BYTES, label.digest);
    offer = (struct cast_offer){.ticket = 11,
                                .origin = 4,
                                .kind = CAST_FILE,
                                .bytes = BYTES,
                                .pieces = BYTES / PIECE,
                                .piece_bytes = PIECE,
                                .label = label_bytes,
                                .label_bytes = file_label_encode(&label, label_bytes)};
}

static int ask(void)
{
    return town.engine.accept(town.engine.context, &offer, &sink);
}

static int taken(uint64_t ticket)
{
    offer.ticket = ticket;
    int rc = ask();
    for (unsigned i = 0; i < 10 && rc == -EAGAIN; i++) {
        fake_run(town.s, CW_MS(100));
        rc = ask();
    }
    return rc;
}

static void put_all(struct cast_sink *to)
{
    for (unsigned i = 0; i < BYTES / PIECE; i++) {
        ck_assert_int_eq(to->write(to->context, (uint64_t)i * PIECE, bytes + (size_t)i * PIECE, PIECE), 0);
    }
}

/* The newest note to the source; false: none. */
static bool noted(struct file_progress *note)
{
    struct fake_send sent;
    bool any = false;
    while (fake_take(town.s, &sent)) {
        size_t length;
        const uint8_t *data = cw_packet_data(sent.packet, &length);
        ck_assert_uint_eq(sent.to.port, FILE_PORT);
        ck_assert_uint_eq(sent.to.process, 4);
        ck_assert_int_eq(file_progress_decode(data, length, note), 0);
        fake_free(sent.packet);
        any = true;
    }
    return any;
}

START_TEST(a_file_comes)
{
    struct file_progress note;
    struct fake_result r;
    begin(options);
    ck_assert_int_eq(ask(), -EAGAIN);
    ck_assert_int_eq(ask(), -EAGAIN);
    fake_run(town.s, CW_MS(1));
    ck_assert_uint_eq(town.engine.resumed, 11);
    ck_assert_int_eq(ask(), 0);
    put_all(&sink);
    fake_run(town.s, CW_SEC(1));
    ck_assert(noted(&note));
    ck_assert_int_eq(note.state, FILE_PART_TAKING);
    ck_assert_uint_eq(note.there, BYTES);
    fake_command(town.s, "file-status", &r);
    ck_assert_str_eq(fake_text(&r, 0, "what"), "coming");
    ck_assert_str_eq(fake_text(&r, 0, "from"), "0,1,1");
    ck_assert_int_eq(fake_int(&r, 0, "there_bytes"), BYTES);
    ck_assert_int_eq(sink.end(sink.context, 0), -EINPROGRESS);
    fake_run(town.s, CW_SEC(1));
    ck_assert_uint_eq(town.engine.ends, 1);
    ck_assert_uint_eq(town.engine.ended, 11);
    ck_assert_int_eq(town.engine.status, 0);
    ck_assert_ptr_nonnull(fake_files_find(&town.disk, "image"));
    fake_command(town.s, "file-status", &r);
    ck_assert_str_eq(fake_text(&r, 0, "what"), "came");
    ck_assert_str_eq(fake_text(&r, 0, "name"), "image");
    ck_assert_str_eq(fake_text(&r, 0, "from"), "0,1,1");
    ck_assert_str_eq(fake_text(&r, 0, "state"), "here");
    ck_assert_int_eq(fake_int(&r, 0, "there_bytes"), BYTES);
    ck_assert_int_ge(fake_int(&r, 0, "took_ns"), CW_SEC(1).ns);
    fake_run(town.s, CW_SEC(598));
    fake_command(town.s, "file-status", &r);
    ck_assert_int_ge(fake_int(&r, 0, "ended_ns"), CW_SEC(598).ns);
    fake_run(town.s, CW_SEC(3));
    fake_command(town.s, "file-status", &r);
    ck_assert_uint_eq(r.fields, 0);
    (void)noted(&note);
    ck_assert_uint_eq(fake_town_end(), 0);
}
END_TEST

START_TEST(offers_that_are_refused)
{
    begin(options);
    offer.bytes = BYTES + 1;
    ck_assert_int_eq(ask(), -EBADMSG);
    offer.bytes = BYTES;
    label_bytes[0] = 9;
    ck_assert_int_eq(ask(), -EBADMSG);
    ck_assert_uint_eq(fake_town_end(), 0);
    begin((const char *const[]){NULL});
    ck_assert_int_eq(ask(), -EOPNOTSUPP);
    ck_assert_uint_eq(fake_town_end(), 0);
    town.no_host = true;
    begin(options);
    ck_assert_int_eq(ask(), -EOPNOTSUPP);
    ck_assert_uint_eq(fake_town_end(), 0);
    town.no_host = false;
    begin(options);
    fake_files_fail(&town.disk, "open", 0, -EACCES, false);
    ck_assert_int_eq(taken(1), -EACCES);
    fake_run(town.s, CW_SEC(1));
    ck_assert_int_eq(taken(2), 0);
    (void)sink.end(sink.context, -ECANCELED);
    fake_run(town.s, CW_SEC(1));
    ck_assert_uint_eq(fake_town_end(), 0);
}
END_TEST

/* So many at a time; an offer that nobody repeats goes, and makes room. */
START_TEST(too_many)
{
    begin(options);
    for (unsigned i = 0; i <= FILES_SLOTS; i++) {
        label.name[0] = (char)('a' + i);
        (void)file_label_encode(&label, label_bytes);
        offer.ticket = 100 + i;
        ck_assert_int_eq(ask(), i < FILES_SLOTS ? -EAGAIN : -EBUSY);
    }
    fake_run(town.s, CW_SEC(59));
    ck_assert_int_eq(ask(), -EBUSY);
    fake_run(town.s, CW_SEC(3));
    ck_assert_uint_eq(town.disk.handles, 0);
    ck_assert_int_eq(ask(), -EAGAIN);
    ck_assert_uint_eq(fake_town_end(), 0);
}
END_TEST

/* Hidden files: parts and maps. */
static unsigned hidden(void)
{
    unsigned n = 0;
    for (unsigned i = 0; i < FAKE_BLOBS; i++) {
        n += town.disk.blob[i].name[0] == '.';
    }
    return n;
}

/*
 * The message is stopped, or forgotten, while its part is being opened: nothing stays of it. A part that was there from
 * an earlier time stays when the rest may still come, and goes when the source was stopped for good.
 */
START_TEST(ended_before_it_was_taken)
{
    for (int how = 0; how < 4; how++) {
        begin(options);
        if (how >= 2) {
            ck_assert_int_eq(taken(1), 0);
            ck_assert_int_eq(sink.write(sink.context, 0, bytes, PIECE), 0);
            (void)sink.end(sink.context, -ENETUNREACH);
            fake_run(town.s, CW_SEC(1));
            ck_assert_uint_eq(hidden(), 2);
        }
        offer.ticket = 2;
        ck_assert_int_eq(ask(), -EAGAIN);
        town.engine.forgotten = how % 2 == 0;
        town.engine.incoming.ended = true;
        town.engine.incoming.in.receiver.status = -ECANCELED;
        fake_run(town.s, CW_SEC(1));
        struct fake_result r;
        fake_command(town.s, "file-status", &r);
        if (!town.engine.forgotten) {
            ck_assert_str_eq(fake_text(&r, 0, "state"), "failed");
            ck_assert_str_eq(fake_text(&r, 0, "reason"), "stopped");
        }
        ck_assert_uint_eq(town.disk.handles, 0);
        ck_assert_uint_eq(hidden(), how == 2 ? 2 : 0);
        ck_assert_uint_eq(fake_town_end(), 0);
    }
}
END_TEST

/* The same file from elsewhere waits, and then is there. */
START_TEST(two_sources)
{
    begin(options);
    ck_assert_int_eq(taken(1), 0);
    struct cast_sink first = sink;
    offer.origin = 9;
    offer.ticket = 2;
    ck_assert_int_eq(ask(), -EAGAIN);
    put_all(&first);
    ck_assert_int_eq(first.end(first.context, 0), -EINPROGRESS);
    ck_assert_int_eq(taken(2), 0);
    ck_assert(sink.has(sink.context, 0) && sink.has(sink.context, 4));
    ck_assert_int_eq(sink.end(sink.context, 0), 0);
    fake_run(town.s, CW_SEC(1));
    ck_assert_uint_eq(fake_town_end(), 0);
}
END_TEST

/* The source begins anew, or the other one is silent, or gone: the part goes over, with what is there. */
START_TEST(a_part_goes_over)
{
    for (int how = 0; how < 3; how++) {
        begin(options);
        ck_assert_int_eq(taken(1), 0);
        struct cast_sink first = sink;
        ck_assert_int_eq(first.write(first.context, PIECE, bytes + PIECE, PIECE), 0);
        fake_run(town.s, CW_MS(10));
        offer.origin = how == 0 ? 4 : 9;
        if (how == 1) {
            offer.ticket = 2;
            ck_assert_int_eq(ask(), -EAGAIN);
            fake_run(town.s, CW_SEC(11));
        }
        town.s->down[4] = how == 2;
        ck_assert_int_eq(taken(2), 0);
        ck_assert(sink.has(sink.context, 1) && !sink.has(sink.context, 0));
        ck_assert(!first.has(first.context, 1));
        ck_assert_int_eq(first.write(first.context, 0, bytes, PIECE), -ESTALE);
        ck_assert_int_eq(first.end(first.context, -ESTALE), -ESTALE);
        put_all(&sink);
        ck_assert_int_eq(sink.end(sink.context, 0), -EINPROGRESS);
        fake_run(town.s, CW_SEC(1));
        ck_assert_uint_eq(town.engine.ended, 2);
        ck_assert_int_eq(town.engine.status, 0);
        ck_assert_uint_eq(fake_town_end(), 0);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_file_comes), SUITE_TEST(offers_that_are_refused), SUITE_TEST(too_many),
    SUITE_TEST(two_sources),  SUITE_TEST(a_part_goes_over),        SUITE_TEST(ended_before_it_was_taken),
};
SUITE_MAIN("file_take", tests)
