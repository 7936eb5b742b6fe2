/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_service.c - services: what runs, what comes and goes, and what they are asked themselves.
 */
#include "daemon/commands/commands.h"

#include "base/nearest.h"
#include "keyspace/key.h"
#include "nmu/nmu.h"
#include "services/builtin.h"
#include "services/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WEIGHT_MAX = 1000, DROP_WORDS = 3, JOB_NAME = 64 };

static const char *const drop_words[DROP_WORDS] = {
    [NODE_DROP_TAIL] = "tail", [NODE_DROP_OLDEST] = "oldest", [NODE_DROP_PRIORITY] = "priority"};

/* A built-in service that runs unless it is switched off. */
static bool runs_unasked(const char *name)
{
    size_t count;
    const cw_service *const *builtin = builtin_services(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(builtin[i]->name, name) == 0) {
            return true;
        }
    }
    return false;
}

static const char *service_nth(const void *context, size_t i)
{
    return host_service_at(context, (unsigned)i)->table->name;
}

static const char *builtin_nth(const void *context, size_t i)
{
    return ((const cw_service *const *)context)[i]->name;
}

void commands_refuse_service(struct request *r, const char *name)
{
    const struct host *h = commands_host(r);
    const char *near = nearest_name(name, strlen(name), service_nth, h, host_service_count(h));
    if (near == NULL) {
        size_t count;
        const cw_service *const *builtin = builtin_all(&count);
        near = nearest_name(name, strlen(name), builtin_nth, builtin, count);
    }
    if (builtin_service(name) != NULL && !runs_unasked(name)) {
        request_refuse(r, -ENOENT,
                       "service '%.31s' is switched off here: to switch it on, give the daemon's configuration a "
                       "section service %.31s { }, and restart the daemon",
                       name, name);
    } else if (runs_unasked(name)) {
        request_refuse(r, -ENOENT,
                       "no service '%.31s' runs here: it was unloaded or switched off, and starts with the daemon; "
                       "cwctl services lists those that do",
                       name);
    } else if (near != NULL) {
        request_refuse(r, -EINVAL, "no service '%.31s' runs here; did you mean %s?", name, near);
    } else {
        request_refuse(r, -EINVAL, "no service '%.31s' runs here; cwctl services lists those that do", name);
    }
}

/* ---- What runs --------------------------------------------------------------------------------------------------- */

static void tell_service(struct request *r, const struct host *h, const struct node_service_info *info, cw_time now)
{
    char options[CONTROL_WHY];
    const struct host_service *service = host_service_find(h, info->name);
    request_text(r, "service", info->name);
    request_integer(r, "job", info->job);
    request_text(r, "version", info->version != NULL ? info->version : "");
    request_integer(r, "weight", info->policy.weight);
    request_flag(r, "background", info->policy.background);
    request_integer(r, "queued_packets", info->queued_packets);
    request_integer(r, "queued_bytes", info->queued_bytes);
    request_integer(r, "queue_packets", info->policy.queue_packets);
    request_integer(r, "queue_bytes", info->policy.queue_bytes);
    request_text(r, "drop", drop_words[info->policy.drop]);
    request_text(r, "build", service != NULL ? service->build : "");
    request_text(r, "file", service != NULL ? service->file : "");
    request_text(r, "options", service != NULL ? host_service_options(service, options, sizeof options) : "");
    request_integer(r, "in_hand", info->in_hand);
    request_integer(r, "timers", info->timers);
    request_integer(r, "calls", info->calls);
    request_integer(r, "misuses", (int64_t)info->misuses);
    request_integer(r, "commands", info->commands);
    if (info->commands > 0) {
        request_text(r, "command", info->command);
        request_integer(r, "command_age_ns", cw_time_since(now, info->command_came).ns);
    }
    request_row(r);
}

void cmd_services(struct request *r)
{
    struct host_server *server = commands_server(r);
    struct node_service_info info;
    if (server == NULL) {
        return;
    }
    for (unsigned i = 0; node_service_at(server->node, i, &info); i++) {
        tell_service(r, commands_host(r), &info, host_now(commands_host(r)));
    }
    request_done(r, 0);
}

