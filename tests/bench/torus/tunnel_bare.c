/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tunnel_bare - what the tunnel is measured against: the least program that does the same between two neighbours. It
 * has a tun, cuts what it reads by the product's own cut into pieces that fill the interface's frames, sends them by a
 * packet socket, joins what comes and writes it to the tun; it has no queues, order, routes or other services.
 *
 *   tunnel_bare DEVICE INTERFACE NUMBER OTHER MTU
 *
 * DEVICE is made with the address 10.96.NUMBER.1 and a route to 10.96.0.0/12; OTHER is the number of the program at the
 * far end. "ready" on standard error says that it runs; SIGTERM ends it, and one JSON object on standard output has the
 * processor time that it took.
 */
#define _GNU_SOURCE /* sendmmsg, recvmmsg */
#include "daemon/listeners/tun_device.h"
#include "services/tunnel/cut.h"
#include "services/tunnel/head.h"
#include "services/tunnel/join.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 32, READS = 16, ETHERTYPE = 0x88b7, ROOM = 9100, QUEUE_BYTES = 4 << 20 };
/* Bytes of the torus' own heads in a frame, which the tunnel's pieces leave free: here, so that pieces are as large. */
enum { TORUS_HEADS = 40 };

static uint8_t out[BATCH][ROOM], in[BATCH][ROOM], packet[TUNNEL_VNET_BYTES + TUNNEL_PACKET_MOST];
static struct mmsghdr outgoing[BATCH], incoming[BATCH];
static struct iovec out_bytes[BATCH], in_bytes[BATCH];
static struct sockaddr_ll far_end;
static struct join join;
static unsigned gathered;
static int tun, wire;
static cw_server own, other;
static uint32_t number, mtu;
/* Of a piece, as an IP packet: what a frame takes, whatever the device's MTU is. */
static size_t room;
static volatile sig_atomic_t ended;

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

static void send_gathered(void)
{
    for (unsigned sent = 0; sent < gathered;) {
        int n = sendmmsg(wire, outgoing + sent, gathered - sent, 0);
        if (n < 0 && errno != EINTR && errno != ENOBUFS) {
            die("sendmmsg");
        }
        sent += n > 0 ? (unsigned)n : 0;
    }
    gathered = 0;
}

/* Cuts one packet, whose pieces go with those of others. */
static void leave(size_t length)
{
    struct ip_packet p;
    struct offload offload;
    struct cut cut;
    uint8_t *ip = packet + TUNNEL_VNET_BYTES;
    if (ip_read(ip, length, &p) != TUNNEL_GOOD || vnet_read(packet, ip, &p, &offload) != TUNNEL_GOOD ||
        cut_begin(&cut, &p, &offload, room) != TUNNEL_GOOD) {
        return;
    }
    for (size_t bytes; (bytes = cut_next_bytes(&cut)) > 0;) {
        struct offload piece;
        uint8_t *frame = out[gathered];
        (void)cut_next(&cut, frame + TUNNEL_HEAD_BYTES, &piece);
        const struct piece_head head = {.kind = piece.partial ? PIECE_PARTIAL : PIECE_PLAIN,
                                        .gso_size = piece.gso_size,
                                        .life = 1,
                                        .number = number++};
        piece_encode(&head, own, other, frame, bytes + TUNNEL_HEAD_BYTES);
        out_bytes[gathered++].iov_len = bytes + TUNNEL_HEAD_BYTES;
        if (gathered == BATCH) {
            send_gathered();
        }
    }
}

static void read_tun(void)
{
    for (unsigned i = 0; i < READS; i++) {
        ssize_t n = read(tun, packet, sizeof packet);
        if (n < TUNNEL_VNET_BYTES) {
            break;
        }
        leave((size_t)n - TUNNEL_VNET_BYTES);
    }
    send_gathered();
}

static void write_joined(void)
{
    struct ip_packet p;
    struct offload offload;
    uint8_t head[TUNNEL_VNET_BYTES];
    static uint8_t whole[TUNNEL_VNET_BYTES + TUNNEL_PACKET_MOST];
    if (join_take(&join, &p, &offload)) {
        vnet_write(&p, &offload, head);
        memcpy(whole, head, sizeof head);
        memcpy(whole + sizeof head, p.bytes, p.length);
        (void)!write(tun, whole, sizeof head + p.length);
    }
}

