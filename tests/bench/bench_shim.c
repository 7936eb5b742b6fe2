/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_shim.c - frames a second, CPU and round trips of each shim over one veth pair, beside plain raw and UDP sockets
 * that do the same over the same pair in the same run. It makes its own namespaces. Medians of alternating rounds.
 *
 * Throughput: sender and receiver are two processes on two cores; what counts is what arrives. CPU is that of the
 * process, the kernel's work for it included. Round trips: both on one core, blocking in poll(), or on two, asking
 * again and again.
 */
#define _GNU_SOURCE /* sendmmsg, sched_setaffinity */
#include "netns.h"
#include "shim/clock.h"
#include "shim/fault.h"
#include "shim/pair.h"
#include "shim/pcap.h"
#include "shim/raw.h"
#include "shim/udp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MTU = 9000, ROUNDS = 7, HEADER = 14, UDP_HEADERS = 28, RECEIVE_QUEUE = 4 << 20, ROUND_TRIPS_MAX = 1 << 20 };

enum contender { RAW_SHIM, RAW_SOCKET, UDP_SHIM, UDP_SOCKET, PCAP_SHIM, CONTENDERS };
static const char *const names[CONTENDERS] = {"raw shim", "raw socket", "udp shim", "udp socket", "pcap shim"};
/* The plain sockets that each shim is measured against. */
static const enum contender peer_of[CONTENDERS] = {RAW_SOCKET, RAW_SOCKET, UDP_SOCKET, UDP_SOCKET, RAW_SOCKET};

static const uint32_t sizes[] = {100, 1500, 9000};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Between the two processes. */
struct shared {
    _Atomic int ready, stop;
    uint64_t frames;
    int64_t cpu_ns;
};

/* One end: a shim, or a plain socket. */
struct end {
    struct shim *shim;
    int fd;
    struct shim_frame frames[SHIM_BATCH];
    struct iovec vectors[SHIM_BATCH];
    struct mmsghdr messages[SHIM_BATCH];
    uint8_t memory[SHIM_BATCH][64 + MTU + 64];
};

static struct end the_end;

static void die(const char *what)
{
    fprintf(stderr, "bench_shim: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu % (int)sysconf(_SC_NPROCESSORS_ONLN), &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

static int64_t cpu_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int raw_socket(const char *interface)
{
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(PORT_ETHERTYPE), .sll_ifindex = (int)if_nametoindex(interface)};
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    int one = 1;
    if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) < 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        die("raw socket");
    }
    return fd;
}

static int udp_socket(const char *local, const char *remote)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(7001)};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    inet_pton(AF_INET, local, &address.sin_addr);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        die("UDP socket");
    }
    inet_pton(AF_INET, remote, &address.sin_addr);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        die("UDP connect");
    }
    return fd;
}

static void open_end(struct end *e, enum contender who, bool left)
{
    char why[SHIM_WHY_BYTES] = "";
    const struct port_options port = {.interface = left ? "left" : "right"};
    const struct udp_options udp = {.local = left ? "10.77.0.1:7001" : "10.77.0.2:7001",
                                    .remote = left ? "10.77.0.2:7001" : "10.77.0.1:7001"};
    int rc = 0;
    int bytes = RECEIVE_QUEUE / 2;
    e->fd = -1;
    e->shim = NULL;
    switch (who) {
    case RAW_SHIM:
        rc = raw_open(&e->shim, &port, why);
        break;
    case PCAP_SHIM:
        rc = pcap_shim_open(&e->shim, &port, why);
        break;
    case UDP_SHIM:
        rc = udp_open(&e->shim, &udp, why);
        break;
    case RAW_SOCKET:
        e->fd = raw_socket(port.interface);
        break;
    default:
        e->fd = udp_socket(left ? "10.77.0.1" : "10.77.0.2", left ? "10.77.0.2" : "10.77.0.1");
        break;
    }
    if (rc < 0) {
        fprintf(stderr, "bench_shim: %s\n", why);
        exit(EXIT_FAILURE);
    }
    if (e->fd >= 0) {
        (void)setsockopt(e->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
    } else {
        e->fd = shim_data_fd(e->shim);
    }
}

/* Frames of length bytes of the shim's, or for a socket as many with the header that a shim would have written. */
static void line_up(struct end *e, enum contender who, uint32_t length)
{
    static const uint8_t header[HEADER] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};
    for (unsigned i = 0; i < SHIM_BATCH; i++) {
        uint8_t *bytes = e->memory[i] + 64;
        uint32_t before = who == RAW_SOCKET ? HEADER : 0;
        e->frames[i] = (struct shim_frame){.bytes = bytes, .length = length, .room = MTU};
        e->vectors[i] = (struct iovec){bytes - before, length + before};
        e->messages[i].msg_hdr = (struct msghdr){.msg_iov = &e->vectors[i], .msg_iovlen = 1};
        memcpy(bytes - HEADER, header, HEADER);
        memset(bytes, (int)i, length);
    }
}

