/* SPDX-License-Identifier: Apache-2.0 */
/* test_notify.c - a manager hears us, where there is one. */
#include "daemon/machine/notify.h"
#include "suite.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

START_TEST(a_manager_hears)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int n = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "cubeway-notify-%d", (int)getpid());
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, size), 0);
    char name[64], text[32] = "";
    snprintf(name, sizeof name, "@cubeway-notify-%d", (int)getpid());
    setenv("NOTIFY_SOCKET", name, 1);
    ck_assert_int_eq(notify_send("READY=1"), 1);
    ck_assert_int_eq(recv(fd, text, sizeof text, MSG_DONTWAIT), 7);
    ck_assert_str_eq(text, "READY=1");
    close(fd);
    ck_assert_int_eq(notify_send("READY=1"), -ECONNREFUSED);
}
END_TEST

START_TEST(without_one_nothing_happens)
{
    unsetenv("NOTIFY_SOCKET");
    ck_assert_int_eq(notify_send("READY=1"), 0);
    setenv("NOTIFY_SOCKET", "relative", 1);
    ck_assert_int_eq(notify_send("READY=1"), -EINVAL);
}
END_TEST

START_TEST(the_watchdog)
{
    char pid[32];
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    unsetenv("WATCHDOG_PID");
    unsetenv("WATCHDOG_USEC");
    ck_assert_int_eq(notify_watchdog().ns, 0);
    setenv("WATCHDOG_USEC", "3000000", 1);
    ck_assert_int_eq(notify_watchdog().ns, 1500000000);
    setenv("WATCHDOG_PID", pid, 1);
    ck_assert_int_eq(notify_watchdog().ns, 1500000000);
    setenv("WATCHDOG_PID", "1", 1);
    ck_assert_int_eq(notify_watchdog().ns, 0);
    unsetenv("WATCHDOG_PID");
    setenv("WATCHDOG_USEC", "3x", 1);
    ck_assert_int_eq(notify_watchdog().ns, 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_manager_hears),
    SUITE_TEST(without_one_nothing_happens),
    SUITE_TEST(the_watchdog),
};
SUITE_MAIN("notify", tests)
