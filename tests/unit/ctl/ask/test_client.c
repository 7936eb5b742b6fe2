/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ask/client.h"

#include "../fake_daemon.h"
#include "suite.h"

#include <errno.h>
#include <sys/stat.h>

static struct fake_daemon d;
static struct client *c;
static char why[CLIENT_WHY];
static unsigned rows;

static void count_row(void *context, struct message *row)
{
    (void)context;
    rows++;
    message_close(row);
}

static int ask(cw_span patience)
{
    struct request_draft *r = request_draft_open("status", NULL);
    rows = 0;
    int rc = client_ask(c, r, patience, count_row, NULL, why);
    request_draft_close(r);
    return rc;
}

static void begin(const char *const says[], int linger)
{
    fake_daemon_start(&d, says, linger);
    ck_assert_int_eq(client_open(&c, d.path, why), 0);
}

static void end(void)
{
    client_close(c);
    fake_daemon_end(&d);
}

START_TEST(rows_and_ends)
{
    static const char *const says[] = {
        "{\"id\":1,\"row\":{\"a\":1}}\n{\"id\":1,\"row\":{}}\n{\"id\":1,\"done\":true,\"rc\":1}\n",
        "{\"id\":1,\"row\":{\"late\":1}}\n{\"id\":2,\"done\":true,\"rc\":-2,\"error\":\"no such\"}\n",
        NULL,
    };
    begin(says, 1);
    ck_assert_int_eq(ask(CW_SEC(5)), 1);
    ck_assert_uint_eq(rows, 2);
    ck_assert_int_eq(ask(CW_SEC(5)), -2);
    ck_assert_uint_eq(rows, 0);
    ck_assert_str_eq(why, "no such");
    ck_assert(!client_failed(c));
    end();
}
END_TEST

/* A daemon of our own, for one request: what came beside it. */
START_TEST(a_file_goes_along_once)
{
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))];
    static char line[1000];
    static const char done[] = "{\"id\":1,\"done\":true,\"rc\":0}\n{\"id\":2,\"done\":true,\"rc\":0}\n";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct iovec bytes = {line, sizeof line};
    struct msghdr m = {.msg_iov = &bytes, .msg_iovlen = 1};
    int passed[2], file = -1, got[2];
    snprintf(address.sun_path, sizeof address.sun_path, "/tmp/cubeway-client-%d.sock", (int)getpid());
    int listening = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(listening, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(listening, 1), 0);
    ck_assert_int_eq(client_open(&c, address.sun_path, why), 0);
    int daemon = accept(listening, NULL, NULL);
    ck_assert_int_eq(pipe(passed), 0);
    ck_assert_int_eq(write(passed[1], "x", 1), 1);
    client_attach(c, passed[0]);
    ck_assert_int_eq(send(daemon, done, strlen(done), 0), (ssize_t)strlen(done));
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(ask(CW_SEC(5)), 0);
        m.msg_control = room;
        m.msg_controllen = sizeof room;
        ck_assert_int_gt(recvmsg(daemon, &m, 0), 0);
        got[i] = CMSG_FIRSTHDR(&m) != NULL;
        if (got[i]) {
            memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof file);
        }
    }
    ck_assert_int_eq(got[0], 1);
    ck_assert_int_eq(got[1], 0);
    ck_assert_int_eq(read(file, line, 1), 1);
    ck_assert_int_eq(line[0], 'x');
    client_close(c);
    close(daemon);
    close(listening);
    unlink(address.sun_path);
}
END_TEST

START_TEST(nobody_there)
{
    ck_assert_int_eq(client_open(&c, "/nonexistent/d.sock", why), -ENOENT);
    ck_assert_ptr_nonnull(strstr(why, "is cubewayd running?"));
    char longer[200];
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    ck_assert_int_eq(client_open(&c, longer, why), -ENAMETOOLONG);
    fake_daemon_start(&d, (const char *const[]){NULL}, 1);
    kill(d.pid, SIGKILL);
    waitpid(d.pid, NULL, 0);
    ck_assert_int_eq(client_open(&c, d.path, why), -ECONNREFUSED);
    ck_assert_ptr_nonnull(strstr(why, "has died"));
    ck_assert_int_eq(chmod(d.path, 0), 0);
    ck_assert_int_lt(client_open(&c, d.path, why), 0);
    ck_assert_ptr_nonnull(strstr(why, "it left in order"));
    unlink(d.path);
    rmdir(d.folder);
}
END_TEST

START_TEST(silence)
{
    static const char *const says[] = {"{\"id\":1,\"row\":{}}\n", NULL};
    begin(says, 1);
    ck_assert_int_eq(ask(CW_MS(50)), -ETIME);
    ck_assert_uint_eq(rows, 1);
    ck_assert(client_failed(c));
    ck_assert_ptr_nonnull(strstr(why, "no answer in time: none came for 0.1 s"));
    ck_assert_ptr_nonnull(strstr(why,
                                 "an upcall of a service holds the daemon's thread (its log says which: journalctl "
                                 "-u cubewayd)"));
    end();
}
END_TEST

START_TEST(hanging_up)
{
    static const char *const says[] = {"{\"id\":1,\"row\":{}}\n{\"id\":1,\"do", NULL};
    begin(says, 0);
    ck_assert(client_lab(c) == NULL);
    ck_assert_int_eq(ask(CW_SEC(5)), -EPIPE);
    ck_assert(client_failed(c));
    ck_assert_ptr_nonnull(strstr(why, "has it ended? (journalctl -u cubewayd)"));
    end();
}
END_TEST

START_TEST(hanging_up_in_a_lab)
{
    static const char *const says[] = {"{\"id\":1,\"do", NULL};
    begin(says, 0);
    client_set_lab(c, "--name x ", "1,0,0");
    ck_assert_str_eq(client_lab(c), "--name x ");
    ck_assert_int_eq(ask(CW_SEC(5)), -EPIPE);
    ck_assert_ptr_nonnull(strstr(why, "has it ended? (cwlab logs --name x 1,0,0)"));
    end();
}
END_TEST

START_TEST(a_word_for_nobody)
{
    static const char *const says[] = {"{\"id\":null,\"done\":true,\"rc\":-16,\"error\":\"64 clients\"}\n", NULL};
    begin(says, 0);
    ck_assert_int_eq(ask(CW_SEC(5)), -EBUSY);
    ck_assert_ptr_nonnull(strstr(why, "64 clients"));
    ck_assert(client_failed(c));
    end();
}
END_TEST

START_TEST(another_protocol)
{
    static const char *const says[] = {"HTTP/1.1 400 Bad Request\r\n", NULL};
    begin(says, 0);
    ck_assert_int_eq(ask(CW_SEC(5)), -EPROTO);
    end();
}
END_TEST

START_TEST(stopped)
{
    static const char *const says[] = {NULL};
    volatile int stop = 1;
    begin(says, 1);
    client_stop_on(c, &stop);
    ck_assert_int_eq(ask(CW_NS(0)), -EINTR);
    end();
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(rows_and_ends),     SUITE_TEST(a_file_goes_along_once),
    SUITE_TEST(nobody_there),      SUITE_TEST(silence),
    SUITE_TEST(hanging_up),        SUITE_TEST(hanging_up_in_a_lab),
    SUITE_TEST(a_word_for_nobody), SUITE_TEST(another_protocol),
    SUITE_TEST(stopped),
};
SUITE_MAIN("client", tests)
