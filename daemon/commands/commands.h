/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - what operators may ask of a daemon (docs/control-protocol.md lists every field): one cmd_*.c a group, one table.
 *
 * A command runs in the loop's thread, between two turns of the pump. It answers at once, or holds the request until a service does. What it
 * tells of views is as the node's last entry left them, some milliseconds ago: ls_refresh() is the node's alone, whose events hang on it.
 */
#ifndef DAEMON_COMMANDS_COMMANDS_H
#define DAEMON_COMMANDS_COMMANDS_H

#include "daemon/control/control.h"
#include "daemon/host/host.h"

/*
 * The commands for control_open() to serve. Borrows the host; *table is the caller's to keep.
 */
void commands_table(struct host *h, struct request_table *table);
/* Listens where the host's configuration says, on the host's loop; *out is NULL when it says nowhere. As control_open(). */
CW_MUST_CHECK int commands_open(struct control **out, struct host *h, struct request_table *table,
                                char why[static CONTROL_WHY]);

/* ---- What the commands share ------------------------------------------------------------------------------------- */

struct host *commands_host(const struct request *r);

/* The servers of this process that "server" names: "x,y,z", "all", or when it is not said the first. */
struct commands_scope {
    unsigned first, end;
};
/* False: there is none, and the request has been refused. Servers whose node does not run yet are none. */
CW_MUST_CHECK bool commands_scope(struct request *r, struct commands_scope *out);
/* The next server of the scope that runs, NULL at the end: for (s; (s = commands_next(r, &scope)) != NULL;) */
struct host_server *commands_next(struct request *r, struct commands_scope *scope);
/* The one server that is meant, running; NULL: refused. */
struct host_server *commands_server(struct request *r);
/* The one that "server" names, running or not; NULL: refused. */
struct host_server *commands_hosted(struct request *r);

/* False: refused. */
CW_MUST_CHECK bool commands_read_server(struct request *r, const char *text, cw_coord *out);
CW_MUST_CHECK bool commands_read_link(struct request *r, const char *text, cw_link *out);
/* 40 hex digits; "x,y,z" or "x,y,z:W", the key at place W of that home's; or any other text as a name of that job. */
CW_MUST_CHECK bool commands_read_key(struct request *r, const char *text, cw_job job, cw_key *out);
/* Option "job", a number or the name of a service here: whose names keys are among. Those of ping when it is not there. */
CW_MUST_CHECK bool commands_read_job(struct request *r, cw_job *out);
/* An option; *out keeps its value when it is not there. False: refused. */
CW_MUST_CHECK bool commands_number(struct request *r, const char *option, int64_t least, int64_t most, int64_t *out);
CW_MUST_CHECK bool commands_flag(struct request *r, const char *option, bool *out);
/* Takes r: a command of the service's own on that server, whose rows and end are the answer's (cmd_service.c). */
void commands_relay(struct request *r, struct host_server *server, const char *service, int argc,
                    const char *const *argv);

/* cmd_node.c */
void cmd_status(struct request *r);
void cmd_links(struct request *r);
void cmd_counters(struct request *r);
void cmd_drops(struct request *r);
/* cmd_view.c */
void cmd_servers(struct request *r);
void cmd_routes(struct request *r);
/* cmd_wiring.c */
void cmd_wiring(struct request *r);
/* cmd_key.c */
void cmd_key_explain(struct request *r);
/* cmd_service.c */
void cmd_services(struct request *r);
void cmd_service_load(struct request *r);
void cmd_service_unload(struct request *r);
void cmd_service_weight(struct request *r);
void cmd_service(struct request *r);
void cmd_ping(struct request *r);
void cmd_trace(struct request *r);
/* cmd_daemon.c */
void cmd_config(struct request *r);
void cmd_log_level(struct request *r);
void cmd_leave(struct request *r);
/* cmd_fault.c */
void cmd_fail(struct request *r);
void cmd_restore(struct request *r);
void cmd_cut(struct request *r);
void cmd_mend(struct request *r);
/* cmd_file.c */
void cmd_file_send(struct request *r);
void cmd_file_status(struct request *r);
void cmd_file_stop(struct request *r);
/* cmd_capture.c */
void cmd_capture(struct request *r);

#endif
