/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hosts.h - the names of the servers of an IP network: as lines of /etc/hosts, as what two name servers read, and the
 * block of lines in a file that is somebody else's.
 *
 * Server 1,0,2, whose number is 11, is called 1-0-2.cube and s11.cube in the domain "cube". Whether all was written,
 * the caller learns from ferror(out).
 */
#ifndef HOSTS_HOSTS_H
#define HOSTS_HOSTS_H

#include "cubeway/types.h"

#include <stdio.h>

/* The domain of the built-in network; that of another one is the network's name. */
#define HOSTS_DOMAIN "cube"

struct hosts_server {
    cw_coord at;
    cw_server id;
    const char *ipv4, *ipv6; /* borrowed */
};

/* "10.64.11.1 1-0-2.cube s11.cube", and the same for IPv6. */
void hosts_write(const struct hosts_server *s, const char *domain, FILE *out);

enum hosts_zone { HOSTS_DNSMASQ, HOSTS_UNBOUND };

/* "dnsmasq", "unbound". -EINVAL: it is neither. */
CW_MUST_CHECK int hosts_zone_parse(const char *word, enum hosts_zone *out);
/* What stands once before all servers of a zone: nobody else is asked for names of this domain. */
void hosts_zone_begin(enum hosts_zone zone, const char *domain, FILE *out);
/* Names to addresses, and addresses to the name by coordinate. */
void hosts_zone_write(enum hosts_zone zone, const struct hosts_server *s, const char *domain, FILE *out);

/* Lines from one that is `begin` to one that is `end`, both without their newline, and both included. */
struct hosts_block {
    const char *begin, *end; /* borrowed */
    bool rest;               /* what begins with `begin` begins the block, too */
};

/*
 * Copies all lines of `in` but such blocks; every line ends with a newline then. 0; -EILSEQ: a block has no end, and
 * nothing behind its beginning was copied; or -errno of reading.
 */
CW_MUST_CHECK int hosts_copy_others(FILE *in, const struct hosts_block *block, FILE *out);

#endif
