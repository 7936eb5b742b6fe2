/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines by table: what is read, what help shows, and what an error says. */
#include "cubeway/time.h"
#include "simulator/options.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static struct values {
    bool json;
    const char *out;
    uint64_t seed;
    uint32_t bytes, load;
    cw_span time;
    uint64_t rate;
    cw_dims dims;
    struct option_range seeds;
    int64_t ratio;
} v;

static const struct option table[] = {
    {"json", OPTION_FLAG, &v.json, NULL, "as JSON", false},
    {"out", OPTION_TEXT, &v.out, "FILE", "where to", false},
    {"seed", OPTION_COUNT, &v.seed, NULL, "of the run", false},
    {"bytes", OPTION_SMALL, &v.bytes, NULL, "of a frame", false},
    {"load", OPTION_PPM, &v.load, NULL, "of the bound", false},
    {"time", OPTION_SPAN, &v.time, NULL, "how long", false},
    {"link-rate", OPTION_RATE, &v.rate, NULL, "of a link", false},
    {"dims", OPTION_DIMS, &v.dims, NULL, "of the torus", false},
    {"seeds", OPTION_RANGE, &v.seeds, NULL, "to try", false},
    {"churn", OPTION_RATIO, &v.ratio, NULL, "failures", false},
    {"secret", OPTION_FLAG, &v.json, NULL, "not shown", true},
};
enum { OPTIONS = sizeof table / sizeof *table, ARGUMENTS = 24 };

static char said[2000];

/* Parses the words of a line. */
static int parse(const char *line, struct option_words *words)
{
    static char copy[400];
    char *argv[ARGUMENTS];
    int argc = 0;
    memset(said, 0, sizeof said);
    strcpy(copy, line);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    FILE *errors = fmemopen(said, sizeof said, "w");
    int rc = options_parse("cwsim run", table, OPTIONS, argc, argv, words, errors);
    fclose(errors);
    return rc;
}

START_TEST(every_kind_is_read)
{
    struct option_words words;
    ck_assert_int_eq(parse("run --seed 7 first --dims=3x4x5 --json --out=a=b --bytes 9k --load 98% --time 1.5s "
                           "--link-rate 10gbit --seeds 1..100 --churn 0.5 - -- --seed",
                           &words),
                     0);
    ck_assert_str_eq(said, "");
    ck_assert(v.json && v.seed == 7 && v.bytes == 9000 && v.load == 980000 && v.time.ns == 1500000000);
    ck_assert(v.rate == UINT64_C(10000000000) && v.dims.x == 3 && v.dims.y == 4 && v.dims.z == 5);
    ck_assert(v.seeds.first == 1 && v.seeds.last == 100 && v.ratio == 500000);
    ck_assert_str_eq(v.out, "a=b");
    ck_assert_int_eq(words.count, 3);
    ck_assert_str_eq(words.word[0], "first");
    ck_assert_str_eq(words.word[1], "-");
    ck_assert_str_eq(words.word[2], "--seed");
    ck_assert_int_eq(parse("run --seeds 7", NULL), 0);
    ck_assert(v.seeds.first == 7 && v.seeds.last == 7);
}
END_TEST

START_TEST(an_error_is_one_line_that_helps)
{
    static const struct {
        const char *line, *said;
    } known[] = {
        {"run --sed 7", "cwsim run: unknown option --sed; did you mean --seed?\n"},
        {"run --lin 7", "cwsim run: unknown option --lin; did you mean --link-rate?\n"},
        {"run --nothing=7", "cwsim run: unknown option --nothing; cwsim run --help lists them\n"},
        {"run --seed", "cwsim run: --seed needs a value: a whole number, as 1000 or 10k\n"},
        {"run --seed x", "cwsim run: --seed x: cannot be read; expected a whole number, as 1000 or 10k\n"},
        {"run --bytes 5G", "cwsim run: --bytes 5G: out of range; expected a whole number, as 1000 or 10k\n"},
        {"run --time 50", "cwsim run: --time 50: cannot be read; expected a time with its unit, as 50ms or 1.5s\n"},
        {"run --dims 0x1x1", "cwsim run: --dims 0x1x1: out of range; expected dimensions of 1 to 256 each, as 8x8x8\n"},
        {"run --seeds 9..7", "cwsim run: --seeds 9..7: cannot be read; expected a number or a range, as 7 or 1..100\n"},
        {"run --seeds 7..", "cwsim run: --seeds 7..: cannot be read; expected a number or a range, as 7 or 1..100\n"},
        {"run --seeds 7.9", "cwsim run: --seeds 7.9: cannot be read; expected a number or a range, as 7 or 1..100\n"},
        {"run --json=yes", "cwsim run: --json takes no value\n"},
        {"run -j", "cwsim run: unknown option -j; options have two dashes\n"},
        {"run word", "cwsim run: what is 'word'? cwsim run --help says what it takes\n"},
    };
    v.seed = 3;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ck_assert_int_eq(parse(known[i].line, NULL), -EINVAL);
        ck_assert_str_eq(said, known[i].said);
    }
    ck_assert_uint_eq(v.seed, 3);
}
END_TEST

START_TEST(there_is_a_limit_of_words)
{
    struct option_words words;
    ck_assert_int_eq(parse("run 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", &words), 0);
    ck_assert_int_eq(words.count, OPTION_WORDS_MAX);
    ck_assert_int_eq(parse("run 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", &words), -EINVAL);
}
END_TEST

START_TEST(help_shows_the_defaults)
{
    v = (struct values){.seed = 1, .load = 980000, .time = {1500000000}, .rate = 1000000000, .dims = {3, 3, 3}};
    v.seeds = (struct option_range){1, 100};
    v.ratio = 500000;
    char text[2000] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    options_print(table, OPTIONS, out);
    fclose(out);
    static const char *const lines[] = {
        "  --json                   as JSON\n",
        "  --out FILE               where to\n",
        "  --seed N                 of the run (1)\n",
        "  --load PERCENT           of the bound (98%)\n",
        "  --time TIME              how long (1500ms)\n",
        "  --link-rate RATE         of a link (1gbit)\n",
        "  --dims XxYxZ             of the torus (3x3x3)\n",
        "  --seeds A..B             to try (1..100)\n",
        "  --churn NUMBER           failures (0.5)\n",
        "  --help                   this text\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        ck_assert_msg(strstr(text, lines[i]) != NULL, "no '%s' in\n%s", lines[i], text);
    }
    ck_assert_ptr_null(strstr(text, "secret"));
    ck_assert_int_eq(parse("run --seed 9 --help --nonsense", NULL), 1);
    ck_assert_int_eq(parse("run --secret -h", NULL), 1);
    ck_assert(v.json);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_kind_is_read),
    SUITE_TEST(an_error_is_one_line_that_helps),
    SUITE_TEST(there_is_a_limit_of_words),
    SUITE_TEST(help_shows_the_defaults),
};
SUITE_MAIN("simulator/options", tests)
