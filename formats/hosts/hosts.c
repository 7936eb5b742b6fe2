/* SPDX-License-Identifier: Apache-2.0 */
#include "hosts/hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static void put_place(const struct hosts_server *s, const char *domain, FILE *out)
{
    fprintf(out, "%u-%u-%u.%s", s->at.x, s->at.y, s->at.z, domain);
}

static void put_number(const struct hosts_server *s, const char *domain, FILE *out)
{
    fprintf(out, "s%u.%s", s->id, domain);
}

void hosts_write(const struct hosts_server *s, const char *domain, FILE *out)
{
    const char *const address[] = {s->ipv4, s->ipv6};
    for (unsigned i = 0; i < 2; i++) {
        fprintf(out, "%s ", address[i]);
        put_place(s, domain, out);
        putc(' ', out);
        put_number(s, domain, out);
        putc('\n', out);
    }
}

/* ---- Zones ------------------------------------------------------------------------------------------------------- */

int hosts_zone_parse(const char *word, enum hosts_zone *out)
{
    *out = strcmp(word, "unbound") == 0 ? HOSTS_UNBOUND : HOSTS_DNSMASQ;
    return *out == HOSTS_UNBOUND || strcmp(word, "dnsmasq") == 0 ? 0 : -EINVAL;
}

void hosts_zone_begin(enum hosts_zone zone, const char *domain, FILE *out)
{
    if (zone == HOSTS_DNSMASQ) {
        fprintf(out, "local=/%s/\n", domain);
    } else {
        fprintf(out, "server:\n    local-zone: \"%s.\" static\n", domain);
    }
}

/* One name of dnsmasq has both addresses; the first of several names is what addresses lead back to. */
static void write_dnsmasq(const struct hosts_server *s, const char *domain, FILE *out)
{
    fputs("host-record=", out);
    put_place(s, domain, out);
    putc(',', out);
    put_number(s, domain, out);
    fprintf(out, ",%s,%s\n", s->ipv4, s->ipv6);
}

static void write_unbound(const struct hosts_server *s, const char *domain, FILE *out)
{
    static void (*const name[])(const struct hosts_server *s, const char *domain, FILE *out) = {put_place, put_number};
    static const char *const type[] = {"A", "AAAA"};
    const char *const address[] = {s->ipv4, s->ipv6};
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned n = 0; n < 2; n++) {
            fputs("    local-data: \"", out);
            name[n](s, domain, out);
            fprintf(out, ". IN %s %s\"\n", type[i], address[i]);
        }
        fprintf(out, "    local-data-ptr: \"%s ", address[i]);
        put_place(s, domain, out);
        fputs("\"\n", out);
    }
}

void hosts_zone_write(enum hosts_zone zone, const struct hosts_server *s, const char *domain, FILE *out)
{
    (zone == HOSTS_DNSMASQ ? write_dnsmasq : write_unbound)(s, domain, out);
}

/* ---- A block in a file ------------------------------------------------------------------------------------------- */

static bool begins(const struct hosts_block *block, const char *line)
{
    return block->rest ? strncmp(line, block->begin, strlen(block->begin)) == 0 : strcmp(line, block->begin) == 0;
}

int hosts_copy_others(FILE *in, const struct hosts_block *block, FILE *out)
{
    char *line = NULL;
    size_t room = 0;
    bool inside = false;
    errno = 0;
    for (ssize_t length; (length = getline(&line, &room, in)) > 0;) {
        length -= line[length - 1] == '\n';
        line[length] = '\0';
        bool ends = inside && strcmp(line, block->end) == 0;
        inside = (inside || begins(block, line)) && !ends;
        if (!inside && !ends) {
            fwrite(line, 1, (size_t)length, out);
            putc('\n', out);
        }
    }
    int rc = feof(in) ? 0 : errno != 0 ? -errno : -EIO;
    free(line);
    return rc == 0 && inside ? -EILSEQ : rc;
}
