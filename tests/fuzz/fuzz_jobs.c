/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_jobs.c - any frames, from anybody, to the service jobs. The input is frames, each behind 4 bytes: its length (16
 * bits), who sends it, and how much time passes after it (4 ms units; odd: it is a call). A record counts as signed
 * when its signature is all of one byte, so that the fuzzer can sign. Whatever comes: what is held was signed, only
 * goes up, agrees with its digest, and nothing is left when the service closes.
 */
#include "jobs_town.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAME_MAX = 2048 };

static void demand(bool holds)
{
    if (!holds) {
        abort();
    }
}

static int plain_verify(void *context, const uint8_t *record, size_t size,
                        const uint8_t signature[static JOBS_SIGNATURE_BYTES])
{
    (void)context;
    (void)record;
    (void)size;
    for (unsigned i = 1; i < JOBS_SIGNATURE_BYTES; i++) {
        if (signature[i] != signature[0]) {
            return 0;
        }
    }
    return 1;
}

/* One server, whose neighbours are the input. */
static void open_one(cw_svc **s)
{
    town_prepare();
    for (unsigned i = 0; i < TOWN_SERVERS; i++) {
        town.at[i].host.verify = plain_verify;
    }
    *s = fake_open(&jobs_service, (cw_dims){3, 3, 1}, (cw_coord){0, 0, 0});
}

static void judge(cw_svc *s, struct jobs_mark *highest)
{
    const struct jobs *j = s->state;
    struct records again = {0};
    size_t bytes = 0;
    for (uint32_t i = 0; i < j->records.count; i++) {
        const struct records_item *item = &j->records.item[i];
        struct jobs_mark mark;
        size_t record = item->blob->size - JOBS_SIGNATURE_BYTES;
        demand(jobs_mark_of(item->blob->bytes, record, &mark) && jobs_mark_compare(&mark, &item->mark, NULL) == 0);
        demand(plain_verify(NULL, NULL, 0, item->blob->bytes + record) == 1);
        struct records_item *copy;
        demand(records_put(&again, &mark, item->blob->bytes, item->blob->size, &copy) == 0);
        bytes += item->blob->size;
        if (mark.job == highest->job || highest->job == 0) { /* the first that was seen */
            demand(highest->job == 0 || jobs_mark_compare(&mark, highest, NULL) >= 0);
            *highest = mark;
        }
    }
    demand(again.sum.value == j->records.sum.value && bytes == j->records.bytes && j->fetch.wants <= JOBS_WANTS);
    demand(highest->job == 0 || records_find(&j->records, highest->job) != NULL);
    records_close(&again);
}

static void arrive(cw_svc *s, const uint8_t *frame, size_t length, uint8_t from, bool call)
{
    cw_rx rx = {.size = sizeof rx,
                .where = CW_ARRIVED,
                .job = JOBS_JOB,
                .src_job = from == 255 ? 9 : JOBS_JOB,
                .src_process = from,
                .src_server = {(uint8_t)(from % 3), (uint8_t)(from / 3 % 3), 0}};
    if (call) {
        rx.call = fake_right(s, rx.src_server, 7);
    }
    fake_arrive(s, fake_packet(s, frame, length, 0), &rx, NULL);
}

/* What it asks is answered by the input too: the frame that comes next. */
static bool answer_call(cw_svc *s, const uint8_t *frame, size_t length)
{
    bool answered = false;
    for (struct fake_send send; fake_take(s, &send);) {
        if (send.call != 0 && !send.reply && !answered) {
            const cw_rx rx = {.size = sizeof rx, .where = CW_ARRIVED, .src_job = JOBS_JOB};
            answered = fake_answer(s, send.call, 0, fake_packet(s, frame, length, 0), &rx);
        }
        fake_free(send.packet);
    }
    return answered;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cw_svc *s;
    struct jobs_mark highest = {.job = 0};
    struct reader in = reader_of(data, size);
    open_one(&s);
    while (reader_left(&in) > 4) {
        size_t length = reader_be16(&in);
        uint8_t from = reader_u8(&in), time = reader_u8(&in);
        length = length < reader_left(&in) ? length : reader_left(&in);
        const uint8_t *frame = reader_take(&in, length);
        if (length > FRAME_MAX) {
            break;
        }
        if (!answer_call(s, frame, length)) {
            arrive(s, frame, length, from, time % 2 == 1);
        }
        fake_run(s, CW_MS(4 * (time / 2)));
        judge(s, &highest);
    }
    for (struct fake_send send; fake_take(s, &send);) {
        fake_free(send.packet);
    }
    demand(fake_close(s) == 0);
    for (unsigned i = 0; i < TOWN_SERVERS; i++) {
        nmu_close(&town.at[i].nmu);
    }
    return 0;
}
