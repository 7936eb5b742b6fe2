/* SPDX-License-Identifier: Apache-2.0 */
/* Real sockets, one loop that is turned by hand, and clients that behave as badly as they can. */
#include "daemon/control/control.h"

#include "suite.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[64], path[100], why[CONTROL_WHY];
static struct event_base *base;
static struct control *control;
static struct request *held[200];
static unsigned held_count, cancelled, soon;
static char buffer[32 * 1024 * 1024];

static void run_echo(struct request *r)
{
    request_text(r, "word", request_line(r)->argv[0]);
    request_done(r, 0);
}

/* An answer of so many kilobytes. */
static void run_big(struct request *r)
{
    char text[1001];
    memset(text, 'x', 1000);
    text[1000] = '\0';
    for (int left = atoi(request_line(r)->argv[0]); left > 0; left--) {
        request_text(r, "word", text);
        request_row(r);
    }
    request_done(r, 0);
}

static void on_cancel(struct request *r, void *context)
{
    (void)context;
    cancelled++;
    request_done(r, 0);
}

static void run_hold(struct request *r)
{
    request_on_cancel(r, on_cancel, NULL);
    held[held_count++] = r;
}

/* The first byte of the file that came along. */
static void run_file(struct request *r)
{
    char byte[2] = "";
    int file = request_file(r);
    request_integer(r, "came", file >= 0);
    if (file >= 0) {
        ck_assert_int_ne(fcntl(file, F_GETFD) & FD_CLOEXEC, 0);
        ck_assert_int_eq(pread(file, byte, 1, 0), 1);
        request_text(r, "byte", byte);
        close(file);
    }
    ck_assert_int_eq(request_file(r), -1);
    request_done(r, 0);
}

static const struct request_command commands[] = {
    {"file", "", "", "", 0, 0, run_file},
    {"echo", "WORD", "", "", 1, 1, run_echo},
    {"big", "KB", "", "", 1, 1, run_big},
    {"hold", "", "", "", 0, 0, run_hold},
};
static const struct request_table table = {commands, 4, NULL};

static void on_soon(void *context)
{
    ck_assert_ptr_eq(context, &soon);
    soon++;
}

static void begin(void)
{
    strcpy(folder, "/tmp/cubeway-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/d.sock", folder);
    base = event_base_new();
    const struct control_config config = {
        .path = path, .mode = 0600, .table = &table, .soon = on_soon, .context = &soon};
    ck_assert_int_eq(control_open(&control, base, &config, why), 0);
    held_count = cancelled = soon = 0;
}

static void end(void)
{
    control_close(control);
    event_base_free(base);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void turn(unsigned times)
{
    while (times-- > 0) {
        event_base_loop(base, EVLOOP_NONBLOCK);
    }
}

static int client(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* Sends it all, turning the loop where the socket is full; false: the daemon has hung up. */
static bool say(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t n = send(fd, text, length, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN) {
            return false;
        }
        text += n > 0 ? n : 0;
        length -= n > 0 ? (size_t)n : 0;
        turn(1);
    }
    return true;
}

/* Reads what there is in so many turns; *closed says that it ended. */
static const char *hear(int fd, bool *closed)
{
    size_t used = 0;
    *closed = false;
    for (unsigned quiet = 0; quiet < 10;) {
        turn(1);
        ssize_t n = recv(fd, buffer + used, sizeof buffer - 1 - used, 0);
        if (n == 0 || (n < 0 && errno != EAGAIN)) {
            *closed = true;
            break;
        }
        quiet = n > 0 ? 0 : quiet + 1;
        used += n > 0 ? (size_t)n : 0;
    }
    buffer[used] = '\0';
    return buffer;
}

static unsigned count_of(const char *text, const char *word)
{
    unsigned count = 0;
    while ((text = strstr(text, word)) != NULL) {
        count++;
        text += strlen(word);
    }
    return count;
}

#define ECHO(id) "{\"id\":" #id ",\"command\":\"echo\",\"args\":[\"hello\"]}\n"

START_TEST(lines_in_pieces_and_in_heaps)
{
    bool closed;
    begin();
    int fd = client();
    for (const char *c = ECHO(1); *c != '\0'; c++) {
        ck_assert(say(fd, c, 1));
    }
    ck_assert_str_eq(hear(fd, &closed), "{\"id\":1,\"row\":{\"word\":\"hello\"}}\n{\"id\":1,\"done\":true,\"rc\":0}\n");
    ck_assert(say(fd, "\n\r\n" ECHO(2) "garbage\n" ECHO(3), strlen("\n\r\n" ECHO(2) "garbage\n" ECHO(3))));
    const char *said = hear(fd, &closed);
    ck_assert(!closed);
    ck_assert_uint_eq(count_of(said, "\"done\""), 3);
    ck_assert_uint_eq(count_of(said, "\"id\":null"), 1);
    for (unsigned i = 0; i < 500; i++) {
        ck_assert(say(fd, ECHO(4), strlen(ECHO(4))));
    }
    ck_assert_uint_eq(count_of(hear(fd, &closed), "\"done\""), 500);
    close(fd);
    turn(3);
    ck_assert_uint_eq(control_clients(control), 0);
    end();
}
END_TEST

/* A client that asks a lot at once is answered in parts; whoever runs the base is told that there are more. */
START_TEST(a_heap_is_taken_in_parts)
{
    enum { PARTS = 3 };
    bool closed;
    begin();
    int fd = client();
    turn(3);
    for (unsigned i = 0; i < PARTS * CONTROL_BURST; i++) {
        ck_assert_int_eq((int)send(fd, ECHO(4), strlen(ECHO(4)), MSG_NOSIGNAL), (int)strlen(ECHO(4)));
    }
    turn(3);
    ck_assert_uint_eq(soon, PARTS);
    ck_assert_uint_eq(count_of(hear(fd, &closed), "\"done\""), PARTS * CONTROL_BURST);
    close(fd);
    turn(3);
    end();
}
END_TEST

static int file_of(const char *text)
{
    char name[] = "/tmp/cubeway-test-XXXXXX";
    int file = mkstemp(name);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(unlink(name), 0);
    ck_assert_int_eq(write(file, text, 1), 1);
    return file;
}

/* Sends a line with open files beside it. */
static void send_files(int fd, const char *line, const int *files, size_t count)
{
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(8 * sizeof(int))] = {0};
    struct iovec bytes = {(void *)(uintptr_t)line, strlen(line)};
    struct msghdr m = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = room, .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(c), files, count * sizeof(int));
    ck_assert_int_eq(sendmsg(fd, &m, 0), (ssize_t)strlen(line));
}

