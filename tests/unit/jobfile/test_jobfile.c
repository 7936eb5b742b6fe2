/* SPDX-License-Identifier: Apache-2.0 */
/* test_jobfile.c - what job files say, and what is said of those that are wrong: where, and what to write instead. */
#include "jobfile/jobfile.h"
#include "suite.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static char told[8192];

static void tell(void *context, const char *text)
{
    ck_assert_str_eq(context, "context");
    size_t used = strlen(told);
    snprintf(told + used, sizeof told - used, "%s\n", text);
}

static char context[] = "context";

static cw_job job_named(void *unused, const char *name)
{
    (void)unused;
    return strcmp(name, "ping") == 0 ? 1 : 0;
}

static bool port_named(void *unused, cw_job job, const char *name, cw_port *out)
{
    (void)unused;
    *out = 3;
    return job == 1 && strcmp(name, "echo") == 0;
}

static const struct jobfile_names names = {.job = job_named, .port = port_named};

static int parse(struct jobfile *f, const char *text, cw_dims dims)
{
    const struct jobfile_options options = {.dims = dims, .names = &names};
    told[0] = '\0';
    return jobfile_parse(f, "f", text, strlen(text), &options, tell, context);
}

static const struct job_plan *good(struct jobfile *f, const char *text, const char *name)
{
    ck_assert_msg(parse(f, text, (cw_dims){3, 3, 3}) == 0, "%s", told);
    const struct jobfile_entry *e = jobfile_find(f, name);
    ck_assert_ptr_nonnull(e);
    return &e->plan;
}

START_TEST(a_file_with_everything)
{
    struct jobfile f;
    const struct job_plan *web =
        good(&f,
             "# two jobs\n"
             "job web {\n"
             "    id = 5001\n"
             "    processes { 0-3 = 9; 4-5 = \"1,2,1\" }\n"
             "    ports { http = 1; admin = 2 }\n"
             "    grant store { processes = all; ports = \"get, 7-8\" }\n"
             "    grant 5001 { processes = \"0-5\"; ports = http }\n"
             "    grant ping { processes = all; ports = echo }\n"
             "    grant 99 { processes = 1; ports = all }\n"
             "}\n"
             "job \"store\" { id = 5002; version = 7; generation = 2; processes = \"0-8,20\"; ports { "
             "get = 4 } }\n",
             "web");
    ck_assert_uint_eq(web->id, 5001);
    ck_assert(web->version == 1 && web->generation == 1 && !web->destroyed);
    ck_assert_uint_eq(web->ranges, 2);
    ck_assert(web->range[1].first == 4 && web->range[1].count == 2 && web->range[1].server == 16);
    ck_assert_ptr_nonnull(job_plan_allows(web, 5002, true, 0, 4));
    ck_assert_ptr_nonnull(job_plan_allows(web, 5002, true, 0, 8));
    ck_assert_ptr_null(job_plan_allows(web, 5002, true, 0, 5));
    ck_assert_ptr_nonnull(job_plan_allows(web, 5001, false, 5, 1));
    ck_assert_ptr_null(job_plan_allows(web, 5001, false, 6, 1));
    ck_assert_ptr_null(job_plan_allows(web, 5001, false, 5, 2));
    ck_assert_ptr_nonnull(job_plan_allows(web, 1, true, 0, 3));
    ck_assert_ptr_nonnull(job_plan_allows(web, 99, false, 1, 60000));
    const struct jobfile_entry *store = jobfile_find(&f, "store");
    ck_assert(store->plan.version == 7 && store->plan.generation == 2 && store->line == 11 && !store->sealed);
    ck_assert_uint_eq(store->plan.ranges, 2);
    ck_assert_uint_eq(store->plan.range[1].server, 20);
    ck_assert_ptr_null(jobfile_find(&f, "other"));
    jobfile_close(&f);
}
END_TEST

