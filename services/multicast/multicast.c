/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multicast.c - the service's table. It only wires: the engine (cast/) moves messages; groups and messages of services
 * (group/), files (file/) and the commands of operators use it.
 */
#include "services/multicast/multicast.h"

#include "services/multicast/cast/engine.h"
#include "services/multicast/cast/pattern.h"
#include "services/multicast/commands.h"
#include "services/multicast/file/files.h"
#include "services/multicast/file/progress.h"
#include "services/multicast/group/group.h"
#include "services/reply/refuse.h"

#include <string.h>

struct multicast {
    cw_svc *s;
    struct torus torus;
    struct cast_engine *engine;
    struct group_service *group;
    struct recipients recipients;
    struct files *files;
    struct commands commands;
};

/* ---- The service's upcalls --------------------------------------------------------------------------------------- */

static int on_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct multicast *m = state;
    (void)s;
    const char *word = argc >= 1 ? argv[0] : "";
    if (strcmp(word, "send") == 0) {
        return commands_send(&m->commands, r, argc, argv);
    }
    if (strcmp(word, "status") == 0 && argc == 1) {
        return commands_status(&m->commands, r);
    }
    if (strncmp(word, "file-", 5) == 0) {
        return files_command(m->files, r, argc, argv);
    }
    if (strcmp(word, "group") == 0) {
        return group_service_command(m->group, r, argc, argv);
    }
    return refuse_request(r,
                          "there are: send BYTES to all|SERVER...|GROUP, status, file-status, file-stop ID, group ...; "
                          "not '%.80s'",
                          word);
}

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

static cw_packet *next_packet(cw_svc *s, void *state, cw_place place, cw_link link)
{
    struct multicast *m = state;
    (void)s;
    (void)place;
    return cast_engine_next(m->engine, link);
}

static void on_writable(cw_svc *s, void *state)
{
    struct multicast *m = state;
    (void)s;
    group_service_writable(m->group);
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

/* The engine's close ends every sink and every source, so what these need is closed only afterwards. */
static void close_all(struct multicast *m)
{
    commands_close(&m->commands);
    group_service_stop(m->group);
    cast_engine_close(m->engine);
    files_close(m->files);
    group_service_close(m->group);
}

static int read_recipients(void *context, cw_request *r, int argc, const char *const *argv, uint8_t *set,
                           files_members_fn done, void *arg)
{
    return recipients_read(context, r, argc, argv, set, done, arg);
}

static void cancel_recipients(void *context, const void *arg)
{
    recipients_cancel(context, arg);
}

static int open_files(struct multicast *m)
{
    const struct files_config config = {.s = m->s,
                                        .engine = m->engine,
                                        .torus = &m->torus,
                                        .read_recipients = read_recipients,
                                        .cancel_recipients = cancel_recipients,
                                        .context = &m->recipients};
    return files_open(&m->files, &config);
}

static int open_all(struct multicast *m)
{
    int rc = torus_init(&m->torus, cw_torus(m->s));
    rc = rc < 0 ? rc : cast_engine_open(&m->engine, m->s);
    if (rc < 0) {
        return rc;
    }
    cast_engine_kind(m->engine, CAST_PATTERN, cast_pattern_accept, NULL);
    rc = open_files(m);
    rc = rc < 0 ? rc : group_service_open(&m->group, m->s, m->engine);
    if (rc < 0) {
        return rc;
    }
    m->recipients = (struct recipients){m->s, &m->torus, group_service_membership(m->group)};
    m->commands = (struct commands){.s = m->s, .engine = m->engine, .recipients = &m->recipients};
    return 0;
}

static int multicast_open(cw_svc *s, void *state)
{
    struct multicast *m = state;
    m->s = s;
    int rc = open_all(m);
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

/* ---- For other services ------------------------------------------------------------------------------------------ */

static int attach(cw_svc *multicast, cw_svc *user, const cw_multicast_config *config, cw_multicast **out)
{
    const struct multicast *m = cw_state(multicast);
    return api_open(group_service_api(m->group), user, config, out);
}

static const cw_multicast_api api = {
    .size = sizeof(cw_multicast_api),
    .open = attach,
    .close = api_close,
    .create = api_create,
    .join = api_join,
    .leave = api_leave,
    .listen = api_listen,
    .ignore = api_ignore,
    .publish = api_publish,
    .send = api_send,
    .members = api_members,
    .packet_max = api_packet_max,
};

static const cw_command words[] = {
    {"send", "BYTES to all|SERVER..|GROUP", "send that many bytes to each of them, and measure"},
    {"status", "", "messages that are on their way through this server"},
    {"file-send", "ticket=N name=NAME [mode=OCTAL] [keep=1] [wait=1] [progress=MS] to all|SERVER..|GROUP",
     "send a file that was passed to the daemon under a ticket"},
    {"file-status", "[members=1]", "files on their way from here, and to here"},
    {"file-stop", "ID", "end a sending of a file"},
    {"group list", "", "the groups that this server knows, and what it is in each"},
    {"group heard", "", "the latest messages of the groups that this server is in"},
    {"group members", "GROUP", "the members of a group"},
    {"group join", "GROUP", "make this server a member of a group"},
    {"group leave", "GROUP", "end that"},
    {"group publish", "GROUP TEXT..", "send a text to all members, each of which acknowledges it"},
    {"group publish-once", "GROUP TEXT..", "send a text to all members in one packet, which may be lost"},
    {NULL, NULL, NULL},
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
    .commands = words,
};
