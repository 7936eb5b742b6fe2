/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/multicast.h"

#include "base/bytes.h"
#include "base/words.h"
#include "services/multicast/cast/engine.h"
#include "services/multicast/cast/pattern.h"
#include "services/multicast/file/files.h"
#include "services/multicast/file/progress.h"
#include "services/multicast/group/group.h"
#include "services/multicast/group/to.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct multicast {
    cw_svc *s;
    struct torus torus;
    struct cast_engine *engine;
    struct group_service *group; /* groups, messages of services */
    struct group_to *to;
    struct files *files;
};

static int refuse(cw_request *r, const char *what, const char *word)
{
    char text[200];
    snprintf(text, sizeof text, "%.110s: '%.80s'", what, word);
    cw_request_text(r, "error", text);
    return -EINVAL;
}

static void tell_server(cw_request *r, const char *name, cw_coord c)
{
    char text[TORUS_TEXT];
    torus_format(c, text);
    cw_request_text(r, name, text);
}

/* ---- send --------------------------------------------------------------------------------------------------------- */

/* What a command waits with. */
struct waiting {
    const struct multicast *m;
    cw_request *request;
};

static const char *reason_of(int status)
{
    switch (status) {
    case -ENETUNREACH:
        return "cannot be reached";
    case -ETIMEDOUT:
        return "got no further, or does not answer";
    case -EBADMSG:
        return "has something else than was sent";
    default:
        return strerror(-status);
    }
}

static void report_result(void *context, const struct cast_result *result)
{
    struct waiting *w = context;
    cw_request *r = w->request;
    unsigned has = 0;
    for (unsigned i = 0; i < result->count; i++) {
        has += result->member[i].state == CAST_HAS;
    }
    unsigned __int128 bits = (unsigned __int128)result->bytes * 8 * 1000000000;
    cw_request_int(r, "bytes", (int64_t)result->bytes);
    cw_request_int(r, "members", result->count);
    cw_request_int(r, "complete", has);
    cw_request_int(r, "took_ns", result->took.ns);
    cw_request_int(r, "least_bits_per_s",
                   has > 0 && result->took.ns > 0 ? (int64_t)(bits / (uint64_t)result->took.ns) : 0);
    cw_request_int(r, "repeated", (int64_t)result->repeated);
    for (unsigned i = 0; i < result->count; i++) {
        const struct cast_member *b = &result->member[i];
        if (b->state != CAST_HAS) {
            cw_request_row(r);
            tell_server(r, "incomplete", torus_coord(&w->m->torus, b->server));
            int status = b->state == CAST_WAITING ? result->status : b->status;
            cw_request_int(r, "status", status);
            cw_request_text(r, "reason", reason_of(status));
        }
    }
    cw_request_done(r, result->status);
    free(w);
}

/* Reads "all", servers, or the group that group/to.h has asked for into a set. */
static int read_members(const struct multicast *m, cw_request *r, int argc, const char *const *argv, uint8_t *set)
{
    const uint8_t *group = argc == 1 ? group_to_set(m->to, argv[0]) : NULL;
    if (group != NULL) {
        memcpy(set, group, cast_set_bytes(m->torus.servers));
        return 0;
    }
    bool all = argc == 1 && strcmp(argv[0], "all") == 0;
    for (cw_server i = 0; all && i < m->torus.servers; i++) {
        set[i / 8] |= (uint8_t)(1 << i % 8);
    }
    for (int i = 0; !all && i < argc; i++) {
        cw_coord c;
        if (strcmp(argv[i], "all") == 0) {
            return refuse(r, "all stands alone, without", argv[i == 0 ? 1 : 0]);
        }
        if (torus_parse(&m->torus, argv[i], strlen(argv[i]), &c) < 0) {
            return refuse(r, "not a server of this torus (X,Y,Z, or all)", argv[i]);
        }
        cw_server id = torus_id(&m->torus, c);
        set[id / 8] |= (uint8_t)(1 << id % 8);
    }
    return 0;
}

static int members_of_file(void *context, cw_request *r, int argc, const char *const *argv, uint8_t *set)
{
    return read_members(context, r, argc, argv, set);
}

