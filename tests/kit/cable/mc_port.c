/* SPDX-License-Identifier: Apache-2.0 */
#include "mc_port.h"

#include "suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct mc_port mc_port;

static int run(cw_svc *kvcache, const struct kv_request *r, kv_done_fn done, void *arg)
{
    (void)kvcache;
    ck_assert_uint_eq(r->job, KVCACHE_JOB);
    if (mc_port.keeps < mc_port.keep_most) {
        mc_port.kept[mc_port.keeps].done = done;
        mc_port.kept[mc_port.keeps++].arg = arg;
        return 0;
    }
    return standin_run(&mc_port.cache, r, done, arg);
}

static int enter(void *context, void (*visit)(void *arg, cw_svc *kvcache, const struct kvcache_api *api), void *arg)
{
    static const struct kvcache_api api = {.size = offsetof(struct kvcache_api, flush), .run = run};
    ck_assert_ptr_eq(context, &mc_port.cache);
    if (mc_port.away) {
        return -ENODEV;
    }
    visit(arg, NULL, &api);
    return 0;
}

struct gateway_host mc_port_host(void)
{
    return (struct gateway_host){.context = &mc_port.cache, .enter = enter};
}

void mc_port_open(const struct mc_config *config)
{
    char why[GATEWAY_WHY];
    struct gateway_host host = mc_port_host();
    mc_port = (struct mc_port){.config = *config, .base = event_base_new()};
    standin_open(&mc_port.cache, 16 * 1024 * 1024);
    for (mc_port.port = 20000 + (unsigned)getpid() % 20000;; mc_port.port++) {
        snprintf(mc_port.config.listen, sizeof mc_port.config.listen, "127.0.0.1:%u", mc_port.port);
        int rc = gateway_open(&mc_port.gateway, mc_port.base, &mc_port.config, &host, why);
        if (rc == 0) {
            return;
        }
        ck_assert_msg(rc == -EADDRINUSE, "%s", why);
    }
}

void mc_port_close(void)
{
    gateway_close(mc_port.gateway);
    standin_close(&mc_port.cache);
    event_base_free(mc_port.base);
}

void mc_port_turn(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        event_base_loop(mc_port.base, EVLOOP_NONBLOCK);
    }
}

int mc_port_client(void)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)mc_port.port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    mc_port_turn(3);
    return fd;
}

void mc_port_send(int fd, const void *bytes, size_t length)
{
    ck_assert_int_eq(send(fd, bytes, length, MSG_NOSIGNAL), (ssize_t)length);
    mc_port_turn(5);
}

void mc_port_tell(int fd, const char *text)
{
    mc_port_send(fd, text, strlen(text));
}

ssize_t mc_port_receive(int fd, void *out, size_t room)
{
    mc_port_turn(5);
    return recv(fd, out, room, MSG_DONTWAIT);
}

const char *mc_port_hear(int fd)
{
    static char heard[4096];
    ssize_t got = mc_port_receive(fd, heard, sizeof heard - 1);
    heard[got > 0 ? got : 0] = '\0';
    return got == 0 ? "(hung up)" : heard;
}
