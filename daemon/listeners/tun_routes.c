/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/listeners/tun_routes.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

enum { BYTES = 32768, TRIES = 10 };

struct looking {
    const struct tun_routes_place *place;
    struct tun_routes_found *out;
};

size_t tun_routes_bytes(const struct ip_address *a)
{
    return a->version == 4 ? 4 : 16;
}

struct ip_address tun_routes_subnet(const struct ip_address *a, uint8_t length)
{
    struct ip_address subnet = *a;
    for (unsigned bit = length; bit < 8 * tun_routes_bytes(a); bit++) {
        subnet.b[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
    }
    return subnet;
}

static bool same(const struct ip_address *a, const struct ip_address *b, uint8_t length)
{
    const struct ip_address c = tun_routes_subnet(a, length), d = tun_routes_subnet(b, length);
    return memcmp(c.b, d.b, tun_routes_bytes(a)) == 0;
}

/* Has a route to that prefix by that device to do with the network's subnet? */
static bool overlaps(const struct tun_routes_place *place, const struct ip_address *to, uint8_t length, unsigned index)
{
    if (length == 0 || (index != 0 && index == place->index)) {
        return false;
    }
    if (length >= place->each && same(to, &place->own, place->each)) {
        return false;
    }
    return same(to, &place->own, length < place->length ? length : place->length);
}

static int on_attribute(const struct nlattr *a, void *context)
{
    const struct nlattr **table = context;
    if (mnl_attr_type_valid(a, RTA_MAX) > 0) {
        table[mnl_attr_get_type(a)] = a;
    }
    return MNL_CB_OK;
}

/* Local addresses and broadcasts are told of by the routes to their networks. */
static bool is_of_interest(const struct rtmsg *r, const struct ip_address *own)
{
    bool family = r->rtm_family == (own->version == 4 ? AF_INET : AF_INET6);
    return family && r->rtm_type == RTN_UNICAST && (r->rtm_flags & RTM_F_CLONED) == 0;
}

static int on_route(const struct nlmsghdr *m, void *context)
{
    struct looking *l = context;
    const struct rtmsg *r = mnl_nlmsg_get_payload(m);
    const struct ip_address *own = &l->place->own;
    const struct nlattr *table[RTA_MAX + 1] = {NULL};
    struct ip_address to = {.version = own->version};
    if (!is_of_interest(r, own)) {
        return MNL_CB_OK;
    }
    (void)mnl_attr_parse(m, sizeof *r, on_attribute, table);
    const struct nlattr *destination = table[RTA_DST], *device = table[RTA_OIF];
    if (destination == NULL || mnl_attr_get_payload_len(destination) != tun_routes_bytes(own)) {
        return MNL_CB_OK; /* a default route */
    }
    memcpy(to.b, mnl_attr_get_payload(destination), tun_routes_bytes(own));
    unsigned index = device != NULL ? mnl_attr_get_u32(device) : 0;
    char *out = r->rtm_dst_len >= l->place->length ? l->out->inside : l->out->around;
    if (out[0] != '\0' || !overlaps(l->place, &to, r->rtm_dst_len, index)) {
        return MNL_CB_OK;
    }
    char text[ADDRESS_TEXT_BYTES], name[IF_NAMESIZE] = "";
    bool named = index != 0 && if_indextoname(index, name) != NULL;
    snprintf(out, TUN_ROUTES_TEXT, "%s/%u%s%s", address_text(&to, text), r->rtm_dst_len, named ? " by " : "", name);
    return MNL_CB_OK;
}

static int dump(struct mnl_socket *s, struct looking *l)
{
    static const unsigned sequence = 1;
    char bytes[BYTES] = {0};
    struct nlmsghdr *m = mnl_nlmsg_put_header(bytes);
    m->nlmsg_type = RTM_GETROUTE;
    m->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    m->nlmsg_seq = sequence;
    struct rtmsg *r = mnl_nlmsg_put_extra_header(m, sizeof *r);
    r->rtm_family = l->place->own.version == 4 ? AF_INET : AF_INET6;
    if (mnl_socket_bind(s, 0, MNL_SOCKET_AUTOPID) < 0 || mnl_socket_sendto(s, m, m->nlmsg_len) < 0) {
        return -errno;
    }
    int rc = MNL_CB_OK;
    while (rc > MNL_CB_STOP) {
        ssize_t length = mnl_socket_recvfrom(s, bytes, sizeof bytes);
        if (length < 0) {
            return -errno;
        }
        rc = mnl_cb_run(bytes, (size_t)length, sequence, mnl_socket_get_portid(s), on_route, l);
    }
    return rc < 0 ? -errno : 0;
}

int tun_routes_find(const struct tun_routes_place *place, struct tun_routes_found *out)
{
    struct looking l = {.place = place, .out = out};
    int rc = -EINTR;
    for (unsigned i = 0; i < TRIES && rc == -EINTR; i++) {
        struct mnl_socket *s = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC); /* another one may have answers left */
        *out = (struct tun_routes_found){.inside = ""};
        rc = s == NULL ? -errno : dump(s, &l);
        if (s != NULL) {
            mnl_socket_close(s);
        }
    }
    if (rc < 0) {
        *out = (struct tun_routes_found){.inside = ""};
        return rc;
    }
    return out->inside[0] != '\0';
}
