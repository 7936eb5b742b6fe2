/* SPDX-License-Identifier: Apache-2.0 */
/* Objects on the store itself, of nine servers: put at one, read, listed, copied and deleted at others, one of which
 * dies. */
#include "services/s3/object/copy.h"
#include "services/s3/object/get.h"
#include "services/s3/object/listing.h"
#include "services/s3/object/put.h"
#include "services/s3/object/remove.h"

#include "store_town.h"
#include "suite.h"

#include <string.h>

enum { JOB = 5001, SIZE = 300000, CHUNK = 100000 };

static struct fake_net *net;
static struct s3_desk *desk[STORE_TOWN];
static uint64_t drawn;
static bool done;
static s3_fault fault;
static size_t rows;
static const struct s3_manifest *manifest;

static int64_t clock_s(void *context)
{
    (void)context;
    return 1700000000;
}

static uint64_t draw(void *context)
{
    (void)context;
    return ++drawn;
}

static void on_removed(void *arg, s3_fault f)
{
    (void)arg;
    fault = f;
    done = true;
}

static void on_put(void *arg, const struct s3_put_outcome *outcome)
{
    on_removed(arg, outcome->fault);
}

static void on_head(void *arg, s3_fault f, const struct s3_manifest *m)
{
    manifest = m;
    on_removed(arg, f);
}

static void on_listed(void *arg, const struct s3_listing_page *page)
{
    rows = page->count;
    on_removed(arg, page->fault);
}

static void on_other(void *arg)
{
    (void)arg;
}

static s3_fault judge(void *arg, const struct s3_manifest *source, struct s3_put_order *order, uint64_t *first,
                      uint64_t *count)
{
    (void)arg;
    (void)order;
    *first = 0;
    *count = source->size;
    return S3_OK;
}

static s3_fault finish(void)
{
    for (unsigned i = 0; i < 60000 && !done; i++) {
        fake_net_run(net, CW_MS(1));
    }
    ck_assert(done);
    done = false;
    return fault;
}

static uint8_t byte_of(size_t i)
{
    return (uint8_t)(i * 7 + i / 255);
}

static s3_fault put(unsigned server, const char *key, size_t size)
{
    static uint8_t bytes[SIZE];
    const struct s3_put_order order = {.job = JOB, .bucket = {"bucket", 6}, .key = {key, strlen(key)}, .size = size};
    for (size_t i = 0; i < size; i++) {
        bytes[i] = byte_of(i);
    }
    struct s3_put *p = s3_put_open(desk[server], &order, (struct s3_put_hooks){on_other, on_put}, NULL);
    ck_assert_ptr_nonnull(p);
    for (size_t fed = 0; fed < size && !done; fake_net_run(net, CW_MS(1))) {
        fed += s3_put_feed(p, bytes + fed, size - fed);
    }
    if (!done) {
        s3_put_end(p);
    }
    return finish();
}

static struct s3_get_order get_order(const char *key)
{
    return (struct s3_get_order){
        .job = JOB, .bucket = "bucket", .bucket_length = 6, .key = key, .key_length = strlen(key)};
}

/* Reads it, and holds that its bytes are right. */
static s3_fault get(unsigned server, const char *key, size_t size)
{
    const struct s3_get_order order = get_order(key);
    struct s3_get *g = s3_get_open(desk[server], &order, (struct s3_get_hooks){on_head, on_other}, NULL);
    s3_fault what = finish();
    if (what == S3_OK) {
        ck_assert_uint_eq(manifest->size, size);
        s3_get_range(g, 0, size);
        for (size_t at = 0, length; s3_get_left(g) > 0; fake_net_run(net, CW_MS(1))) {
            const uint8_t *bytes = s3_get_peek(g, &length);
            for (size_t i = 0; i < length; i++) {
                SUITE_HOLDS(bytes[i] == byte_of(at + i));
            }
            ck_assert_int_eq(s3_get_fault(g), S3_OK);
            at += length;
            s3_get_take(g, length);
        }
    }
    s3_get_close(g);
    return what;
}

static void open_town(void)
{
    net = store_town_open(3);
    for (unsigned i = 0; i < STORE_TOWN; i++) {
        const struct s3_desk_config config = {.api = store_service.exports,
                                              .store = net->server[i],
                                              .chunk = CHUNK,
                                              .inline_most = 4096,
                                              .window = 2,
                                              .memory = 4 * CHUNK,
                                              .now_s = clock_s,
                                              .random = draw};
        desk[i] = s3_desk_open(&config);
    }
    ck_assert_int_eq(s3_bucket_create(desk[0], JOB, "bucket", 6, on_removed, NULL), S3_OK);
    ck_assert_int_eq(finish(), S3_OK);
}

static void close_town(void)
{
    for (unsigned i = 0; i < STORE_TOWN; i++) {
        s3_desk_close(desk[i]);
    }
    store_town_close(net);
}

START_TEST(every_server_is_a_door)
{
    open_town();
    ck_assert_int_eq(put(1, "long", SIZE), S3_OK);
    ck_assert_int_eq(put(2, "short", 100), S3_OK);
    ck_assert_int_eq(get(8, "long", SIZE), S3_OK);
    ck_assert_int_eq(get(4, "short", 100), S3_OK);
    const struct s3_get_order from = get_order("long");
    const struct s3_put_order to = {.job = JOB, .bucket = {"bucket", 6}, .key = {"copy", 4}};
    ck_assert_ptr_nonnull(s3_copy_open(desk[3], &from, &to, (struct s3_copy_hooks){judge, on_put}, NULL));
    ck_assert_int_eq(finish(), S3_OK);
    ck_assert_int_eq(get(7, "copy", SIZE), S3_OK);
    const struct s3_listing_order order = {
        .job = JOB, .bucket = {"bucket", 6}, .prefix = {"", 0}, .delimiter = {"", 0}, .after = {"", 0}, .most = 10};
    ck_assert_ptr_nonnull(s3_listing_open(desk[5], &order, on_listed, NULL));
    ck_assert_int_eq(finish(), S3_OK);
    ck_assert_uint_eq(rows, 3);
    ck_assert_int_eq(s3_remove_object(desk[6], JOB, "bucket", 6, "long", 4, on_removed, NULL), S3_OK);
    ck_assert_int_eq(finish(), S3_OK);
    ck_assert_int_eq(get(0, "long", SIZE), S3_NO_KEY);
    ck_assert_int_eq(get(0, "copy", SIZE), S3_OK);
    close_town();
}
END_TEST

START_TEST(a_server_may_die)
{
    open_town();
    ck_assert_int_eq(put(1, "k", SIZE), S3_OK);
    s3_desk_close(desk[4]);
    fake_net_down(net, 4);
    ck_assert_int_eq(get(8, "k", SIZE), S3_OK);
    ck_assert_int_eq(put(2, "k", SIZE - 1), S3_OK);
    ck_assert_int_eq(get(0, "k", SIZE - 1), S3_OK);
    desk[4] = s3_desk_open(&desk[0]->config);
    close_town();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(every_server_is_a_door), SUITE_TEST(a_server_may_die)};
SUITE_MAIN("town", tests)
