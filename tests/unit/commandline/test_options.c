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
    struct setting_range range;
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
        {"--hlep", "unknown option --hlep; did you mean --help?"},
        {"--linkrate=3", "unknown option --linkrate; did you mean --link-rate?"},
        {"--zzzzzzzz", "unknown option --zzzzzzzz; cwsim test --help lists them"},
        {"--json=1", "--json takes no value"},
        {"--dims", "--dims needs a value: dimensions of 1 to 256 each, as 3x3x3"},
        {"--dims 3x3", "--dims 3x3: expected dimensions"},
        {"--measure 5", "--measure 5: expected a time with its unit"},
        {"--small 5G", "--small 5G: out of range"},
        {"--seeds 9..3", "--seeds 9..3: expected a number or a range"},
        {"--seeds 9.3", "--seeds 9.3: expected a number or a range"},
        {"-j", "unknown option -j; options have two dashes"},
        {"--name a --name b", "cwsim test: --name is given twice, and can have one value\n"},
        {"--count 1 --json --json --count=1", "--count is given twice"},
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

/* A command line of its own table: what was given goes to `given`, with its text. */
struct own {
    uint64_t count;
    cw_span span, every;
    bool flag, foreground;
    const char *file;
    char given[200];
};

static int on_given(void *context, const struct option *option, const char *text)
{
    struct own *own = context;
    size_t used = strlen(own->given);
    snprintf(own->given + used, sizeof own->given - used, "%s=%s ", option->name, text != NULL ? text : "");
    return own->count == 7 ? 1 : 0; /* ends the reading */
}

static int read_own(struct own *own, const char *line, bool abbreviated, struct option_words *words,
                    char said[static 256])
{
    static char copy[256];
    char *argv[40] = {(char[]){"own"}};
    int argc = 1;
    const struct option table[] = {
        {"count", OPTION_COUNT, &own->count, NULL, "", false},    {"watch", OPTION_SPAN, &own->every, NULL, "", false},
        {"wait", OPTION_SPAN, &own->span, NULL, "", false},       {"flag", OPTION_FLAG, &own->flag, NULL, "", false},
        {"-c", OPTION_TEXT, &own->file, "FILE", "a file", false},
    };
    static const struct option_traits traits[] = {
        {.least = 2, .most = 9}, {.bare = true, .least = 1000000}, {.bare = false}, {.letter = 'f'}, {.bare = false}};
    const struct options of = {.program = "own",
                               .option = table,
                               .count = 5,
                               .traits = traits,
                               .abbreviated = abbreviated,
                               .verbatim = "service",
                               .given = on_given,
                               .context = own};
    *own = (struct own){.count = 5};
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    FILE *errors = fmemopen(said, 256, "w");
    int rc = options_read(&of, argc, argv, words, errors);
    fclose(errors);
    return rc;
}

START_TEST(limits)
{
    struct own own;
    struct option_words words;
    char said[256] = "";
    ck_assert_int_eq(read_own(&own, "--count 9", false, &words, said), 0);
    ck_assert_uint_eq(own.count, 9);
    ck_assert_int_eq(read_own(&own, "--count 10", false, &words, said), -EINVAL);
    ck_assert_str_eq(said, "own: --count 10: out of range; expected a whole number from 2 to 9\n");
    ck_assert_uint_eq(own.count, 5);
    ck_assert_int_eq(read_own(&own, "--wait 3", false, &words, said), -EINVAL);
    ck_assert_str_eq(said, "own: --wait 3: expected a time with its unit, as 5s or 200ms\n");
    ck_assert_int_eq(read_own(&own, "--watch=3s", false, &words, said), 0);
    ck_assert_int_eq(own.every.ns, CW_SEC(3).ns);
    ck_assert_int_eq(read_own(&own, "--watch=3", false, &words, said), -EINVAL);
    ck_assert_str_eq(said, "own: --watch 3: expected a time with its unit from 1ms on, as 5s or 200ms\n");
}
END_TEST

