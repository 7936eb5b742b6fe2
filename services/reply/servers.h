/* SPDX-License-Identifier: Apache-2.0 */
/*
 * servers.h - servers and keys as services address, read and report them.
 *
 * In a command and in a reply a server is written as its coordinate, "x,y,z". Texts are borrowed for the call; nothing
 * is kept.
 */
#ifndef SERVICES_REPLY_SERVERS_H
#define SERVICES_REPLY_SERVERS_H

#include "cubeway/service.h"

/* How many servers a torus of these dimensions has: one more than the largest dense id. */
cw_server servers_of(cw_dims dims);

/* The destination of a packet to a service's instance on `server`, whose process has the same id. */
cw_to to_server(const cw_svc *s, cw_job job, cw_port port, cw_server server);

/* Adds the field `name` with the coordinate to a reply. */
void tell_server(cw_request *r, const char *name, cw_coord server);
/* As tell_server() by dense id; the field is "none" for an id outside the torus. */
void tell_server_id(const cw_svc *s, cw_request *r, const char *name, cw_server server);

/* Reads a server of this torus. Otherwise returns -EINVAL, *out is untouched and refuse_request() has said why. */
CW_MUST_CHECK int read_server(const cw_svc *s, cw_request *r, const char *word, cw_coord *out);

/* The key that a word stands for: 40 hexadecimal digits are the key itself, any other word names one (cw_key_of()). */
cw_key read_key(const cw_svc *s, const char *word);

#endif
