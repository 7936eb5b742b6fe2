/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_job_world.c - asks a daemon that answers what the test wrote: names, records in pieces, and lines that are no
 * answers.
 */
#include "ctl/jobs/job_world.h"

#include "../fake_daemon.h"
#include "base/base64.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

#define STATUS "{\"id\":1,\"row\":{\"cluster\":7,\"torus\":\"3x3x3\"}}\n{\"id\":1,\"done\":true,\"rc\":0}\n"
#define SERVICES                                                                                                    \
    "{\"id\":2,\"row\":{\"service\":\"ping\",\"job\":1}}\n{\"id\":2,\"row\":{\"service\":\"hits\",\"job\":2001}}\n" \
    "{\"id\":2,\"done\":true,\"rc\":0}\n"
#define LIST                                                               \
    "{\"id\":3,\"row\":{\"job\":5001,\"name\":\"web\",\"destroyed\":1}}\n" \
    "{\"id\":3,\"row\":{\"job\":5002,\"name\":\"web\",\"destroyed\":0}}\n{\"id\":3,\"done\":true,\"rc\":0}\n"

static struct fake_daemon daemon_;
static struct arguments arguments;
static struct call call;
static char said[4096];

static int begin(struct job_world *w, const char *const says[])
{
    char why[CLIENT_WHY];
    fake_daemon_start(&daemon_, says, 1);
    call = (struct call){.arguments = &arguments, .out = stdout, .errors = fmemopen(said, sizeof said, "w")};
    setbuf(call.errors, NULL);
    ck_assert_int_eq(client_open(&call.client, daemon_.path, why), 0);
    return job_world_open(w, &call);
}

static void end(struct job_world *w)
{
    job_world_close(w);
    client_close(call.client);
    fclose(call.errors);
    fake_daemon_end(&daemon_);
}

/* A record of job 5002 with port get, and zeros for its signature, as rows of pieces. */
static char *record_rows(int id)
{
    static char rows[4096];
    struct job_plan plan;
    uint8_t *bytes;
    size_t size, used = 0;
    char why[JOB_PLAN_WHY];
    job_plan_open(&plan, 5002, "web");
    ck_assert_int_eq(job_plan_add_port(&plan, 7, "get", why), 0);
    ck_assert_int_eq(job_plan_record(&plan, &bytes, &size, why), 0);
    bytes = realloc(bytes, size + JOB_RECORD_SIGNATURE_BYTES);
    memset(bytes + size, 9, JOB_RECORD_SIGNATURE_BYTES);
    size += JOB_RECORD_SIGNATURE_BYTES;
    used += (size_t)sprintf(rows + used, "{\"id\":%d,\"row\":{\"job\":5002}}\n", id);
    for (size_t at = 0; at < size; at += 30) {
        char text[64];
        base64_encode(bytes + at, size - at < 30 ? size - at : 30, text);
        used += (size_t)sprintf(rows + used, "{\"id\":%d,\"row\":{\"record\":\"%s\"}}\n", id, text);
    }
    sprintf(rows + used, "{\"id\":%d,\"done\":true,\"rc\":0}\n", id);
    job_plan_close(&plan);
    free(bytes);
    return rows;
}

START_TEST(who_is_called_what)
{
    static const char *const says[] = {STATUS, SERVICES, LIST, NULL};
    struct job_world w;
    char name[JOB_RECORD_NAME_BYTES];
    ck_assert_int_ge(begin(&w, says), 0);
    ck_assert(w.cluster == 7 && w.servers == 27 && w.dims.z == 3);
    ck_assert_uint_eq(job_world_job(&w, "5009"), 5009);
    ck_assert_uint_eq(job_world_job(&w, "web"), 5002); /* the one that lives */
    ck_assert_uint_eq(job_world_job(&w, "hits"), 2001);
    ck_assert_int_eq(w.code, EXIT_FINE);
    ck_assert_uint_eq(job_world_job(&w, "nobody"), 0);
    ck_assert_int_eq(w.code, EXIT_USAGE);
    ck_assert_ptr_nonnull(strstr(said, "'nobody': no job has this name"));
    job_world_name(&w, 5001, name);
    ck_assert_str_eq(name, "web");
    job_world_name(&w, 1, name);
    ck_assert_str_eq(name, "ping");
    job_world_name(&w, 77, name);
    ck_assert_str_eq(name, "77");
    ck_assert(job_world_runs(&w, 2001) && !job_world_runs(&w, 5001));
    end(&w);
}
END_TEST