START_TEST(a_signature_stands_beside)
{
    struct jobfile f;
    char text[256];
    snprintf(text, sizeof text, "job a { id = 1; destroyed = true; version = 3; signature = \"%.86s==\" }",
             "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    const struct job_plan *a = good(&f, text, "a");
    ck_assert(a->destroyed && a->version == 3);
    ck_assert(jobfile_find(&f, "a")->sealed);
    jobfile_close(&f);
}
END_TEST

START_TEST(mistakes_say_where_and_what_instead)
{
    static const struct {
        const char *text, *said;
    } rows[] = {
        {"", "f:1: expected at least one job \"name\" { id = 5001; ... }"},
        {"job a {", "f:1: this section has no closing }"},
        {"\nname = 3", "f:2: name: expected only jobs here: job \"name\" { id = 5001; ... }"},
        {"job { id = 1 }", "f:1: job: expected only jobs here"},
        {"job 9 { id = 1 }", "f:1: job: '9': expected a name of a letter"},
        {"job a { }", "f:1: job a: expected id, the number of the job: id = 5001"},
        {"job a { id = 0 }", "f:1: job a: id: '0': expected a whole number from 1 to 4294967295"},
        {"job a { id = x }", "job a: id: 'x': expected a whole number"},
        {"job a { id = 1\n id = 2 }", "f:2: job a: id: it was given before"},
        {"job a { id = 1; colour = red }", "job a: colour: no such key of a job; it has id, processes,"},
        {"job a { id = 1 }\njob a { id = 2 }", "f:2: job a: job a in line 1 has this name or number already"},
        {"job a { id = 1 }\njob b { id = 1 }", "f:2: job b: job a in line 1 has this name or number already"},
        {"job a { id = 1; processes = 3-1 }", "job a: processes: '3-1': expected numbers of processes, such as 0-3,7"},
        {"job a { id = 1; processes = all }", "job a: processes: all: a job's own processes are numbers"},
        {"job a { id = 1; processes = 0-27 }", "process 27 would live on server 27, which there is not"},
        {"job a { id = 1; processes { 0-3 = 24 } }", "process 3 would live on server 27, which there is not"},
        {"job a { id = 1; processes { 0 = \"1,3,0\" } }", "'1,3,0': expected x,y,z of a server in 3x3x3"},
        {"job a { id = 1; processes { 0 = 27 } }", "'27': expected a server: a number from 0 to 26, or x,y,z"},
        {"job a { id = 1; processes { 0-3 = 1; 2 = 9 } }", "job a: processes: process 2 has a server already"},
        {"job a { id = 1; ports = 3 }", "job a: ports: expected a section: ports { get = 1; put = 2 }"},
        {"job a { id = 1; ports { get = 70000 } }", "'70000': expected a whole number from 0 to 65535"},
        {"job a { id = 1; ports { get = 1; put = 1 } }", "job a: ports: port 1 is called get already"},
        {"job a { id = 1; ports { 1 = get } }", "'get': expected a whole number"},
        {"job a { id = 1; version = 0 }", "job a: version: '0': expected a whole number from 1"},
        {"job a { id = 1; destroyed = yes }", "job a: destroyed: 'yes': expected true or false"},
        {"job a { id = 1; destroyed = true; processes = 0 }", "a destroyed job has no processes, ports and grants"},
        {"job a { id = 1; signature = \"AAAA\" }", "job a: signature: expected 64 bytes in base64"},
        {"job a { id = 1\n grant = b }", "f:2: job a: grant : expected a section: grant \"job\" { processes = all;"},
        {"job a { id = 1\n grant b { processes = all; ports = all } }",
         "f:2: job a: grant b: no job of this name is known here; expected one of this file, or a number"},
        {"job a { id = 1; grant a { ports = all } }",
         "job a: grant a: expected processes, those that may be reached: all"},
        {"job a { id = 1; grant a { processes = all } }",
         "job a: grant a: expected ports, those that may be used: all"},
        {"job a { id = 1; grant a { processes = all; ports = get } }", "job a: grant a: 'get': expected all, or ports"},
        {"job a { id = 1; grant a { processes = x; ports = all } }",
         "job a: grant a: 'x': expected numbers of processes"},
        {"job a { id = 1; grant a { processes = 1; processes = 2; ports = 1 } }",
         "grant a: processes was given before"},
        {"job a { id = 1; grant a { who = 1 } }", "grant a: 'who': no such key of a grant; it has processes and ports"},
        {"job a { id = 1; grant ping { processes = all; ports = pong } }", "grant ping: 'pong': expected all"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct jobfile f;
        ck_assert_msg(parse(&f, rows[i].text, (cw_dims){3, 3, 3}) == -EINVAL, "%s", rows[i].text);
        ck_assert_msg(strstr(told, rows[i].said) != NULL, "%s\n%s", rows[i].text, told);
    }
}
END_TEST

/* Mistakes of the text, too, are told all at once, and what follows from them is not. */
START_TEST(a_text_that_is_wrong)
{
    static const struct {
        const char *text, *said;
    } rows[] = {
        {"job a { id = }\njob b { id = 2; colour = red }\n",
         "f:1: expected a value, found '}'\nf:2: job b: colour: no such key of a job; it has id, processes, ports, "
         "grant, version, "
         "generation, destroyed and signature\n"},
        {"job a {\n  id = \"5001;\n  processes = \"0-3; }\n",
         "f:2: the text that begins with \"5001 has no closing quote\nf:3: the text that begins with \"0-3 has no "
         "closing quote\n"},
        {"job a { id = 1; grant a { ports = all; processes = } }\n", "f:1: expected a value, found '}'\n"},
        {"job a {\n  id = 1\njob b { id = 2 }\n",
         "f:1: this section has no closing }, which seems to be missing before line 3\n"},
        {"job a { id = \"x }\n", "f:1: the text that begins with \"x has no closing quote\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct jobfile f;
        ck_assert_int_eq(parse(&f, rows[i].text, (cw_dims){3, 3, 3}), -EINVAL);
        ck_assert_msg(strcmp(told, rows[i].said) == 0, "%s\n%s", rows[i].text, told);
    }
}
END_TEST

START_TEST(every_mistake_is_told_up_to_a_point)
{
    struct jobfile f;
    char text[4096] = "job a {\n";
    for (unsigned i = 0; i < 30; i++) {
        sprintf(text + strlen(text), "bad%u = 1\n", i);
    }
    strcat(text, "}\n");
    ck_assert_int_eq(parse(&f, text, (cw_dims){3, 3, 3}), -EINVAL);
    unsigned lines = 0;
    for (const char *c = told; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    ck_assert_uint_eq(lines, JOBFILE_MISTAKES + 1);
    ck_assert_ptr_nonnull(strstr(told, "f: and more mistakes"));
}
END_TEST

START_TEST(where_the_torus_is_not_known)
{
    struct jobfile f;
    ck_assert_int_eq(parse(&f, "job a { id = 1; processes { 0 = \"1,1,1\" } }", (cw_dims){0, 0, 0}), -EINVAL);
    ck_assert_ptr_nonnull(strstr(told, "x,y,z only where the torus is known"));
    ck_assert_int_eq(parse(&f, "job a { id = 1; processes = 0-99999 }", (cw_dims){0, 0, 0}), 0);
    jobfile_close(&f);
}
END_TEST

START_TEST(files)
{
    struct jobfile f;
    const struct jobfile_options options = {.names = NULL};
    char path[] = "/tmp/cubeway-jobs-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, "job a { id = 1 }\n", 17), 17);
    close(fd);
    told[0] = '\0';
    ck_assert_int_eq(jobfile_load(&f, path, &options, tell, context), 0);
    ck_assert_uint_eq(f.count, 1);
    jobfile_close(&f);
    unlink(path);
    ck_assert_int_eq(jobfile_load(&f, path, &options, tell, context), -ENOENT);
    ck_assert_ptr_nonnull(strstr(told, path));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_file_with_everything),
    SUITE_TEST(a_signature_stands_beside),
    SUITE_TEST(mistakes_say_where_and_what_instead),
    SUITE_TEST(a_text_that_is_wrong),
    SUITE_TEST(every_mistake_is_told_up_to_a_point),
    SUITE_TEST(where_the_torus_is_not_known),
    SUITE_TEST(files),
};
SUITE_MAIN("jobfile", tests)