static void read_wire(void)
{
    int n = recvmmsg(wire, incoming, BATCH, MSG_DONTWAIT, NULL);
    for (int i = 0; i < n; i++) {
        struct piece_head head;
        struct ip_packet p;
        size_t length = incoming[i].msg_len;
        if (piece_decode(in[i], length, other, own, &head) != 0 ||
            ip_read(in[i] + TUNNEL_HEAD_BYTES, length - TUNNEL_HEAD_BYTES, &p) != TUNNEL_GOOD) {
            continue;
        }
        const struct offload offload = {head.kind == PIECE_PARTIAL, head.gso_size};
        if (!offload_fits(&p, &offload)) {
            continue;
        }
        if (!join_add(&join, &p, &offload)) {
            write_joined();
            (void)join_add(&join, &p, &offload);
        }
    }
    write_joined();
}

static void open_wire(const char *interface)
{
    int bytes = QUEUE_BYTES;
    wire = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETHERTYPE));
    far_end = (struct sockaddr_ll){.sll_family = AF_PACKET,
                                   .sll_protocol = htons(ETHERTYPE),
                                   .sll_ifindex = (int)if_nametoindex(interface),
                                   .sll_halen = ETH_ALEN,
                                   .sll_addr = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
    if (wire < 0 || bind(wire, (struct sockaddr *)&far_end, sizeof far_end) < 0) {
        die(interface);
    }
    struct ifreq frame = {.ifr_name = ""};
    snprintf(frame.ifr_name, sizeof frame.ifr_name, "%s", interface);
    if (ioctl(wire, SIOCGIFMTU, &frame) < 0) {
        die(interface);
    }
    room = (size_t)frame.ifr_mtu - TORUS_HEADS - TUNNEL_HEAD_BYTES;
    (void)setsockopt(wire, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
    (void)setsockopt(wire, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes);
    for (unsigned i = 0; i < BATCH; i++) {
        out_bytes[i].iov_base = out[i];
        in_bytes[i] = (struct iovec){in[i], ROOM};
        outgoing[i].msg_hdr = (struct msghdr){
            .msg_name = &far_end, .msg_namelen = sizeof far_end, .msg_iov = &out_bytes[i], .msg_iovlen = 1};
        incoming[i].msg_hdr = (struct msghdr){.msg_iov = &in_bytes[i], .msg_iovlen = 1};
    }
}

static void open_tun(const char *name)
{
    char why[TUN_DEVICE_WHY], text[ADDRESS_TEXT_BYTES];
    enum tun_fault fault;
    struct tun_device device;
    struct tunnel_place place = {.length4 = 12, .mtu = mtu};
    const struct tun_wish wish = {.name = name, .place = &place, .force = true};
    snprintf(text, sizeof text, "10.96.%u.1", own);
    int rc = address_read(text, &place.own4);
    snprintf(text, sizeof text, "fd96:cb:cb:%x::1", own);
    rc = rc < 0 ? rc : address_read(text, &place.own6);
    if (rc < 0 || tun_device_open(&device, &wish, &fault, why) < 0) {
        fprintf(stderr, "%s\n", why);
        exit(EXIT_FAILURE);
    }
    tun = device.fd;
    join.udp = device.udp;
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: tunnel_bare DEVICE INTERFACE NUMBER OTHER MTU\n");
        return 2;
    }
    own = (cw_server)strtoul(argv[3], NULL, 10);
    other = (cw_server)strtoul(argv[4], NULL, 10);
    mtu = (uint32_t)strtoul(argv[5], NULL, 10);
    open_wire(argv[2]);
    open_tun(argv[1]);
    const struct sigaction action = {.sa_handler = on_term};
    (void)sigaction(SIGTERM, &action, NULL);
    fprintf(stderr, "ready\n");
    while (!ended) {
        struct pollfd ready[] = {{tun, POLLIN, 0}, {wire, POLLIN, 0}};
        if (poll(ready, 2, -1) > 0) {
            if (ready[0].revents != 0) {
                read_tun();
            }
            if (ready[1].revents != 0) {
                read_wire();
            }
        }
    }
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    printf("{\"cpu_ns\": %lld}\n", (long long)t.tv_sec * 1000000000 + t.tv_nsec);
    return 0;
}
