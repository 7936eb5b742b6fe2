/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mc_load.c - `mc_load ADDRESS PORT get|set CONNECTIONS BYTES MILLISECONDS`: a closed loop of memcached clients in one thread, each with one request out. Values of 1,000
 * keys are stored first. Prints requests a second and the median, 95th and 99th percentile of the time to an answer in microseconds.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { KEYS = 1000, CONNECTIONS_MAX = 1024, EVENTS = 256, BUCKETS = 100000, REPLY = 64 * 1024 };

struct client {
    int fd;
    size_t due; /* bytes of the answer to come */
    int64_t asked;
};

static struct client client[CONNECTIONS_MAX];
static unsigned bucket[BUCKETS]; /* of 1 us */
static char *value, request[REPLY + 256];
static char reply[REPLY];
static size_t bytes;
static bool sets;
static unsigned turn;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void must(bool good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

static size_t write_set(unsigned key)
{
    int head = snprintf(request, sizeof request, "set load:key:%04u 0 0 %zu\r\n", key, bytes);
    memcpy(request + head, value, bytes);
    memcpy(request + head + bytes, "\r\n", 2);
    return (size_t)head + bytes + 2;
}

static size_t answer_length(void)
{
    char head[64];
    if (sets) {
        return strlen("STORED\r\n");
    }
    return (size_t)snprintf(head, sizeof head, "VALUE load:key:0000 0 %zu\r\n", bytes) + bytes + strlen("\r\nEND\r\n");
}

static void ask(struct client *c)
{
    unsigned key = turn++ * 7919u % KEYS;
    size_t length = sets ? write_set(key) : (size_t)snprintf(request, sizeof request, "get load:key:%04u\r\n", key);
    c->due = answer_length();
    c->asked = now_ns();
    must(send(c->fd, request, length, MSG_NOSIGNAL) == (ssize_t)length, "send");
}

/* True when an answer is complete. */
static bool hear(struct client *c)
{
    ssize_t got = recv(c->fd, reply, sizeof reply, MSG_DONTWAIT);
    if (got < 0) {
        return false;
    }
    must(got > 0 && (size_t)got <= c->due, "an answer of another length");
    c->due -= (size_t)got;
    if (c->due > 0) {
        return false;
    }
    int64_t us = (now_ns() - c->asked) / 1000;
    bucket[us < BUCKETS ? us : BUCKETS - 1]++;
    return true;
}

static void store_all(int fd)
{
    for (unsigned i = 0; i < KEYS; i++) {
        size_t length = write_set(i);
        must(send(fd, request, length, 0) == (ssize_t)length, "send");
        must(recv(fd, reply, 8, MSG_WAITALL) == 8 && memcmp(reply, "STORED\r\n", 8) == 0, "a value was not stored");
    }
}

static unsigned percentile(uint64_t all, unsigned percent)
{
    uint64_t left = all * percent / 100;
    unsigned us = 0;
    while (us < BUCKETS - 1 && bucket[us] <= left) {
        left -= bucket[us++];
    }
    return us;
}

int main(int argc, char **argv)
{
    must(argc == 7, "usage: mc_load ADDRESS PORT get|set CONNECTIONS BYTES MILLISECONDS");
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[2]))};
    unsigned count = (unsigned)atoi(argv[4]);
    int one = 1;
    bytes = (size_t)atoi(argv[5]);
    must(inet_pton(AF_INET, argv[1], &to.sin_addr) == 1 && count >= 1 && count <= CONNECTIONS_MAX && bytes < REPLY / 2,
         "arguments");
    value = malloc(bytes + 1);
    must(value != NULL, "memory");
    memset(value, 'v', bytes);
    int poll = epoll_create1(0);
    for (unsigned i = 0; i < count; i++) {
        client[i].fd = socket(AF_INET, SOCK_STREAM, 0);
        must(connect(client[i].fd, (const struct sockaddr *)&to, sizeof to) == 0, "connect");
        setsockopt(client[i].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = &client[i]};
        must(epoll_ctl(poll, EPOLL_CTL_ADD, client[i].fd, &e) == 0, "epoll_ctl");
    }
    store_all(client[0].fd);
    sets = strcmp(argv[3], "set") == 0;
    for (unsigned i = 0; i < count; i++) {
        ask(&client[i]);
    }
    int64_t start = now_ns(), end = start + (int64_t)atoi(argv[6]) * 1000000;
    uint64_t done = 0;
    while (now_ns() < end) {
        struct epoll_event event[EVENTS];
        int n = epoll_wait(poll, event, EVENTS, 1000);
        must(n > 0, "no answer for a second");
        for (int i = 0; i < n; i++) {
            struct client *c = event[i].data.ptr;
            if (hear(c)) {
                done++;
                ask(c);
            }
        }
    }
    printf("%.0f %u %u %u\n", (double)done * 1e9 / (double)(now_ns() - start), percentile(done, 50),
           percentile(done, 95), percentile(done, 99));
    return 0;
}
