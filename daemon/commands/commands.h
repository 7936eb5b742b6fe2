/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - what operators may ask of a daemon (docs/control-protocol.md lists every field): one table, and a file
 * cmd_*.c for each group of commands.
 *
 * A command runs in the loop's thread, between two turns of the pump. It answers at once, or holds the request until a
 * service answers. What it tells of views is as the node's last entry left them, some milliseconds ago: a command must
 * not call ls_refresh(), whose events belong to the node's own entries.
 */
#ifndef DAEMON_COMMANDS_COMMANDS_H
#define DAEMON_COMMANDS_COMMANDS_H

#include "daemon/control/control.h"
#include "daemon/host/host.h"
#include "services/inquiry/rows.h"

/*
 * The commands for control_open() to serve. Borrows the host; *table is the caller's to keep.
 */
void commands_table(struct host *h, struct request_table *table);
/*
 * Opens the control socket where the host's configuration says, on the host's loop; *out is NULL when it names no path.
 * Otherwise as control_open(). Operators of other servers get the doctor's answers as those of this socket do.
 */
CW_MUST_CHECK int commands_open(struct control **out, struct host *h, struct request_table *table,
                                char why[static CONTROL_WHY]);

/* ---- What the commands share ------------------------------------------------------------------------------------- */

struct host *commands_host(const struct request *r);

/* The servers of this process that "server" names: "x,y,z"; "all"; without it, the first. */
struct commands_scope {
    unsigned first, end;
};
/* False: there is none, and the request has been refused. A server whose node does not run yet does not count. */
CW_MUST_CHECK bool commands_scope(struct request *r, struct commands_scope *out);
/* Gives the next server of the scope that runs, NULL at the end: for (s; (s = commands_next(r, &scope)) != NULL;) */
struct host_server *commands_next(struct request *r, struct commands_scope *scope);
/* The one server that "server" names, running; NULL: the request has been refused. */
struct host_server *commands_server(struct request *r);
/* The server that "server" names, running or not; NULL: the request has been refused. */
struct host_server *commands_hosted(struct request *r);

/* What the host tells in rows becomes rows of the answer. Borrows r as long as what is given is used. */
struct rows_reader commands_rows(struct request *r);

/* False: refused. */
CW_MUST_CHECK bool commands_read_server(struct request *r, const char *text, cw_coord *out);
CW_MUST_CHECK bool commands_read_link(struct request *r, const char *text, cw_link *out);
/*
 * Reads a key: 40 hex digits; "x,y,z" or "x,y,z:W", the key at place W of that server's home; any other text is a name
 * in the key space of the job.
 */
CW_MUST_CHECK bool commands_read_key(struct request *r, const char *text, cw_job job, cw_key *out);
/*
 * Reads option "job", a number or the name of a service that runs here: the job in whose key space names stand. Without
 * the option, that of ping.
 */
CW_MUST_CHECK bool commands_read_job(struct request *r, cw_job *out);
/* Reads an option; *out keeps its value when the option is not there. */
CW_MUST_CHECK bool commands_number(struct request *r, const char *option, int64_t least, int64_t most, int64_t *out);
CW_MUST_CHECK bool commands_flag(struct request *r, const char *option, bool *out);
/* Refuses: no service of this name runs. One that is built in could run: that is no mistake of whoever names it. */
void commands_refuse_service(struct request *r, const char *name);
/*
 * Takes r, and hands it to the service on that server as a command of its own, whose rows and end become the answer
 * (cmd_service.c).
 */
void commands_relay(struct request *r, struct host_server *server, const char *service, int argc,
                    const char *const *argv);

/* cmd_node.c */
void cmd_status(struct request *r);
void cmd_links(struct request *r);
void cmd_counters(struct request *r);
void cmd_service_times(struct request *r);
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
void cmd_service_help(struct request *r);
void cmd_service_load(struct request *r);
void cmd_service_reload(struct request *r);
void cmd_service_unload(struct request *r);
void cmd_service_weight(struct request *r);
void cmd_service(struct request *r);
void cmd_ping(struct request *r);
void cmd_trace(struct request *r);
/* cmd_doctor.c */
void cmd_doctor(struct request *r);
/* cmd_drain.c */
void cmd_drain(struct request *r);
/* cmd_picture.c */
void cmd_picture(struct request *r);
/* cmd_events.c */
void cmd_events(struct request *r);
/* cmd_daemon.c */
void cmd_config(struct request *r);
void cmd_log_level(struct request *r);
void cmd_relay(struct request *r);
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
