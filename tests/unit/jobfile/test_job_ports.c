/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_ports.c - sets of ports as text and back, and what is none. */
#include "jobfile/job_ports.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static char text[1024], why[JOB_PORTS_WHY];

static const char *text_of(const struct job_ports *ports)
{
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    job_ports_write(ports, out);
    fclose(out);
    return text;
}

static bool find(void *context, const char *name, cw_port *out)
{
    ck_assert_str_eq(context, "names");
    *out = strcmp(name, "get") == 0 ? 7 : strcmp(name, "a-b") == 0 ? 9 : 0;
    return *out != 0;
}

static char context[] = "names";
static const struct job_port_names names = {.context = context, .find = find};

START_TEST(texts)
{
    static const struct {
        const char *text, *is; /* NULL: refused */
    } rows[] = {
        {"all", "all"},        {"0", "0"},
        {"65535", "65535"},    {"3,1,2", "1-3"},
        {"1-3, 9", "1-3,9"},   {"get", "7"},
        {"get,a-b,8", "7-9"},  {" 5 ", "5"},
        {"7,get", "7"},        {"", NULL},
        {",", NULL},           {"1,", NULL},
        {"65536", NULL},       {"3-1", NULL},
        {"put", NULL},         {"1 2", NULL},
        {"-1", NULL},          {"1-", NULL},
        {"all,1", NULL},       {"0x1", NULL},
        {"99999999999", NULL}, {"abcdefghijklmnopqrstuvwxyz0123456789", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct job_ports ports;
        ck_assert_msg(job_ports_read(&ports, rows[i].text, &names, why) == (rows[i].is != NULL ? 0 : -EINVAL), "%s",
                      rows[i].text);
        ck_assert_str_eq(text_of(&ports), rows[i].is != NULL ? rows[i].is : "");
        ck_assert((why[0] == '\0') == (rows[i].is != NULL));
        job_ports_close(&ports);
    }
}
END_TEST

START_TEST(without_names)
{
    struct job_ports ports;
    ck_assert_int_eq(job_ports_read(&ports, "get", NULL, why), -EINVAL);
    ck_assert_str_eq(why, "'get': expected all, or ports 0 to 65535 such as 7 or 1-3");
    ck_assert_int_eq(job_ports_read(&ports, "1,put", &names, why), -EINVAL);
    ck_assert_str_eq(why,
                     "'put': expected all, or ports 0 to 65535 such as 7 or 1-3, or names of ports that the job has");
}
END_TEST

START_TEST(every_port_there_is)
{
    struct job_ports ports, copy;
    ck_assert_int_eq(job_ports_read(&ports, "0-65535", NULL, why), 0);
    ck_assert_uint_eq(ports.count, 65536);
    ck_assert(!ports.all && job_ports_hold(&ports, 0) && job_ports_hold(&ports, UINT16_MAX));
    ck_assert_int_eq(job_ports_copy(&copy, &ports), 0);
    ck_assert_str_eq(text_of(&copy), "0-65535");
    job_ports_close(&ports);
    ck_assert(!job_ports_hold(&ports, 0));
    job_ports_close(&copy);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(texts),
    SUITE_TEST(without_names),
    SUITE_TEST(every_port_there_is),
};
SUITE_MAIN("job_ports", tests)
