/* SPDX-License-Identifier: Apache-2.0 */
#include "lab_place.h"
#include "testbed/cwlab/outcome/merge.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static char first[128], second[128];

static void append(const char *path, const char *text)
{
    FILE *f = fopen(path, "a");
    ck_assert(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
}

static const char *print(struct merge *m, size_t last, bool named, bool colour)
{
    static char text[2000];
    FILE *out = tmpfile();
    ck_assert(out != NULL);
    merge_print(m, &(struct merge_form){.last = last, .named = named, .colour = colour}, out);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    return text;
}

START_TEST(in_the_order_of_time)
{
    char *place = place_make();
    struct merge *m = merge_new();
    snprintf(first, sizeof first, "%s/a.log", place);
    snprintf(second, sizeof second, "%s/b.log", place);
    merge_add(m, "0,0,0", first);
    merge_add(m, "10,0,0", second);
    ck_assert_uint_eq(merge_read(m), 0); /* neither is there */
    append(first, "time=2026-01-01T00:00:01.000000Z level=info msg=a1\n"
                  "of a1\n"
                  "time=2026-01-01T00:00:03.000000Z level=warn msg=a3\nnot whole");
    append(second, "before all\ntime=2026-01-01T00:00:02.000000Z level=error msg=b2\n");
    ck_assert_uint_eq(merge_read(m), 5);
    ck_assert_str_eq(print(m, 0, true, false), "10,0,0 before all\n"
                                               "0,0,0  time=2026-01-01T00:00:01.000000Z level=info msg=a1\n"
                                               "0,0,0  of a1\n"
                                               "10,0,0 time=2026-01-01T00:00:02.000000Z level=error msg=b2\n"
                                               "0,0,0  time=2026-01-01T00:00:03.000000Z level=warn msg=a3\n");
    append(first, " yet\n");
    ck_assert_uint_eq(merge_read(m), 1);
    ck_assert_str_eq(print(m, 0, false, true), "not whole yet\n");
    ck_assert(fclose(fopen(first, "w")) == 0); /* it was cut */
    append(first, "level=warn msg=fresh\n");
    append(second, "level=error msg=b4\n");
    ck_assert_uint_eq(merge_read(m), 2);
    ck_assert_str_eq(print(m, 1, false, true), "\033[33mlevel=warn msg=fresh\033[0m\n");
    merge_close(m);
    place_remove(place);
}
END_TEST

/* What the keeper did stands among what daemons logged, by its clock. */
START_TEST(with_the_journal)
{
    char *place = place_make(), line[100], year[8];
    struct merge *m = merge_new();
    struct timespec boot;
    time_t now = time(NULL);
    struct tm tm;
    clock_gettime(CLOCK_BOOTTIME, &boot);
    gmtime_r(&now, &tm);
    strftime(year, sizeof year, "%Y", &tm);
    snprintf(first, sizeof first, "%s/a.log", place);
    snprintf(second, sizeof second, "%s/journal", place);
    merge_add(m, "0,0,0", first);
    merge_add_journal(m, "keeper", second);
    append(first, "time=2000-01-01T00:00:01.000000Z level=info msg=before\n"
                  "time=2900-01-01T00:00:01.000000Z level=info msg=behind\n");
    snprintf(line, sizeof line, "%lld fail 1,1,1\n", (long long)boot.tv_sec * 1000000000);
    append(second, line);
    ck_assert_uint_eq(merge_read(m), 3);
    const char *said = print(m, 0, true, false), *before = strstr(said, "msg=before"), *behind = strstr(said, "behind");
    const char *keeper = strstr(said, "keeper time=");
    ck_assert(keeper != NULL && before < keeper && keeper < behind);
    ck_assert_int_eq(strncmp(keeper + strlen("keeper time="), year, 4), 0);
    ck_assert_ptr_nonnull(strstr(keeper, "Z level=info msg=\"the lab's keeper: fail 1,1,1\"\n"));
    merge_close(m);
    place_remove(place);
}
END_TEST

START_TEST(as_json)
{
    char *place = place_make(), text[500];
    struct merge *m = merge_new();
    snprintf(first, sizeof first, "%s/a.log", place);
    merge_add(m, "0,0,0", first);
    append(first, "time=2026-01-01T00:00:01.000000Z msg=\"a\"\n");
    ck_assert_uint_eq(merge_read(m), 1);
    FILE *out = tmpfile();
    merge_print(m, &(struct merge_form){.json = true}, out);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    ck_assert_str_eq(text, "{\"server\":\"0,0,0\",\"time\":\"2026-01-01T00:00:01.000000Z\",\"text\":"
                           "\"time=2026-01-01T00:00:01.000000Z msg=\\\"a\\\"\"}\n");
    fclose(out);
    merge_close(m);
    place_remove(place);
}
END_TEST

static const char *print_more(struct merge *m, bool json, bool more)
{
    static char text[2000];
    FILE *out = tmpfile();
    ck_assert(out != NULL);
    merge_print(m, &(struct merge_form){.json = json, .more = more}, out);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    return text;
}

/* While more is to come, what is young waits; what comes behind its time says so, and what has no time does not. */
START_TEST(what_comes_late)
{
    char *place = place_make();
    struct merge *m = merge_new();
    snprintf(first, sizeof first, "%s/a.log", place);
    snprintf(second, sizeof second, "%s/b.log", place);
    merge_add(m, "0,0,0", first);
    merge_add(m, "1,0,0", second);
    append(first, "time=2026-01-01T00:00:01.000000Z msg=a1\ntime=2900-01-01T00:00:03.000000Z msg=a3\n");
    ck_assert_uint_eq(merge_read(m), 2);
    ck_assert_str_eq(print_more(m, false, true), "time=2026-01-01T00:00:01.000000Z msg=a1\n");
    append(second, "time=2026-01-01T00:00:01.000001Z msg=b1\nof b1\n");
    ck_assert_uint_eq(merge_read(m), 3);
    ck_assert_str_eq(print_more(m, false, true), "time=2026-01-01T00:00:01.000001Z msg=b1\nof b1\n");
    append(second, "time=2026-01-01T00:00:00.999999Z msg=b0\nof b0\n");
    append(first, "time=2026-01-01T00:00:01.000001Z msg=a2\n");
    ck_assert_uint_eq(merge_read(m), 4);
    ck_assert_str_eq(print_more(m, false, true), "time=2026-01-01T00:00:00.999999Z msg=b0 (late)\nof b0\n"
                                                 "time=2026-01-01T00:00:01.000001Z msg=a2\n");
    append(second, "time=2026-01-01T00:00:00.999999Z msg=b0\n");
    ck_assert_uint_eq(merge_read(m), 2);
    ck_assert_ptr_nonnull(strstr(print_more(m, true, true), "msg=b0\",\"late\":true}\n"));
    ck_assert_str_eq(print_more(m, false, false), "time=2900-01-01T00:00:03.000000Z msg=a3\n");
    merge_close(m);
    place_remove(place);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(in_the_order_of_time),
    SUITE_TEST(with_the_journal),
    SUITE_TEST(as_json),
    SUITE_TEST(what_comes_late),
};
SUITE_MAIN("merge", tests)
