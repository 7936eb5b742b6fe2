/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/commands.h"

#include "base/bytes.h"
#include "base/nearest.h"
#include "base/words.h"
#include "services/multicast/cast/pattern.h"
#include "services/multicast/cast/session_table.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEND_BYTES_MOST (UINT64_C(1) << 44)

/* A `send` that waits: first, where it names a group, for the group's members; then for the end of its message. */
struct send_command {
    struct send_command *next;
    struct commands *commands;
    cw_request *request;
    uint64_t bytes;
    char group[GROUP_NAME_MOST + 1];
};

/* ---- The result -------------------------------------------------------------------------------------------------- */

static const char *reason_of(int status)
{
    switch (status) {
    case -ENETUNREACH:
        return "cannot be reached";
    case -ETIMEDOUT:
        return "made no progress, or does not answer";
    case -EBADMSG:
        return "has other bytes than were sent";
    default:
        return strerror(-status);
    }
}

static void report_incomplete(const struct send_command *w, const struct cast_member *m, int ended)
{
    int status = cast_member_result(m, ended);
    cw_request_row(w->request);
    tell_server_id(w->commands->s, w->request, "incomplete", m->server);
    cw_request_int(w->request, "status", status);
    cw_request_text(w->request, "reason", reason_of(status));
}

static void on_sent(void *context, const struct cast_result *result)
{
    struct send_command *w = context;
    cw_request *r = w->request;
    unsigned has = 0;
    for (unsigned i = 0; i < result->count; i++) {
        has += result->member[i].state == CAST_HAS;
    }
    unsigned __int128 bits = (unsigned __int128)result->bytes * 8 * (uint64_t)CW_SEC(1).ns;
    cw_request_int(r, "bytes", (int64_t)result->bytes);
    cw_request_int(r, "members", result->count);
    cw_request_int(r, "complete", has);
    cw_request_int(r, "took_ns", result->took.ns);
    cw_request_int(r, "least_bits_per_s",
                   has > 0 && result->took.ns > 0 ? (int64_t)(bits / (uint64_t)result->took.ns) : 0);
    cw_request_int(r, "repeated", (int64_t)result->repeated);
    for (unsigned i = 0; i < result->count; i++) {
        if (result->member[i].state != CAST_HAS) {
            report_incomplete(w, &result->member[i], result->status);
        }
    }
    cw_request_done(r, result->status);
    free(w);
}

/* ---- send -------------------------------------------------------------------------------------------------------- */

static int send_pattern(struct send_command *w, const uint8_t *set)
{
    struct commands *c = w->commands;
    struct cast_order order = {.kind = CAST_PATTERN, .bytes = w->bytes, .members = set, .done = on_sent, .context = w};
    put_be64(order.id, cw_random(c->s));
    put_be64(order.id + 8, cw_random(c->s));
    uint64_t ticket;
    int rc = cast_pattern_source(order.id, &order.from);
    if (rc < 0) {
        return rc;
    }
    rc = cast_engine_send(c->engine, &order, &ticket);
    if (rc < 0) {
        order.from.close(order.from.context);
    }
    return rc;
}

/* Sends to the set. After an error the reply says why; w is still the caller's. */
static int start(struct send_command *w, const uint8_t *set)
{
    int rc = send_pattern(w, set);
    if (rc == -EBUSY) {
        return refuse_with(w->request, rc, "%d messages are being sent from here; wait until one of them ends",
                           CAST_BUSY_MOST);
    }
    if (rc == -ENETUNREACH || rc == -EINVAL) {
        return refuse_request(w->request, "no member but the source can be reached");
    }
    if (rc == -EMSGSIZE) {
        return refuse_with(w->request, rc, "the packets here are too small to name all servers (mtu)");
    }
    return rc;
}

static int refuse_group(const struct send_command *w, int status)
{
    if (status == -ETIMEDOUT) {
        return refuse_with(w->request, status, "the root of the group '%s' has not answered within %d s", w->group,
                           (int)(GROUP_PATIENCE.ns / CW_SEC(1).ns));
    }
    static const char *const meant[] = {"all", NULL};
    return refuse_with(w->request, status == 0 ? -ENOENT : status, "nobody is in a group '%s'%s", w->group,
                       nearest_word(w->group, meant) != NULL ? "; did you mean all?" : "; a server is written X,Y,Z");
}

