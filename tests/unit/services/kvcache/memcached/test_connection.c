/* SPDX-License-Identifier: Apache-2.0 */
/* One client: slow, idle, not reading, or gone. */
#include "services/kvcache/memcached/gateway.h"

#include "mc_port.h"
#include "suite.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

START_TEST(who_stops_half_way_is_sent_off)
{
    struct mc_config config = mc_config_default("");
    config.slow = CW_SEC(1);
    config.idle = CW_SEC(3600);
    mc_port_open(&config);
    int slow = mc_port_client(), idle = mc_port_client();
    mc_port_tell(slow, "set a 0 0 10\r\nabc");
    for (unsigned i = 0; i < 60 && gateway_clients(mc_port.gateway) == 2; i++) {
        usleep(100000);
        mc_port_turn(2);
    }
    ck_assert_str_eq(mc_port_hear(slow), "(hung up)");
    mc_port_tell(idle, "mn\r\n");
    ck_assert_str_eq(mc_port_hear(idle), "MN\r\n");
    close(slow);
    close(idle);
    mc_port_close();
}
END_TEST

START_TEST(who_does_not_read_waits)
{
    const struct mc_config config = mc_config_default("");
    mc_port_open(&config);
    int fd = mc_port_client();
    static char value[500001];
    memset(value, 'v', sizeof value - 1);
    mc_port_tell(fd, "set a 0 0 500000\r\n");
    for (size_t i = 0; i < sizeof value - 1; i += 50000) {
        ck_assert_int_eq(send(fd, value + i, 50000, 0), 50000);
        mc_port_turn(5);
    }
    mc_port_tell(fd, "\r\n");
    ck_assert_str_eq(mc_port_hear(fd), "STORED\r\n");
    for (unsigned i = 0; i < 50; i++) {
        mc_port_tell(fd, "get a\r\n");
    }
    ck_assert_uint_lt(mc_port.cache.asked, 30); /* the rest has not been read */
    size_t got = 0;
    for (unsigned i = 0; i < 100000 && got < 50 * 500026; i++) {
        ssize_t n = recv(fd, value, sizeof value, MSG_DONTWAIT);
        got += n > 0 ? (size_t)n : 0;
        mc_port_turn(1);
    }
    ck_assert_uint_eq(got, 50 * (strlen("VALUE a 0 500000\r\n") + 500000 + 2 + 5));
    close(fd);
    mc_port_close();
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(who_stops_half_way_is_sent_off),
    SUITE_TEST(who_does_not_read_waits),
};
SUITE_MAIN("connection", tests)
