/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/listeners/metrics.h"

#include "daemon_operator.h"
#include "suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static struct operator d;
static struct metrics *metrics;
static char said[1 << 20], why[CONTROL_WHY];
static uint16_t port;

/* A port that was free a moment ago. */
static void choose_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, length), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    port = ntohs(address.sin_port);
    close(fd);
}

static const char *get(const char *request)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_gt(send(fd, request, strlen(request), MSG_NOSIGNAL), 0);
    size_t used = 0;
    for (unsigned i = 0; i < 500; i++) {
        host_turn(d.host, CW_MS(1));
        ssize_t n = recv(fd, said + used, sizeof said - 1 - used, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN)) {
            break;
        }
        used += n > 0 ? (size_t)n : 0;
    }
    said[used] = '\0';
    close(fd);
    return said;
}

START_TEST(over_http)
{
    char config[200];
    choose_port();
    snprintf(config, sizeof config, "torus { dims = 2x1x1; coordinate = all } metrics { listen = \"127.0.0.1:%u\" }",
             port);
    operator_open(&d, config);
    ck_assert_int_eq(metrics_open(&metrics, d.host, why), 0);
    struct metrics *second;
    ck_assert_int_eq(metrics_open(&second, d.host, why), -EADDRINUSE);
    ck_assert_ptr_nonnull(strstr(why, "somebody listens there already"));
    const char *text = get("GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    ck_assert_ptr_nonnull(strstr(text, " 200 OK"));
    ck_assert_ptr_nonnull(strstr(text, "application/openmetrics-text; version=1.0.0"));
    ck_assert_str_eq(text + strlen(text) - 6, "# EOF\n");
    text = get("GET /metrics HTTP/1.1\r\nHost: a\r\naccept: text/plain;version=0.0.4;q=0.9, */*;q=0.1\r\n\r\n");
    ck_assert_ptr_nonnull(strstr(text, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    ck_assert_ptr_nonnull(strstr(text, "# TYPE cubeway_packets_made_total counter\n"));
    ck_assert_ptr_nonnull(strstr(text, "# TYPE cubeway_build_info gauge\n"));
    ck_assert_ptr_null(strstr(text, "# EOF"));
    ck_assert_ptr_null(strstr(text, "# UNIT"));
    ck_assert_ptr_nonnull(strstr(get("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), " 404 "));
    ck_assert_ptr_null(strstr(get("POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"), " 200 "));
    ck_assert_ptr_null(strstr(get("nonsense\r\n\r\n"), " 200 "));
    metrics_close(metrics);
    operator_close(&d);
}
END_TEST

/* Who connects and says nothing holds a place for a while, and no more than the places there are. */
START_TEST(no_more_than_so_many)
{
    char config[200];
    int idle[METRICS_CLIENTS + 4], turned_away = 0;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    choose_port();
    address.sin_port = htons(port);
    snprintf(config, sizeof config, "torus { dims = 2x1x1; coordinate = all } metrics { listen = \":%u\" }", port);
    operator_open(&d, config);
    ck_assert_int_eq(metrics_open(&metrics, d.host, why), 0);
    for (int i = 0; i < METRICS_CLIENTS + 4; i++) {
        idle[i] = socket(AF_INET, SOCK_STREAM, 0);
        ck_assert_int_eq(connect(idle[i], (struct sockaddr *)&address, sizeof address), 0);
        for (int j = 0; j < 10; j++) {
            host_turn(d.host, CW_MS(1));
        }
    }
    for (int i = 0; i < METRICS_CLIENTS + 4; i++) {
        char byte;
        turned_away += recv(idle[i], &byte, 1, MSG_DONTWAIT) == 0;
    }
    ck_assert_int_eq(turned_away, 4);
    close(idle[0]); /* one place is free again */
    for (int j = 0; j < 10; j++) {
        host_turn(d.host, CW_MS(1));
    }
    ck_assert_ptr_nonnull(strstr(get("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), " 200 OK"));
    const char *head = get("HEAD /metrics?x=1 HTTP/1.1\r\n\r\n");
    ck_assert_ptr_nonnull(strstr(head, " 200 OK"));
    ck_assert_ptr_null(strstr(head, "# EOF"));
    /* No address was said: only this machine's own is listened to. */
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
    int other = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_lt(connect(other, (struct sockaddr *)&address, sizeof address), 0);
    close(other);
    for (int i = 1; i < METRICS_CLIENTS + 4; i++) {
        close(idle[i]);
    }
    metrics_close(metrics);
    operator_close(&d);
}
END_TEST

START_TEST(what_collectors_accept)
{
    ck_assert(metrics_wants_plain("Host: a\r\nAccept: text/plain\r\n\r\n"));
    ck_assert(!metrics_wants_plain("Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n\r\n"));
    ck_assert(!metrics_wants_plain("Accept: */*\r\n\r\n"));
    ck_assert(!metrics_wants_plain("X-Accept: text/plain\r\n\r\n"));
    ck_assert(!metrics_wants_plain(""));
}
END_TEST

START_TEST(what_is_no_address_is_refused)
{
    operator_open(&d, "torus { dims = 2x1x1; coordinate = all } metrics { listen = \"somewhere:80\" }");
    ck_assert_int_eq(metrics_open(&metrics, d.host, why), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why, "0.0.0.0:9464 for all addresses"));
    operator_close(&d);
}
END_TEST

START_TEST(off_unless_asked_for)
{
    operator_open(&d, "torus { dims = 2x1x1; coordinate = all }");
    ck_assert_int_eq(metrics_open(&metrics, d.host, why), 0);
    ck_assert_ptr_null(metrics);
    metrics_close(metrics);
    operator_close(&d);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(over_http), SUITE_TEST(what_collectors_accept),
                                          SUITE_TEST(no_more_than_so_many), SUITE_TEST(what_is_no_address_is_refused),
                                          SUITE_TEST(off_unless_asked_for)};
SUITE_MAIN("metrics", tests)
