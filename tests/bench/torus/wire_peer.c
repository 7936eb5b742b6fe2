/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_peer - the plain programs that daemons are measured against: sockets and nothing else, in the daemons'
 * namespaces, on the same cables.
 *
 *   blast END bytes=N [ms=N] [rate=N burst=N] [copy=1]
 *                                               frames as fast as they go, or bursts at a rate; copy: waits until a
 *                                               daemon sends a data frame of so many bytes by the interface END, and
 *                                               sends copies of that frame, which its neighbour takes for the daemon's
 *   sink END                                    receives until SIGTERM; SIGUSR1: the longest gap begins anew
 *   echo END [events=1]                         answers until SIGTERM
 *   ping END bytes=N [events=1] [groups=N count=N]
 *                                               one after another; the median of the means of groups
 *   forward INTERFACE INTERFACE                 frames of either go out of the other, until SIGTERM
 *
 * END is an interface (raw frames of an EtherType that no daemon hears) or OWN-ADDRESS@OTHER-ADDRESS (a UDP socket).
 * bytes are those behind the Ethernet header or the UDP header. events: waits in epoll_wait() as a program does that
 * has more than one thing to wait for, else in recv(). What was done is one JSON object on standard output; CPU is the
 * process's own, the kernel's work for it included.
 */
#define _GNU_SOURCE /* sendmmsg, recvmmsg */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
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
    BATCH = 32,              /* as the daemon's */
    DATA_ETHERTYPE = 0x88b5, /* of a daemon's data frames */
    ETHERTYPE = 0x88b7,      /* behind the daemon's two: the peer has cables of its own */
    PORT = 7999,
    ROOM = 9100,
    QUEUE_BYTES = 4 << 20, /* as the raw shim's */
    LOST_AFTER_MS = 200,
};

struct end {
    int fd;
    bool raw;
    struct sockaddr_storage to; /* UDP's other end */
};

static struct mmsghdr messages[BATCH];
static struct iovec vectors[BATCH];
static uint8_t memory[BATCH][ROOM];
static volatile sig_atomic_t ended, marked;
static int64_t begun_ns; /* processor time of starting, which is not reported */

static void die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static void on_term(int signal)
{
    (void)signal;
    ended = 1;
}

static void on_mark(int signal)
{
    (void)signal;
    marked = 1;
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static long cpu_ns(void)
{
    return (long)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun_ns);
}

static void make_room(int fd)
{
    int bytes = QUEUE_BYTES / 2; /* the kernel doubles it */
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0) {
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    }
}

static struct end open_raw(const char *interface)
{
    struct end e = {.fd = socket(AF_PACKET, SOCK_RAW, 0), .raw = true};
    struct sockaddr_ll here = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETHERTYPE), .sll_ifindex = (int)if_nametoindex(interface)};
    int one = 1;
    if (e.fd < 0 || here.sll_ifindex == 0 ||
        setsockopt(e.fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) < 0) {
        die(interface);
    }
    make_room(e.fd);
    if (bind(e.fd, (const struct sockaddr *)&here, sizeof here) < 0) {
        die(interface);
    }
    return e;
}

static struct end open_udp(const char *own, const char *other)
{
    struct end e = {.fd = socket(AF_INET, SOCK_DGRAM, 0)};
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    struct sockaddr_in there = here;
    if (e.fd < 0 || inet_pton(AF_INET, own, &here.sin_addr) != 1 || inet_pton(AF_INET, other, &there.sin_addr) != 1) {
        die(own);
    }
    make_room(e.fd);
    memcpy(&e.to, &there, sizeof there);
    if (bind(e.fd, (const struct sockaddr *)&here, sizeof here) < 0) {
        die(own);
    }
    /* The socket is not connected, so that a destination that is away for a moment does not end the stream. */
    return e;
}

static struct end open_end(char *word)
{
    char *at = strchr(word, '@');
    if (at == NULL) {
        return open_raw(word);
    }
    *at = '\0';
    return open_udp(word, at + 1);
}

static uint64_t option(int argc, char **argv, const char *name, uint64_t otherwise)
{
    size_t length = strlen(name);
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=') {
            return strtoull(argv[i] + length + 1, NULL, 10);
        }
    }
    return otherwise;
}

/* Prepares all messages, each of `bytes` after the header that this program writes itself. */
static void line_up(struct end *e, size_t bytes)
{
    size_t head = e->raw ? ETH_HLEN : 0;
    for (unsigned i = 0; i < BATCH; i++) {
        vectors[i] = (struct iovec){memory[i], bytes + head};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &vectors[i], .msg_iovlen = 1};
        if (e->raw) {
            struct ethhdr *h = (struct ethhdr *)memory[i];
            memset(h->h_dest, 0xff, ETH_ALEN);
            memset(h->h_source, 2, ETH_ALEN);
            h->h_proto = htons(ETHERTYPE);
        } else {
            messages[i].msg_hdr.msg_name = &e->to;
            messages[i].msg_hdr.msg_namelen = sizeof(struct sockaddr_in);
        }
    }
}