START_TEST(letters_and_beginnings)
{
    struct own own;
    struct option_words words;
    char said[256] = "";
    ck_assert_int_eq(read_own(&own, "-f -cb -x", false, &words, said), 0);
    ck_assert_str_eq(own.file, "b");
    ck_assert_str_eq(own.given, "flag= -c=b ");
    ck_assert_int_eq(words.count, 1); /* a link */
    ck_assert_int_eq(read_own(&own, "-c", false, &words, said), -EINVAL);
    ck_assert_str_eq(said, "own: -c needs a value: FILE\n");
    ck_assert_int_eq(read_own(&own, "-fc", false, &words, said), -EINVAL);
    ck_assert_int_eq(read_own(&own, "-ffc a", false, &words, said), 0);
    ck_assert_str_eq(own.given, "flag= flag= -c=a ");
    ck_assert_int_eq(read_own(&own, "-fcf", false, &words, said), 0);
    ck_assert_str_eq(own.given, "flag= -c=f ");
    ck_assert_int_eq(read_own(&own, "-fq", false, &words, said), -EINVAL);
    ck_assert_str_eq(said, "own: unknown option -fq; options have two dashes\n");
    ck_assert_int_eq(read_own(&own, "-fh --none", false, &words, said), 1); /* help is asked for */
    ck_assert_int_eq(read_own(&own, "--fl", true, &words, said), 0);
    ck_assert(own.flag);
    ck_assert_int_eq(read_own(&own, "--fl", false, &words, said), -EINVAL);
    ck_assert_int_eq(read_own(&own, "--wa", true, &words, said), -EINVAL); /* watch or wait */
    ck_assert_int_eq(read_own(&own, "--wai=1s", true, &words, said), 0);
    ck_assert_int_eq(own.span.ns, 1000000000);
}
END_TEST

START_TEST(the_reading_may_be_ended)
{
    struct own own;
    struct option_words words;
    char said[256] = "";
    ck_assert_int_eq(read_own(&own, "-f --count 7 --none", false, &words, said), 1);
    ck_assert_str_eq(own.given, "flag= count=7 ");
    ck_assert_int_eq(read_own(&own, "--none --count 7", false, &words, said), -EINVAL);
}
END_TEST

START_TEST(a_value_that_may_be_missing)
{
    struct own own;
    struct option_words words;
    char said[256] = "";
    ck_assert_int_eq(read_own(&own, "--watch links", false, &words, said), 0);
    ck_assert_str_eq(own.given, "watch= ");
    ck_assert_int_eq(words.count, 1);
    ck_assert_int_eq(read_own(&own, "--watch 1,2,0", false, &words, said), 0);
    ck_assert_int_eq(words.count, 1);
    ck_assert_int_eq(read_own(&own, "--watch 2s links", false, &words, said), 0);
    ck_assert_int_eq(own.every.ns, CW_SEC(2).ns);
    ck_assert_int_eq(read_own(&own, "--watch 2 links", false, &words, said), -EINVAL); /* a number is meant as a time */
    ck_assert_int_eq(read_own(&own, "--watch 0 links", false, &words, said), -EINVAL);
    ck_assert_int_eq(read_own(&own, "links --watch", false, &words, said), 0);
}
END_TEST

START_TEST(verbatim)
{
    struct own own;
    struct option_words words;
    char said[256] = "";
    ck_assert_int_eq(read_own(&own, "service kv get --flag --", false, &words, said), 0);
    ck_assert_int_eq(words.count, 5);
    ck_assert(!own.flag);
    ck_assert(!words.ended);
    ck_assert_int_eq(read_own(&own, "service --flag -- --flag", false, &words, said), 0);
    ck_assert_int_eq(words.count, 2);
    ck_assert(own.flag);
    ck_assert(words.ended);
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

static const struct suite_test tests[] = {SUITE_TEST(good),
                                          SUITE_TEST(bad),
                                          SUITE_TEST(words_refused),
                                          SUITE_TEST(help),
                                          SUITE_TEST(limits),
                                          SUITE_TEST(letters_and_beginnings),
                                          SUITE_TEST(the_reading_may_be_ended),
                                          SUITE_TEST(a_value_that_may_be_missing),
                                          SUITE_TEST(verbatim)};
SUITE_MAIN("options", tests)