/* ---- What comes and goes ----------------------------------------------------------------------------------------- */

static bool read_policy(struct request *r, struct node_service_policy *policy)
{
    int64_t packets = policy->queue_packets, bytes = policy->queue_bytes;
    const char *drop = drop_words[policy->drop];
    unsigned chosen = 0;
    if (!commands_flag(r, "background", &policy->background) ||
        !commands_number(r, "queue_packets", 1, UINT32_MAX, &packets) ||
        !commands_number(r, "queue_bytes", 1, UINT32_MAX, &bytes)) {
        return false;
    }
    int rc = request_line_text(request_line(r), "drop", &drop);
    while (rc >= 0 && chosen < DROP_WORDS && strcmp(drop, drop_words[chosen]) != 0) {
        chosen++;
    }
    if (rc < 0 || chosen == DROP_WORDS) {
        request_refuse(r, -EINVAL, "option drop is \"tail\", \"oldest\" or \"priority\"");
        return false;
    }
    policy->queue_packets = (uint32_t)packets;
    policy->queue_bytes = (uint32_t)bytes;
    policy->drop = (enum node_drop_policy)chosen;
    return true;
}

/* The request's "option" elements, "name=value". Their count, or -1: refused. */
static int read_options(struct request *r, struct config_option out[static CONFIG_OPTIONS])
{
    const char *text;
    unsigned count = 0;
    for (; (text = request_line_element(request_line(r), "option", count)) != NULL; count++) {
        const char *value = strchr(text, '=');
        size_t length = value != NULL ? (size_t)(value - text) : 0;
        if (length == 0 || count == CONFIG_OPTIONS || length >= sizeof out->name ||
            strlen(value + 1) >= sizeof out->value) {
            request_refuse(r, -EINVAL,
                           "option '%.100s': a service's options are written name=value, at most %d of them", text,
                           CONFIG_OPTIONS);
            return -1;
        }
        snprintf(out[count].name, sizeof out->name, "%.*s", (int)length, text);
        snprintf(out[count].value, sizeof out->value, "%s", value + 1);
    }
    return (int)count;
}

/* Ends the request with a row about the module that runs now, or could, and about the one before; or with a refusal. */
static void tell_about(struct request *r, int rc, const struct host_service_about *was,
                       const struct host_service_about *is, const char *why)
{
    if (rc < 0) {
        request_refuse(r, rc, "%s", why);
        return;
    }
    request_text(r, "service", is->name);
    request_integer(r, "job", is->job);
    request_text(r, "version", is->version);
    request_text(r, "build", is->build);
    if (was != NULL) {
        request_text(r, "was_version", was->version);
        request_text(r, "was_build", was->build);
    }
    request_done(r, 0);
}

void cmd_service_load(struct request *r)
{
    struct config_option options[CONFIG_OPTIONS];
    struct host *h = commands_host(r);
    const char *name = NULL, *file = request_line(r)->argv[0];
    char why[HOST_WHY] = "";
    int64_t weight = 10;
    bool check = false;
    struct node_service_policy policy = {
        .queue_packets = host_config(h)->queue_packets,
        .queue_bytes = host_config(h)->queue_bytes,
        .drop = NODE_DROP_TAIL,
    };
    if (request_line_text(request_line(r), "name", &name) < 0) {
        request_refuse(r, -EINVAL, "option name is a text");
        return;
    }
    if (!commands_number(r, "weight", 1, WEIGHT_MAX, &weight) || !commands_flag(r, "background", &policy.background)) {
        return;
    }
    if (file[0] != '/') {
        request_refuse(r, -EINVAL, "'%.200s': the daemon needs the whole path of the file, from / on", file);
        return;
    }
    policy.weight = (uint32_t)weight;
    int count = read_options(r, options);
    if (count < 0 || !commands_flag(r, "check", &check)) {
        return;
    }
    if (check) {
        struct host_service_about about;
        tell_about(r, host_service_check(h, name, file, false, &about, why), NULL, &about, why);
        return;
    }
    int rc = host_service_load_with(h, name, file, &policy, options, (unsigned)count, why);
    if (rc < 0) {
        request_refuse(r, rc, "%s", why);
        return;
    }
    const struct host_service *service = host_service_at(h, host_service_count(h) - 1);
    request_text(r, "service", service->table->name);
    request_integer(r, "job", service->table->job);
    request_text(r, "version", service->table->version != NULL ? service->table->version : "");
    request_text(r, "build", service->build);
    request_done(r, 0);
}

