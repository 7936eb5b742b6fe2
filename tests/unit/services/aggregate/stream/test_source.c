/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/record.h"
#include "services/aggregate/stream/lead.h"
#include "stream_town.h"
#include "suite.h"

#include <string.h>

enum { LINES = 80000 };

static bool there;

static void ready(void *arg)
{
    (void)arg;
    there = true;
}

/* Reads all of it, block after block; gives how many records there are, and that the first one's key is `first`. */
static unsigned read_all(struct fake_net *net, struct task *t, const char *after, const char *first)
{
    unsigned n = 0;
    struct source *s = source_open(t, 0, (cw_bytes){(const uint8_t *)after, strlen(after)}, ready, NULL);
    for (bool last = false; !last;) {
        const uint8_t *bytes;
        struct record_reader r;
        size_t size;
        there = source_next(s) == 1;
        for (unsigned i = 0; i < 1000 && !there; i++) {
            fake_net_run(net, CW_US(100));
        }
        ck_assert(there && source_block(s, &bytes, &size, &last) == 0);
        record_reader_init(&r);
        record_reader_block(&r, bytes, size);
        while (record_reader_next(&r) == 1) {
            ck_assert(n > 0 || (r.key_length == strlen(first) && memcmp(r.key, first, r.key_length) == 0));
            n++;
        }
    }
    source_close(s);
    return n;
}

/* A partition is read from its beginning, or from behind a key on, from memory or the spool: the same each time. */
START_TEST(reads_from_any_key_on)
{
    static const char *const small[] = {"data=/d", "spool=/s", "memory=12M", NULL};
    for (unsigned spilled = 0; spilled < 2; spilled++) {
        static struct fake_result r;
        struct fake_net *net = stream_town_open(spilled ? small : NULL);
        struct stream *st = stream_town_at(net, 0);
        stream_town_fill(LINES);
        stream_town_begin(net, 0, "run map=kv from=in to=1,0,0:out partitions=1 of=0,0,0", &r);
        struct task *t = task_next(st, &lead_of_number(st, 1)->run, NULL);
        while ((t == NULL || !task_is_ready(t)) && !r.done) {
            fake_net_run(net, CW_US(50));
            t = r.done ? NULL : task_next(st, &lead_of_number(st, 1)->run, NULL);
        }
        ck_assert_msg(t != NULL, "%s", r.done ? fake_text(&r, 0, "error") : "");
        ck_assert_uint_eq(stream_disks[0].spooled > 0, spilled);
        ck_assert_uint_eq(read_all(net, t, "", "all"), LINES + 1);
        ck_assert_uint_eq(read_all(net, t, "all", "s0k0"), LINES);
        ck_assert_uint_eq(read_all(net, t, "s0k9998", "s0k9999"), 1);
        fake_net_finish(net, &r);
        ck_assert_int_eq(r.rc, 0);
        fake_net_run(net, CW_SEC(1));
        stream_town_close(net);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(reads_from_any_key_on)};
SUITE_MAIN("source", tests)
