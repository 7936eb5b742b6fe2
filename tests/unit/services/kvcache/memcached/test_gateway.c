/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets: many clients, slow ones, idle ones, and ports that others have. */
#include "services/kvcache/memcached/gateway.h"

#include "kv_standin.h"
#include "suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct standin cache;
static struct event_base *base;
static struct gateway *gateway;
static struct mc_config config;
static unsigned port;
static bool away; /* the server */
static struct {
    kv_done_fn done;
    void *arg;
} kept[4]; /* what the cache was asked, when the test answers itself */
static unsigned keeps, keep_most;

static int run(cw_svc *kvcache, const struct kv_request *r, kv_done_fn done, void *arg)
{
    (void)kvcache;
    ck_assert_uint_eq(r->job, KVCACHE_JOB);
    if (keeps < keep_most) {
        kept[keeps].done = done;
        kept[keeps++].arg = arg;
        return 0;
    }
    return standin_run(&cache, r, done, arg);
}

static int enter(void *context, void (*visit)(void *arg, cw_svc *kvcache, const struct kvcache_api *api), void *arg)
{
    static const struct kvcache_api api = {.size = offsetof(struct kvcache_api, flush), .run = run};
    ck_assert_ptr_eq(context, &cache);
    if (away) {
        return -ENODEV;
    }
    visit(arg, NULL, &api);
    return 0;
}

static void open_gateway(void)
{
    char why[GATEWAY_WHY];
    struct gateway_host host = {.context = &cache, .enter = enter};
    base = event_base_new();
    standin_open(&cache, 16 * 1024 * 1024);
    away = false;
    for (port = 20000 + (unsigned)getpid() % 20000;; port++) {
        snprintf(config.listen, sizeof config.listen, "127.0.0.1:%u", port);
        int rc = gateway_open(&gateway, base, &config, &host, why);
        if (rc == 0) {
            return;
        }
        ck_assert_msg(rc == -EADDRINUSE, "%s", why);
    }
}

static void close_gateway(void)
{
    gateway_close(gateway);
    standin_close(&cache);
    event_base_free(base);
}

static void turn(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        event_base_loop(base, EVLOOP_NONBLOCK);
    }
}

static int client(void)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    turn(3);
    return fd;
}

