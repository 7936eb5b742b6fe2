/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_daemon.c - the daemon itself: its configuration, its log, its end.
 */
#include "base/nearest.h"
#include "daemon/commands/commands.h"
#include "daemon/machine/log.h"
#include "daemon/machine/transit.h"

#include <errno.h>
#include <string.h>

static void tell_setting(void *context, const char *key, const char *value)
{
    struct request *r = context;
    request_text(r, "key", key);
    request_text(r, "value", value);
    request_row(r);
}

void cmd_config(struct request *r)
{
    config_visit(host_config(commands_host(r)), tell_setting, r);
    request_done(r, 0);
}

static void refuse_level(struct request *r, const char *word)
{
    static const char *const levels[] = {"error", "warn", "info", "debug", NULL};
    const char *near = nearest_word(word, levels);
    if (near != NULL) {
        request_refuse(r, -EINVAL, "'%.40s' is no level of the log; did you mean %s?", word, near);
    } else {
        request_refuse(r, -EINVAL, "'%.40s' is no level of the log; levels are error, warn, info, debug", word);
    }
}

void cmd_log_level(struct request *r)
{
    const struct request_line *line = request_line(r);
    struct log *log = host_log(commands_host(r));
    cw_level level = log_level(log);
    if (line->argc > 0) {
        if (!log_level_parse(line->argv[0], &level)) {
            refuse_level(r, line->argv[0]);
            return;
        }
        log_set_level(log, level);
    }
    request_text(r, "level", log_level_name(level));
    request_done(r, 0);
}

void cmd_relay(struct request *r)
{
    const struct request_line *line = request_line(r);
    struct host *h = commands_host(r);
    struct transit *t = host_transit(h);
    if (t == NULL || transit_links(t) == 0) {
        request_refuse(r, -EOPNOTSUPP, "there is no relay: %s",
                       t == NULL ? "the torus lives inside one process" : transit_missing(t));
        return;
    }
    if (line->argc > 0) {
        bool on = strcmp(line->argv[0], "on") == 0;
        if (!on && strcmp(line->argv[0], "off") != 0) {
            request_refuse(r, -EINVAL, "'%.40s' is neither on nor off", line->argv[0]);
            return;
        }
        transit_switch(t, on);
        host_after(host_server(h, 0), CW_LINKS_NONE);
        LOG(host_log(h), CW_LOG_INFO, on ? "transit goes through the kernel" : "transit goes through user space",
            {"by", "cwctl"});
    }
    request_text(r, "relay", transit_is_on(t) ? "on" : "off");
    request_done(r, 0);
}

void cmd_leave(struct request *r)
{
    struct host *h = commands_host(r);
    const char *one = request_line(r)->server;
    if (host_count(h) > 1 && one != NULL && strcmp(one, "all") != 0) {
        request_refuse(r, -EOPNOTSUPP,
                       "%u servers live in this daemon, and leave together: without --server, or with --server all; "
                       "fail takes one of them away",
                       host_count(h));
        return;
    }
    if (host_leaving(h)) { /* a second call of host_leave() would cut the leaving short */
        request_refuse(r, -EALREADY, "it is leaving already");
        return;
    }
    LOG(host_log(h), CW_LOG_INFO, "asked to leave", {"by", "cwctl"});
    request_done(r, 0); /* this comes first, for the loop may stop in this turn */
    host_leave(h);
}
