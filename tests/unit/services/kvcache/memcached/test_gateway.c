/* SPDX-License-Identifier: Apache-2.0 */
/* Many clients, ports that others have, and a gateway that is closed while the cache still owes answers. */
#include "services/kvcache/memcached/gateway.h"

#include "mc_port.h"
#include "suite.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

START_TEST(clients_are_served)
{
    const struct mc_config config = mc_config_default("");
    mc_port_open(&config);
    int a = mc_port_client(), b = mc_port_client();
    ck_assert_uint_eq(gateway_clients(mc_port.gateway), 2);
    mc_port_tell(a, "set k 0 0 2\r\nhi\r\n");
    ck_assert_str_eq(mc_port_hear(a), "STORED\r\n");
    mc_port_tell(b, "get k\r\n");
    ck_assert_str_eq(mc_port_hear(b), "VALUE k 0 2\r\nhi\r\nEND\r\n");
    mc_port_tell(b, "flush_all\r\nstats\r\n");
    const char *said = mc_port_hear(b);
    ck_assert_ptr_nonnull(strstr(said, "SERVER_ERROR flush_all is not supported here\r\n"));
    ck_assert_ptr_nonnull(strstr(said, "STAT curr_connections 2\r\n"));
    mc_port.cache.deferred = true;
    mc_port_tell(a, "get k\r\n");
    ck_assert_str_eq(mc_port_hear(a), "");
    standin_answer_all(&mc_port.cache);
    ck_assert_str_eq(mc_port_hear(a), "VALUE k 0 2\r\nhi\r\nEND\r\n");
    mc_port.cache.deferred = false;
    mc_port.away = true;
    mc_port_tell(a, "get k\r\nset k 0 0 1\r\n1\r\n");
    ck_assert_str_eq(mc_port_hear(a), "END\r\nSERVER_ERROR the cache does not run on this server now\r\n");
    mc_port_tell(b, "quit\r\n");
    ck_assert_str_eq(mc_port_hear(b), "(hung up)");
    ck_assert_uint_eq(gateway_clients(mc_port.gateway), 1);
    close(a);
    close(b);
    mc_port_turn(5);
    ck_assert_uint_eq(gateway_clients(mc_port.gateway), 0);
    mc_port_close();
}
END_TEST

/* One answer fits no memory: the client is hung up on behind what it had before, though the next answer is there. */
START_TEST(an_answer_is_lost)
{
    static const struct kv_result good = {.status = KV_OK, .value = (const uint8_t *)"v", .value_length = 1};
    static const struct kv_result too_much = {
        .status = KV_OK, .value = (const uint8_t *)"v", .value_length = SIZE_MAX / 2};
    const struct mc_config config = mc_config_default("");
    mc_port_open(&config);
    int a = mc_port_client();
    mc_port.keeps = 0;
    mc_port.keep_most = 3;
    mc_port_tell(a, "get a\r\nget b\r\nget c\r\n");
    ck_assert_uint_eq(mc_port.keeps, 3);
    const struct kv_result *results[] = {&good, &too_much, &good};
    for (unsigned i = 0; i < 3; i++) {
        mc_port.kept[i].done(mc_port.kept[i].arg, results[i]);
    }
    mc_port.keep_most = 0;
    ck_assert_str_eq(mc_port_hear(a), "VALUE a 0 1\r\nv\r\nEND\r\n");
    ck_assert_str_eq(mc_port_hear(a), "(hung up)");
    ck_assert_uint_eq(gateway_clients(mc_port.gateway), 0);
    close(a);
    mc_port_close();
}
END_TEST

START_TEST(so_many_and_no_more)
{
    struct mc_config config = mc_config_default("");
    config.connections = 2;
    mc_port_open(&config);
    int a = mc_port_client(), b = mc_port_client(), c = mc_port_client();
    ck_assert_str_eq(mc_port_hear(c), "ERROR Too many open connections\r\n");
    ck_assert_str_eq(mc_port_hear(c), "(hung up)");
    close(a);
    mc_port_turn(3);
    int d = mc_port_client();
    mc_port_tell(d, "mn\r\n");
    ck_assert_str_eq(mc_port_hear(d), "MN\r\n");
    close(b);
    close(c);
    close(d);
    mc_port_close();
}
END_TEST

START_TEST(a_port_that_others_have)
{
    const struct mc_config config = mc_config_default("");
    mc_port_open(&config);
    char why[GATEWAY_WHY];
    struct gateway *other = NULL;
    struct gateway_host host = mc_port_host();
    ck_assert_int_eq(gateway_open(&other, mc_port.base, &mc_port.config, &host, why), -EADDRINUSE);
    ck_assert_msg(strstr(why, mc_port.config.listen) != NULL && strstr(why, "in use") != NULL, "%s", why);
    struct mc_config strange = mc_port.config;
    snprintf(strange.listen, sizeof strange.listen, "192.0.2.1:11211");
    ck_assert_int_eq(gateway_open(&other, mc_port.base, &strange, &host, why), -EADDRNOTAVAIL);
    mc_port_close();
}
END_TEST

START_TEST(closing_leaves_nothing_behind)
{
    const struct mc_config config = mc_config_default("");
    mc_port_open(&config);
    int fd = mc_port_client();
    mc_port.cache.deferred = true;
    mc_port_tell(fd, "get a b c\r\n");
    gateway_close(
        mc_port.gateway); /* and then the cache answers: mc_port_close() of others does it the other way round */
    mc_port.gateway = NULL;
    standin_answer_all(&mc_port.cache);
    close(fd);
    mc_port_close();
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(clients_are_served),
    SUITE_TEST(an_answer_is_lost),
    SUITE_TEST(so_many_and_no_more),
    SUITE_TEST(a_port_that_others_have),
    SUITE_TEST(closing_leaves_nothing_behind),
};
SUITE_MAIN("gateway", tests)
