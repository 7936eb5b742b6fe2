/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/address.h"

#include "services/tunnel/limits.h"

#include "base/bytes.h"
#include "base/digest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH4_LEAST = 8, LENGTH4_MOST = 24, LENGTH6 = 48, SERVERS6_MOST = 65536 };

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
        return refuse(why, "'%s' is no IPv4 subnet: write one such as %s", text, ADDRESS_SUBNET);
    }
    if (length < LENGTH4_LEAST || length > LENGTH4_MOST) {
        return refuse(why, "a subnet has a length of /%d to /%d, '%s' has not", LENGTH4_LEAST, LENGTH4_MOST, text);
    }
    uint32_t base = get_be32(a.b);
    if ((base & ~mask4(length)) != 0) {
        char right[ADDRESS_TEXT_BYTES];
        put_be32(a.b, base & mask4(length));
        return refuse(why, "'%s' names a host: the subnet is %s/%u", text, address_text(&a, right), length);
    }
    if (unusable4(base)) {
        return refuse(why, "hosts have no addresses in '%s': write a private subnet such as %s", text, ADDRESS_SUBNET);
    }
    if (length > longest4(plan->servers)) {
        return refuse(why, "'%s' is too small: %u servers with a /24 each need a /%u or shorter", text, plan->servers,
                      longest4(plan->servers));
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
        return refuse(why, "'%s' is no IPv6 subnet with the length /48: write one such as fd12:3456:789a::/48", text);
    }
    if (a.b[0] == 0xff || (a.b[0] == 0xfe && a.b[1] >> 6 == 2) || get_be32(a.b) == 0) {
        return refuse(why, "'%s' is no subnet for servers: write a unique local one such as fd12:3456:789a::/48", text);
    }
    uint64_t low = (uint64_t)get_be16(a.b + 6) << 48 | get_be64(a.b + 8);
    if (low != 0) {
        return refuse(why, "'%s' has bits behind its 48th: they must be zero", text);
    }
    memcpy(plan->prefix6, a.b, sizeof plan->prefix6);
    return 0;
}

int address_plan_make(struct address_plan *plan, const char *subnet4, const char *subnet6, uint32_t cluster, cw_job job,
                      cw_server servers, char why[static ADDRESS_WHY_BYTES])
{
    why[0] = '\0';
    *plan = (struct address_plan){.servers = servers};
    if (servers > SERVERS6_MOST) {
        return refuse(why, "%u servers are more than an IPv6 subnet of /48 has room for", servers);
    }
    /* All servers compute this alike, and nothing in it is a secret. */
    uint64_t hash = digest_of_words((const uint64_t[]){cluster, job}, 2);
    plan->prefix6[0] = 0xfd;
    put_be32(plan->prefix6 + 1, (uint32_t)(hash >> 8));
    plan->prefix6[5] = (uint8_t)hash;
    int rc = make4(plan, subnet4 == NULL ? ADDRESS_SUBNET : subnet4, why);
    return rc < 0 || subnet6 == NULL ? rc : make6(plan, subnet6, why);
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
    return nobody || server >= plan->servers ? CW_SERVER_NONE : server;
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
