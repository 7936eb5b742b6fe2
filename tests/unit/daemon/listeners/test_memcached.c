/* SPDX-License-Identifier: Apache-2.0 */
/* Memcached's clients reach the cache of each server of the process, while its service runs. */
#include "daemon/listeners/memcached.h"

#include "daemon_town.h"
#include "suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORTS = 4 };

static unsigned port;
static char text[256];

static struct host *open_town(void)
{
    port = 20000 + (unsigned)getpid() % 20000;
    snprintf(text, sizeof text,
             "torus { dims = 2x2x1; coordinate = all } service kvcache { options { listen = \"127.0.0.1:%u\" } }",
             port);
    return town_open(text);
}

static int client(struct host *h, unsigned i)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)(port + i)), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (const struct sockaddr *)&to, sizeof to) < 0) {
        close(fd);
        return -1;
    }
    host_turn(h, CW_MS(1));
    return fd;
}

static const char *ask(struct host *h, int fd, const char *line)
{
    static char heard[512];
    ck_assert_int_eq(send(fd, line, strlen(line), MSG_NOSIGNAL), (ssize_t)strlen(line));
    for (unsigned i = 0; i < 4000; i++) {
        host_turn(h, CW_MS(1));
        ssize_t got = recv(fd, heard, sizeof heard - 1, MSG_DONTWAIT);
        if (got > 0) {
            heard[got] = '\0';
            return heard;
        }
    }
    return "(nothing)";
}

START_TEST(every_server_has_the_values_of_all)
{
    struct host *h = open_town();
    struct memcached_listener *door = NULL;
    char why[HOST_WHY];
    ck_assert_msg(memcached_listener_open(&door, h, why) == 0, "%s", why);
    town_settle(h, PORTS);
    int fd[PORTS];
    for (unsigned i = 0; i < PORTS; i++) {
        fd[i] = client(h, i);
        ck_assert_int_ge(fd[i], 0);
    }
    ck_assert_uint_eq(memcached_listener_clients(door), PORTS);
    for (unsigned i = 0; i < 8; i++) {
        char set[64], get[64], value[64];
        snprintf(set, sizeof set, "set key%u 0 0 1\r\n%u\r\n", i, i);
        snprintf(get, sizeof get, "get key%u\r\n", i);
        snprintf(value, sizeof value, "VALUE key%u 0 1\r\n%u\r\nEND\r\n", i, i);
        ck_assert_str_eq(ask(h, fd[i % PORTS], set), "STORED\r\n");
        ck_assert_str_eq(ask(h, fd[(i + 1) % PORTS], get), value);
    }
    ck_assert_int_eq(host_service_unload(h, "kvcache", why), 0);
    ck_assert_uint_eq(memcached_listener_clients(door), 0);
    ck_assert_int_lt(client(h, 0), 0);
    for (unsigned i = 0; i < PORTS; i++) {
        close(fd[i]);
    }
    memcached_listener_close(door);
    host_close(h);
}
END_TEST

START_TEST(a_port_in_use_is_said)
{
    struct host *h = open_town();
    struct memcached_listener *door = NULL, *other = NULL;
    char why[HOST_WHY];
    ck_assert_int_eq(memcached_listener_open(&door, h, why), 0);
    ck_assert_int_eq(memcached_listener_open(&other, h, why), -EADDRINUSE);
    ck_assert_msg(strstr(why, "in use") != NULL && strstr(why, "127.0.0.1:") != NULL, "%s", why);
    memcached_listener_close(door);
    host_close(h);
}
END_TEST

START_TEST(built_in_alone_listens_nowhere)
{
    struct host *h = town_open("torus { dims = 2x2x1; coordinate = all } log { level = error }");
    struct memcached_listener *door = NULL;
    char why[HOST_WHY];
    ck_assert_int_eq(memcached_listener_open(&door, h, why), 0);
    struct memcached_listener *other = NULL;
    ck_assert_int_eq(memcached_listener_open(&other, h, why), 0);
    ck_assert_uint_eq(memcached_listener_clients(other), 0);
    memcached_listener_close(other);
    memcached_listener_close(door);
    host_close(h);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(every_server_has_the_values_of_all),
                                          SUITE_TEST(a_port_in_use_is_said),
                                          SUITE_TEST(built_in_alone_listens_nowhere)};
SUITE_MAIN("memcached_listener", tests)