/* A file's command cannot wait and be run again, as group/to.h does it: the file is passed to it once. It asks by itself. */
static int group_of_file(void *context, const char *text, files_group_fn done, void *arg)
{
    struct multicast *m = context;
    struct group_name name;
    if (!group_plain_name(text) || m->group == NULL) {
        return 1;
    }
    int rc = group_name_make(&name, MULTICAST_JOB, text, strlen(text));
    return rc < 0 ? rc : membership_ask(group_service_groups(m->group), &name, done, arg);
}

static void cancel_of_file(void *context, const void *arg)
{
    struct multicast *m = context;
    membership_cancel(group_service_groups(m->group), arg);
}

/* The source is the engine's when it gives 0. */
static int send_pattern(struct multicast *m, cw_request *r, uint64_t bytes, const uint8_t *set)
{
    struct cast_order order = {.kind = CAST_PATTERN, .bytes = bytes, .members = set, .done = report_result};
    put_be64(order.id, cw_random(m->s));
    put_be64(order.id + 8, cw_random(m->s));
    struct waiting *w = malloc(sizeof *w);
    int rc = w != NULL ? cast_pattern_source(order.id, &order.from) : -ENOMEM;
    if (rc < 0) {
        free(w);
        return rc;
    }
    *w = (struct waiting){m, r};
    order.context = w;
    uint64_t ticket;
    rc = cast_engine_send(m->engine, &order, &ticket);
    if (rc < 0) {
        order.from.close(order.from.context);
        free(w);
    }
    return rc;
}

static int send(struct multicast *m, cw_request *r, int argc, const char *const *argv)
{
    uint64_t bytes;
    if (argc < 4 || strcmp(argv[2], "to") != 0) {
        return refuse(r, "send BYTES to all, or send BYTES to X,Y,Z ..., not", argc >= 4 ? argv[2] : argv[argc - 1]);
    }
    if (words_number(argv[1], 1, UINT64_C(1) << 44, &bytes) < 0) {
        return refuse(r, "BYTES is a whole number from 1 to 2^44, or like 50M; not", argv[1]);
    }
    uint8_t *set = calloc(cast_set_bytes(m->torus.servers), 1);
    if (set == NULL) {
        return -ENOMEM;
    }
    int rc = read_members(m, r, argc - 3, argv + 3, set);
    if (rc == 0) {
        rc = send_pattern(m, r, bytes, set);
        if (rc == -EBUSY) {
            (void)refuse(r, "16 messages are under way here; wait for one to end", argv[1]);
        } else if (rc == -ENETUNREACH || rc == -EINVAL) {
            rc = refuse(r, "no member but the source can be reached", argv[3]);
        } else if (rc == -EMSGSIZE) {
            (void)refuse(r, "the packets here are too small to name all servers", argv[0]);
        }
    }
    free(set);
    return rc < 0 ? rc : 1;
}

/* ---- status ------------------------------------------------------------------------------------------------------- */

static void report_session(cw_request *r, const struct cast_session *c)
{
    char number[20];
    bool member = c->in.accepted;
    const struct cast_receiver *t = &c->in.receiver;
    tell_server(r, "source", torus_coord(c->torus, c->origin));
    snprintf(number, sizeof number, "%016llx", (unsigned long long)c->number);
    cw_request_text(r, "message", number);
    cw_request_text(r, "role", c->source ? "source" : member ? "member" : "forwarder");
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

static int run_command(void *context, cw_request *r, int argc, const char *const *argv)
{
    struct multicast *m = context;
    const char *word = argc >= 1 ? argv[0] : "";
    if (strcmp(word, "send") == 0) {
        return send(m, r, argc, argv);
    }
    if (strncmp(word, "file-", 5) == 0) {
        return files_command(m->files, r, argc, argv);
    }
    if (strcmp(word, "group") == 0) {
        return group_service_command(m->group, r, argc, argv);
    }
    if (argc != 1 || strcmp(word, "status") != 0) {
        return refuse(r, "there are: send BYTES to all|SERVER..., status, file-status, file-stop ID, group ...; not",
                      word);
    }
    const struct cast_session *c = NULL;
    while ((c = cast_engine_each(m->engine, c)) != NULL) {
        if (c != cast_engine_each(m->engine, NULL)) {
            cw_request_row(r);
        }
        report_session(r, c);
    }
    return 0;
}

static int on_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct multicast *m = state;
    (void)s;
    const char *word = argc >= 1 ? argv[0] : "";
    bool own = strcmp(word, "group") == 0 || strncmp(word, "file-", 5) == 0;
    bool named = !own && group_to_named(argc, argv);
    return named ? group_to_ask(m->to, r, argc, argv, run_command, m) : run_command(m, r, argc, argv);
}