void cmd_service_reload(struct request *r)
{
    struct host *h = commands_host(r);
    const char *word = request_line(r)->argv[0];
    struct host_service_about was = {.job = 0}, is = {.job = 0};
    char why[HOST_WHY] = "";
    bool check = false, undo = false, taken_back = false;
    if (!commands_flag(r, "check", &check) || !commands_flag(r, "undo", &undo) ||
        !commands_flag(r, "taken_back", &taken_back)) {
        return;
    }
    if (undo && check) {
        tell_about(r, host_service_check_undo(h, word, &was, &is, why), NULL, &is, why);
    } else if (undo) {
        tell_about(r, host_service_undo(h, word, taken_back, &was, &is, why), &was, &is, why);
    } else if (word[0] != '/') {
        request_refuse(r, -EINVAL, "'%.200s': the daemon needs the whole path of the file, from / on", word);
    } else if (check) {
        tell_about(r, host_service_check(h, NULL, word, true, &is, why), NULL, &is, why);
    } else {
        tell_about(r, host_service_reload(h, word, &was, &is, why), &was, &is, why);
    }
}

void cmd_service_unload(struct request *r)
{
    char why[HOST_WHY] = "";
    const char *name = request_line(r)->argv[0];
    if (host_service_find(commands_host(r), name) == NULL) {
        commands_refuse_service(r, name);
        return;
    }
    int rc = host_service_unload(commands_host(r), name, why);
    if (rc < 0) {
        request_refuse(r, rc, "%s", why);
        return;
    }
    request_done(r, 0);
}

void cmd_service_weight(struct request *r)
{
    const struct request_line *line = request_line(r);
    struct host *h = commands_host(r);
    const struct host_service *service = host_service_find(h, line->argv[0]);
    char why[HOST_WHY] = "";
    if (service == NULL) {
        commands_refuse_service(r, line->argv[0]);
        return;
    }
    struct node_service_policy policy = service->policy;
    if (line->argc > 1) {
        char *end;
        unsigned long weight = strtoul(line->argv[1], &end, 10);
        if (end == line->argv[1] || *end != '\0' || weight < 1 || weight > WEIGHT_MAX) {
            request_refuse(r, -EINVAL, "'%.40s': a weight is a whole number from 1 to 1000", line->argv[1]);
            return;
        }
        policy.weight = (uint32_t)weight;
    }
    if (!read_policy(r, &policy)) {
        return;
    }
    int rc = host_service_policy(h, line->argv[0], &policy, why);
    if (rc < 0) {
        request_refuse(r, rc, "%s", why);
        return;
    }
    request_text(r, "service", service->table->name);
    request_integer(r, "weight", policy.weight);
    request_flag(r, "background", policy.background);
    request_integer(r, "queue_packets", policy.queue_packets);
    request_integer(r, "queue_bytes", policy.queue_bytes);
    request_text(r, "drop", drop_words[policy.drop]);
    request_done(r, 0);
}

/* ---- What they are asked ----------------------------------------------------------------------------------------- */

/* A request that a service is answering. */
struct relay {
    struct request *r;
    struct host_server *server;
    cw_job job;              /* the service's */
    uint64_t denied;         /* packets that the server's NMU had refused before */
    char error[CONTROL_WHY]; /* what the service says in a field of that name: the reason of a refusal */
};

static void relay_row(void *context)
{
    const struct relay *relay = context;
    request_row(relay->r);
}

static void relay_integer(void *context, const char *name, int64_t value)
{
    const struct relay *relay = context;
    request_integer(relay->r, name, value);
}