static void tell(int fd, const char *text)
{
    ck_assert_int_eq(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
    turn(5);
}

static char heard[4096];

static const char *listen_to(int fd)
{
    turn(5);
    ssize_t got = recv(fd, heard, sizeof heard - 1, MSG_DONTWAIT);
    heard[got > 0 ? got : 0] = '\0';
    return got == 0 ? "(hung up)" : heard;
}

START_TEST(clients_are_served)
{
    config = mc_config_default("");
    open_gateway();
    int a = client(), b = client();
    ck_assert_uint_eq(gateway_clients(gateway), 2);
    tell(a, "set k 0 0 2\r\nhi\r\n");
    ck_assert_str_eq(listen_to(a), "STORED\r\n");
    tell(b, "get k\r\n");
    ck_assert_str_eq(listen_to(b), "VALUE k 0 2\r\nhi\r\nEND\r\n");
    tell(b, "flush_all\r\nstats\r\n");
    const char *said = listen_to(b);
    ck_assert_ptr_nonnull(strstr(said, "SERVER_ERROR flush_all is not supported here\r\n"));
    ck_assert_ptr_nonnull(strstr(said, "STAT curr_connections 2\r\n"));
    cache.deferred = true;
    tell(a, "get k\r\n");
    ck_assert_str_eq(listen_to(a), "");
    standin_answer_all(&cache);
    ck_assert_str_eq(listen_to(a), "VALUE k 0 2\r\nhi\r\nEND\r\n");
    cache.deferred = false;
    away = true;
    tell(a, "get k\r\nset k 0 0 1\r\n1\r\n");
    ck_assert_str_eq(listen_to(a), "END\r\nSERVER_ERROR the cache does not run on this server now\r\n");
    tell(b, "quit\r\n");
    ck_assert_str_eq(listen_to(b), "(hung up)");
    ck_assert_uint_eq(gateway_clients(gateway), 1);
    close(a);
    close(b);
    turn(5);
    ck_assert_uint_eq(gateway_clients(gateway), 0);
    close_gateway();
}
END_TEST

/* One answer fits no memory: the client is hung up on behind what it had before, though the next answer is there. */
START_TEST(an_answer_is_lost)
{
    static const struct kv_result good = {.status = KV_OK, .value = (const uint8_t *)"v", .value_length = 1};
    static const struct kv_result too_much = {
        .status = KV_OK, .value = (const uint8_t *)"v", .value_length = SIZE_MAX / 2};
    config = mc_config_default("");
    open_gateway();
    int a = client();
    keeps = 0;
    keep_most = 3;
    tell(a, "get a\r\nget b\r\nget c\r\n");
    ck_assert_uint_eq(keeps, 3);
    const struct kv_result *results[] = {&good, &too_much, &good};
    for (unsigned i = 0; i < 3; i++) {
        kept[i].done(kept[i].arg, results[i]);
    }
    keep_most = 0;
    ck_assert_str_eq(listen_to(a), "VALUE a 0 1\r\nv\r\nEND\r\n");
    ck_assert_str_eq(listen_to(a), "(hung up)");
    ck_assert_uint_eq(gateway_clients(gateway), 0);
    close(a);
    close_gateway();
}
END_TEST

START_TEST(so_many_and_no_more)
{
    config = mc_config_default("");
    config.connections = 2;
    open_gateway();
    int a = client(), b = client(), c = client();
    ck_assert_str_eq(listen_to(c), "ERROR Too many open connections\r\n");
    ck_assert_str_eq(listen_to(c), "(hung up)");
    close(a);
    turn(3);
    int d = client();
    tell(d, "mn\r\n");
    ck_assert_str_eq(listen_to(d), "MN\r\n");
    close(b);
    close(c);
    close(d);
    close_gateway();
}
END_TEST

START_TEST(a_port_that_others_have)
{
    config = mc_config_default("");
    open_gateway();
    char why[GATEWAY_WHY];
    struct gateway *other = NULL;
    struct gateway_host host = {.context = &cache, .enter = enter};
    ck_assert_int_eq(gateway_open(&other, base, &config, &host, why), -EADDRINUSE);
    ck_assert_msg(strstr(why, config.listen) != NULL && strstr(why, "in use") != NULL, "%s", why);
    struct mc_config strange = config;
    snprintf(strange.listen, sizeof strange.listen, "192.0.2.1:11211");
    ck_assert_int_eq(gateway_open(&other, base, &strange, &host, why), -EADDRNOTAVAIL);
    close_gateway();
}
END_TEST

START_TEST(who_stops_half_way_is_sent_off)
{
    config = mc_config_default("");
    config.slow = CW_SEC(1);
    config.idle = CW_SEC(3600);
    open_gateway();
    int slow = client(), idle = client();
    tell(slow, "set a 0 0 10\r\nabc");
    for (unsigned i = 0; i < 60 && gateway_clients(gateway) == 2; i++) {
        usleep(100000);
        turn(2);
    }
    ck_assert_str_eq(listen_to(slow), "(hung up)");
    tell(idle, "mn\r\n");
    ck_assert_str_eq(listen_to(idle), "MN\r\n");
    close(slow);
    close(idle);
    close_gateway();
}
END_TEST

START_TEST(who_does_not_read_waits)
{
    config = mc_config_default("");
    open_gateway();
    int fd = client();
    static char value[500001];
    memset(value, 'v', sizeof value - 1);
    tell(fd, "set a 0 0 500000\r\n");
    for (size_t i = 0; i < sizeof value - 1; i += 50000) {
        ck_assert_int_eq(send(fd, value + i, 50000, 0), 50000);
        turn(5);
    }
    tell(fd, "\r\n");
    ck_assert_str_eq(listen_to(fd), "STORED\r\n");
    for (unsigned i = 0; i < 50; i++) {
        tell(fd, "get a\r\n");
    }
    ck_assert_uint_lt(cache.asked, 30); /* the rest has not been read */
    size_t got = 0;
    for (unsigned i = 0; i < 100000 && got < 50 * 500026; i++) {
        ssize_t n = recv(fd, value, sizeof value, MSG_DONTWAIT);
        got += n > 0 ? (size_t)n : 0;
        turn(1);
    }
    ck_assert_uint_eq(got, 50 * (strlen("VALUE a 0 500000\r\n") + 500000 + 2 + 5));
    close(fd);
    close_gateway();
}
END_TEST

START_TEST(closing_leaves_nothing_behind)
{
    config = mc_config_default("");
    open_gateway();
    int fd = client();
    cache.deferred = true;
    tell(fd, "get a b c\r\n");
    gateway_close(gateway); /* and then the cache answers: close_gateway() of others does it the other way round */
    gateway = NULL;
    standin_answer_all(&cache);
    close(fd);
    close_gateway();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(clients_are_served),
                                          SUITE_TEST(an_answer_is_lost),
                                          SUITE_TEST(so_many_and_no_more),
                                          SUITE_TEST(a_port_that_others_have),
                                          SUITE_TEST(who_stops_half_way_is_sent_off),
                                          SUITE_TEST(who_does_not_read_waits),
                                          SUITE_TEST(closing_leaves_nothing_behind)};
SUITE_MAIN("gateway", tests)