static void line_up_to_receive(void)
{
    for (unsigned i = 0; i < BATCH; i++) {
        vectors[i] = (struct iovec){memory[i], ROOM};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &vectors[i], .msg_iovlen = 1};
    }
}

static unsigned send_some(int fd, unsigned count)
{
    int sent = sendmmsg(fd, messages, count, MSG_DONTWAIT);
    if (sent >= 0) {
        return (unsigned)sent;
    }
    if (errno == EAGAIN) {
        struct pollfd one = {fd, POLLOUT, 0};
        poll(&one, 1, 10);
    }
    return 0; /* even after ENETUNREACH and the like: the network may come back */
}

static void wait_until(int64_t at)
{
    struct timespec t = {at / 1000000000, at % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR && !ended) {
    }
}

/* Fills all messages with the next data frame of so many bytes that a daemon sends by the interface. */
static void line_up_copies(const char *interface, size_t bytes)
{
    int fd = socket(AF_PACKET, SOCK_RAW, 0);
    struct sockaddr_ll here = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(interface)};
    ssize_t length = 0;
    if (fd < 0 || bind(fd, (const struct sockaddr *)&here, sizeof here) < 0) {
        die(interface);
    }
    while (!ended) {
        struct sockaddr_ll from;
        socklen_t room = sizeof from;
        length = recvfrom(fd, memory[0], ROOM, 0, (struct sockaddr *)&from, &room);
        if (length == (ssize_t)(bytes + ETH_HLEN) && from.sll_pkttype == PACKET_OUTGOING &&
            ((const struct ethhdr *)memory[0])->h_proto == htons(DATA_ETHERTYPE)) {
            break;
        }
    }
    close(fd);
    for (unsigned i = 1; i < BATCH; i++) {
        memcpy(memory[i], memory[0], bytes + ETH_HLEN);
    }
}

static void blast(struct end *e, int argc, char **argv)
{
    uint64_t bytes = option(argc, argv, "bytes", 64), rate = option(argc, argv, "rate", 0);
    uint64_t burst = option(argc, argv, "burst", BATCH);
    uint64_t sent = 0, offered = 0;
    if (bytes + ETH_HLEN > ROOM || burst > BATCH) {
        errno = EINVAL;
        die("bytes, burst");
    }
    line_up(e, bytes);
    if (option(argc, argv, "copy", 0) != 0) {
        line_up_copies(argv[2], bytes);
    }
    int64_t begin = now_ns(), end = begin + (int64_t)option(argc, argv, "ms", 1000) * 1000000;
    while (!ended && now_ns() < end) {
        if (rate == 0) {
            sent += send_some(e->fd, BATCH);
            continue;
        }
        offered += burst;
        for (unsigned left = (unsigned)burst; left > 0;) {
            unsigned took = send_some(e->fd, left);
            sent += took;
            left = took > 0 ? left - took : 0;
        }
        wait_until(begin + (int64_t)(offered * 1000000000 / rate));
    }
    printf("{\"sent\":%lu,\"seconds\":%.6f,\"cpu_ns\":%ld}\n", (unsigned long)sent, (double)(now_ns() - begin) * 1e-9,
           cpu_ns());
}

static void sink(struct end *e)
{
    uint64_t received = 0;
    int64_t first = 0, last = 0, gap = 0, gap_at = 0;
    struct pollfd one = {e->fd, POLLIN, 0};
    line_up_to_receive();
    while (!ended) {
        if (marked) {
            marked = 0;
            gap = gap_at = 0;
        }
        int count = recvmmsg(e->fd, messages, BATCH, MSG_DONTWAIT, NULL);
        if (count <= 0) {
            poll(&one, 1, 100);
            continue;
        }
        int64_t now = now_ns();
        first = received == 0 ? now : first;
        if (received > 0 && now - last > gap) {
            gap = now - last;
            gap_at = last;
        }
        last = now;
        received += (unsigned)count;
    }
    printf("{\"received\":%lu,\"seconds\":%.6f,\"cpu_ns\":%ld,\"gap_ns\":%ld,\"gap_at_ns\":%ld}\n",
           (unsigned long)received, (double)(last - first) * 1e-9, cpu_ns(), (long)gap, (long)gap_at);
}

/* The descriptor for epoll_wait(); -1: recv() waits. */
static int open_events(const struct end *e, bool wanted)
{
    if (!wanted) {
        return -1;
    }
    struct epoll_event event = {.events = EPOLLIN};
    int events = epoll_create1(0);
    if (events < 0 || epoll_ctl(events, EPOLL_CTL_ADD, e->fd, &event) < 0) {
        die("epoll");
    }
    return events;
}