static unsigned open_files(void)
{
    unsigned count = 0;
    for (int fd = 0; fd < 256; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

/* A file comes with a request, to the first one that takes it; what nobody takes is closed. */
START_TEST(files_come_along)
{
    bool closed;
    begin();
    int fd = client(), file[8];
    turn(3);
    unsigned before = open_files();
    for (int i = 0; i < 8; i++) {
        file[i] = file_of((const char[]){(char)('a' + i), 0});
    }
    send_files(fd, ECHO(1) "{\"id\":2,\"command\":\"file\"}\n{\"id\":3,\"command\":\"file\"}\n", file, 1);
    const char *said = hear(fd, &closed);
    ck_assert_ptr_nonnull(strstr(said, "{\"id\":2,\"row\":{\"came\":1,\"byte\":\"a\"}}"));
    ck_assert_ptr_nonnull(strstr(said, "{\"id\":3,\"row\":{\"came\":0}}"));
    send_files(fd, ECHO(1), file, 8); /* more than one: the rest is closed */
    send_files(fd, ECHO(2), file + 1, 3);
    send_files(fd, "{\"id\":4,\"command\":\"file\"}\n", file + 2, 1); /* the newest */
    ck_assert_ptr_nonnull(strstr(hear(fd, &closed), "{\"id\":4,\"row\":{\"came\":1,\"byte\":\"c\"}}"));
    send_files(fd, ECHO(5), file, 4); /* nobody asks for it */
    (void)hear(fd, &closed);
    ck_assert_uint_eq(open_files(), before + 8 + 1);
    for (int i = 0; i < 8; i++) {
        close(file[i]);
    }
    close(fd);
    turn(3);
    ck_assert_uint_eq(open_files(), before - 2); /* the client's end and ours */
    end();
}
END_TEST

/* What was asked before the client closed its side is answered, in whatever heap it came. */
START_TEST(half_closed)
{
    bool closed;
    begin();
    int fd = client();
    char heap[100 * sizeof ECHO(5)] = "";
    for (unsigned i = 0; i < 100; i++) {
        strcat(heap, ECHO(5));
    }
    strcat(heap, "{\"id\":6,\"comm"); /* and a line that never ends */
    ck_assert_uint_eq(send(fd, heap, strlen(heap), 0), strlen(heap));
    shutdown(fd, SHUT_WR);
    ck_assert_uint_eq(count_of(hear(fd, &closed), "\"done\""), 100);
    ck_assert(closed);
    ck_assert_uint_eq(control_clients(control), 0);
    close(fd);
    end();
}
END_TEST

START_TEST(a_line_without_end)
{
    bool closed;
    begin();
    int fd = client();
    static char much[REQUEST_LINE_MAX + 1];
    memset(much, ' ', sizeof much);
    memcpy(much, ECHO(1), strlen(ECHO(1)) - 1);
    much[REQUEST_LINE_MAX] = '\n';
    ck_assert(say(fd, much, sizeof much)); /* as long as may be */
    ck_assert_uint_eq(count_of(hear(fd, &closed), "\"rc\":0"), 1);
    much[REQUEST_LINE_MAX] = ' ';
    (void)say(fd, much, sizeof much);
    (void)say(fd, much, sizeof much);
    ck_assert_ptr_nonnull(strstr(hear(fd, &closed), "cut off"));
    ck_assert(closed);
    close(fd);
    end();
}
END_TEST

START_TEST(garbage_of_all_kinds)
{
    bool closed;
    begin();
    srand(1);
    for (unsigned round = 0; round < 50; round++) {
        int fd = client();
        char junk[3000];
        for (unsigned i = 0; i < sizeof junk; i++) {
            junk[i] = (char)(rand() % 5 == 0 ? "{}[]\",:\n\\"[rand() % 9] : rand());
        }
        (void)say(fd, junk, sizeof junk);
        (void)hear(fd, &closed);
        ck_assert(!closed);
        ck_assert(say(fd, "\n" ECHO(9), strlen("\n" ECHO(9))));
        ck_assert_ptr_nonnull(strstr(hear(fd, &closed), "\"id\":9,\"done\":true,\"rc\":0"));
        close(fd);
    }
    turn(5);
    ck_assert_uint_eq(control_clients(control), 0);
    end();
}
END_TEST

START_TEST(more_clients_than_seats)
{
    int fd[CONTROL_CONNECTIONS + 5];
    bool closed;
    begin();
    for (unsigned i = 0; i < CONTROL_CONNECTIONS + 5; i++) {
        fd[i] = client();
        turn(2);
    }
    ck_assert_uint_eq(control_clients(control), CONTROL_CONNECTIONS);
    ck_assert_ptr_nonnull(strstr(hear(fd[CONTROL_CONNECTIONS], &closed), "64 clients"));
    ck_assert(closed);
    ck_assert(say(fd[0], ECHO(1), strlen(ECHO(1))));
    ck_assert_uint_eq(count_of(hear(fd[0], &closed), "\"done\""), 1);
    for (unsigned i = 0; i < CONTROL_CONNECTIONS + 5; i++) {
        close(fd[i]);
    }
    turn(5);
    ck_assert_uint_eq(control_clients(control), 0);
    int again = client();
    ck_assert(say(again, ECHO(1), strlen(ECHO(1))));
    ck_assert_uint_eq(count_of(hear(again, &closed), "\"done\""), 1);
    close(again);
    end();
}
END_TEST

START_TEST(clients_that_die)
{
    bool closed;
    begin();
    for (unsigned i = 0; i < 20; i++) {
        int fd = client();
        ck_assert(say(fd, "{\"id\":1,\"command\":\"hold\"}\n", 26));
        ck_assert(say(fd, "{\"id\":2,\"command\":\"hold\"}\n" ECHO(3), 26 + strlen(ECHO(3))));
        turn(2);
        if (i % 2) {
            struct linger hard = {1, 0};
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        }
        close(fd); /* what was written to it is unread */
        turn(3);
    }
    ck_assert_uint_eq(held_count, 40);
    ck_assert_uint_eq(cancelled, 40);
    ck_assert_uint_eq(control_clients(control), 0);
    int fd = client();
    ck_assert(say(fd, "{\"id\":1,\"command\":\"hold\"}\n", 26));
    (void)hear(fd, &closed);
    end(); /* under way at the end: cancelled */
    ck_assert_uint_eq(cancelled, 41);
    close(fd);
}
END_TEST

/* It asks and asks and reads nothing: what waits for it is bounded, and it gets all when it reads. */
START_TEST(a_slow_reader_waits)
{
    bool closed;
    begin();
    int fd = client();
    unsigned asked = 0;
    for (unsigned i = 0; i < 3000; i++) {
        static const char big[] = "{\"id\":1,\"command\":\"big\",\"args\":[10]}\n";
        if (send(fd, big, sizeof big - 1, MSG_NOSIGNAL) == sizeof big - 1) {
            asked++;
        }
        turn(1);
    }
    ck_assert_uint_gt(asked, 100);
    ck_assert_uint_eq(count_of(hear(fd, &closed), "\"done\""), asked);
    ck_assert(!closed);
    close(fd);
    end();
}
END_TEST

START_TEST(an_answer_that_is_too_long_is_cut_off)
{
    bool closed;
    begin();
    int fd = client();
    static const char huge[] = "{\"id\":1,\"command\":\"big\",\"args\":[20000]}\n";
    ck_assert(say(fd, huge, sizeof huge - 1));
    const char *said = hear(fd, &closed);
    ck_assert(closed);
    ck_assert_ptr_nonnull(strstr(said, "\"id\":null,\"done\":true,\"rc\":-105,\"error\":\"cut off"));
    ck_assert_ptr_null(strstr(said, "\"id\":1,\"done\""));
    close(fd);
    end();
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(lines_in_pieces_and_in_heaps),
    SUITE_TEST(a_heap_is_taken_in_parts),
    SUITE_TEST(files_come_along),
    SUITE_TEST(half_closed),
    SUITE_TEST(a_line_without_end),
    SUITE_TEST(garbage_of_all_kinds),
    SUITE_TEST(more_clients_than_seats),
    SUITE_TEST(clients_that_die),
    SUITE_TEST(a_slow_reader_waits),
    SUITE_TEST(an_answer_that_is_too_long_is_cut_off),
};
SUITE_MAIN("control", tests)