/* As many as there is room for, up to a batch; waits for some. */
static void send_some(struct end *e, unsigned most)
{
    if (e->shim == NULL) {
        if (sendmmsg(e->fd, e->messages, most, 0) < 0 && errno != ENOBUFS && errno != ECONNREFUSED) {
            die("sendmmsg");
        }
        return;
    }
    unsigned room = shim_room(e->shim);
    if (room == 0 || shim_send(e->shim, e->frames, room < most ? room : most) <= 0) {
        cw_time until;
        struct pollfd one = {.fd = e->fd, .events = POLLOUT};
        if (shim_wait(e->shim, &until) == SHIM_WAIT_WRITABLE) {
            (void)poll(&one, 1, 10);
        }
    }
}

static int receive_some(struct end *e, unsigned most)
{
    if (e->shim != NULL) {
        int got = shim_receive(e->shim, e->frames, most);
        if (got < 0) {
            die("receive");
        }
        return got;
    }
    for (unsigned i = 0; i < most; i++) {
        e->vectors[i] = (struct iovec){e->memory[i], sizeof e->memory[i]};
    }
    int got = recvmmsg(e->fd, e->messages, most, MSG_DONTWAIT, NULL);
    return got < 0 ? 0 : got;
}

static void receive_all(struct shared *s)
{
    struct end *e = &the_end;
    struct pollfd one = {.fd = e->fd, .events = POLLIN};
    int64_t cpu = cpu_now();
    int quiet = 0;
    while (!(atomic_load(&s->stop) && quiet > 2)) {
        int got = receive_some(e, SHIM_BATCH);
        if (got == 0) {
            quiet += poll(&one, 1, 1) == 0;
            continue;
        }
        quiet = 0;
        s->frames += (unsigned)got;
    }
    s->cpu_ns = cpu_now() - cpu;
}

/* Runs body in a child in the other namespace, with its end open; the parent's end is then open too. */
static pid_t start(struct shared *s, enum contender who, uint32_t length, int ns, int cpu,
                   void (*body)(struct shared *))
{
    memset(s, 0, sizeof *s);
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        die("fork");
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        netns_go(ns);
        pin(cpu);
        open_end(&the_end, who, false);
        line_up(&the_end, who, length);
        atomic_store(&s->ready, 1);
        body(s);
        _exit(EXIT_SUCCESS);
    }
    open_end(&the_end, who, true);
    line_up(&the_end, who, length);
    while (!atomic_load(&s->ready)) {
        int status;
        if (waitpid(child, &status, WNOHANG) == child) {
            exit(EXIT_FAILURE);
        }
        sched_yield();
    }
    return child;
}

static void finish(struct shared *s, pid_t child)
{
    int status;
    atomic_store(&s->stop, 1);
    waitpid(child, &status, 0);
    if (the_end.shim != NULL) {
        shim_close(the_end.shim);
    } else {
        close(the_end.fd);
    }
}

struct figure {
    double frames_per_second, tx_us, rx_us;
};

static struct figure blast(struct shared *s, enum contender who, uint32_t length, int ns, cw_span span)
{
    pid_t child = start(s, who, length, ns, 1, receive_all);
    pin(0);
    int64_t cpu = cpu_now();
    cw_time begin = clock_now();
    cw_time end = cw_time_add(begin, span);
    while (cw_time_before(clock_now(), end)) {
        send_some(&the_end, SHIM_BATCH);
    }
    double took = (double)cw_time_since(clock_now(), begin).ns * 1e-9;
    cpu = cpu_now() - cpu;
    finish(s, child);
    double frames = s->frames > 0 ? (double)s->frames : 1;
    return (struct figure){frames / took, (double)cpu * 1e-3 / frames, (double)s->cpu_ns * 1e-3 / frames};
}