START_TEST(records_come_in_pieces)
{
    const char *const says[] = {
        STATUS, SERVICES, LIST, record_rows(4), "{\"id\":5,\"done\":true,\"rc\":-2,\"error\":\"none\"}\n", NULL};
    struct job_world w;
    struct job_ports ports;
    struct job_plan plan;
    ck_assert_int_ge(begin(&w, says), 0);
    ck_assert_int_eq(job_world_ports(&w, 5002, "get,9", &ports), 0);
    ck_assert(ports.count == 2 && ports.port[0] == 7);
    job_ports_close(&ports);
    ck_assert_int_lt(job_world_ports(&w, 5002, "put", &ports), 0); /* by what was fetched before */
    ck_assert_int_eq(w.code, EXIT_USAGE);
    ck_assert_ptr_nonnull(strstr(said, "ports of job web: 'put': expected all"));
    ck_assert_int_eq(job_world_fetch(&w, 5003, &plan, NULL), 0);
    end(&w);
}
END_TEST

START_TEST(what_is_no_record_is_told)
{
    static const char *const says[] = {
        STATUS, SERVICES, LIST, "{\"id\":4,\"row\":{\"record\":\"AAAA\"}}\n{\"id\":4,\"done\":true,\"rc\":0}\n", NULL};
    struct job_world w;
    struct job_plan plan;
    ck_assert_int_ge(begin(&w, says), 0);
    ck_assert_int_lt(job_world_fetch(&w, 5002, &plan, NULL), 0);
    ck_assert_int_eq(w.code, EXIT_NO);
    ck_assert_ptr_nonnull(strstr(said, "a record that is none"));
    end(&w);
}
END_TEST

START_TEST(without_the_service_or_a_place)
{
    static const char *const none[] = {
        STATUS, SERVICES, "{\"id\":3,\"done\":true,\"rc\":-2,\"error\":\"no such service runs here\"}\n", NULL};
    static const char *const seeking[] = {"{\"id\":1,\"row\":{\"torus\":\"\"}}\n{\"id\":1,\"done\":true,\"rc\":0}\n",
                                          NULL};
    struct job_world w;
    ck_assert_int_lt(begin(&w, none), 0);
    ck_assert_int_eq(w.code, EXIT_NO);
    ck_assert_ptr_nonnull(strstr(said, "no such service runs here (the service jobs)"));
    end(&w);
    ck_assert_int_lt(begin(&w, seeking), 0);
    ck_assert_ptr_nonnull(strstr(said, "no place in the torus yet"));
    end(&w);
}
END_TEST

START_TEST(large_records_go_in_pieces)
{
    static const char *const says[] = {STATUS,
                                       SERVICES,
                                       LIST,
                                       "{\"id\":4,\"done\":true,\"rc\":0}\n",
                                       "{\"id\":5,\"done\":true,\"rc\":0}\n",
                                       "{\"id\":6,\"row\":{\"version\":3}}\n{\"id\":6,\"done\":true,\"rc\":-110}\n",
                                       NULL};
    struct job_world w;
    struct rows rows = {NULL, 0, 0};
    char why[CLIENT_WHY];
    static const uint8_t bytes[70000];
    const struct job_putting what = {bytes, sizeof bytes, "none", true};
    ck_assert_int_ge(begin(&w, says), 0);
    ck_assert_int_eq(job_world_put(&w, &what, &rows, why), -ETIMEDOUT);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert(!client_failed(call.client));
    rows_clear(&rows);
    end(&w);
}
END_TEST

/* It is said from which record this one was made; a server of an older version refuses the word, and is given none. */
START_TEST(a_server_that_knows_no_base)
{
    static const char *const says[] = {
        STATUS,
        SERVICES,
        LIST,
        "{\"id\":4,\"row\":{\"error\":\"a word too many\"}}\n{\"id\":4,\"done\":true,\"rc\":-22}\n",
        "{\"id\":5,\"row\":{\"version\":3}}\n{\"id\":5,\"done\":true,\"rc\":0}\n",
        NULL};
    struct job_world w;
    struct rows rows = {NULL, 0, 0};
    char why[CLIENT_WHY];
    static const uint8_t bytes[100];
    const struct job_putting what = {bytes, sizeof bytes, "0123456789abcdef", true};
    ck_assert_int_ge(begin(&w, says), 0);
    ck_assert_int_eq(job_world_put(&w, &what, &rows, why), 0);
    ck_assert_uint_eq(rows.count, 1);
    rows_clear(&rows);
    end(&w);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(who_is_called_what),         SUITE_TEST(records_come_in_pieces),
    SUITE_TEST(what_is_no_record_is_told),  SUITE_TEST(without_the_service_or_a_place),
    SUITE_TEST(large_records_go_in_pieces), SUITE_TEST(a_server_that_knows_no_base),
};
SUITE_MAIN("job_world", tests)
