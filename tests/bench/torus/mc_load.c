/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mc_load.c - `mc_load ADDRESS PORT OP CONNECTIONS BYTES MILLISECONDS [KEYS [BEGIN]]`: a closed loop of clients in one
 * thread, each with one request out. OP is get or set, of memcached; redis:get, redis:set (SET, then WAIT until two
 * replicas have it; redis:put is without the WAIT); etcd:get, etcd:set (the JSON gateway, linearizable). Values of
 * 1,000 keys are stored first: of those in the file KEYS, one a line, or of "load:key:0000" and so on. With BEGIN,
 * seconds of the system's clock, none is stored and it begins then, so that several can begin together. Prints requests
 * a second and the median, 95th and 99th percentile of the time to an answer in microseconds. An answer that is not the
 * one asked for, or none for ten seconds, ends it with code 1.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    KEYS = 1000,
    KEY_MAX = 64,
    CONNECTIONS_MAX = 1024,
    EVENTS = 256,
    BUCKETS = 10000000,
    REPLY = 64 * 1024,
    BYTES_MOST = 4 << 20,
    HEAD = 512,
    PATIENCE_MS = 10000
};

struct client {
    int fd;
    size_t due;        /* bytes of the answer that have not come yet */
    bool fresh;        /* no byte of the answer has come yet */
    size_t came, head; /* of an HTTP answer: its bytes so far, and those that are in `text` */
    char text[HEAD];
    int64_t asked;
};

enum dialect { MEMCACHED, REDIS, ETCD };

static struct client client[CONNECTIONS_MAX];
static unsigned bucket[BUCKETS]; /* a histogram of times, 100 ns a bucket */
static char name[KEYS][KEY_MAX + 2];
static unsigned names;
static char *value, *request;
static size_t request_room;
static char reply[REPLY];
static size_t bytes;
static bool sets, waits;
static enum dialect dialect;
static char *value64; /* in base 64 */
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

static size_t base64(char *out, const char *in, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t at = 0;
    for (size_t i = 0; i < length; i += 3) {
        uint32_t three = 0;
        for (size_t k = 0; k < 3; k++) {
            three = three << 8 | (i + k < length ? (uint8_t)in[i + k] : 0);
        }
        for (size_t k = 0; k < 4; k++) {
            out[at++] = i + k <= length ? digits[three >> (18 - 6 * k) & 63] : '=';
        }
    }
    out[at] = '\0';
    return at;
}

/* The value and what ends it, behind `head` bytes of the request. */
static size_t with_value(int head, const char *end)
{
    memcpy(request + head, value, bytes);
    memcpy(request + head + bytes, end, strlen(end) + 1);
    return (size_t)head + bytes + strlen(end);
}

static size_t write_etcd(unsigned key)
{
    char name64[2 * KEY_MAX];
    base64(name64, name[key], strlen(name[key]));
    const char *path = sets ? "put" : "range", *more = sets ? "\",\"value\":\"" : "";
    size_t body = strlen("{\"key\":\"\"}") + strlen(name64) + strlen(more) + (sets ? strlen(value64) : 0);
    return (size_t)snprintf(request, request_room,
                            "POST /v3/kv/%s HTTP/1.1\r\nHost: etcd\r\nContent-Length: %zu\r\n\r\n{\"key\":\"%s%s%s\"}",
                            path, body, name64, more, sets ? value64 : "");
}

static size_t write_request(unsigned key)
{
    const char *k = name[key];
    if (dialect == ETCD) {
        return write_etcd(key);
    }
    if (dialect == REDIS && sets) {
        int head = snprintf(request, request_room, "*3\r\n$3\r\nSET\r\n$%zu\r\n%s\r\n$%zu\r\n", strlen(k), k, bytes);
        return with_value(head, waits ? "\r\n*3\r\n$4\r\nWAIT\r\n$1\r\n2\r\n$1\r\n0\r\n" : "\r\n");
    }
    if (sets) {
        return with_value(snprintf(request, request_room, "set %s 0 0 %zu\r\n", k, bytes), "\r\n");
    }
    return (size_t)(dialect == REDIS
                        ? snprintf(request, request_room, "*2\r\n$3\r\nGET\r\n$%zu\r\n%s\r\n", strlen(k), k)
                        : snprintf(request, request_room, "get %s\r\n", k));
}

/* What an answer to a write is, apart from etcd's. */
static const char *stored(void)
{
    const char *redis = waits ? "+OK\r\n:2\r\n" : "+OK\r\n";
    return dialect == REDIS ? redis : "STORED\r\n";
}

/* Apart from etcd's. */
static size_t answer_length(unsigned key)
{
    char head[KEY_MAX + 64];
    if (sets) {
        return strlen(stored());
    }
    if (dialect == REDIS) {
        return (size_t)snprintf(head, sizeof head, "$%zu\r\n\r\n", bytes) + bytes;
    }
    return (size_t)snprintf(head, sizeof head, "VALUE %s 0 %zu\r\n", name[key], bytes) + bytes + strlen("\r\nEND\r\n");
}

static void ask_of(struct client *c, unsigned key)
{
    size_t length = write_request(key);
    c->due = answer_length(key);
    c->fresh = true;
    c->came = c->head = 0;
    c->asked = now_ns();
    for (size_t at = 0; at < length;) { /* a long one takes several goes */
        ssize_t sent = send(c->fd, request + at, length - at, MSG_NOSIGNAL);
        must(sent > 0, "send");
        at += (size_t)sent;
    }
}

