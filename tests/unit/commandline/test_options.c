/* SPDX-License-Identifier: Apache-2.0 */
#include "commandline/options.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

struct values {
    bool flag;
    const char *text;
    uint64_t count, rate;
    uint32_t small, ppm;
    cw_span span;
    cw_dims dims;
    struct option_range range;
    int64_t ratio;
};
enum { OPTIONS = 10 };

static void table(struct values *v, struct option option[OPTIONS])
{
    *v = (struct values){.count = 5, .span = CW_MS(3), .dims = {3, 3, 3}, .range = {1, 9}, .ppm = 980000};
    const struct option all[OPTIONS] = {
        {"json", OPTION_FLAG, &v->flag, NULL, "a flag", false},
        {"name", OPTION_TEXT, &v->text, NULL, "a text", false},
        {"count", OPTION_COUNT, &v->count, NULL, "a count", false},
        {"link-rate", OPTION_RATE, &v->rate, NULL, "a rate", false},
        {"small", OPTION_SMALL, &v->small, "BYTES", "a small one", false},
        {"load", OPTION_PPM, &v->ppm, NULL, "a share", false},
        {"measure", OPTION_SPAN, &v->span, NULL, "a time", false},
        {"dims", OPTION_DIMS, &v->dims, NULL, "a shape", false},
        {"seeds", OPTION_RANGE, &v->range, NULL, "a range", false},
        {"hidden", OPTION_RATIO, &v->ratio, NULL, "a ratio", true},
    };
    memcpy(option, all, sizeof all);
}

/* Parses the words of a line; what was said goes to said. */
static int parse(struct values *v, const char *line, struct option_words *words, char said[static 256])
{
    static char copy[256];
    char *argv[40] = {(char[]){"cwsim"}};
    int argc = 1;
    struct option option[OPTIONS];
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    table(v, option);
    FILE *errors = fmemopen(said, 256, "w");
    int rc = options_parse("cwsim test", option, OPTIONS, argc, argv, words, errors);
    fclose(errors);
    return rc;
}

START_TEST(good)
{
    struct values v;
    struct option_words words;
    char said[256] = "";
    int rc = parse(&v,
                   "one --json --dims 8x8x8 --load=50% --count 10k --link-rate 1gbit two --measure=1.5s --seeds 3..7 "
                   "--hidden -0.5 --name x -- --three",
                   &words, said);
    ck_assert_int_eq(rc, 0);
    ck_assert_str_eq(said, "");
    ck_assert(v.flag && v.dims.x == 8 && v.ppm == 500000 && v.count == 10000 && v.rate == 1000000000);
    ck_assert(v.span.ns == 1500000000 && v.range.first == 3 && v.range.last == 7 && v.ratio == -500000);
    ck_assert_str_eq(v.text, "x");
    ck_assert_int_eq(words.count, 3);
    ck_assert_str_eq(words.word[2], "--three");
    ck_assert_int_eq(parse(&v, "--seeds 7", &words, said), 0);
    ck_assert(v.range.first == 7 && v.range.last == 7);
    ck_assert_int_eq(parse(&v, "--json --help", &words, said), 1);
    ck_assert_int_eq(parse(&v, "-h", &words, said), 1);
}
END_TEST

START_TEST(bad)
{
    static const struct {
        const char *line, *says;
    } rows[] = {
        {"--dim 3x3x3", "cwsim test: unknown option --dim; did you mean --dims?\n"},
        {"--jsn", "unknown option --jsn; did you mean --json?"},
        {"--linkrate=3", "unknown option --linkrate; did you mean --link-rate?"},
        {"--zzzzzzzz", "unknown option --zzzzzzzz; cwsim test --help lists them"},
        {"--json=1", "--json takes no value"},
        {"--dims", "--dims needs a value: dimensions of 1 to 256 each, as 8x8x8"},
        {"--dims 3x3", "--dims 3x3: cannot be read; expected dimensions"},
        {"--measure 5", "--measure 5: cannot be read; expected a time with its unit"},
        {"--small 5G", "--small 5G: out of range"},
        {"--seeds 9..3", "--seeds 9..3: cannot be read; expected a number or a range"},
        {"--seeds 9.3", "--seeds 9.3: cannot be read"},
        {"-j", "unknown option -j; options have two dashes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct values v;
        struct option_words words;
        char said[256] = "";
        ck_assert_msg(parse(&v, rows[i].line, &words, said) == -EINVAL, "%s", rows[i].line);
        ck_assert_msg(strstr(said, rows[i].says) != NULL, "'%s' said: %s", rows[i].line, said);
        ck_assert_msg(strchr(said, '\n') == said + strlen(said) - 1, "'%s': more than a line", rows[i].line);
    }
}
END_TEST

START_TEST(words_refused)
{
    struct values v;
    char said[256] = "";
    ck_assert_int_eq(parse(&v, "word", NULL, said), -EINVAL);
    ck_assert(strstr(said, "what is 'word'?") != NULL);
}
END_TEST

START_TEST(help)
{
    struct values v;
    struct option option[OPTIONS];
    char text[2000] = "";
    table(&v, option);
    FILE *out = fmemopen(text, sizeof text, "w");
    options_print(option, OPTIONS, out);
    fclose(out);
    ck_assert(strstr(text, "  --dims XxYxZ             a shape (3x3x3)\n") != NULL);
    ck_assert(strstr(text, "  --json                   a flag\n") != NULL);
    ck_assert(strstr(text, "  --load PERCENT           a share (98%)\n") != NULL);
    ck_assert(strstr(text, "--small BYTES") != NULL && strstr(text, "a time (3ms)") != NULL);
    ck_assert(strstr(text, "--seeds A..B             a range (1..9)\n") != NULL);
    ck_assert(strstr(text, "hidden") == NULL);
}
END_TEST

static const char *nth(const void *context, size_t i)
{
    return ((const char *const *)context)[i];
}

START_TEST(nearest)
{
    static const char *const names[] = {"throughput", "churn", "latency", "run"};
    ck_assert_str_eq(options_nearest("chrun", 5, nth, names, 4), "churn");
    ck_assert_str_eq(options_nearest("thru", 4, nth, names, 4) == NULL ? "none" : "some", "none");
    ck_assert_str_eq(options_nearest("through", 7, nth, names, 4), "throughput");
    ck_assert_ptr_null(options_nearest("xyzzy", 5, nth, names, 4));
    ck_assert_ptr_null(options_nearest("a name that is far too long to be an option at all", 50, nth, names, 4));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(good), SUITE_TEST(bad), SUITE_TEST(words_refused),
                                          SUITE_TEST(help), SUITE_TEST(nearest)};
SUITE_MAIN("options", tests)