/* ---- The service -------------------------------------------------------------------------------------------------- */

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    struct multicast *m = state;
    size_t length;
    const uint8_t *data = cw_packet_data(p, &length);
    (void)s;
    if (rx->port == MULTICAST_PORT_GROUPS) {
        return group_service_packet(m->group, p, rx);
    }
    if (rx->port == FILE_PORT) {
        return files_packet(m->files, data, length, rx) < 0 ? CW_DROP : CW_FORWARD;
    }
    return cast_engine_packet(m->engine, data, length, rx);
}

static void on_event(cw_svc *s, void *state, const cw_event *ev)
{
    struct multicast *m = state;
    (void)s;
    cast_engine_event(m->engine, ev);
    group_service_event(m->group, ev);
}

static cw_packet *next_packet(cw_svc *s, void *state, cw_link link)
{
    struct multicast *m = state;
    (void)s;
    return cast_engine_next(m->engine, link);
}

/* Sinks and sources end with the engine, and need what is theirs until then. */
static void close_all(struct multicast *m)
{
    group_to_close(m->to);
    group_service_stop(m->group);
    cast_engine_close(m->engine);
    files_close(m->files);
    group_service_close(m->group);
}

static int multicast_open(cw_svc *s, void *state)
{
    struct multicast *m = state;
    m->s = s;
    int rc = torus_init(&m->torus, cw_torus(s));
    rc = rc == 0 ? cast_engine_open(&m->engine, s) : rc;
    if (rc == 0) {
        cast_engine_kind(m->engine, CAST_PATTERN, cast_pattern_accept, NULL);
        const struct files_config files = {.s = s,
                                           .engine = m->engine,
                                           .torus = &m->torus,
                                           .members = members_of_file,
                                           .group = group_of_file,
                                           .group_cancel = cancel_of_file,
                                           .context = m};
        rc = files_open(&m->files, &files);
        rc = rc == 0 ? group_service_open(&m->group, s, m->engine) : rc;
        rc = rc == 0 ? group_to_open(&m->to, s, group_service_groups(m->group)) : rc;
    }
    if (rc < 0) {
        close_all(m);
    }
    return rc;
}

static void multicast_close(cw_svc *s, void *state)
{
    (void)s;
    close_all(state);
}

static void on_writable(cw_svc *s, void *state)
{
    struct multicast *m = state;
    (void)s;
    group_service_writable(m->group);
}

/* ---- For other services ------------------------------------------------------------------------------------------- */

static int attach(cw_svc *multicast, cw_svc *user, const cw_multicast_config *config, cw_multicast **out)
{
    struct multicast *m = cw_state(multicast);
    return clients_attach(group_service_clients(m->group), user, config, out);
}

static const cw_multicast_api api = {
    .size = sizeof(cw_multicast_api),
    .open = attach,
    .close = clients_detach,
    .create = clients_create,
    .join = clients_join,
    .leave = clients_leave,
    .listen = clients_listen,
    .ignore = clients_ignore,
    .publish = clients_publish,
    .send = clients_send,
    .members = clients_members,
    .packet_max = clients_packet_max,
};

const cw_service multicast_service = {
    CW_SERVICE_INIT,
    .name = "multicast",
    .version = "1",
    .job = MULTICAST_JOB,
    .state_size = sizeof(struct multicast),
    .open = multicast_open,
    .close = multicast_close,
    .on_packet = on_packet,
    .on_event = on_event,
    .on_command = on_command,
    .on_writable = on_writable,
    .next_packet = next_packet,
    .exports = &api,
    .exports_version = CW_MULTICAST_API,
};
