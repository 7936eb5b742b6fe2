/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/address.h"

#include "services/tunnel/packet/limits.h"

#include "base/bytes.h"
#include "base/digest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH4_LEAST = 8, LENGTH4_MOST = 24, LENGTH6 = 48, SERVERS6_MOST = 65536 };

#define SUBNET6_EXAMPLE "fd12:3456:789a::/48"

__attribute__((format(printf, 2, 3))) static int refuse(char why[static ADDRESS_WHY_BYTES], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, ADDRESS_WHY_BYTES, format, args);
    va_end(args);
    return -EINVAL;
}

static uint32_t mask4(unsigned length)
{
    return UINT32_MAX << (32 - length);
}

/* ---- Making a plan ----------------------------------------------------------------------------------------------- */

/* Splits "ADDRESS/LENGTH". False: the text is not that. */
static bool read_subnet(const char *text, struct ip_address *address, unsigned *length)
{
    char copy[ADDRESS_TEXT_BYTES];
    const char *slash = strchr(text, '/');
    if (slash == NULL || (size_t)(slash - text) >= sizeof copy || slash[1] < '0' || slash[1] > '9') {
        return false;
    }
    memcpy(copy, text, (size_t)(slash - text));
    copy[slash - text] = '\0';
    char *end;
    unsigned long n = strtoul(slash + 1, &end, 10);
    if (*end != '\0' || n > 128 || address_read(copy, address) != 0) {
        return false;
    }
    *length = (unsigned)n;
    return true;
}

/* The longest prefix that leaves a /24 for each of so many servers. */
static unsigned longest4(cw_server servers)
{
    unsigned length = LENGTH4_MOST;
    while (length > 0 && (uint64_t)1 << (LENGTH4_MOST - length) < servers) {
        length--;
    }
    return length;
}

/* Networks in which no host has an address (RFC 6890). */
static bool unusable4(uint32_t base)
{
    uint32_t first = base >> 24;
    return first == 0 || first == 127 || first >= 224;
}

static int make4(struct address_plan *plan, const char *text, char why[static ADDRESS_WHY_BYTES])
{
    struct ip_address a;
    unsigned length;
    if (!read_subnet(text, &a, &length) || a.version != 4) {
        return refuse(why, "an IPv4 subnet, for example %s", ADDRESS_SUBNET);
    }
    if (length < LENGTH4_LEAST || length > LENGTH4_MOST) {
        return refuse(why, "a subnet with a length of /%d to /%d", LENGTH4_LEAST, LENGTH4_MOST);
    }
    uint32_t base = get_be32(a.b);
    if ((base & ~mask4(length)) != 0) {
        char right[ADDRESS_TEXT_BYTES];
        put_be32(a.b, base & mask4(length));
        return refuse(why, "a subnet, and this is a host in it: write %s/%u", address_text(&a, right), length);
    }
    if (unusable4(base)) {
        return refuse(why, "a subnet in which hosts have addresses, for example %s", ADDRESS_SUBNET);
    }
    if (length > longest4(plan->servers)) {
        return refuse(why, "a subnet of /%u or shorter, since %u servers need a /24 each", longest4(plan->servers),
                      plan->servers);
    }
    plan->base4 = base;
    plan->length4 = (uint8_t)length;
    return 0;
}

static int make6(struct address_plan *plan, const char *text, char why[static ADDRESS_WHY_BYTES])
{
    struct ip_address a;
    unsigned length;
    if (!read_subnet(text, &a, &length) || a.version != 6 || length != LENGTH6) {
        return refuse(why, "an IPv6 subnet with the length /48, for example " SUBNET6_EXAMPLE);
    }
    if (a.b[0] == 0xff || (a.b[0] == 0xfe && a.b[1] >> 6 == 2) || get_be32(a.b) == 0) {
        return refuse(why, "a unique local subnet, for example " SUBNET6_EXAMPLE);
    }
    uint64_t low = (uint64_t)get_be16(a.b + 6) << 48 | get_be64(a.b + 8);
    if (low != 0) {
        return refuse(why, "no bits behind the 48th, for example " SUBNET6_EXAMPLE);
    }
    memcpy(plan->prefix6, a.b, sizeof plan->prefix6);
    return 0;
}

static void prefix6_of(struct address_plan *plan, uint32_t cluster, cw_dims dims, cw_job job)
{
    /* All servers compute this alike, and nothing in it is a secret. */
    uint64_t extent = (uint64_t)dims.x << 32 | (uint64_t)dims.y << 16 | dims.z;
    uint64_t hash = digest_of_words((const uint64_t[]){cluster, extent, job}, 3);
    plan->prefix6[0] = 0xfd;
    put_be32(plan->prefix6 + 1, (uint32_t)(hash >> 8));
    plan->prefix6[5] = (uint8_t)hash;
}

