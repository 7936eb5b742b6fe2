/* SPDX-License-Identifier: Apache-2.0 */
/* The witness in the hands of a test: what it writes down, and its stream. */
#include "fake_host.h"
#include "lab_place.h"
#include "testbed/witness.h"

#include <fcntl.h>

static struct witness_record record[64];

/* Reads the trail of 0,0,1; gives how many records it has. */
static unsigned trail(const char *place)
{
    char path[100];
    unsigned count = 0;
    snprintf(path, sizeof path, "%s/0,0,1.trail", place);
    int fd = open(path, O_RDONLY);
    ck_assert_int_ge(fd, 0);
    for (struct witness_record r; read(fd, &r, sizeof r) == (ssize_t)sizeof r;) {
        if (r.written_ns != 0 && count < 64) {
            record[count++] = r;
        }
    }
    close(fd);
    return count;
}

static cw_svc *open_witness(void)
{
    return fake_open(cw_service_entry(), (cw_dims){3, 3, 3}, (cw_coord){0, 0, 1});
}

static int command(cw_svc *s, const char *line)
{
    struct fake_result r;
    fake_command(s, line, &r);
    return r.rc;
}

START_TEST(a_stream_and_its_trail)
{
    char *place = place_make();
    struct fake_send sent;
    ck_assert_int_eq(setenv(WITNESS_FOLDER, place, 1), 0);
    cw_svc *s = open_witness();
    ck_assert_int_eq(command(s, "stream hello rate=1000"), 0);
    fake_run(s, CW_US(2500));
    unsigned count = 0;
    while (fake_take(s, &sent)) {
        ck_assert(sent.to.kind == CW_TO_KEY && sent.to.job == WITNESS_JOB);
        count++;
        fake_free(sent.packet);
    }
    ck_assert_uint_eq(count, 3);
    ck_assert_int_eq(command(s, "stop"), 0);
    fake_run(s, CW_MS(10));
    ck_assert(!fake_take(s, &sent));
    ck_assert_int_lt(command(s, "dance"), 0);
    const uint8_t bytes[16] = {[3] = 9};
    const cw_rx rx = {
        .size = sizeof rx, .where = CW_ARRIVED, .kind = CW_TO_KEY, .key = {.b = {[19] = 5}}, .src_process = 7};
    cw_verdict verdict;
    cw_packet *p = fake_packet(s, bytes, sizeof bytes, 0);
    if (fake_arrive(s, p, &rx, &verdict)) {
        fake_free(p);
    }
    ck_assert_uint_eq(fake_close(s), 0);
    count = trail(place);
    ck_assert_uint_eq(record[0].kind, WITNESS_OPENED);
    ck_assert(record[7].kind == WITNESS_SENT && record[9].number == 2 && record[9].source == 1);
    ck_assert(record[count - 2].kind == WITNESS_DELIVERED && record[count - 2].key == 5 &&
              record[count - 2].number == 9 && record[count - 2].source == 7);
    ck_assert_uint_eq(record[count - 1].kind, WITNESS_CLOSED);
    place_remove(place);
}
END_TEST

/* Help, checks and completion come from the table. */
START_TEST(its_commands_are_declared)
{
    const cw_command *c = cw_service_entry()->commands;
    for (const char *const *word = (const char *const[]){"stream", "stop", "stats", NULL}; *word != NULL; word++, c++) {
        ck_assert_str_eq(c->words, *word);
        ck_assert(c->help[0] != '\0');
    }
    ck_assert_ptr_null(c->words);
}
END_TEST

START_TEST(without_a_folder_nothing_is_written)
{
    ck_assert_int_eq(unsetenv(WITNESS_FOLDER), 0);
    cw_svc *s = open_witness();
    fake_close(s);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_stream_and_its_trail), SUITE_TEST(its_commands_are_declared),
                                          SUITE_TEST(without_a_folder_nothing_is_written)};
SUITE_MAIN("witness", tests)