static ssize_t wait_and_receive(const struct end *e, int events, uint8_t *bytes)
{
    struct epoll_event event;
    if (events >= 0 && epoll_wait(events, &event, 1, LOST_AFTER_MS) <= 0) {
        return -1;
    }
    return recv(e->fd, bytes, ROOM, events >= 0 ? MSG_DONTWAIT : 0);
}

static void echo(struct end *e, int argc, char **argv)
{
    int events = open_events(e, option(argc, argv, "events", 0) != 0);
    while (!ended) {
        ssize_t length = wait_and_receive(e, events, memory[0]);
        if (length <= 0) {
            continue;
        }
        if (e->raw) {
            send(e->fd, memory[0], (size_t)length, 0);
        } else {
            sendto(e->fd, memory[0], (size_t)length, 0, (struct sockaddr *)&e->to, sizeof(struct sockaddr_in));
        }
    }
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void ping(struct end *e, int argc, char **argv)
{
    size_t groups = option(argc, argv, "groups", 20), count = option(argc, argv, "count", 50), lost = 0;
    int64_t *mean = calloc(groups, sizeof *mean);
    struct timeval patience = {0, LOST_AFTER_MS * 1000};
    if (mean == NULL || setsockopt(e->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0) {
        die("ping");
    }
    int events = open_events(e, option(argc, argv, "events", 0) != 0);
    line_up(e, option(argc, argv, "bytes", 64));
    for (size_t g = 0; g < groups; g++) {
        int64_t begin = now_ns();
        for (size_t i = 0; i < count && !ended; i++) {
            if (sendmsg(e->fd, &messages[0].msg_hdr, 0) < 0) {
                die("send");
            }
            lost += wait_and_receive(e, events, memory[1]) <= 0;
        }
        mean[g] = (now_ns() - begin) / (int64_t)count;
    }
    qsort(mean, groups, sizeof *mean, by_value);
    printf("{\"lost\":%lu,\"mean_ns\":%ld}\n", (unsigned long)lost, (long)mean[groups / 2]);
    free(mean);
}

static uint64_t pass_on(int from, int to)
{
    line_up_to_receive();
    int count = recvmmsg(from, messages, BATCH, MSG_DONTWAIT, NULL);
    if (count <= 0) {
        return 0;
    }
    for (int i = 0; i < count; i++) {
        vectors[i].iov_len = messages[i].msg_len;
        messages[i].msg_hdr.msg_name = NULL;
    }
    int sent = sendmmsg(to, messages, (unsigned)count, MSG_DONTWAIT);
    return sent > 0 ? (uint64_t)sent : 0;
}

static void forward(const struct end *a, const struct end *b)
{
    struct pollfd both[2] = {{a->fd, POLLIN, 0}, {b->fd, POLLIN, 0}};
    uint64_t passed = 0;
    while (!ended) {
        if (poll(both, 2, 100) <= 0) {
            continue;
        }
        if (both[0].revents != 0) {
            passed += pass_on(a->fd, b->fd);
        }
        if (both[1].revents != 0) {
            passed += pass_on(b->fd, a->fd);
        }
    }
    printf("{\"passed\":%lu,\"cpu_ns\":%ld}\n", (unsigned long)passed, cpu_ns());
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: wire_peer blast|sink|echo|ping|forward END [END] [name=value..]\n");
        return 2;
    }
    const struct sigaction act = {.sa_handler = on_term};
    const struct sigaction mark = {.sa_handler = on_mark};
    sigaction(SIGTERM, &act, NULL); /* no SA_RESTART: a receive that waits ends */
    sigaction(SIGUSR1, &mark, NULL);
    struct end e = open_end(argv[2]);
    begun_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (strcmp(argv[1], "sink") == 0 || strcmp(argv[1], "echo") == 0 || strcmp(argv[1], "forward") == 0) {
        fprintf(stderr, "ready\n");
    }
    if (strcmp(argv[1], "blast") == 0) {
        blast(&e, argc, argv);
    } else if (strcmp(argv[1], "sink") == 0) {
        sink(&e);
    } else if (strcmp(argv[1], "echo") == 0) {
        echo(&e, argc, argv);
    } else if (strcmp(argv[1], "ping") == 0) {
        ping(&e, argc, argv);
    } else if (strcmp(argv[1], "forward") == 0 && argc > 3) {
        struct end f = open_end(argv[3]);
        forward(&e, &f);
    } else {
        fprintf(stderr, "%s: no such thing to do\n", argv[1]);
        return 2;
    }
    return EXIT_SUCCESS;
}
