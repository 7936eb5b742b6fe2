/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mc_host.c - `mc_host ADDRESS:PORT [OPTION=VALUE...]`: the memcached front end on a loop of its own, and behind it a
 * cache of this process alone (kit/fake/kv_standin.h). Says "ready", and ends when its standard input does.
 */
#include "kv_standin.h"
#include "services/kvcache/memcached/gateway.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct standin standin;

static int run(cw_svc *kvcache, const struct kv_request *r, kv_done_fn done, void *arg)
{
    (void)kvcache;
    return standin_run(&standin, r, done, arg);
}

static int flush(cw_svc *kvcache, cw_job job, kv_done_fn done, void *arg)
{
    (void)kvcache, (void)job;
    return standin_flush(&standin, (cw_span){0}, done, arg);
}

static const struct kvcache_api api = {sizeof api, run, flush};

static int enter(void *context, void (*visit)(void *arg, cw_svc *kvcache, const struct kvcache_api *api), void *arg)
{
    struct timespec now;
    (void)context;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    standin.now = (cw_time){(int64_t)now.tv_sec * 1000000000 + now.tv_nsec};
    visit(arg, NULL, &api);
    return 0;
}

static void on_input(evutil_socket_t fd, short what, void *context)
{
    char bytes[256];
    (void)what;
    if (read(fd, bytes, sizeof bytes) <= 0) {
        event_base_loopbreak(context);
    }
}

struct words {
    char **word;
    int count;
};

static const char *option(void *context, const char *name)
{
    const struct words *w = context;
    size_t length = strlen(name);
    for (int i = 0; i < w->count; i++) {
        if (strncmp(w->word[i], name, length) == 0 && w->word[i][length] == '=') {
            return w->word[i] + length + 1;
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct mc_config config;
    char why[GATEWAY_WHY];
    struct gateway *gateway = NULL;
    struct event_base *base = event_base_new();
    struct words words = {argv + 2, argc - 2};
    if (argc < 2 || base == NULL || mc_config_read(&config, argv[1], option, &words, why) < 0) {
        fprintf(stderr, "usage: mc_host ADDRESS:PORT [OPTION=VALUE...]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    standin_open(&standin, 256 * 1024 * 1024);
    if (gateway_open(&gateway, base, &config, &(struct gateway_host){.enter = enter}, why) < 0) {
        fprintf(stderr, "mc_host: %s\n", why);
        return 1;
    }
    struct event *input = event_new(base, STDIN_FILENO, EV_READ | EV_PERSIST, on_input, base);
    if (input == NULL || event_add(input, NULL) < 0) {
        return 1;
    }
    puts("ready");
    fflush(stdout);
    event_base_dispatch(base);
    event_free(input);
    gateway_close(gateway);
    standin_close(&standin);
    event_base_free(base);
    return 0;
}
