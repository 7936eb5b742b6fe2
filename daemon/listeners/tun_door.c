/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/listeners/tun_door.h"

#include "daemon/listeners/tun_device.h"
#include "daemon/machine/log.h"
#include "services/tunnel/neighbour.h"
#include "services/tunnel/packet/limits.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    PACKETS = 16, /* of one turn of the loop */
    TURN_BYTES = 256 * 1024,
    ALONE_LEAST = 2, /* turns in a row that found one packet: so will the next, and no second one is asked for */
    ALONE_LOOK = 8,  /* but of so many the first ALONE_LEAST look for more */
};

struct tun_door {
    struct tun_door *next; /* of another network */
    char network[CONFIG_NAME];
    struct host_server *server;
    int fd;
    char name[IFNAMSIZ];
    struct host_inlet readable;
    struct host_deferred flush;
    struct tunnel_place place;
    struct tunnel_door door;
    int rc;         /* of attach() */
    unsigned alone; /* turns in a row that found one packet */
    /* The device was removed (ip link del): it gives nothing any more, and is not asked. */
    bool gone;
    uint8_t bytes[TUNNEL_VNET_BYTES + ETHER_HEAD + TUNNEL_PACKET_MOST];
};

/* ---- Into the server --------------------------------------------------------------------------------------------- */

static int visit(struct tun_door *d, void (*fn)(void *context, cw_svc *svc, const void *exports))
{
    return host_visit(d->server, d->network, TUNNEL_API_VERSION, fn, d);
}

static void on_place(void *context, cw_svc *svc, const void *exports)
{
    struct tun_door *d = context;
    ((const struct tunnel_api *)exports)->place(svc, &d->place);
}

static void on_attach(void *context, cw_svc *svc, const void *exports)
{
    struct tun_door *d = context;
    d->rc = ((const struct tunnel_api *)exports)->attach(svc, &d->door);
}

static void on_detach(void *context, cw_svc *svc, const void *exports)
{
    (void)context;
    (void)((const struct tunnel_api *)exports)->attach(svc, NULL);
}

static void on_flush(void *context, cw_svc *svc, const void *exports)
{
    (void)context;
    ((const struct tunnel_api *)exports)->flush(svc);
}

/*
 * Without this a device that was removed would be ready for ever, and take all of the processor. A device that is only
 * down stays: it may come up again.
 */
static void lose_device(struct tun_door *d, int error)
{
    d->gone = true;
    host_inlet_close(&d->readable);
    LOG(host_log(d->server->host), CW_LOG_ERROR,
        "the device of the network is gone, and the network with it: restart the daemon to make it anew",
        {"network", d->network}, {"device", d->name}, {"error", strerror(error)});
}

/* One packet with its head; 0: there is none now, or there is none ever again. */
static size_t read_packet(struct tun_door *d)
{
    ssize_t n = d->gone ? 0 : read(d->fd, d->bytes, sizeof d->bytes);
    if (n < 0 && errno != EAGAIN && errno != EINTR && errno != EIO) {
        lose_device(d, errno);
    }
    return n < TUNNEL_VNET_BYTES ? 0 : (size_t)n;
}

static void on_read(void *context, cw_svc *svc, const void *exports)
{
    struct tun_door *d = context;
    const struct tunnel_api *api = exports;
    size_t bytes = 0;
    unsigned most = d->alone % ALONE_LOOK >= ALONE_LEAST ? 1 : PACKETS, i;
    d->rc = api->attach(svc, &d->door); /* the service may have been loaded anew */
    for (i = 0; i < most && bytes < TURN_BYTES; i++) {
        size_t n = read_packet(d);
        if (n == 0) {
            break; /* nothing more is there, or the device is down */
        }
        bytes += n;
        api->read(svc, d->bytes, d->bytes + TUNNEL_VNET_BYTES, n - TUNNEL_VNET_BYTES);
    }
    d->alone = i == 1 ? d->alone + 1 : 0;
    if (d->gone) {
        (void)api->attach(svc, NULL); /* its status says that it has no door */
    }
}

static void on_readable(void *context)
{
    struct tun_door *d = context;
    if (visit(d, on_read) < 0) {
        (void)read_packet(d); /* the service was unloaded: nobody is there */
    }
}

/* ---- What the service asks of its door --------------------------------------------------------------------------- */

static bool write_packet(void *context, const uint8_t *head, const uint8_t *packet, size_t length)
{
    const struct tun_door *d = context;
    uint8_t copy[TUNNEL_VNET_BYTES + ETHER_HEAD];
    size_t bytes = d->door.ethernet ? sizeof copy : TUNNEL_VNET_BYTES;
    memcpy(copy, head, bytes);
    struct iovec parts[] = {{copy, bytes}, {(void *)(uintptr_t)packet, length}};
    return writev(d->fd, parts, 2) == (ssize_t)(length + bytes);
}

static void flush_soon(void *context)
{
    struct tun_door *d = context;
    host_defer(d->server->host, &d->flush);
}

static void flush(void *context)
{
    (void)!visit(context, on_flush);
}

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

