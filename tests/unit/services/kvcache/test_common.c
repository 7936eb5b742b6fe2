/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_town.h"
#include "suite.h"

#include <string.h>

START_TEST(each_status_has_words_of_its_own)
{
    for (int i = 0; i < KV_STATUSES; i++) {
        ck_assert_ptr_nonnull(kv_status_text((enum kv_status)i));
        for (int j = 0; j < i; j++) {
            ck_assert_str_ne(kv_status_text((enum kv_status)i), kv_status_text((enum kv_status)j));
        }
    }
    ck_assert_str_eq(kv_status_text(KV_STATUSES), "?");
}
END_TEST

START_TEST(counts_and_times_are_named_and_explained)
{
    for (unsigned i = 0; i < KV_COUNTS; i++) {
        ck_assert_ptr_nonnull(kv_count_names[i].name);
        const char *help = kv_count_names[i].help;
        ck_assert(help[0] >= 'A' && help[0] <= 'Z');
        ck_assert_int_eq(help[strlen(help) - 1], '.');
    }
    for (unsigned i = 0; i < KV_TIMES; i++) {
        ck_assert_ptr_nonnull(kv_time_names[i].name);
    }
}
END_TEST

/* One job never sees values of another: the job is part of the name that is hashed. */
START_TEST(an_id_is_of_job_and_key)
{
    struct fake_net *net = kv_town_open(1, 0);
    struct kvcache *k = kv_town_cache(net, 0);
    const uint8_t key[] = "key";
    cw_key ours = kv_mem_id(k, KVCACHE_JOB, key, 3), again = kv_mem_id(k, KVCACHE_JOB, key, 3);
    cw_key theirs = kv_mem_id(k, KVCACHE_JOB + 1, key, 3), shorter = kv_mem_id(k, KVCACHE_JOB, key, 2);
    ck_assert_mem_eq(&ours, &again, sizeof ours);
    ck_assert_mem_ne(&ours, &theirs, sizeof ours);
    ck_assert_mem_ne(&ours, &shorter, sizeof ours);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(a_request_keeps_its_bytes)
{
    char key[] = "key", value[] = "value";
    uint8_t bytes[8];
    struct kv_request r = kv_town_request(KV_SET, key, value);
    kv_keep_bytes(&r, bytes);
    memset(key, 'x', 3);
    memset(value, 'x', 5);
    ck_assert_mem_eq(r.key, "key", 3);
    ck_assert_mem_eq(r.value, "value", 5);
}
END_TEST

START_TEST(bytes_that_do_not_print_are_escapes)
{
    const uint8_t key[] = {'a', ' ', '\\', '\n', 0xff, 'z'};
    char text[32], small[8];
    kv_text(key, sizeof key, text, sizeof text);
    ck_assert_str_eq(text, "a \\x5c\\x0a\\xffz");
    memset(small, 'x', sizeof small);
    kv_text(key, sizeof key, small, sizeof small); /* ends before the escape that does not fit */
    ck_assert_str_eq(small, "a \\x5c");
}
END_TEST

START_TEST(a_failed_check_names_server_key_and_job)
{
    struct fake_net *net = kv_town_open(1, 0);
    const struct kvcache *k = kv_town_cache(net, 0);
    const struct item_name name = {.job = 6, .key = (const uint8_t *)"greeting", .key_length = 8};
    char out[KV_WHO];
    ck_assert_str_eq(kv_who(k, NULL, out), "server 0,0,0");
    ck_assert_str_eq(kv_who(k, &name, out), "server 0,0,0, key 'greeting' of job 6");
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(each_status_has_words_of_its_own),
    SUITE_TEST(counts_and_times_are_named_and_explained),
    SUITE_TEST(an_id_is_of_job_and_key),
    SUITE_TEST(a_request_keeps_its_bytes),
    SUITE_TEST(bytes_that_do_not_print_are_escapes),
    SUITE_TEST(a_failed_check_names_server_key_and_job),
};
SUITE_MAIN("common", tests)