/* ---- Members and gateways ---------------------------------------------------------------------------------------- */

static int make_members(struct address_plan *plan, const char *text, char why[static ADDRESS_WHY_BYTES])
{
    if (text != NULL && numbers_read(text, plan->servers, &plan->members) < 0) {
        return refuse(why, "numbers of servers below %u, for example 0-8 12", plan->servers);
    }
    return 0;
}

static int make_gateways(struct address_plan *plan, const char *text, char why[static ADDRESS_WHY_BYTES])
{
    if (text == NULL) {
        return 0;
    }
    if (numbers_read(text, plan->servers, &plan->gateways) < 0 || numbers_count(&plan->gateways) > ADDRESS_GATEWAYS) {
        return refuse(why, "at most %d numbers of servers below %u, for example 0 13", ADDRESS_GATEWAYS, plan->servers);
    }
    for (cw_server s = 0; s < plan->servers; s++) {
        if (numbers_has(&plan->gateways, s) && !address_is_member(plan, s)) {
            return refuse(why, "servers of this network, and %u is none (option servers)", s);
        }
    }
    return 0;
}

static int bad_outside(char why[static ADDRESS_WHY_BYTES])
{
    return refuse(why, "at most %d prefixes with spaces between them, for example %s", ADDRESS_PREFIXES,
                  ADDRESS_OUTSIDE);
}

/* True when the address and the prefix are equal in that many bits. */
static bool in_prefix(const struct ip_address *a, const struct address_prefix *p)
{
    if (a->version != p->base.version || memcmp(a->b, p->base.b, p->length / 8) != 0) {
        return false;
    }
    unsigned rest = p->length % 8;
    return rest == 0 || (a->b[p->length / 8] ^ p->base.b[p->length / 8]) >> (8 - rest) == 0;
}

