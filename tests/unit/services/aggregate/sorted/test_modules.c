/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/modules.h"

#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { FILES = 6 };

/* The length of all values together, up to the argument. */
static int lengths(cw_bytes key, const cw_bytes *values, size_t count, uint64_t argument, uint8_t *out, size_t room)
{
    size_t sum = 0;
    (void)key;
    for (size_t i = 0; i < count; i++) {
        sum += values[i].length;
    }
    return snprintf((char *)out, room, "%zu", argument != 0 && sum > argument ? (size_t)argument : sum);
}

/* Each byte of a line is a key; '!' is no line. */
static int bytes(cw_bytes line, uint64_t argument, cw_emit_fn emit, void *to)
{
    (void)argument;
    for (size_t i = 0; i < line.length; i++) {
        int rc = line.bytes[i] == '!' ? -EINVAL : emit(to, (cw_bytes){line.bytes + i, 1}, (cw_bytes){line.bytes, 1});
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static const cw_combiner combiner = {
    .size = sizeof combiner, .api = CW_COMBINE_API, .name = "lengths", .associative = true, .combine = lengths};
static const cw_combiner newer = {.size = sizeof newer, .api = CW_COMBINE_API + 1, .name = "newer", .combine = lengths};
static const cw_mapper mapper = {.size = sizeof mapper, .api = CW_MAPPER_API, .name = "bytes", .map = bytes};

static const uint8_t digests[2][MODULES_DIGEST] = {{0xab, 1}, {0xcd, 2}};
static unsigned digest, loaded, told, kept, wanted;
static char last[MODULES_WHY];

static int load(void *context, const char *folder, bool (*found)(void *arg, const struct module_file *f), void *arg,
                struct module_files **out)
{
    const struct module_file files[FILES] = {
        {"a.so", NULL, digests[digest], &combiner, NULL}, {"b.so", NULL, digests[1], NULL, &mapper},
        {"c.so", NULL, digests[1], &combiner, NULL},      {"d.so", NULL, digests[1], NULL, NULL},
        {"e.so", NULL, digests[1], &newer, NULL},         {"f.so", "it cannot be loaded", NULL, NULL, NULL}};
    (void)context;
    if (strcmp(folder, "/theirs") == 0) {
        return -EPERM;
    }
    for (int i = 0; i < FILES; i++) {
        wanted += found(arg, &files[i]);
    }
    loaded++;
    *out = (struct module_files *)(void *)&loaded;
    return 0;
}

static void unload(void *context, struct module_files *files)
{
    (void)context;
    (void)files;
    loaded--;
}

static const struct modules_host host = {.size = sizeof host, .load = load, .unload = unload};

static void tell(void *arg, const char *line)
{
    (void)arg;
    told++;
    kept += strstr(line, "is loaded") != NULL;
    snprintf(last, sizeof last, "%s", line);
}

static struct modules m;
static char word[MODULES_WORD_MOST + 1];

static void open_with(unsigned which)
{
    digest = which;
    told = kept = wanted = 0;
    ck_assert_int_eq(modules_open(&m, &host, "/modules", tell, NULL), 0);
    ck_assert(told == FILES && kept == 2 && wanted == 2 && m.count == 2);
    ck_assert_str_eq(last, "module f.so is left out: it cannot be loaded");
}

START_TEST(words)
{
    struct combine c;
    struct mapper_kind_of of;
    char names[64], agreed[MODULES_WORD_MOST + 1];
    open_with(0);
    ck_assert_int_eq(modules_agree(&m, MODULES_COMBINER, "module:lengths:7", word), 0);
    ck_assert_int_eq(strncmp(word, "module:lengths:7@ab0100000", 26), 0);
    ck_assert_int_eq(modules_combine(&m, word, &c), 0);
    ck_assert(c.table == &combiner && c.argument == 7);
    ck_assert_int_eq(modules_combine(&m, "module:lengths:7", &c), -EINVAL); /* nobody has agreed on that */
    ck_assert_int_eq(modules_agree(&m, MODULES_COMBINER, "topk:3", agreed), 0);
    ck_assert_str_eq(agreed, "topk:3");
    ck_assert_int_eq(modules_combine(&m, "topk:3", &c), 0);
    ck_assert_int_eq(modules_agree(&m, MODULES_MAPPER, "module:lengths", agreed), -ELIBACC);
    ck_assert_int_eq(modules_agree(&m, MODULES_COMBINER, "module:newer", agreed), -ELIBACC);
    static const char *const wrong[] = {"module:",          "module:lengths:",  "module:lengths:x",
                                        "module:lengths:0", "module:lengths@1", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_int_eq(modules_agree(&m, MODULES_COMBINER, wrong[i], agreed), -EINVAL);
    }
    ck_assert_int_eq(modules_agree(&m, MODULES_MAPPER, "module:bytes", agreed), 0);
    ck_assert_int_eq(modules_mapper(&m, agreed, &of), 0);
    ck_assert(of.kind == MAPPER_MODULE && of.module == &mapper);
    modules_names(&m, MODULES_COMBINER, names, sizeof names);
    ck_assert_str_eq(names, "module:lengths");
    modules_close(&m);
    ck_assert_uint_eq(loaded, 0);
    open_with(1); /* another server, with another file of that name */
    ck_assert_int_eq(modules_combine(&m, word, &c), -ELIBBAD);
    ck_assert_int_eq(modules_agree(&m, MODULES_COMBINER, word, agreed), -ELIBBAD);
    modules_close(&m);
}
END_TEST

START_TEST(none)
{
    ck_assert_int_eq(modules_open(&m, NULL, "", tell, NULL), 0);
    ck_assert_int_eq(modules_agree(&m, MODULES_COMBINER, "module:lengths", word), -ELIBACC);
    modules_close(&m);
    ck_assert_int_eq(modules_open(&m, NULL, "/modules", tell, NULL), -EOPNOTSUPP);
    ck_assert_int_eq(modules_open(&m, &host, "/theirs", tell, NULL), -EPERM);
    modules_close(&m);
}
END_TEST

/* A sink that is full after each record. */
static char given[64];
static bool full;

static int sink(void *context, cw_bytes key, cw_bytes value)
{
    (void)context;
    full = !full;
    if (full) {
        return -ENOSPC;
    }
    snprintf(given + strlen(given), sizeof given - strlen(given), "%.1s%.1s ", (const char *)key.bytes,
             (const char *)value.bytes);
    return 0;
}

/* A line is mapped again when the sink was full, and no record comes twice. */
START_TEST(lines)
{
    static struct mapper map;
    static const char text[] = "abc\n\nde\nx!y";
    size_t at = 0, used;
    int rc;
    mapper_open(&map, (struct mapper_kind_of){.kind = MAPPER_MODULE, .module = &mapper}, sink, NULL);
    do {
        rc = mapper_feed(&map, (const uint8_t *)text + at, sizeof text - 1 - at, &used);
        at += used;
    } while (rc == -ENOSPC);
    ck_assert_int_eq(rc, 0);
    do {
        rc = mapper_end(&map);
    } while (rc == -ENOSPC);
    ck_assert_int_eq(rc, -EINVAL);
    ck_assert_str_eq(given, "aa ba ca dd ed xx ");
    ck_assert_uint_eq(map.line, 4);
    ck_assert_str_eq(map.fault, "is none that the module takes");
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(words), SUITE_TEST(none), SUITE_TEST(lines)};
SUITE_MAIN("modules", tests)
