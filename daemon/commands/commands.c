/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/commands/commands.h"

#include "base/quantity.h"
#include "base/words.h"
#include "daemon/doctor/doctor.h"
#include "daemon/host/inquiry_host.h"
#include "keyspace/key.h"
#include "services/builtin.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct request_command commands[] = {
    {"status", "", "", "who this server is, and its state", 0, 0, cmd_status},
    {"links", "[LINK]", "", "its six links: state, neighbour, what went over them", 0, 1, cmd_links},
    {"routes", "[SERVER]", "", "links and hops from here to a server, or to all", 0, 1, cmd_routes},
    {"servers", "", "", "every server of the torus as seen from here", 0, 0, cmd_servers},
    {"wiring", "", "all", "which cable should go where, and what is seen", 0, 0, cmd_wiring},
    {"doctor", "", "all", "what is wrong, by cause, and what to do", 0, 0, cmd_doctor},
    {"picture", "", "all", "what a picture of the torus shows: servers, and what links carry", 0, 0, cmd_picture},
    {"events", "", "all follow after_us", "what has happened, in order, and what happens", 0, 0, cmd_events},
    {"key-explain", "KEY", "dead job heirs", "who is responsible for a key, and who would be", 1, 1, cmd_key_explain},
    {"ping", "to SERVER | key KEY | all | far", "count interval_us size timeout_us rows job", "round trips", 1, 20,
     cmd_ping},
    {"trace", "to SERVER | key KEY", "size timeout_us job", "a packet's way, server by server", 2, 2, cmd_trace},
    {"services", "", "", "what runs here", 0, 0, cmd_services},
    {"service-load", "FILE", "name weight background option check", "load a service from a file", 1, 1,
     cmd_service_load},
    {"service-reload", "FILE | NAME", "check undo taken_back", "put a new build in the place of a service", 1, 1,
     cmd_service_reload},
    {"service-unload", "NAME", "", "stop a service", 1, 1, cmd_service_unload},
    {"service-weight", "NAME [WEIGHT]", "background queue_packets queue_bytes drop", "a service's share of the links",
     1, 2, cmd_service_weight},
    {"service-times", "[NAME]", "", "how long calls of services held the server's thread", 0, 1, cmd_service_times},
    {"service", "NAME WORDS..", "", "a command of a service's own", 1, REQUEST_LINE_WORDS, cmd_service},
    {"service-help", "NAME", "", "the commands that a service has of its own", 1, 1, cmd_service_help},
    {"file-send", "SERVERS..|all|GROUP", "name mode keep progress no_wait",
     "the file that came along, to other servers", 1, REQUEST_LINE_WORDS - 8, cmd_file_send},
    {"file-status", "", "members", "files on their way from here, and to here", 0, 0, cmd_file_status},
    {"file-stop", "ID", "", "end a sending of a file", 1, 1, cmd_file_stop},
    {"counters", "", "", "every counter", 0, 0, cmd_counters},
    {"drops", "", "all", "packets dropped, by cause", 0, 0, cmd_drops},
    {"capture", "LINK", "count", "frames of a link as they pass, until cancelled", 1, 1, cmd_capture},
    {"config", "", "", "the configuration in force", 0, 0, cmd_config},
    {"log-level", "[error|warn|info|debug]", "", "how much is logged", 0, 1, cmd_log_level},
    {"relay", "[on|off]", "", "may transit go through the kernel", 0, 1, cmd_relay},
    {"fail", "", "", "take the power from a server of a torus in this process", 0, 0, cmd_fail},
    {"restore", "", "", "give a server that has failed its power back", 0, 0, cmd_restore},
    {"cut", "LINK", "", "pull out a cable of a torus in this process", 1, 1, cmd_cut},
    {"mend", "LINK", "", "put a cable that was pulled out back", 1, 1, cmd_mend},
    {"drain", "", "go force", "may it go, and who inherits its keys; with go, it goes", 0, 0, cmd_drain},
    {"leave", "", "", "leave the cluster in order, and end", 0, 0, cmd_leave},
};