static int make_outside(struct address_plan *plan, const char *text, char why[static ADDRESS_WHY_BYTES])
{
    static const char between[] = " ,";
    for (text += strspn(text, between); *text != '\0'; text += strspn(text, between)) {
        char one[ADDRESS_TEXT_BYTES + 4];
        size_t length = strcspn(text, between);
        struct address_prefix *p = &plan->prefix[plan->prefixes];
        unsigned bits;
        if (plan->prefixes == ADDRESS_PREFIXES || length >= sizeof one) {
            return bad_outside(why);
        }
        memcpy(one, text, length);
        one[length] = '\0';
        if (!read_subnet(one, &p->base, &bits) || bits > (p->base.version == 4 ? 32 : 128)) {
            return bad_outside(why);
        }
        p->length = (uint8_t)bits;
        plan->prefixes++;
        text += length;
    }
    return plan->prefixes > 0 ? 0 : bad_outside(why);
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

int address_plan_make(struct address_plan *plan, const struct address_wish *wish, enum address_fault *fault,
                      char why[static ADDRESS_WHY_BYTES])
{
    const cw_server servers = (cw_server)wish->dims.x * wish->dims.y * wish->dims.z;
    why[0] = '\0';
    *plan = (struct address_plan){.servers = servers};
    *fault = ADDRESS_OF_TORUS;
    if (servers > SERVERS6_MOST) {
        return refuse(why, "%u servers are more than an IPv6 subnet of /48 has room for", servers);
    }
    prefix6_of(plan, wish->cluster, wish->dims, wish->job);
    *fault = ADDRESS_OF_SUBNET;
    int rc = make4(plan, wish->subnet4 == NULL ? ADDRESS_SUBNET : wish->subnet4, why);
    if (rc == 0 && wish->subnet6 != NULL) {
        *fault = ADDRESS_OF_SUBNET6;
        rc = make6(plan, wish->subnet6, why);
    }
    if (rc == 0) {
        *fault = ADDRESS_OF_SERVERS;
        rc = make_members(plan, wish->servers, why);
    }
    if (rc == 0) {
        *fault = ADDRESS_OF_GATEWAYS;
        rc = make_gateways(plan, wish->gateways, why);
    }
    if (rc == 0 && plan->gateways.ranges > 0) {
        *fault = ADDRESS_OF_OUTSIDE;
        rc = make_outside(plan, wish->outside == NULL ? ADDRESS_OUTSIDE : wish->outside, why);
    }
    return rc;
}

const char *address_fault_option(enum address_fault fault)
{
    static const char *const options[] = {
        [ADDRESS_OF_TORUS] = "",
        [ADDRESS_OF_SUBNET] = "subnet",
        [ADDRESS_OF_SUBNET6] = "subnet6",
        [ADDRESS_OF_SERVERS] = "servers",
        [ADDRESS_OF_GATEWAYS] = "gateway_servers",
        [ADDRESS_OF_OUTSIDE] = "gateway_for",
    };
    return options[fault];
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

bool address_inside(const struct address_plan *plan, const struct ip_address *a)
{
    if (a->version == 4) {
        return (get_be32(a->b) & mask4(plan->length4)) == plan->base4;
    }
    return memcmp(a->b, plan->prefix6, sizeof plan->prefix6) == 0;
}

cw_server address_server(const struct address_plan *plan, const struct ip_address *a)
{
    if (!address_inside(plan, a)) {
        return CW_SERVER_NONE;
    }
    bool nobody = a->version == 4 ? a->b[3] == 0 || a->b[3] == 255 : get_be64(a->b + 8) == 0;
    cw_server server = a->version == 4 ? (get_be32(a->b) - plan->base4) >> 8 : get_be16(a->b + 6);
    return nobody || server >= plan->servers || !address_is_member(plan, server) ? CW_SERVER_NONE : server;
}

bool address_is_member(const struct address_plan *plan, cw_server server)
{
    return plan->members.ranges == 0 || numbers_has(&plan->members, server);
}

bool address_is_gateway(const struct address_plan *plan, cw_server server)
{
    return numbers_has(&plan->gateways, server);
}

/* One of the machine itself, or one that no host has (RFC 6890). */
static bool is_nobodys(const struct ip_address *a)
{
    static const uint8_t loopback[16] = {[15] = 1}, none[16] = {0};
    if (a->version == 4) {
        return unusable4(get_be32(a->b));
    }
    bool link_local = a->b[0] == 0xfe && a->b[1] >> 6 == 2;
    return a->b[0] == 0xff || link_local || memcmp(a->b, loopback, 16) == 0 || memcmp(a->b, none, 16) == 0;
}

bool address_is_outside(const struct address_plan *plan, const struct ip_address *a)
{
    if (address_inside(plan, a) || is_nobodys(a)) {
        return false;
    }
    for (unsigned i = 0; i < plan->prefixes; i++) {
        if (in_prefix(a, &plan->prefix[i])) {
            return true;
        }
    }
    return false;
}

uint8_t address_subnet(const struct address_plan *plan, uint8_t version, struct ip_address *out)
{
    *out = (struct ip_address){.version = version};
    if (version == 4) {
        put_be32(out->b, plan->base4);
        return plan->length4;
    }
    memcpy(out->b, plan->prefix6, sizeof plan->prefix6);
    return LENGTH6;
}

bool address_overlap(const struct address_plan *a, const struct address_plan *b)
{
    uint32_t mask = mask4(a->length4 < b->length4 ? a->length4 : b->length4);
    return ((a->base4 ^ b->base4) & mask) == 0 || memcmp(a->prefix6, b->prefix6, sizeof a->prefix6) == 0;
}

void address_of(const struct address_plan *plan, cw_server server, uint8_t version, struct ip_address *out)
{
    CHECK(server < plan->servers);
    *out = (struct ip_address){.version = version};
    if (version == 4) {
        put_be32(out->b, plan->base4 + (server << 8) + 1);
        return;
    }
    memcpy(out->b, plan->prefix6, sizeof plan->prefix6);
    put_be16(out->b + 6, (uint16_t)server);
    out->b[15] = 1;
}

void address_of_tunnel(const struct address_plan *plan, cw_server server, uint8_t version, struct ip_address *out)
{
    address_of(plan, server, version, out);
    out->b[version == 4 ? 3 : 15] = 0;
}

bool address_is_many(const struct address_plan *plan, const struct ip_address *a)
{
    if (a->version == 6) {
        return a->b[0] == 0xff;
    }
    uint32_t address = get_be32(a->b);
    return address >> 28 == 14 || address == UINT32_MAX || address == (plan->base4 | ~mask4(plan->length4));
}

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

const char *address_text(const struct ip_address *a, char out[static ADDRESS_TEXT_BYTES])
{
    return inet_ntop(a->version == 4 ? AF_INET : AF_INET6, a->b, out, ADDRESS_TEXT_BYTES);
}

int address_read(const char *text, struct ip_address *out)
{
    *out = (struct ip_address){.version = strchr(text, ':') == NULL ? 4 : 6};
    return inet_pton(out->version == 4 ? AF_INET : AF_INET6, text, out->b) == 1 ? 0 : -EINVAL;
}
