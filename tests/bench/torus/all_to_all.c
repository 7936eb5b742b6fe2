/* SPDX-License-Identifier: Apache-2.0 */
/*
 * all_to_all - one server's part of TCP from all to all: connects to each of the others, and takes what they send.
 *
 *   all_to_all OWN-ADDRESS PORT BEGIN WARM-MS MS BYTES ADDRESS...
 *
 * BEGIN is the second of the system's clock at which all connect. BYTES 0: all send as much as they can, and what came
 * from WARM-MS to WARM-MS + MS after BEGIN is counted. Else each connection carries so many bytes, and what counts is
 * when the last of them was here; it gives up MS after BEGIN. Prints one JSON object: the bytes of each connection that
 * came in, by the address that it came from, the seconds from BEGIN to the last byte, and whether all came. Then it
 * goes on until it is killed.
 */
#define _GNU_SOURCE /* accept4 */
#include <arpa/inet.h>
#include <errno.h>
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

enum { MOST = 600, CHUNK = 1 << 16, EVENTS = 64, WAITING = 1 << 17 };

struct end {
    int fd;
    bool out;             /* ours, to send by */
    struct in_addr other; /* of one that came in */
    uint64_t bytes;
};

static const int64_t LINGER_NS = INT64_C(60) * 1000000000;
static struct end end[2 * MOST];
static unsigned ends, came, whole;
static uint8_t chunk[CHUNK];
static uint64_t wanted;
static int64_t begin_ns, from_ns, until_ns, last_ns;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int must(int rc, const char *what)
{
    if (rc < 0) {
        perror(what);
        exit(EXIT_FAILURE);
    }
    return rc;
}

static struct sockaddr_in address_of(const char *text, unsigned port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, text, &a.sin_addr) != 1) {
        fprintf(stderr, "%s: no address\n", text);
        exit(EXIT_FAILURE);
    }
    return a;
}

static struct end *watch(int epoll, int fd, bool out, uint32_t events)
{
    if (ends == 2 * MOST) {
        fprintf(stderr, "too many connections\n");
        exit(EXIT_FAILURE);
    }
    end[ends] = (struct end){.fd = fd, .out = out};
    struct epoll_event e = {.events = events, .data.u32 = ends++};
    must(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e), "epoll_ctl");
    return &end[e.data.u32];
}

static int listen_at(const char *own, unsigned port)
{
    struct sockaddr_in here = address_of(own, port);
    int one = 1, fd = must(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), "socket");
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    must(bind(fd, (const struct sockaddr *)&here, sizeof here), own);
    must(listen(fd, MOST), "listen");
    return fd;
}

static void connect_to(int epoll, const char *own, const char *other, unsigned port)
{
    struct sockaddr_in here = address_of(own, 0), there = address_of(other, port);
    int waiting = WAITING, fd = must(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), "socket");
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &waiting, sizeof waiting);
    must(bind(fd, (const struct sockaddr *)&here, sizeof here), own);
    if (connect(fd, (const struct sockaddr *)&there, sizeof there) < 0 && errno != EINPROGRESS) {
        must(-1, other);
    }
    watch(epoll, fd, true, EPOLLOUT);
}

/* Sends what the socket takes. Once the last byte is in it, nothing more is to be done. */
static void send_some(int epoll, struct end *e)
{
    size_t most = wanted != 0 && wanted - e->bytes < CHUNK ? (size_t)(wanted - e->bytes) : CHUNK;
    ssize_t sent = most > 0 ? send(e->fd, chunk, most, MSG_NOSIGNAL) : 0;
    bool over = sent < 0 && errno != EAGAIN; /* the other end has gone: what is missing then, its figures show */
    e->bytes += sent > 0 ? (uint64_t)sent : 0;
    if (over || (wanted != 0 && e->bytes == wanted)) {
        must(epoll_ctl(epoll, EPOLL_CTL_DEL, e->fd, NULL), "epoll_ctl");
    }
}

static void take_some(int epoll, struct end *e)
{
    ssize_t took = recv(e->fd, chunk, sizeof chunk, 0);
    if (took == 0 || (took < 0 && errno != EAGAIN)) {
        must(epoll_ctl(epoll, EPOLL_CTL_DEL, e->fd, NULL), "epoll_ctl");
    }
    if (took <= 0) {
        return;
    }
    int64_t now = now_ns();
    e->bytes += now >= from_ns && now < until_ns ? (uint64_t)took : 0;
    last_ns = now;
    whole += wanted != 0 && e->bytes == wanted;
}

static void turn(int epoll, int listener, int64_t limit_ns)
{
    struct epoll_event ready[EVENTS];
    int64_t left = (limit_ns - now_ns()) / 1000000;
    int count = must(epoll_wait(epoll, ready, EVENTS, left > 0 ? (int)left : 0), "epoll_wait");
    for (int i = 0; i < count; i++) {
        struct end *e = &end[ready[i].data.u32];
        if (e->fd == listener) {
            struct sockaddr_in other;
            socklen_t length = sizeof other;
            int fd = accept4(listener, (struct sockaddr *)&other, &length, SOCK_NONBLOCK);
            came += fd >= 0;
            if (fd >= 0) {
                watch(epoll, fd, false, EPOLLIN)->other = other.sin_addr;
            }
        } else if (e->out) {
            send_some(epoll, e);
        } else {
            take_some(epoll, e);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc < 8 || argc - 7 > MOST) {
        fprintf(stderr, "usage: all_to_all OWN-ADDRESS PORT BEGIN WARM-MS MS BYTES ADDRESS...\n");
        return EXIT_FAILURE;
    }
    unsigned port = (unsigned)atoi(argv[2]), others = (unsigned)argc - 7;
    begin_ns = (int64_t)(atof(argv[3]) * 1e9);
    wanted = strtoull(argv[6], NULL, 10);
    from_ns = wanted != 0 ? begin_ns : begin_ns + atoll(argv[4]) * 1000000;
    until_ns = from_ns + atoll(argv[5]) * 1000000;
    int epoll = must(epoll_create1(0), "epoll_create1"), listener = listen_at(argv[1], port);
    watch(epoll, listener, false, EPOLLIN);
    while (now_ns() < begin_ns) {
        usleep(1000);
    }
    for (int i = 7; i < argc; i++) {
        connect_to(epoll, argv[1], argv[i], port);
    }
    while (now_ns() < until_ns && (wanted == 0 || whole < others)) {
        turn(epoll, listener, until_ns);
    }
    printf("{\"received\": {");
    const char *between = "";
    for (unsigned i = 1; i < ends; i++) {
        if (!end[i].out) {
            char other[INET_ADDRSTRLEN];
            inet_ntop(AF_INET, &end[i].other, other, sizeof other);
            printf("%s\"%s\": %llu", between, other, (unsigned long long)end[i].bytes);
            between = ", ";
        }
    }
    printf("}, \"connections\": %u, \"whole\": %s, \"seconds\": %.6f}\n", came, whole == others ? "true" : "false",
           (double)(last_ns - begin_ns) / 1e9);
    fflush(stdout);
    /* Whoever started all of them ends them: others still measure, or have not got all that is in the sockets here. */
    for (until_ns = now_ns() + LINGER_NS; now_ns() < until_ns;) {
        turn(epoll, -1, until_ns);
    }
    return EXIT_SUCCESS;
}