static void relay_text(void *context, const char *name, const char *value)
{
    struct relay *relay = context;
    if (strcmp(name, "error") == 0) {
        snprintf(relay->error, sizeof relay->error, "%s", value);
    } else {
        request_text(relay->r, name, value);
    }
}

static const char *meaning(int rc)
{
    switch (-rc) {
    case ETIMEDOUT:
        return "no answer came in time; it or its answer was lost, or the other server is gone (\"drops\", "
               "\"servers\")";
    case ENETUNREACH:
        return "that server cannot be reached from here; \"servers\" says how it is";
    case EACCES:
        return "the service's job has no privilege to send there; \"job explain\" says which grant is missing";
    case EBUSY:
        return "too many commands of this kind are under way here; try again when one has ended";
    case EOPNOTSUPP:
        return "this service takes no commands";
    case ECANCELED:
        return "the service was closed";
    default:
        return strerror(-rc);
    }
}

static void name_of_job(struct host *h, cw_job job, char out[static JOB_NAME])
{
    for (unsigned i = 0; i < host_service_count(h); i++) {
        const cw_service *table = host_service_at(h, i)->table;
        if (table->job == job) {
            snprintf(out, JOB_NAME, "%s", table->name);
            return;
        }
    }
    snprintf(out, JOB_NAME, "%" PRIu32, job);
}

/*
 * The command that grants what the service was refused here since the request came. False: nothing was, or it is not a
 * grant that is missing, and "job explain" knows more.
 */
static bool tell_grant(const struct relay *relay)
{
    if (relay->server->node == NULL) {
        return false;
    }
    const struct denied *denied = &node_nmu(relay->server->node)->denied;
    const struct denied_row *row = denied_latest(denied, relay->job);
    bool grant = row != NULL && row->latest > relay->denied &&
                 (row->cause == NMU_NO_GRANT || row->cause == NMU_NO_RECORD || row->cause == NMU_NO_REACH);
    if (!grant) {
        return false;
    }
    /* All ports of its own job: with this one alone its next command would be refused for the next port. */
    char from[JOB_NAME], to[JOB_NAME], port[40] = "";
    name_of_job(relay->server->host, row->source_job, from);
    name_of_job(relay->server->host, row->job, to);
    if (row->job != row->source_job && row->key) {
        snprintf(port, sizeof port, ":all:%u", row->port);
    } else if (row->job != row->source_job) {
        snprintf(port, sizeof port, ":%" PRIu32 ":%u", row->process, row->port);
    }
    request_refuse(relay->r, -EACCES,
                   "the service's job has no privilege to send there: cwctl job grant %s %s%s gives it", from, to,
                   port);
    return true;
}

static void relay_done(void *context, int rc)
{
    struct relay *relay = context;
    if (rc == -EACCES && relay->error[0] == '\0' && tell_grant(relay)) {
        free(relay);
        return;
    }
    if (rc < 0) {
        request_refuse(relay->r, rc, "%s", relay->error[0] != '\0' ? relay->error : meaning(rc));
    } else {
        request_done(relay->r, rc);
    }
    free(relay);
}

void commands_relay(struct request *r, struct host_server *server, const char *service, int argc,
                    const char *const *argv)
{
    if (host_service_find(commands_host(r), service) == NULL) {
        commands_refuse_service(r, service);
        return;
    }
    struct relay *relay = calloc(1, sizeof *relay);
    if (relay == NULL) {
        request_done(r, -ENOMEM);
        return;
    }
    relay->r = r;
    relay->server = server;
    relay->job = host_service_find(commands_host(r), service)->table->job;
    relay->denied = node_nmu(server->node)->denied.total;
    const struct node_request_sink sink = {
        .context = relay,
        .row = relay_row,
        .integer = relay_integer,
        .text = relay_text,
        .done = relay_done,
    };
    host_after(server, node_command(server->node, service, argc, argv, &sink, host_now(server->host)));
}

/* The commands that a service declares, or NULL. */
static const cw_command *declared(const struct host *h, const char *name)
{
    const struct host_service *service = host_service_find(h, name);
    return service != NULL ? table_commands(service->table) : NULL;
}

