/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ask/lab.h"

#include "../fake_daemon.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_daemon d; /* the keeper: d.sock becomes keeper.sock */
static struct client *c;
static char why[CLIENT_WHY], path[128], keeper[128], json[128];

/* A lab whose keeper answers with these lines, one a request, and in it the socket of 1,0,2, which nobody made. */
static void begin(const char *const says[])
{
    fake_daemon_start(&d, says, 1);
    snprintf(path, sizeof path, "%s/1,0,2.sock", d.folder);
    snprintf(keeper, sizeof keeper, "%s/keeper.sock", d.folder);
    snprintf(json, sizeof json, "%s/lab.json", d.folder);
    ck_assert_int_eq(rename(d.path, keeper), 0);
    FILE *f = fopen(json, "w");
    ck_assert(f != NULL && fclose(f) == 0);
}

static void end(void)
{
    unlink(json);
    unlink(keeper);
    fake_daemon_end(&d);
}

START_TEST(a_dead_daemon)
{
    static const char *const says[] = {
        "{\"id\":1,\"row\":{\"server\":\"0,0,0\",\"state\":\"running\"}}\n"
        "{\"id\":1,\"row\":{\"server\":\"1,0,2\",\"state\":\"dead\",\"ended\":\"signal 9\"}}\n"
        "{\"id\":1,\"done\":true,\"rc\":0}\n",
        NULL,
    };
    begin(says);
    ck_assert_int_eq(lab_client_open(&c, path, CW_SEC(60), why), -ECONNREFUSED);
    ck_assert_msg(strstr(why, "is dead (signal 9); cwlab restore --name cubeway-test-") != NULL, "%s", why);
    end();
}
END_TEST

START_TEST(a_daemon_that_does_not_open_its_socket)
{
    static const char *const says[] = {
        "{\"id\":1,\"row\":{\"server\":\"1,0,2\",\"state\":\"running\"}}\n{\"id\":1,\"done\":true,\"rc\":0}\n",
        NULL,
    };
    begin(says);
    ck_assert_int_eq(lab_client_open(&c, path, CW_NS(0), why), -ETIME);
    ck_assert_msg(strstr(why, "runs, but it has not opened its control socket in time") != NULL, "%s", why);
    end();
}
END_TEST

START_TEST(a_lab_without_a_keeper)
{
    static const char *const says[] = {NULL};
    begin(says);
    unlink(keeper);
    ck_assert_int_eq(lab_client_open(&c, path, CW_SEC(60), why), -ECONNREFUSED);
    ck_assert_msg(strstr(why, "its keeper was killed") != NULL, "%s", why);
    end();
}
END_TEST

START_TEST(outside_of_labs)
{
    ck_assert_int_eq(lab_client_open(&c, "/nonexistent/d.sock", CW_SEC(60), why), -ENOENT);
    ck_assert_ptr_nonnull(strstr(why, "is cubewayd running?"));
    static const char *const says[] = {NULL};
    fake_daemon_start(&d, says, 1);
    ck_assert_int_eq(lab_client_open(&c, d.path, CW_SEC(60), why), 0);
    ck_assert(client_lab(c) == NULL);
    client_close(c);
    fake_daemon_end(&d);
}
END_TEST

/* The name of the lab is needed only where there is another lab beside it, as there may be in this folder. */
START_TEST(a_daemon_of_a_lab)
{
    static const char *const says[] = {NULL};
    begin(says);
    ck_assert_int_eq(rename(keeper, path), 0);
    ck_assert_int_eq(lab_client_open(&c, path, CW_SEC(60), why), 0);
    ck_assert(client_lab(c) != NULL);
    ck_assert(client_lab(c)[0] == '\0' || strncmp(client_lab(c), "--name cubeway-test-", 20) == 0);
    client_close(c);
    unlink(path);
    end();
}
END_TEST

START_TEST(orders_to_the_keeper)
{
    static const char *const says[] = {
        "{\"id\":1,\"row\":{\"server\":\"1,0,2\"}}\n{\"id\":1,\"done\":true,\"rc\":0}\n",
        NULL,
    };
    static const char *const words[] = {"1,0,2"};
    begin(says);
    ck_assert_int_eq(lab_order(path, "fail", 1, words, why), 0);
    end();
    ck_assert_int_eq(lab_order("/nonexistent/d.sock", "fail", 1, words, why), -ENOENT);
    ck_assert_ptr_nonnull(strstr(why, "of no lab"));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(orders_to_the_keeper),   SUITE_TEST(a_dead_daemon),   SUITE_TEST(a_daemon_that_does_not_open_its_socket),
    SUITE_TEST(a_lab_without_a_keeper), SUITE_TEST(outside_of_labs), SUITE_TEST(a_daemon_of_a_lab),
};
SUITE_MAIN("lab", tests)
