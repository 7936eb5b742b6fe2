/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf.c - the text as a tree: what is read, and where what is wrong is. */
#include "conf/conf.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct conf open_good(const char *text)
{
    struct conf conf;
    unsigned line = 0;
    char why[CONF_WHY];
    int rc = conf_open(&conf, text, strlen(text), &line, why);
    ck_assert_msg(rc == 0, "%s: line %u: %s", text, line, why);
    return conf;
}

/* "a=1;b{c=2;}" and so on: all items in order, with names in parentheses. */
static void flatten(const struct conf *conf, uint32_t at, char *out, size_t room)
{
    for (; at != CONF_NONE; at = conf->item[at].next) {
        const struct conf_item *i = &conf->item[at];
        size_t used = strlen(out);
        if (i->value != NULL) {
            snprintf(out + used, room - used, "%s=%s;", i->key, i->value);
            continue;
        }
        snprintf(out + used, room - used, i->name != NULL ? "%s(%s){" : "%s%s{", i->key,
                 i->name != NULL ? i->name : "");
        flatten(conf, i->first, out, room);
        used = strlen(out);
        snprintf(out + used, room - used, "}");
    }
}

START_TEST(all_forms)
{
    static const struct {
        const char *text, *flat;
    } rows[] = {
        {"", ""},
        {"a = 1", "a=1;"},
        {"a=1;b=2", "a=1;b=2;"},
        {"a: 1, b: 2", "a=1;b=2;"},
        {"a 1\nb 2;\n", "a=1;b=2;"},
        {"a = \"x y\";", "a=x y;"},
        {"a = 'x \\n'", "a=x \\n;"},
        {"a = \"q\\\"\\\\\\t\"", "a=q\"\\\t;"},
        {"a = 10.0.0.1:7001", "a=10.0.0.1:7001;"},
        {"a { b = 1 }", "a{b=1;}"},
        {"a { b = 1; c { d 2 } } e = 3", "a{b=1;c{d=2;}}e=3;"},
        {"a \"n\" { b = 1 }\na \"m\" {}", "a(n){b=1;}a(m){}"},
        {"a n { }", "a(n){}"},
        {"a = { b = 1 }", "a{b=1;}"},
        {"\"+x\" { b = 1 }", "+x{b=1;}"},
        {"+x { b = 1 }", "+x{b=1;}"},
        {"# c\na = 1 # d\n// e\n/* f\n g */ b = 2 /* h */", "a=1;b=2;"},
        {"{\"a\": 1, \"b\": {\"c\": \"d\"}}", "a=1;b{c=d;}"},
        {"a = \"\"", "a=;"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct conf conf = open_good(rows[i].text);
        char flat[256] = "";
        flatten(&conf, conf.item[0].first, flat, sizeof flat);
        ck_assert_msg(strcmp(flat, rows[i].flat) == 0, "%s: %s, not %s", rows[i].text, flat, rows[i].flat);
        conf_close(&conf);
    }
}
END_TEST

START_TEST(mistakes_have_lines)
{
    static const struct {
        const char *text;
        unsigned line;
        const char *why;
    } rows[] = {
        {"a", 1, "a has no value"},
        {"\n\na =\n", 3, "a has no value"},
        {"a = 1 2", 1, "expected ; or the end of the line after a value, found '2'"},
        {"a = \"x", 1, "the text that begins with \"x has no closing quote"},
        {"a {\n b = 1\n", 1, "this section has no closing }"},
        {"a = 1\n}", 2, "a } that ends nothing"},
        {"a = [1, 2]", 1, "a: lists are not read here"},
        {"\n/* x\n", 2, "this comment has no closing */"},
        {"= 1", 1, "expected a key, found '='"},
        {"a = \"\\q\"", 1, "a \\ in a text is followed by n, t, \\, / or a quote"},
        {"a{b{c{d{e{f{g{h{i{}}}}}}}}}", 1, "sections are at most 8 deep"},
        {"{a=1} b=2", 1, "something stands behind the brace that ends the file"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct conf conf;
        unsigned line = 0;
        char why[CONF_WHY];
        ck_assert_int_eq(conf_open(&conf, rows[i].text, strlen(rows[i].text), &line, why), -EINVAL);
        ck_assert_msg(line == rows[i].line && strcmp(why, rows[i].why) == 0, "%s: line %u: %s", rows[i].text, line,
                      why);
    }
}
END_TEST

static void keep(void *context, unsigned line, const char *why)
{
    char *said = context;
    size_t used = strlen(said);
    snprintf(said + used, 512 - used, "%u: %s\n", line, why);
}

START_TEST(all_mistakes_are_told)
{
    static const struct {
        const char *text, *said, *flat;
    } rows[] = {
        {"a = 1", "", "a=1;"},
        {"a =\nb = [1, 2]\nc = 3", "1: a has no value\n2: b: lists are not read here\n", "c=3;"},
        {"a = 1,2, 3; b = 3", "1: a: a value with commas stands in quotes: a = \"1,2,3\"\n", "a=1,2,3;b=3;"},
        {"s { a = 0,0 }", "1: s.a: a value with commas stands in quotes: a = \"0,0\"\n", "s{a=0,0;}"},
        {"s { b = 1 }\nt u { v { w = 2 }; a = x, y }",
         "2: t \"u\".a: a value with commas stands in quotes: a = \"x,y\"\n", "s{b=1;}t(u){v{w=2;}a=x,y;}"},
        {"a = 1,b = 2, c 3, d { e = 4, }\nf: 5,", "", "a=1;b=2;c=3;d{e=4;}f=5;"},
        {"a = 1 2; b = 3", "1: expected ; or the end of the line after a value, found '2'\n", "a=1;b=3;"},
        {"s { x = ; y = 2 }\n= 7\nz 3", "1: x has no value\n2: expected a key, found '='\n", "s{y=2;}z=3;"},
        {"a = 1\n}\nb = 2", "2: a } that ends nothing\n", "a=1;b=2;"},
        {"a {\n b =\n", "2: b has no value\n1: this section has no closing }\n", "a{}"},
        /* a brace that was left out is missed where the lines are no deeper any more */
        {"a {\n  b = 1\nc {\n  d = 2\n}\ne = 3\n",
         "1: this section has no closing }, which seems to be missing before line 3\n", "a{b=1;}c{d=2;}e=3;"},
        {"l {\n  x { i = 1\n  y { i = 2 }\n}\n",
         "2: this section has no closing }, which seems to be missing before line 3\n", "l{x{i=1;}y{i=2;}}"},
        {"l {\n  x { i = 1 }\n  y { i = 2\n}\nm = 3\n",
         "3: this section has no closing }, which seems to be missing before line 4\n", "l{x{i=1;}y{i=2;}}m=3;"},
        {"l {\n  x {\n    i = 1\nm {\n  n = 2\nk = 3",
         "2: this section has no closing }, which seems to be missing before line 4\n"
         "1: this section has no closing }, which seems to be missing before line 4\n"
         "4: this section has no closing }, which seems to be missing before line 6\n",
         "l{x{i=1;}}m{n=2;}k=3;"},
        {"l\n  x { i = 1 }\n\n  # y\n  y = 2\n}\nm = 3\n",
         "1: l is not followed by {, and what stands below belongs to it, it seems\n", "l{x{i=1;}y=2;}m=3;"},
        {"l\n  x = 1\nm = 3\n",
         "1: l is not followed by {, and what stands below belongs to it, it seems\n"
         "1: this section has no closing }, which seems to be missing before line 3\n",
         "l{x=1;}m=3;"},
        {"a {\nb {\nc = 1\n}\n", "1: this section has no closing }\n", "a{b{c=1;}}"}, /* nobody knows which */
        /* a quote that is not closed ends where its value was meant to end */
        {"a = 'x\nb = \"y",
         "1: the text that begins with 'x has no closing quote\n2: the text that begins with \"y has no closing "
         "quote\n",
         "a=x;b=y;"},
        {"s { a = \"e 1 ; }\nb = 2", "1: the text that begins with \"e 1 has no closing quote\n", "s{a=e 1;}b=2;"},
        {"s { \"+x { a = 1 }\n c = \"3 # d\n}\nb = 2",
         "1: the text that begins with \"+x has no closing quote\n2: the text that begins with \"3 has no closing "
         "quote\n",
         "s{+x{a=1;}c=3;}b=2;"},
        {"s { a = \"e1; b = \"f\"; }\nt \"u { v = 2 }",
         "1: the text that begins with \"e1 has no closing quote\n2: the text that begins with \"u has no closing "
         "quote\n",
         "s{a=e1;b=f;}t(u){v=2;}"},
        {"\"a = \"1\"; b = 2", "1: the text that begins with \"a has no closing quote\n", "a=1;b=2;"},
        {"a = \"b;c\" d", "1: expected ; or the end of the line after a value, found 'd'\n", "a=b;c;"},
        /* another bracket in the place of a brace */
        {"s {\n  a = 1\n)\nb = 2", "3: this ) should be a }: it ends the section s, which begins in line 1\n",
         "s{a=1;}b=2;"},
        {"l {\n  \"+x\" { a = 1)\n  y { i = 0x1 ]\n}\nb = f(2)",
         "2: this ) should be a }: it ends the section +x, which begins in line 2\n"
         "3: this ] should be a }: it ends the section y, which begins in line 3\n",
         "l{+x{a=1;}y{i=0x1;}}b=f(2);"},
        {"s n (\n  a = 1\n)\nt(b = 2}\n)",
         "1: this ( should be a {: it begins the section s\n4: this ( should be a {: "
         "it begins the section t\n5: a ) that ends nothing\n",
         "s(n){a=1;}t{b=2;}"},
        {"s { d = 0,0)\nb = 2",
         "1: s.d: a value with commas stands in quotes: d = \"0,0\"\n1: this ) should be a }: it "
         "ends the section s, which begins in line 1\n",
         "s{d=0,0;}b=2;"},
        /* typographic quotes are told of once, and read as they were meant */
        {"s { a = \xe2\x80\x9c"
         "e f\xe2\x80\x9d; \xe2\x80\x98+x\xe2\x80\x99 { b = \xc2\xbb"
         "g\xc2\xab } }\nc = \"h\xe2\x80\x9d\n",
         "1: the quotes around e f are typographic (as \xe2\x80\x9c and \xe2\x80\x9d), here and perhaps elsewhere: "
         "write "
         "straight ones, \"e f\"\n",
         "s{a=e f;+x{b=g;}}c=h;"},
        {"a = \xe2\x80\x9c"
         "e; b = \xe2\x80\x9c"
         "f\"\nc = \"i\xe2\x80\x9dj\"",
         "1: the quotes around e are typographic (as \xe2\x80\x9c and \xe2\x80\x9d), here and perhaps elsewhere: write "
         "straight ones, \"e\"\n",
         "a=e;b=f;c=i\xe2\x80\x9dj;"},
        {"x =\n/* y", "1: x has no value\n2: this comment has no closing */\n", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct conf conf;
        char said[512] = "", flat[256] = "";
        int rc = conf_open_most(&conf, rows[i].text, strlen(rows[i].text), keep, said);
        ck_assert_msg(strcmp(said, rows[i].said) == 0, "%s: %s", rows[i].text, said);
        unsigned lines = 0;
        for (const char *at = said; *at != '\0'; at++) {
            lines += *at == '\n';
        }
        ck_assert_int_eq(rc, (int)lines);
        flatten(&conf, conf.item[0].first, flat, sizeof flat);
        ck_assert_msg(strcmp(flat, rows[i].flat) == 0, "%s: %s", rows[i].text, flat);
        conf_close(&conf);
    }
}
END_TEST

START_TEST(every_beginning_is_read_or_refused)
{
    static const char text[] = "a = 1; b \"n\" { c = \"x\\\"y\"; d: 'e' } /* f */ # g\n\"+x\" { h = { i 2 } }\n";
    for (size_t length = 0; length < sizeof text; length++) {
        struct conf conf;
        unsigned line;
        char why[CONF_WHY];
        if (conf_open(&conf, text, length, &line, why) == 0) {
            conf_close(&conf);
        } else {
            ck_assert_uint_ne(why[0], '\0');
        }
        char said[512] = "";
        ck_assert_int_ge(conf_open_most(&conf, text, length, keep, said), 0);
        conf_close(&conf);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(all_forms),
    SUITE_TEST(mistakes_have_lines),
    SUITE_TEST(all_mistakes_are_told),
    SUITE_TEST(every_beginning_is_read_or_refused),
};
SUITE_MAIN("conf", tests)