static void answer(struct shared *s, bool blocking)
{
    struct pollfd one = {.fd = the_end.fd, .events = POLLIN};
    while (!atomic_load(&s->stop)) {
        if (blocking && poll(&one, 1, 20) <= 0) {
            continue;
        }
        if (receive_some(&the_end, 1) == 1) {
            the_end.vectors[0] = (struct iovec){the_end.shim == NULL ? the_end.memory[0] : the_end.memory[0] + 64,
                                                the_end.messages[0].msg_len};
            send_some(&the_end, 1);
        }
    }
}

static void answer_blocking(struct shared *s)
{
    answer(s, true);
}

static void answer_spinning(struct shared *s)
{
    answer(s, false);
}

/* Microseconds of a round trip. */
static double ping(struct shared *s, enum contender who, uint32_t length, int ns, unsigned trips, bool blocking)
{
    pid_t child = start(s, who, length, ns, blocking ? 0 : 1, blocking ? answer_blocking : answer_spinning);
    struct pollfd one = {.fd = the_end.fd, .events = POLLIN};
    pin(0);
    cw_time begin = clock_now();
    for (unsigned i = 0; i < trips; i++) {
        line_up(&the_end, who, length);
        send_some(&the_end, 1);
        do {
            if (blocking && poll(&one, 1, 1000) <= 0) {
                die("no answer");
            }
        } while (receive_some(&the_end, 1) == 0);
    }
    double us = (double)cw_time_since(clock_now(), begin).ns * 1e-3 / trips;
    finish(s, child);
    return us;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

static uint32_t length_of(enum contender who, uint32_t size)
{
    /* The packet on the cable is no longer than the device's mtu. */
    bool udp = who == UDP_SHIM || who == UDP_SOCKET;
    return udp && size + UDP_HEADERS > MTU ? MTU - UDP_HEADERS : size;
}

/* One figure of each contender at one size: the median of the rounds. */
struct column {
    double of[CONTENDERS][ROUNDS];
    double middle[CONTENDERS];
};

static void column_close(struct column *c, unsigned rounds)
{
    for (enum contender who = 0; who < CONTENDERS; who++) {
        c->middle[who] = median(c->of[who], rounds);
    }
}

static double of_peer(const struct column *c, enum contender who)
{
    return c->middle[who] / c->middle[peer_of[who]];
}

static void throughput(struct shared *s, int ns, unsigned rounds, cw_span span)
{
    printf("%-11s %6s %10s %7s %8s %9s %8s %9s %8s\n", "", "bytes", "frames/s", "Gb/s", "of peer", "tx us/fr",
           "of peer", "rx us/fr", "of peer");
    for (unsigned i = 0; i < SIZES; i++) {
        struct column rate, tx, rx;
        for (unsigned round = 0; round < rounds; round++) {
            for (enum contender who = 0; who < CONTENDERS; who++) {
                struct figure f = blast(s, who, length_of(who, sizes[i]), ns, span);
                rate.of[who][round] = f.frames_per_second;
                tx.of[who][round] = f.tx_us;
                rx.of[who][round] = f.rx_us;
            }
        }
        column_close(&rate, rounds);
        column_close(&tx, rounds);
        column_close(&rx, rounds);
        for (enum contender who = 0; who < CONTENDERS; who++) {
            uint32_t length = length_of(who, sizes[i]);
            printf("%-11s %6u %10.0f %7.2f %8.2f %9.2f %8.2f %9.2f %8.2f\n", names[who], length, rate.middle[who],
                   rate.middle[who] * length * 8e-9, of_peer(&rate, who), tx.middle[who], of_peer(&tx, who),
                   rx.middle[who], of_peer(&rx, who));
        }
    }
}

static void round_trips(struct shared *s, int ns, unsigned rounds, unsigned trips, bool blocking)
{
    printf("\nround trip, %s\n%-11s %6s %10s %8s %8s\n",
           blocking ? "blocking in poll(), one core" : "spinning, two cores", "", "bytes", "us", "of peer", "of UDP");
    for (unsigned i = 0; i < SIZES; i++) {
        struct column us;
        for (unsigned round = 0; round < rounds; round++) {
            for (enum contender who = 0; who < CONTENDERS; who++) {
                us.of[who][round] = ping(s, who, length_of(who, sizes[i]), ns, trips, blocking);
            }
        }
        column_close(&us, rounds);
        for (enum contender who = 0; who < CONTENDERS; who++) {
            printf("%-11s %6u %10.2f %8.2f %8.2f\n", names[who], length_of(who, sizes[i]), us.middle[who],
                   of_peer(&us, who), us.middle[who] / us.middle[UDP_SOCKET]);
        }
    }
}

/* Nanoseconds to move a frame from one end to the other inside a process. */
static double move(struct shim *from, struct shim *to, uint32_t length, unsigned batches)
{
    struct end *e = &the_end;
    cw_time begin = clock_now();
    for (unsigned i = 0; i < batches; i++) {
        for (unsigned j = 0; j < PAIR_DEPTH; j++) {
            e->frames[j].length = length;
        }
        int sent = shim_send(from, e->frames, PAIR_DEPTH);
        int got = shim_receive(to, e->frames, PAIR_DEPTH);
        if (sent != PAIR_DEPTH || got != PAIR_DEPTH) {
            die("a frame was lost in memory");
        }
    }
    return (double)cw_time_since(clock_now(), begin).ns / batches / PAIR_DEPTH;
}

static double copy_twice(uint32_t length, unsigned batches)
{
    struct end *e = &the_end;
    static uint8_t between[PAIR_DEPTH][MTU];
    cw_time begin = clock_now();
    for (unsigned i = 0; i < batches; i++) {
        for (unsigned j = 0; j < PAIR_DEPTH; j++) {
            memcpy(between[j], e->memory[j] + 64, length);
            __asm__ volatile("" : : "r"(between[j]) : "memory");
        }
        for (unsigned j = 0; j < PAIR_DEPTH; j++) {
            memcpy(e->memory[j] + 64, between[j], length);
            __asm__ volatile("" : : "r"(e->memory[j]) : "memory");
        }
    }
    return (double)cw_time_since(clock_now(), begin).ns / batches / PAIR_DEPTH;
}

static void in_memory(unsigned rounds, unsigned batches)
{
    struct shim *pair[2];
    struct shim *inside[2];
    struct shim *fault;
    char why[SHIM_WHY_BYTES];
    const struct fault_options none = {.seed = 1};
    if (pair_open(pair, "memory", MTU, PAIR_DEPTH) < 0 || pair_open(inside, "memory", MTU, PAIR_DEPTH) < 0 ||
        fault_open(&fault, inside[0], &none, 0, NULL, why) < 0) {
        die("pair");
    }
    line_up(&the_end, RAW_SHIM, MTU);
    printf("\ninside one process, ns a frame\n%11s %10s %10s %10s %10s %14s\n", "bytes", "pair", "memcpy x2", "ratio",
           "with fault", "fault/pair");
    for (unsigned i = 0; i < SIZES; i++) {
        double p[ROUNDS], c[ROUNDS], f[ROUNDS];
        for (unsigned round = 0; round < rounds; round++) {
            p[round] = move(pair[0], pair[1], sizes[i], batches);
            c[round] = copy_twice(sizes[i], batches);
            f[round] = move(fault, inside[1], sizes[i], batches);
        }
        double pair_ns = median(p, rounds);
        double copy_ns = median(c, rounds);
        double fault_ns = median(f, rounds);
        printf("%11u %10.1f %10.1f %10.2f %10.1f %14.2f\n", sizes[i], pair_ns, copy_ns, pair_ns / copy_ns, fault_ns,
               fault_ns / pair_ns);
    }
    shim_close(fault);
    shim_close(inside[1]);
    shim_close(pair[0]);
    shim_close(pair[1]);
}

int main(int argc, char **argv)
{
    bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    unsigned rounds = smoke ? 1 : ROUNDS;
    in_memory(rounds, smoke ? 10 : 20000);
    if (!netns_can()) {
        return smoke ? 77 : EXIT_FAILURE;
    }
    struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s == MAP_FAILED) {
        die("mmap");
    }
    netns_enter();
    int here = netns_here();
    netns_enter();
    int there = netns_here();
    netns_go(here);
    netns_veth("left", "right", MTU, there);
    netns_address("left", "10.77.0.1", 24);
    netns_go(there);
    netns_address("right", "10.77.0.2", 24);
    netns_go(here);
    printf("\nover one veth pair, mtu %u, sender and receiver on two cores\n", MTU);
    throughput(s, there, rounds, smoke ? CW_MS(5) : CW_MS(40));
    round_trips(s, there, rounds, smoke ? 20 : 1000, true);
    round_trips(s, there, rounds, smoke ? 20 : 1000, false);
    return EXIT_SUCCESS;
}