void commands_table(struct host *h, struct request_table *table)
{
    *table = (struct request_table){
        .command = commands,
        .commands = sizeof commands / sizeof *commands,
        .context = h,
    };
}

static void ask_soon(void *context)
{
    host_ask_soon(context);
}

int commands_open(struct control **out, struct host *h, struct request_table *table, char why[static CONTROL_WHY])
{
    const struct daemon_config *config = host_config(h);
    *out = NULL;
    host_set_doctor(h, doctor_look);
    commands_table(h, table);
    if (config->control_socket[0] == '\0') {
        return 0;
    }
    const struct control_config control = {
        .path = config->control_socket,
        .user = config->user,
        .mode = config->control_mode,
        .group = config->control_group,
        .table = table,
        .soon = ask_soon,
        .context = h,
    };
    return control_open(out, host_base(h), &control, why);
}

/* ---- What the commands share ------------------------------------------------------------------------------------- */

static void tell_integer(void *context, const char *name, int64_t value)
{
    request_integer(context, name, value);
}

static void tell_text(void *context, const char *name, const char *text)
{
    request_text(context, name, text);
}

static void end_row(void *context)
{
    request_row(context);
}

struct rows_reader commands_rows(struct request *r)
{
    return (struct rows_reader){r, tell_integer, tell_text, end_row};
}

struct host *commands_host(const struct request *r)
{
    return request_context(r);
}

/* The first server that runs; the count when none does. */
static unsigned first_running(struct host *h)
{
    unsigned i = 0;
    while (i < host_count(h) && host_server(h, i)->node == NULL) {
        i++;
    }
    return i;
}

static bool scope_of(struct request *r, const char *name, struct commands_scope *out)
{
    struct host *h = commands_host(r);
    cw_coord self;
    if (!commands_read_server(r, name, &self)) {
        return false;
    }
    const struct host_server *s = host_find(h, self);
    if (s == NULL) {
        request_refuse(r, -ENOENT, "server %s does not live in this daemon, which is %u,%u,%u%s", name,
                       host_server(h, 0)->self.x, host_server(h, 0)->self.y, host_server(h, 0)->self.z,
                       host_count(h) > 1 ? " and others" : "");
        return false;
    }
    *out = (struct commands_scope){s->index, s->index + 1};
    return true;
}

bool commands_scope(struct request *r, struct commands_scope *out)
{
    struct host *h = commands_host(r);
    const char *name = request_line(r)->server;
    unsigned first = first_running(h);
    if (first == host_count(h)) {
        request_refuse(r, -EAGAIN, "no server runs here yet: it has no place in a torus, or it has failed");
        return false;
    }
    *out = (struct commands_scope){first, name == NULL ? first + 1 : host_count(h)};
    if (name == NULL || strcmp(name, "all") == 0) {
        return true;
    }
    if (!scope_of(r, name, out)) {
        return false;
    }
    if (host_server(h, out->first)->node == NULL) {
        request_refuse(r, -ENODEV, "server %s has failed; \"restore\" brings it back", name);
        return false;
    }
    return true;
}

struct host_server *commands_next(struct request *r, struct commands_scope *scope)
{
    while (scope->first < scope->end) {
        struct host_server *s = host_server(commands_host(r), scope->first++);
        if (s->node != NULL) {
            return s;
        }
    }
    return NULL;
}

struct host_server *commands_hosted(struct request *r)
{
    struct commands_scope scope;
    const char *name = request_line(r)->server;
    if (name == NULL) {
        request_refuse(r, -EINVAL, "say which server: cwctl --server x,y,z, or \"server\" of the request");
        return NULL;
    }
    return scope_of(r, name, &scope) ? host_server(commands_host(r), scope.first) : NULL;
}

struct host_server *commands_server(struct request *r)
{
    struct commands_scope scope;
    if (!commands_scope(r, &scope)) {
        return NULL;
    }
    if (scope.end - scope.first > 1) {
        request_refuse(r, -EINVAL, "%s is asked of one server: name it as x,y,z", request_line(r)->command);
        return NULL;
    }
    return host_server(commands_host(r), scope.first);
}

