/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/mapper.h"

#include "rng.h"
#include "suite.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

enum { SAID = 1 << 20, ROUNDS = 300 };

/* What the sink was given, as "key=value;"; it refuses now and then. */
struct said {
    char text[SAID];
    size_t length;
    struct rng rng;
    bool moody;
};

static struct said got, naive;
static struct mapper mapper;
static char input[8192];

static int say(void *context, cw_bytes key, cw_bytes value)
{
    struct said *s = context;
    if (s->moody && rng_below(&s->rng, 3) == 0) {
        return -ENOSPC;
    }
    SUITE_HOLDS(key.length >= 1 && key.length <= RECORD_KEY_MOST && s->length + 70000 < SAID);
    memcpy(s->text + s->length, key.bytes, key.length);
    s->length += key.length;
    s->text[s->length++] = '=';
    if (value.length > 0) {
        memcpy(s->text + s->length, value.bytes, value.length);
    }
    s->length += value.length;
    s->text[s->length++] = ';';
    s->text[s->length] = '\0';
    return 0;
}

/* Maps in pieces that seed draws, from memory of exactly their length. */
static int map(const char *word, const char *bytes, size_t length, uint64_t seed)
{
    struct mapper_kind_of of;
    int rc = 0;
    got.length = 0;
    got.text[0] = '\0';
    got.rng.state = seed;
    got.moody = seed % 2;
    SUITE_HOLDS(mapper_read(word, &of) == 0, "%s", word);
    mapper_open(&mapper, of, say, &got);
    for (size_t at = 0; at < length && rc == 0;) {
        size_t n = seed == 0 ? length : 1 + (size_t)rng_below(&got.rng, seed % 3 ? 5 : 300), used, past = 0;
        n = n < length - at ? n : length - at;
        uint8_t *exact = malloc(n);
        memcpy(exact, bytes + at, n);
        while ((rc = mapper_feed(&mapper, exact + past, n - past, &used)) == -ENOSPC) {
            SUITE_HOLDS(mapper.fault == NULL && used <= n - past);
            past += used;
        }
        SUITE_HOLDS(rc < 0 || past + used == n);
        free(exact);
        at += n;
    }
    while (rc == 0 && (rc = mapper_end(&mapper)) == -ENOSPC) {
        rc = 0;
    }
    return rc;
}

static const char *mapped(const char *word, const char *bytes)
{
    SUITE_HOLDS(map(word, bytes, strlen(bytes), 0) == 0, "%s: %s", word, mapper.fault);
    return got.text;
}

START_TEST(by_hand)
{
    ck_assert_str_eq(mapped("words", "The cat, the C3PO!\n\xc3\x9c"
                                     "ber-cat"),
                     "the=1;cat=1;the=1;c3po=1;\xc3\x9c"
                     "ber=1;cat=1;");
    ck_assert_str_eq(mapped("words", ""), "");
    ck_assert_str_eq(mapped("lines", "b a\n\nB a\nlast"), "b a=1;B a=1;last=1;");
    ck_assert_str_eq(mapped("kv", "a\t1\nb c\t2\t3\nd\t\n"), "a=1;b c=2\t3;d=;");
    ck_assert_str_eq(mapped("field:2", "a b c\n  d\t e\nf\n\ng h\n"), "b=1;e=1;h=1;");
    ck_assert_uint_eq(mapper.skipped, 2);
    ck_assert_str_eq(mapped("field:1", "  a b\nc"), "a=1;c=1;");
    ck_assert_str_eq(mapped("field:3:,", "a,b,c\n,,d\na,b,\na,b\n,,e,"), "c=1;d=1;e=1;");
    ck_assert_uint_eq(mapper.skipped, 2);
    ck_assert_str_eq(mapped("field:2:tab", "a b\tc d\n"), "c d=1;");
    ck_assert_str_eq(mapped("field:1::", "root:x:0\n"), "root=1;");
}
END_TEST

/* The words, and the keys and values, of texts by functions of the C library, from all of the text at once. */
static void naive_map(const char *word)
{
    static char copy[sizeof input];
    char *line_rest, *word_rest;
    naive.length = 0;
    naive.text[0] = '\0';
    memcpy(copy, input, sizeof copy);
    for (char *line = strtok_r(copy, "\n", &line_rest); line != NULL; line = strtok_r(NULL, "\n", &line_rest)) {
        if (strcmp(word, "lines") == 0) {
            say(&naive, (cw_bytes){(uint8_t *)line, strlen(line)}, (cw_bytes){(const uint8_t *)"1", 1});
            continue;
        }
        unsigned n = 0;
        for (char *c = line; strcmp(word, "words") == 0 && *c != '\0'; c++) {
            *c = isalnum((unsigned char)*c) || (*c & 0x80) ? (char)tolower((unsigned char)*c) : ' ';
        }
        for (char *w = strtok_r(line, " \t", &word_rest); w != NULL; w = strtok_r(NULL, " \t", &word_rest)) {
            if (++n == 2 || strcmp(word, "words") == 0) {
                say(&naive, (cw_bytes){(uint8_t *)w, strlen(w)}, (cw_bytes){(const uint8_t *)"1", 1});
            }
        }
    }
}