static const struct config_service *section_of(const struct host *h, const char *network)
{
    const struct daemon_config *c = host_config(h);
    for (unsigned i = 0; i < c->service_count; i++) {
        if (strcmp(c->service[i].name, network) == 0) {
            return &c->service[i];
        }
    }
    return NULL; /* it was loaded by an operator */
}

/* Makes the device. Otherwise why begins with the line of the option that is at fault. */
static int make_device(struct tun_door *d, struct host *h, const char *name, struct tun_device *out,
                       char why[static HOST_WHY])
{
    const char *force = host_option(h, d->network, "force"), *file = host_config(h)->file;
    const struct config_service *section = section_of(h, d->network);
    const struct tun_wish wish = {.name = name,
                                  .place = &d->place,
                                  .ethernet = d->door.ethernet,
                                  .force = force != NULL && strcmp(force, "yes") == 0,
                                  .netns = host_option(h, d->network, "netns")};
    char problem[TUN_DEVICE_WHY], key[CONFIG_KEY], place[160] = "";
    enum tun_fault fault;
    int rc = tun_device_open(out, &wish, &fault, problem);
    if (rc == 0) {
        if (problem[0] != '\0') {
            LOG(host_log(h), CW_LOG_WARN, "the network overlaps with routes of this machine", {"why", problem});
        }
        return 0;
    }
    if (file[0] != '\0' && section != NULL) {
        bool guessed;
        (void)config_service_key(section, tun_fault_option(fault), key);
        snprintf(place, sizeof place, "%.140s:%u: ", file, config_line(file, key, &guessed));
    }
    snprintf(why, HOST_WHY, "%.159s%.31s: %.318s", place, d->network, problem);
    return rc;
}

static int begin(struct tun_door *d, struct host *h, char why[static HOST_WHY])
{
    const char *name = host_option(h, d->network, "device");
    char four[ADDRESS_TEXT_BYTES], six_text[ADDRESS_TEXT_BYTES];
    struct tun_device device;
    name = name == NULL ? TUNNEL_DEVICE : name;
    if (visit(d, on_place) < 0) {
        snprintf(why, HOST_WHY,
                 "service %s: this server has no place yet, and so no address: configure torus.coordinate", d->network);
        return -EINVAL;
    }
    if (d->place.stranger) {
        LOG(host_log(h), CW_LOG_INFO, "this server is not in the network, and has no device of it",
            {"network", d->network});
        return 0;
    }
    const char *ethernet = host_option(h, d->network, "ethernet");
    d->door.ethernet = ethernet != NULL && strcmp(ethernet, "yes") == 0;
    int rc = make_device(d, h, name, &device, why);
    if (rc < 0) {
        return rc;
    }
    d->fd = device.fd;
    d->door.udp = device.udp;
    snprintf(d->name, sizeof d->name, "%s", name);
    if (host_inlet_open(h, &d->readable, d->fd) < 0 || visit(d, on_attach) < 0 || d->rc < 0) {
        snprintf(why, HOST_WHY, "service %s: out of memory", d->network);
        return -ENOMEM;
    }
    LOG(host_log(h), CW_LOG_INFO, "a network is open", {"network", d->network}, {"device", name},
        {"address", address_text(&d->place.own4, four)},
        {"ipv6", device.six ? address_text(&d->place.own6, six_text) : "switched off on this machine"});
    return 0;
}

/* One more door, in front of those in *out. */
static int open_one(struct tun_door **out, struct host *h, const char *network, char why[static HOST_WHY])
{
    if (host_count(h) != 1) {
        snprintf(why, HOST_WHY, "service %s: a torus inside one process has no devices", network);
        return -EINVAL;
    }
    struct tun_door *d = calloc(1, sizeof *d);
    if (d == NULL) {
        snprintf(why, HOST_WHY, "out of memory");
        return -ENOMEM;
    }
    d->server = host_server(h, 0);
    d->fd = -1;
    snprintf(d->network, sizeof d->network, "%s", network);
    d->readable = (struct host_inlet){.fn = on_readable, .context = d};
    d->flush = (struct host_deferred){.fn = flush, .context = d};
    d->door = (struct tunnel_door){.write = write_packet, .flush_soon = flush_soon, .context = d};
    d->next = *out;
    *out = d;
    return begin(d, h, why);
}

int tun_door_open(struct tun_door **out, struct host *h, char why[static HOST_WHY])
{
    int rc = 0;
    *out = NULL;
    for (unsigned i = 0; i < host_service_count(h) && rc == 0; i++) {
        const cw_service *table = host_service_at(h, i)->table;
        if (table->exports == tunnel_service.exports) {
            rc = open_one(out, h, table->name, why);
        }
    }
    if (rc < 0) {
        tun_door_close(*out);
        *out = NULL;
    }
    return rc;
}

static void close_one(struct tun_door *d)
{
    (void)!visit(d, on_detach);
    host_undefer(&d->flush);
    host_inlet_close(&d->readable);
    if (d->fd >= 0) {
        close(d->fd);
    }
    free(d);
}

void tun_door_close(struct tun_door *d)
{
    while (d != NULL) {
        struct tun_door *next = d->next;
        close_one(d);
        d = next;
    }
}