static void on_members(void *arg, int status, const uint8_t *set, unsigned count)
{
    struct send_command *w = arg;
    struct send_command **at = &w->commands->asking;
    while (*at != w) {
        at = &(*at)->next;
    }
    *at = w->next;
    int rc = status == 0 && count > 0 ? start(w, set) : refuse_group(w, status);
    if (rc < 0) {
        cw_request_done(w->request, rc);
        free(w);
    }
}

/* Gives 1: the command waits. */
static int send_to(struct send_command *w, int argc, const char *const *argv)
{
    struct commands *c = w->commands;
    uint8_t *set = calloc(cast_set_bytes(c->recipients->torus->servers), 1);
    if (set == NULL) {
        return -ENOMEM;
    }
    int rc = recipients_read(c->recipients, w->request, argc, argv, set, on_members, w);
    if (rc == 1) {
        snprintf(w->group, sizeof w->group, "%s", argv[0]);
        w->next = c->asking;
        c->asking = w;
    }
    rc = rc == 0 ? start(w, set) : rc;
    free(set);
    return rc < 0 ? rc : 1;
}

int commands_send(struct commands *c, cw_request *r, int argc, const char *const *argv)
{
    uint64_t bytes;
    if (argc < 4 || strcmp(argv[2], "to") != 0) {
        return refuse_request(r, "expected: send BYTES to all, to X,Y,Z ..., or to GROUP; not '%.80s'",
                              argc >= 4 ? argv[2] : argv[argc - 1]);
    }
    if (words_number(argv[1], 1, SEND_BYTES_MOST, &bytes) < 0) {
        return refuse_request(r, "BYTES is a whole number from 1 to 2^44, as 50M; not '%.80s'", argv[1]);
    }
    struct send_command *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return -ENOMEM;
    }
    *w = (struct send_command){.commands = c, .request = r, .bytes = bytes};
    int rc = send_to(w, argc - 3, argv + 3);
    if (rc < 0) {
        free(w);
    }
    return rc;
}

void commands_close(struct commands *c)
{
    while (c->asking != NULL) {
        struct send_command *w = c->asking;
        c->asking = w->next;
        recipients_cancel(c->recipients, w);
        cw_request_done(w->request, -ECANCELED);
        free(w);
    }
}

/* ---- status ------------------------------------------------------------------------------------------------------ */

static void report_session(cw_request *r, const struct cast_session *c)
{
    char number[20];
    bool member = c->in.accepted;
    const struct cast_receiver *t = &c->in.receiver;
    tell_server(r, "source", torus_coord(c->torus, c->origin));
    snprintf(number, sizeof number, "%016llx", (unsigned long long)c->number);
    cw_request_text(r, "message", number);
    const char *other = member ? "member" : "forwarder";
    cw_request_text(r, "role", c->source ? "source" : other);
    cw_request_int(r, "bytes", (int64_t)c->cut.bytes);
    cw_request_int(r, "pieces", c->cut.pieces);
    cw_request_int(r, "has", member ? t->count : c->out.made_count);
    cw_request_int(r, "round", c->round);
    cw_request_int(r, "ended", c->ended);
    cw_request_int(r, "status", member ? t->status : 0);
    cw_request_int(r, "took_ns", cw_time_since(c->ended ? c->ended_at : cw_now(c->s), c->began).ns);
    cw_request_int(r, "waits_for", c->out.members.waiting);
    cw_request_int(r, "children", c->edges);
    cw_request_int(r, "repeated", (int64_t)c->repeated);
    cw_request_int(r, "doubled", (int64_t)c->doubled);
    cw_request_int(r, "skipped", (int64_t)c->skipped);
    cw_request_int(r, "memory", (int64_t)cast_session_memory(c));
}

int commands_status(const struct commands *c, cw_request *r)
{
    const struct cast_session *first = cast_engine_each(c->engine, NULL);
    for (const struct cast_session *session = first; session != NULL; session = cast_engine_each(c->engine, session)) {
        if (session != first) {
            cw_request_row(r);
        }
        report_session(r, session);
    }
    return 0;
}