bool commands_read_server(struct request *r, const char *text, cw_coord *out)
{
    const struct torus *t = host_torus(commands_host(r));
    int rc = torus_parse(t, text, strlen(text), out);
    if (rc < 0) {
        cw_dims d = torus_dims(t);
        request_refuse(r, -EINVAL, "'%.40s' is no server of this torus of %ux%ux%u; one is written x,y,z, as 0,%u,0",
                       text, d.x, d.y, d.z, d.y - 1u);
    }
    return rc == 0;
}

bool commands_read_link(struct request *r, const char *text, cw_link *out)
{
    int rc = quantity_link(text, strlen(text), out);
    if (rc < 0) {
        request_refuse(r, -EINVAL, "'%.40s' is no link; links are +x -x +y -y +z -z", text);
    }
    return rc == 0;
}

/* "x,y,z" or "x,y,z:W". 1: it is, and *out is set; 0: it is something else; -ERANGE: no such key. */
static int read_place(const struct torus *t, const char *text, cw_key *out)
{
    const char *colon = strchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    uint64_t place = 0;
    cw_coord home;
    if (torus_parse(t, text, length, &home) < 0 ||
        (colon != NULL && words_number(colon + 1, 0, UINT64_MAX, &place) < 0)) {
        return 0;
    }
    return key_at(t, torus_id(t, home), place, out) < 0 ? -ERANGE : 1;
}

/* Three numbers are meant as a server, even where there is none. */
static bool looks_like_server(const char *text)
{
    for (unsigned numbers = 1;; numbers++) {
        size_t digits = strspn(text, "0123456789");
        if (digits == 0 || text[digits] != ',') {
            return digits > 0 && numbers == 3 && text[digits] == '\0';
        }
        text += digits + 1;
    }
}

bool commands_read_key(struct request *r, const char *text, cw_job job, cw_key *out)
{
    size_t length = strlen(text);
    if (key_parse(text, length, out) == 0) {
        return true;
    }
    int rc = read_place(host_torus(commands_host(r)), text, out);
    if (rc < 0) {
        request_refuse(r, -ERANGE, "'%.60s': that server has not so many keys", text);
        return false;
    }
    if (rc == 0 && looks_like_server(text)) {
        cw_coord none;
        return commands_read_server(r, text, &none);
    }
    if (rc == 0) {
        *out = key_of_name(job, text, length);
    }
    return true;
}

bool commands_read_job(struct request *r, cw_job *out)
{
    const char *name = "ping";
    int64_t number = 0;
    if (request_line_text(request_line(r), "job", &name) < 0) {
        if (!commands_number(r, "job", 1, UINT32_MAX, &number)) {
            return false;
        }
        *out = (cw_job)number;
        return true;
    }
    const struct host_service *service = host_service_find(commands_host(r), name);
    const cw_service *builtin = builtin_service(name);
    if (service == NULL && builtin == NULL) {
        request_refuse(r, -EINVAL,
                       "no service '%.31s' here whose names the key could be among; cwctl services lists them", name);
        return false;
    }
    *out = service != NULL ? service->table->job : builtin->job;
    return true;
}

bool commands_number(struct request *r, const char *option, int64_t least, int64_t most, int64_t *out)
{
    int rc = request_line_number(request_line(r), option, least, most, out);
    if (rc < 0) {
        request_refuse(r, -EINVAL, "%s: option %s is a whole number from %" PRId64 " to %" PRId64,
                       request_line(r)->command, option, least, most);
    }
    return rc >= 0;
}

bool commands_flag(struct request *r, const char *option, bool *out)
{
    int rc = request_line_flag(request_line(r), option, out);
    if (rc < 0) {
        request_refuse(r, rc, "%s: option %s is true or false", request_line(r)->command, option);
    }
    return rc >= 0;
}
