/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/cwlab/command.h"
#include "testbed/cwlab/explain.h"

#include <errno.h>
#include <string.h>

static const cw_span patience = CW_MS(60000);

struct pings {
    int64_t sent, received, unreachable, miscounted, sum_ns, least_ns, most_ns, hops_most;
    struct report *row;
};

/* Takes the last row of an answer, which has the sums. */
static void take(void *context, const struct message *row)
{
    struct pings *p = context;
    if (message_get_integer(row, "sent", -1) < 0) {
        return;
    }
    int64_t received = message_get_integer(row, "received", 0), least = message_get_integer(row, "rtt_min_ns", 0);
    int64_t most = message_get_integer(row, "rtt_max_ns", 0), hops = message_get_integer(row, "hops_there_max", 0);
    p->sent += message_get_integer(row, "sent", 0);
    p->received += received;
    p->unreachable += message_get_integer(row, "unreachable", 0);
    p->miscounted += message_get_integer(row, "miscounted", 0);
    p->sum_ns += message_get_integer(row, "rtt_mean_ns", 0) * received;
    p->least_ns = received > 0 && (p->least_ns == 0 || least < p->least_ns) ? least : p->least_ns;
    p->most_ns = most > p->most_ns ? most : p->most_ns;
    p->hops_most = hops > p->hops_most ? hops : p->hops_most;
}

static int ping_from(const struct lab *lab, cw_server s, struct pings *p, char why[static PEER_WHY])
{
    static const char *const words[] = {"ping", "all"};
    return command_daemon(lab, s, peer_request("service", 2, words), patience, take, p, why);
}

/* What the answers say; nothing where there was none. */
static void add_times(struct report *r, const struct pings *p)
{
    if (p->received > 0) {
        report_integer(r, "rtt_min_ns", p->least_ns);
        report_integer(r, "rtt_mean_ns", p->sum_ns / p->received);
        report_integer(r, "rtt_max_ns", p->most_ns);
        report_integer(r, "hops_max", p->hops_most);
    }
}

static void add_row(struct report *all, const struct lab *lab, cw_server s, const struct pings *p, const char *why)
{
    char name[TORUS_TEXT];
    struct report *r = report_open(NULL);
    torus_format(torus_coord(&lab->torus, s), name);
    report_text(r, "server", name);
    report_integer(r, "sent", p->sent);
    report_integer(r, "received", p->received);
    add_times(r, p);
    if (why[0] != '\0') {
        report_text(r, "why", why);
    }
    report_append(all, "servers", r);
}

static void add_up(struct pings *all, const struct pings *p)
{
    all->sent += p->sent;
    all->received += p->received;
    all->unreachable += p->unreachable;
    all->miscounted += p->miscounted;
    all->sum_ns += p->sum_ns;
    all->least_ns =
        all->least_ns == 0 || (p->least_ns > 0 && p->least_ns < all->least_ns) ? p->least_ns : all->least_ns;
    all->most_ns = p->most_ns > all->most_ns ? p->most_ns : all->most_ns;
    all->hops_most = p->hops_most > all->hops_most ? p->hops_most : all->hops_most;
}

static int run(const struct program_command *self, int argc, char **argv)
{
    const char *name = NULL;
    bool json = false, rows = false;
    uint32_t sample = 0;
    const struct option option[] = {
        {"name", OPTION_TEXT, &name, "LAB", "which lab; not needed while there is only one", false},
        {"rows", OPTION_FLAG, &rows, NULL, "print a row for each server", false},
        {"sample", OPTION_SMALL, &sample, "N", "so many servers ping all others; 0: all do", false},
        {"json", OPTION_FLAG, &json, NULL, "print JSON: one object a line", false},
    };
    struct lab lab;
    struct pings all = {.sent = 0};
    int code = program_options(self, option, sizeof option / sizeof *option, argc, argv, NULL);
    if (code == PROGRAM_GO) {
        code = command_lab(self, name, &lab);
    }
    if (code != PROGRAM_GO) {
        return code;
    }
    struct report *r = report_open(NULL);
    uint32_t silent = 0;
    uint32_t servers = lab.torus.servers, asked = sample == 0 || sample > servers ? servers : sample;
    for (uint32_t i = 0; i < asked; i++) {
        cw_server s = (cw_server)((uint64_t)i * servers / asked);
        struct pings p = {.sent = 0};
        char why[PEER_WHY] = "";
        silent += ping_from(&lab, s, &p, why) < 0;
        add_up(&all, &p);
        if (rows || why[0] != '\0') {
            add_row(r, &lab, s, &p, why);
        }
    }
    int64_t pairs = (int64_t)asked * (servers - 1);
    report_integer(r, "pairs", pairs);
    report_integer(r, "sent", all.sent);
    report_integer(r, "received", all.received);
    report_integer(r, "lost", all.sent - all.received);
    report_integer(r, "not_sent", pairs - all.sent - all.unreachable);
    report_integer(r, "unreachable", all.unreachable);
    report_integer(r, "miscounted", all.miscounted);
    report_integer(r, "silent_servers", silent);
    add_times(r, &all);
    int result = all.received == pairs && all.miscounted == 0 ? EXIT_FINE : EXIT_BROKEN;
    struct explain e;
    result = program_print(self, r, json, result);
    if (result == EXIT_BROKEN && !json && explain_look(&e, &lab)) {
        fflush(stdout);
        explain_tell(&e, &lab, stderr);
    }
    return result;
}

const struct program_command command_pingall = {
    .program = &program_cwlab,
    .name = "pingall",
    .summary = "every server pings every other; says what was lost and how long it took",
    .words = "[options]",
    .text = "Uses the ping service of each daemon, one server after the other. Exit code 0: every pair answered. A\n"
            "server that is dead, or out of reach of the other, does not answer. Of all pairs, sent and unreachable\n"
            "are those of servers that could be asked; not_sent, those of servers that could not. --sample asks only\n"
            "so many servers, evenly spread. --json prints a line for each server of --rows, and for each that did not "
            "answer\n"
            "(\"server\"), and then one with the sums (\"pairs\").",
    .example = "  cwlab pingall\n"
               "  cwlab pingall --rows --json",
    .run = run,
};
