/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mc_load.c - `mc_load ADDRESS PORT get|set CONNECTIONS BYTES MILLISECONDS [KEYS [BEGIN]]`: a closed loop of memcached
 * clients in one thread, each with one request out. Values of 1,000 keys are stored first: of those in the file KEYS,
 * one a line, or of "load:key:0000" and so on. With BEGIN, seconds of the system's clock, none is stored and it begins
 * then, so that several can begin together. Prints requests a second and the median, 95th and 99th percentile of the
 * time to an answer in microseconds. An answer that is not the value asked for, or none for a second, ends it with code
 * 1.
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

enum { KEYS = 1000, KEY_MAX = 64, CONNECTIONS_MAX = 1024, EVENTS = 256, BUCKETS = 1000000, REPLY = 64 * 1024 };

struct client {
    int fd;
    size_t due; /* bytes of the answer that have not come yet */
    bool fresh; /* no byte of the answer has come yet */
    int64_t asked;
};

static struct client client[CONNECTIONS_MAX];
static unsigned bucket[BUCKETS]; /* a histogram of times, 100 ns a bucket */
static char name[KEYS][KEY_MAX + 2];
static unsigned names;
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
    int head = snprintf(request, sizeof request, "set %s 0 0 %zu\r\n", name[key], bytes);
    memcpy(request + head, value, bytes);
    memcpy(request + head + bytes, "\r\n", 2);
    return (size_t)head + bytes + 2;
}

static size_t answer_length(unsigned key)
{
    char head[KEY_MAX + 64];
    if (sets) {
        return strlen("STORED\r\n");
    }
    return (size_t)snprintf(head, sizeof head, "VALUE %s 0 %zu\r\n", name[key], bytes) + bytes + strlen("\r\nEND\r\n");
}

static void ask(struct client *c)
{
    unsigned key = turn++ * 7919u % names;
    size_t length = sets ? write_set(key) : (size_t)snprintf(request, sizeof request, "get %s\r\n", name[key]);
    c->due = answer_length(key);
    c->fresh = true;
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
    must(!c->fresh || reply[0] == (sets ? 'S' : 'V'), "no value, or not stored");
    c->fresh = false;
    c->due -= (size_t)got;
    if (c->due > 0) {
        return false;
    }
    int64_t span = (now_ns() - c->asked) / 100;
    bucket[span < BUCKETS ? span : BUCKETS - 1]++;
    return true;
}

static void store_all(int fd)
{
    for (unsigned i = 0; i < names; i++) {
        size_t length = write_set(i);
        must(send(fd, request, length, 0) == (ssize_t)length, "send");
        must(recv(fd, reply, 8, MSG_WAITALL) == 8, "recv");
        if (memcmp(reply, "STORED\r\n", 8) != 0) {
            ssize_t more = recv(fd, reply + 8, sizeof reply - 8, MSG_DONTWAIT);
            fprintf(stderr, "%s was not stored: %.*s", name[i], 8 + (more > 0 ? (int)more : 0), reply);
            exit(1);
        }
    }
}

static double percentile(uint64_t all, unsigned percent)
{
    uint64_t left = all * percent / 100;
    unsigned at = 0;
    while (at < BUCKETS - 1 && bucket[at] <= left) {
        left -= bucket[at++];
    }
    return at / 10.0;
}

static void read_names(const char *path)
{
    FILE *file = path != NULL ? fopen(path, "re") : NULL;
    must(path == NULL || file != NULL, "the file of keys");
    while (names < KEYS) {
        if (file == NULL) {
            snprintf(name[names], sizeof name[names], "load:key:%04u", names);
        } else if (fgets(name[names], sizeof name[names], file) == NULL) {
            break;
        }
        name[names][strcspn(name[names], "\n")] = '\0';
        names++;
    }
    must(names > 0 && (file == NULL || fclose(file) == 0), "no keys");
}

static void wait_for(double begin)
{
    struct timespec at = {.tv_sec = (time_t)begin};
    at.tv_nsec = (long)((begin - (double)at.tv_sec) * 1e9);
    must(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL) == 0, "sleep");
}

int main(int argc, char **argv)
{
    must(argc >= 7 && argc <= 9, "usage: mc_load ADDRESS PORT get|set CONNECTIONS BYTES MILLISECONDS [KEYS [BEGIN]]");
    read_names(argc > 7 ? argv[7] : NULL);
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
    if (argc == 9) {
        wait_for(atof(argv[8]));
    } else {
        store_all(client[0].fd);
    }
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
    printf("%.0f %.1f %.1f %.1f\n", (double)done * 1e9 / (double)(now_ns() - start), percentile(done, 50),
           percentile(done, 95), percentile(done, 99));
    return 0;
}