static void ask(struct client *c)
{
    ask_of(c, turn++ * 7919u % names);
}

/*
 * HTTP: what came is the rest of a head, or of a body that has the length it says, or is in chunks, of which the last
 * is empty. True when all is here.
 */
static bool http_whole(struct client *c, size_t got)
{
    size_t room = sizeof c->text - 1 - c->head, part = got < room ? got : room;
    memcpy(c->text + c->head, reply, part);
    c->text[c->head + part] = '\0';
    c->head += part;
    c->came += got;
    const char *end = strstr(c->text, "\r\n\r\n"), *length = strstr(c->text, "Content-Length: ");
    must(end != NULL || part == got, "a head without an end");
    if (end == NULL) {
        return false;
    }
    must(strncmp(c->text, "HTTP/1.1 200", 12) == 0, "etcd's answer");
    size_t body = c->came - (size_t)(end - c->text) - 4;
    if (length != NULL && length < end) {
        return body >= (size_t)atol(length + strlen("Content-Length: "));
    }
    return got >= 5 && memcmp(reply + got - 5, "0\r\n\r\n", 5) == 0;
}

/* True when an answer is complete. */
static bool hear(struct client *c)
{
    ssize_t got = recv(c->fd, reply, sizeof reply, MSG_DONTWAIT);
    if (got < 0) {
        return false;
    }
    must(got > 0, "the connection was closed");
    if (dialect == ETCD) {
        if (!http_whole(c, (size_t)got)) {
            return false;
        }
        must(sets || c->came > bytes, "no value");
    } else {
        must((size_t)got <= c->due, "an answer of another length");
        must(!c->fresh || reply[0] == (sets ? stored()[0] : "V$"[dialect == REDIS]), "no value, or not stored");
        c->fresh = false;
        c->due -= (size_t)got;
        if (c->due > 0) {
            return false;
        }
        must(dialect != REDIS || !sets || reply[got - 3] == (waits ? '2' : 'K'), "fewer than two replicas have it");
    }
    int64_t span = (now_ns() - c->asked) / 100;
    bucket[span < BUCKETS ? span : BUCKETS - 1]++;
    return true;
}

static void store_all(struct client *c)
{
    for (unsigned i = 0; i < names; i++) {
        ask_of(c, i);
        while (!hear(c)) {
            struct pollfd wait = {.fd = c->fd, .events = POLLIN};
            must(poll(&wait, 1, PATIENCE_MS) == 1, "no answer");
        }
    }
    memset(bucket, 0, sizeof bucket);
}

/* "redis:set" and so on; without a dialect it is memcached's. */
static void read_op(const char *op)
{
    static const char *const dialects[] = {"", "redis:", "etcd:"};
    for (dialect = ETCD; dialect > MEMCACHED && strncmp(op, dialects[dialect], strlen(dialects[dialect])) != 0;) {
        dialect--;
    }
    op += strlen(dialects[dialect]);
    sets = strcmp(op, "get") != 0;
    waits = dialect == REDIS && strcmp(op, "set") == 0;
    must(!sets || strcmp(op, "set") == 0 || (dialect == REDIS && strcmp(op, "put") == 0), "the operation");
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
    must(argc >= 7 && argc <= 9, "usage: mc_load ADDRESS PORT OP CONNECTIONS BYTES MILLISECONDS [KEYS [BEGIN]]");
    read_names(argc > 7 ? argv[7] : NULL);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[2]))};
    unsigned count = (unsigned)atoi(argv[4]);
    int one = 1;
    bytes = (size_t)atoi(argv[5]);
    must(inet_pton(AF_INET, argv[1], &to.sin_addr) == 1 && count >= 1 && count <= CONNECTIONS_MAX &&
             bytes <= BYTES_MOST,
         "arguments");
    value = malloc(bytes + 1);
    must(value != NULL, "memory");
    memset(value, 'v', bytes);
    value64 = malloc(bytes / 3 * 4 + 8);
    must(value64 != NULL, "memory");
    request_room = bytes / 3 * 4 + 1024;
    request = malloc(request_room);
    must(request != NULL, "memory");
    base64(value64, value, bytes);
    int events = epoll_create1(0);
    for (unsigned i = 0; i < count; i++) {
        client[i].fd = socket(AF_INET, SOCK_STREAM, 0);
        must(connect(client[i].fd, (const struct sockaddr *)&to, sizeof to) == 0, "connect");
        setsockopt(client[i].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = &client[i]};
        must(epoll_ctl(events, EPOLL_CTL_ADD, client[i].fd, &e) == 0, "epoll_ctl");
    }
    if (argc == 9) {
        wait_for(atof(argv[8]));
    } else {
        read_op(argv[3]);
        sets = true;
        store_all(&client[0]);
    }
    read_op(argv[3]);
    for (unsigned i = 0; i < count; i++) {
        ask(&client[i]);
    }
    int64_t start = now_ns(), end = start + (int64_t)atoi(argv[6]) * 1000000;
    uint64_t done = 0;
    while (now_ns() < end) {
        struct epoll_event event[EVENTS];
        int n = epoll_wait(events, event, EVENTS, PATIENCE_MS);
        must(n > 0, "no answer for ten seconds");
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
