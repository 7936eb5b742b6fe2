/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/metrics.h"

#include "desk.h"
#include "suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static struct desk d;
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
    desk_open(&d, config);
    ck_assert_int_eq(metrics_open(&metrics, d.host, why), 0);
    struct metrics *second;
    ck_assert_int_eq(metrics_open(&second, d.host, why), -EADDRINUSE);
    ck_assert_ptr_nonnull(strstr(why, "somebody listens there already"));
    const char *text = get("GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    ck_assert_ptr_nonnull(strstr(text, " 200 OK"));
    ck_assert_ptr_nonnull(strstr(text, "application/openmetrics-text; version=1.0.0"));
    ck_assert_str_eq(text + strlen(text) - 6, "# EOF\n");
    ck_assert_ptr_nonnull(strstr(get("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), " 404 "));
    ck_assert_ptr_null(strstr(get("POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"), " 200 "));
    ck_assert_ptr_null(strstr(get("nonsense\r\n\r\n"), " 200 "));
    metrics_close(metrics);
    desk_close(&d);
}
END_TEST

START_TEST(off_unless_asked_for)
{
    desk_open(&d, "torus { dims = 2x1x1; coordinate = all }");
    ck_assert_int_eq(metrics_open(&metrics, d.host, why), 0);
    ck_assert_ptr_null(metrics);
    metrics_close(metrics);
    desk_close(&d);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(over_http), SUITE_TEST(off_unless_asked_for)};
SUITE_MAIN("metrics", tests)