void cmd_service_help(struct request *r)
{
    const char *name = request_line(r)->argv[0];
    if (host_service_find(commands_host(r), name) == NULL) {
        commands_refuse_service(r, name);
        return;
    }
    const cw_command *c = declared(commands_host(r), name);
    if (c == NULL) {
        request_refuse(r, -EOPNOTSUPP, "service %s does not say which commands it has", name);
        return;
    }
    for (; c->words != NULL; c++) {
        request_text(r, "service", name);
        request_text(r, "command", c->words);
        request_text(r, "arguments", c->arguments != NULL ? c->arguments : "");
        request_text(r, "help", c->help != NULL ? c->help : "");
        request_row(r);
    }
    request_done(r, 0);
}

/* Is it a command that the service declares, with words behind it that fit what it declares? False: refused. */
static bool check_words(struct request *r, const char *service, int argc, const char *const *argv)
{
    const struct host *h = commands_host(r);
    char why[TABLE_REFUSAL];
    int rc = table_accepts(host_service_find(h, service)->table, host_torus(h), argc, argv, why);
    if (rc < 0) {
        request_refuse(r, rc, "%s", why);
    }
    return rc == 0;
}

void cmd_service(struct request *r)
{
    const struct request_line *line = request_line(r);
    struct host_server *server = commands_server(r);
    if (server != NULL && host_service_find(commands_host(r), line->argv[0]) == NULL) {
        commands_refuse_service(r, line->argv[0]);
    } else if (server != NULL && check_words(r, line->argv[0], line->argc - 1, line->argv + 1)) {
        commands_relay(r, server, line->argv[0], line->argc - 1, line->argv + 1);
    }
}

/* The words of a command for a service, while they are put together. */
struct words {
    const char *word[REQUEST_LINE_WORDS + 8];
    char text[8][48];
    char key[KEY_TEXT];
    int count, texts;
};

/* An option of the request becomes "name=value". False: refused. */
static bool add_option(struct request *r, struct words *w, const char *option, const char *name, int64_t least)
{
    int64_t value = INT64_MIN;
    if (!commands_number(r, option, least, INT64_MAX, &value)) {
        return false;
    }
    if (value != INT64_MIN) {
        char *text = w->text[w->texts++];
        snprintf(text, sizeof w->text[0], "%s=%" PRId64, name, value);
        w->word[w->count++] = text;
    }
    return true;
}

/* The request's words, "key KEY" in its plain form. False: refused. */
static bool add_words(struct request *r, struct words *w)
{
    const struct request_line *line = request_line(r);
    cw_job job;
    cw_key key;
    if (!commands_read_job(r, &job)) {
        return false;
    }
    for (int i = 0; i < line->argc; i++) {
        w->word[w->count++] = line->argv[i];
    }
    if (line->argc >= 2 && strcmp(line->argv[0], "key") == 0) {
        if (!commands_read_key(r, line->argv[1], job, &key)) {
            return false;
        }
        key_format(&key, w->key);
        w->word[1] = w->key;
    }
    return true;
}

void cmd_ping(struct request *r)
{
    struct host_server *server = commands_server(r);
    struct words w = {.count = 0};
    bool rows = false;
    if (server == NULL || !add_words(r, &w) || !add_option(r, &w, "count", "count", 1) ||
        !add_option(r, &w, "interval_us", "interval", 0) || !add_option(r, &w, "size", "size", 0) ||
        !add_option(r, &w, "timeout_us", "timeout", 1) || !commands_flag(r, "rows", &rows)) {
        return;
    }
    if (rows) {
        w.word[w.count++] = "rows=1";
    }
    commands_relay(r, server, "ping", w.count, w.word);
}

void cmd_trace(struct request *r)
{
    struct host_server *server = commands_server(r);
    struct words w = {.count = 0};
    if (server == NULL || !add_words(r, &w) || !add_option(r, &w, "size", "size", 0) ||
        !add_option(r, &w, "timeout_us", "timeout", 1)) {
        return;
    }
    commands_relay(r, server, "trace", w.count, w.word);
}