START_TEST(in_pieces)
{
    static const char *const words[] = {"words", "lines", "field:2"};
    static const char letters[] = "abcXYZ019 ,.\t\n\n\xc3\xa9  ";
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        struct rng rng = {seed};
        size_t length = (size_t)rng_below(&rng, seed % 10 == 0 ? sizeof input : 200);
        memset(input, 0, sizeof input);
        for (size_t i = 0; i < length; i++) {
            input[i] = letters[rng_below(&rng, sizeof letters - 1)];
        }
        for (unsigned i = 0; i < 3; i++) {
            naive_map(words[i]);
            SUITE_HOLDS(map(words[i], input, length, seed) == 0, "%s", mapper.fault);
            SUITE_HOLDS(got.length == naive.length && memcmp(got.text, naive.text, got.length) == 0,
                        "%s, seed %u: '%s' instead of '%s'", words[i], seed, got.text, naive.text);
        }
    }
}
END_TEST

START_TEST(records)
{
    static const char blocks[] = "\0\0\0\x0b\0\2\1ab7\2\1\1c8"
                                 "\0\0\0\4\0\1\0z"
                                 "\0\0\0\x0b\0\2\1aa7\1\1\1b8";
    for (uint64_t seed = 0; seed < 40; seed++) {
        int rc = map("records", blocks, sizeof blocks - 1, seed);
        SUITE_HOLDS(rc == 0, "%s", mapper.fault);
        SUITE_HOLDS(strcmp(got.text, "ab=7;abc=8;z=;aa=7;ab=8;") == 0, "%s", got.text);
    }
    ck_assert_int_eq(map("records", blocks, sizeof blocks - 2, 4), -EBADMSG);
    ck_assert_str_eq(mapper.fault, "ends within a block of records");
    ck_assert_uint_eq(mapper.line, 3);
    ck_assert_int_eq(map("records", blocks, 2, 4), -EBADMSG);
    ck_assert_int_eq(map("records", "\0\0\0\0", 4, 4), -EBADMSG);
    ck_assert_int_eq(map("records", "\0\1\0\1", 4, 4), -EBADMSG);
    ck_assert_int_eq(map("records", "\0\0\0\1a", 5, 4), -EBADMSG);
    ck_assert_str_eq(mapper.fault, "is no block of sorted records");
}
END_TEST

START_TEST(faults)
{
    static char line[MAPPER_LINE_MOST + 3];
    memset(line, 'x', sizeof line);
    line[0] = '\n';
    for (uint64_t seed = 0; seed < 4; seed++) {
        SUITE_HOLDS(map("lines", line, sizeof line, seed) == -EMSGSIZE && mapper.line == 2);
        SUITE_HOLDS(strcmp(mapper.fault, "is longer than 64 KiB") == 0, "%s", mapper.fault);
        SUITE_HOLDS(map("words", line, RECORD_KEY_MOST + 2, seed) == -EMSGSIZE && mapper.line == 2);
        SUITE_HOLDS(map("words", line, RECORD_KEY_MOST + 1, seed) == 0);
        SUITE_HOLDS(map("lines", line, RECORD_KEY_MOST + 2, seed) == -EMSGSIZE);
        SUITE_HOLDS(map("lines", line, RECORD_KEY_MOST + 1, seed) == 0);
        SUITE_HOLDS(map("kv", "a\t1\nb\n", 6, seed) == -EINVAL && mapper.line == 2);
        SUITE_HOLDS(strcmp(mapper.fault, "has no TAB between key and value") == 0, "%s", mapper.fault);
        SUITE_HOLDS(map("kv", "a\t1\n\t2\n", 7, seed) == -EINVAL && mapper.line == 2);
    }
    /* The longest line of all fits, and is one byte too long for a record. */
    line[0] = 'x';
    line[1] = '\t';
    line[MAPPER_LINE_MOST] = '\n';
    ck_assert_int_eq(map("kv", line, MAPPER_LINE_MOST + 1, 0), -EMSGSIZE);
    ck_assert_str_eq(mapper.fault, "is a record of more than 64 KiB");
    line[RECORD_MOST + 1] = '\n';
    ck_assert_int_eq(map("kv", line, RECORD_MOST + 2, 0), 0);
}
END_TEST

START_TEST(names)
{
    struct mapper_kind_of of = {.field = 77};
    static const char *const bad[] = {"field",      "field:",        "field:0",        "field:x",   "field:1:",
                                      "field:1:ab", "field:1000001", "field:12345678", "field:1:\n"};
    ck_assert_int_eq(mapper_read("word", &of), -ENOENT);
    ck_assert_int_eq(mapper_read("fields:1", &of), -ENOENT);
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        SUITE_HOLDS(mapper_read(bad[i], &of) == -EINVAL, "%s", bad[i]);
    }
    ck_assert_uint_eq(of.field, 77);
    ck_assert_int_eq(mapper_read("field:5:;", &of), 0);
    ck_assert(of.kind == MAPPER_FIELD && of.field == 5 && of.separator == ';');
    ck_assert_int_eq(mapper_read("kv", &of), 0);
    ck_assert(of.kind == MAPPER_KV);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(by_hand), SUITE_TEST(in_pieces), SUITE_TEST(records),
                                          SUITE_TEST(faults), SUITE_TEST(names)};
SUITE_MAIN("mapper", tests)
