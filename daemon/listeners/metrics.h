/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - numbers for collectors: OpenMetrics 1.0 text over HTTP, GET /metrics (docs/control-protocol.md lists
 * them); for a collector whose Accept names text/plain and not OpenMetrics, Prometheus' text format 0.0.4.
 */
#ifndef DAEMON_LISTENERS_METRICS_H
#define DAEMON_LISTENERS_METRICS_H

#include "daemon/control/request.h"
#include "daemon/host/host.h"

struct metrics;

enum { METRICS_CLIENTS = 16 }; /* at one time; further ones are turned away */

/*
 * Listens where the host's configuration says ("127.0.0.1:9464", "[::1]:9464"; on all addresses only when it says
 * "0.0.0.0:9464"); *out is NULL when it says nowhere. Borrows the host. On -errno, why says what is wrong and what to
 * do.
 */
CW_MUST_CHECK int metrics_open(struct metrics **out, struct host *h, char why[static CONTROL_WHY]);
void metrics_close(struct metrics *metrics); /* NULL is allowed */

/* ---- The text, by itself ----------------------------------------------------------------------------------------- */

/* Where text goes. */
struct metrics_out {
    void (*write)(void *context, const char *text);
    void *context;
    /* Prometheus' text format 0.0.4: a counter's family is called as its samples are; no unit is told, and no end. */
    bool plain;
};
/* All families of all servers of the host, each family in one piece, "# EOF" at the end of OpenMetrics. */
void metrics_write(struct host *h, const struct metrics_out *out);
/* Do these header fields of a request (lines ended by newlines) ask for the text format 0.0.4 and not OpenMetrics? */
bool metrics_wants_plain(const char *fields);
/* Writes text with backslash, quote and newline escaped, as the value of a label needs it; cut to what fits. */
void metrics_escape(const char *text, char *out, size_t room);
/* Reads "host:port" or "[v6]:port"; ":port" and "localhost:port" mean 127.0.0.1. 0 or -EINVAL. */
CW_MUST_CHECK int metrics_address(const char *text, char *host, size_t room, uint16_t *port);

#endif
