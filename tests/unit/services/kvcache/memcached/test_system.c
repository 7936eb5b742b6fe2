/* SPDX-License-Identifier: Apache-2.0 */
/* Where clients arrive, and what the system says. */
#include "services/kvcache/memcached/system.h"

#include "suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static unsigned port_of(int fd)
{
    struct sockaddr_in6 at;
    socklen_t length = sizeof at;
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &length), 0);
    return ntohs(at.sin6_port); /* at the same place in both families */
}

START_TEST(an_address_is_listened_at_once)
{
    char text[64];
    int fd = mc_system_listen("127.0.0.1:0");
    if (fd == -EINVAL) { /* port 0 is none to configure */
        for (unsigned port = 20000; fd < 0 && port < 20100; port++) {
            snprintf(text, sizeof text, "127.0.0.1:%u", port);
            fd = mc_system_listen(text);
        }
    }
    ck_assert_int_ge(fd, 0);
    snprintf(text, sizeof text, "127.0.0.1:%u", port_of(fd));
    ck_assert_int_eq(mc_system_listen(text), -EADDRINUSE);
    ck_assert_ptr_nonnull(strstr(mc_system_problem(EADDRINUSE), "the port is in use"));
    ck_assert_int_lt(accept(fd, NULL, NULL), 0); /* and does not wait */
    close(fd);
}
END_TEST

START_TEST(what_is_no_address_is_refused)
{
    ck_assert_int_eq(mc_system_listen("nowhere"), -EINVAL);
    ck_assert_int_eq(mc_system_listen("a.b.c.d:11211"), -EINVAL);
    ck_assert_int_eq(mc_system_listen("192.0.2.1:20111"), -EADDRNOTAVAIL);
    ck_assert_ptr_nonnull(strstr(mc_system_problem(EADDRNOTAVAIL), "no such address"));
    ck_assert_ptr_nonnull(strstr(mc_system_problem(EACCES), "above 1023"));
    ck_assert_str_eq(mc_system_problem(ENOMEM), strerror(ENOMEM));
}
END_TEST

START_TEST(time_and_use_grow)
{
    int64_t user, system, later, before = mc_system_ns();
    mc_system_usage(&user, &system);
    ck_assert(user >= 0 && system >= 0);
    for (volatile unsigned i = 0; i < 20000000; i++) {
    }
    mc_system_usage(&later, &system);
    ck_assert(later > user && mc_system_ns() >= before);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(an_address_is_listened_at_once),
                                          SUITE_TEST(what_is_no_address_is_refused), SUITE_TEST(time_and_use_grow)};
SUITE_MAIN("mc_system", tests)
