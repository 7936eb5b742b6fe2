/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/cwlab/command.h"
#include "testbed/cwlab/converge.h"
#include "testbed/cwlab/explain.h"
#include "testbed/cwlab/scale.h"
#include "testbed/hold.h"

#include "base/quantity.h"

#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { SEEN = 4096, TIMERS = 128, OUTSIDE_NAMED = 6 };

/* A server that answered, and how many servers it reaches. */
struct sight_of {
    cw_server server;
    uint32_t reach;
};

struct look {
    const struct lab *lab;
    struct report *report;
    const char *only;
    bool json;
    unsigned whole; /* servers that have all their links */
    unsigned know;  /* servers that reach all servers that run */
    struct sight_of sight[SEEN];
    unsigned seen, together; /* that answered; that reach one another, and are more than half of those that run */
    bool well;               /* no server is dead or paused, and every server that answered reaches all */
    bool apart; /* a server does not reach all that run, or misses a link though no server is dead or paused */
    int64_t memory;
    /* Daemons that did not run when they were due. */
    unsigned stalled;
    uint64_t stalls;
    cw_span stall_longest, stall_ago; /* of the one that was kept waiting longest, and of the last one */
    char stall_name[TORUS_TEXT];      /* that one */
    /* Of the daemons that cwlab pause has stopped: the one that goes on since the shortest time. */
    bool paused;
    char paused_name[TORUS_TEXT];
    cw_span paused_for, paused_ago; /* how long its longest pause was, and how long it goes on since the last one */
    /* The service that held a daemon's thread for the longest time. */
    struct converge_view held;
    char held_name[TORUS_TEXT];
    double wanted;   /* processes that want a processor now */
    uint64_t needed; /* how many times longer timers would be if the lab came up now */
    struct explain explain;
};

static const cw_span recently = CW_SEC(60);
/* Links that a busy machine has cost are told for longer: they come back, and whoever asks has seen them go before. */
static const cw_span lost_lately = CW_SEC(600);
/* How long a daemon that goes on after a pause may wait for its processor. */
static const cw_span awakening = CW_MS(250);

/* The daemon was stopped by cwlab pause, and goes on. */
static void note_pause(struct look *look, const char *name, const struct message *row)
{
    cw_span ago = CW_NS(message_get_integer(row, "continued_ns", INT64_MAX));
    if (message_has(row, "continued_ns") && (!look->paused || ago.ns < look->paused_ago.ns)) {
        look->paused = true;
        look->paused_ago = ago;
        look->paused_for = CW_NS(message_get_integer(row, "paused_ns", 0));
        snprintf(look->paused_name, sizeof look->paused_name, "%s", name != NULL ? name : "");
    }
}

/* The daemon counts a pause as one time for which it was kept waiting: no other time was longer than the pauses. */
static bool only_pauses(const struct message *row, const struct converge_view *view)
{
    return view->stall_longest.ns <= message_get_integer(row, "paused_ns", 0) + awakening.ns &&
           message_has(row, "paused_ns");
}

static void note_holds(struct look *look, struct report *r, const char *name, const struct converge_view *view)
{
    if (view->hold_longest.ns > 0) {
        report_text(r, "held_by", view->hold_service);
        report_integer(r, "held_ns", view->hold_longest.ns);
    }
    if (view->hold_longest.ns > look->held.hold_longest.ns) {
        look->held = *view;
        snprintf(look->held_name, sizeof look->held_name, "%s", name);
    }
}

static void note_stalls(struct look *look, struct report *r, const char *name, const struct message *row,
                        const struct converge_view *view)
{
    if (view->stalls == 0) {
        return;
    }
    report_integer(r, "kept_waiting", (int64_t)view->stalls);
    report_integer(r, "kept_waiting_ns", view->stall_longest.ns);
    if (only_pauses(row, view)) {
        return; /* what the machine did to that daemon cannot be told from what cwlab pause did */
    }
    if (view->stall_longest.ns > look->stall_longest.ns) {
        look->stall_longest = view->stall_longest;
        snprintf(look->stall_name, sizeof look->stall_name, "%s", name);
    }
    if (look->stalled == 0 || view->stall_ago.ns < look->stall_ago.ns) {
        look->stall_ago = view->stall_ago;
    }
    look->stalled++;
    look->stalls += view->stalls;
}

static void add(void *context, const struct message *row)
{
    struct look *look = context;
    const char *name = message_get_text(row, "server", NULL), *state = message_get_text(row, "state", NULL);
    cw_coord c;
    explain_row(&look->explain, row);
    if (look->only != NULL && (name == NULL || strcmp(name, look->only) != 0)) {
        return;
    }
    struct report *r = report_open(NULL);
    command_copy(r, row);
    if (!look->json && explain_has_left(message_get_text(row, "ended", NULL))) {
        report_text(r, "state", "left"); /* JSON keeps the keeper's word, dead */
    }
    struct converge_view view;
    bool one = name != NULL && torus_parse(&look->lab->torus, name, strlen(name), &c) == 0;
    note_pause(look, name, row);
    if (state != NULL && strcmp(state, "running") == 0) {
        cw_server server = one ? torus_id(&look->lab->torus, c) : 0;
        if (converge_ask(look->lab, server, &view) == 0) {
            report_text(r, "node", view.state);
            report_integer(r, "reachable", view.reachable);
            report_text(r, "links", view.whole ? "all" : "missing");
            report_integer(r, "memory_bytes", view.memory);
            look->memory += view.memory;
            look->whole += view.whole;
            note_holds(look, r, name, &view);
            note_stalls(look, r, name, row, &view);
            if (look->seen < SEEN) {
                look->sight[look->seen++] = (struct sight_of){server, view.reachable};
            }
        } else {
            report_text(r, "node", "does not answer");
        }
    }
    report_append(look->report, "daemons", r);
}

/* The timers that are in force, as people write them. */
static const char *timers_of(const struct lab *saved, char out[static TIMERS])
{
    struct lab lab = *saved;
    char hello[QUANTITY_TEXT], dead[QUANTITY_TEXT], hold[QUANTITY_TEXT];
    lab_set_timers(&lab, lab.fast, lab.scale);
    quantity_span_format(lab.timers.hello, hello);
    quantity_span_format(lab.timers.dead, dead);
    quantity_span_format(lab.timers.hold, hold);
    snprintf(out, TIMERS, "hello %s, dead %s, hold %s", hello, dead, hold);
    return out;
}

/* Servers that reach as many as that: when these are more than half of all, they reach one another. */
static unsigned count_reach(const struct look *look, uint32_t reach)
{
    unsigned count = 0;
    for (unsigned i = 0; i < look->seen; i++) {
        count += look->sight[i].reach == reach;
    }
    return count;
}

/* The servers that reach one another, when they are more than half of those that run; 0: no such part of the lab. */
static unsigned count_together(const struct look *look, uint32_t want)
{
    for (unsigned i = 0; i < look->seen; i++) {
        uint32_t reach = look->sight[i].reach;
        if (2 * reach > want && count_reach(look, reach) == reach) {
            return reach;
        }
    }
    return 0;
}

/* A server "knows all" when it reaches all servers that run: dead ones do not count. */
static void sum_up(struct look *look)
{
    char timers[TIMERS];
    const struct explain *e = &look->explain;
    uint32_t want = look->lab->driver == LAB_PROCESS ? look->lab->torus.servers : e->running;
    unsigned know = 0;
    for (unsigned i = 0; i < look->seen; i++) {
        know += look->sight[i].reach >= want;
    }
    look->together = count_together(look, want);
    bool calm = e->dead == 0 && e->paused == 0;
    look->well = calm && know == look->seen;
    look->apart = know < look->seen || (calm && look->whole < look->seen);
    look->know = know;
    report_integer(look->report, "running", e->running);
    report_integer(look->report, "dead", e->dead);
    report_integer(look->report, "know_all", know);
    if (look->only == NULL && look->lab->driver == LAB_NETNS) {
        report_integer(look->report, "know_one_another", look->together);
    }
    report_integer(look->report, "all_links_up", look->whole);
    report_integer(look->report, "memory_bytes", look->memory);
    report_integer(look->report, "waited_for_processor_ppm", (int64_t)(e->waited * 1e6 + 0.5));
    report_integer(look->report, "kept_waiting", (int64_t)look->stalls);
    if (look->stalls > 0) {
        report_integer(look->report, "kept_waiting_ns", look->stall_longest.ns);
    }
    look->wanted = look->lab->driver == LAB_PROCESS ? 0 : scale_wanted();
    look->needed = scale_now(look->lab, look->wanted);
    uint64_t needed = explain_scale(e, look->lab, look->wanted);
    report_flag(look->report, "before_others", look->lab->hurries);
    report_text(look->report, "timers", timers_of(look->lab, timers));
    report_integer(look->report, "timers_scale", (int64_t)look->lab->scale);
    report_integer(look->report, "timers_scale_now", (int64_t)needed);
    if (look->lab->rescaled_from > 0) {
        report_integer(look->report, "rescaled_from", (int64_t)look->lab->rescaled_from);
        report_text(look->report, "rescaled_for", look->lab->rescaled_for);
    }
}

/* True when neighbours count out a server that is silent for so long, or may do so. */
static bool is_lost_by(const struct look *look, cw_span silence)
{
    struct lab lab = *look->lab;
    lab_set_timers(&lab, lab.fast, lab.scale);
    return silence.ns >= lab.timers.dead.ns - lab.timers.hello.ns;
}

static bool paused_lately(const struct look *look)
{
    return look->paused && look->paused_ago.ns <= recently.ns && is_lost_by(look, look->paused_for);
}

/* Is it what somebody ordered? */
static void tell_pause(const struct look *look)
{
    char span[QUANTITY_TEXT];
    if (paused_lately(look)) {
        quantity_span_format(CW_MS(cw_span_ms(look->paused_for)), span);
        fprintf(stderr,
                "cwlab pause stopped %s for %s, and it has run again for %.0f s: links that it lost by that come back "
                "by themselves\n",
                look->paused_name, span, (double)look->paused_ago.ns / 1e9);
    }
}

static bool held_lately(const struct look *look)
{
    const struct converge_view *held = &look->held;
    return held->hold_longest.ns > 0 && held->hold_ago.ns <= recently.ns && is_lost_by(look, held->hold_longest);
}

/* Is it a service? */
static void tell_hold(const struct look *look)
{
    const struct converge_view *held = &look->held;
    char span[QUANTITY_TEXT];
    if (held_lately(look)) {
        quantity_span_format(CW_MS(cw_span_ms(held->hold_longest)), span);
        fprintf(stderr,
                "service %s held the thread of %s for %s in %s, last %.0f s ago: nothing else of that daemon ran "
                "meanwhile, so that links were lost to the service, not to the network or this machine\n",
                held->hold_service, look->held_name, span, held->hold_upcall, (double)held->hold_ago.ns / 1e9);
    }
}

/* Is it the machine? Said when links are missing, or were bound to be lost a short while ago. */
static void tell_stalls(const struct look *look)
{
    struct lab lab = *look->lab;
    char dead[QUANTITY_TEXT], hello[QUANTITY_TEXT];
    lab_set_timers(&lab, lab.fast, lab.scale);
    bool lost = is_lost_by(look, look->stall_longest);
    bool recent = look->stall_ago.ns <= lost_lately.ns;
    if (look->stalled == 0 || !lost || !(recent || look->apart)) {
        return;
    }
    quantity_span_format(lab.timers.dead, dead);
    quantity_span_format(lab.timers.hello, hello);
    fprintf(stderr,
            "links were lost to this machine, not to the network: %u daemon%s did not run when due, %lu time%s in all, "
            "for up to %.0f ms (%s), last %.0f s ago, and neighbours count out who is silent for %s, of which up to %s "
            "had gone by "
            "when the daemon was due\n",
            look->stalled, look->stalled == 1 ? "" : "s", (unsigned long)look->stalls, look->stalls == 1 ? "" : "s",
            (double)look->stall_longest.ns / 1e6, look->stall_name, (double)look->stall_ago.ns / 1e9, dead, hello);
}

/* Its keeper has just made the timers longer, for a reason that it gives: nobody should hear the contrary beside it. */
static bool rescaled_lately(const struct lab *lab)
{
    return lab->rescaled_from > 0 && cw_time_since(peer_clock(), lab->rescaled).ns < CW_SEC(60).ns;
}

/* The timers were chosen for what the machine did when the lab came up. Is that still so? */
static void tell_scale(const struct look *look)
{
    const struct lab *lab = look->lab;
    if (lab->driver == LAB_PROCESS || lab->wanted < 0) {
        return; /* its time stands still with it, or the timers were said outright */
    }
    /* Less than twice is no change: the queue of a machine is never the same twice. */
    if (look->needed >= 2 * lab->scale) {
        fprintf(stderr,
                "this machine is busier than when the lab came up (%.0f processes want a processor now, %.0f did "
                "then): a lab that comes up now gets timers %lu times as long, this one has %lu time%s; "
                "cwlab rescale --name %s gives it longer ones, and begins its daemons again\n",
                look->wanted, lab->wanted, (unsigned long)look->needed, (unsigned long)lab->scale,
                lab->scale == 1 ? "" : "s", lab->name);
    } else if (2 * look->needed <= lab->scale && !rescaled_lately(lab)) {
        fprintf(
            stderr,
            "this machine is quieter than when the lab came up: its timers are %lu times as long, and %lu time%s as "
            "long would do now; cwlab rescale --name %s gives it shorter ones, and begins its daemons again\n",
            (unsigned long)lab->scale, (unsigned long)look->needed, look->needed == 1 ? "" : "s", lab->name);
    }
}

/* Has its keeper changed them? The daemons that suffered are gone, with what they said of it. */
static void tell_rescaled(const struct look *look)
{
    const struct lab *lab = look->lab;
    if (lab->rescaled_from == 0) {
        return;
    }
    fprintf(stderr,
            "this lab's keeper gave it longer timers %.0f s ago, %lu times as long in the place of %lu, because this "
            "machine, not the network, had cost it links: %s; all daemons began again (cwlab up --scale N fixes "
            "timers)\n",
            (double)cw_time_since(peer_clock(), lab->rescaled).ns / 1e9, (unsigned long)lab->scale,
            (unsigned long)lab->rescaled_from, lab->rescaled_for);
}

/* Where the lab's files are, and how much room there is. */
static void tell_files(struct report *r, const struct lab *lab)
{
    struct statvfs fs;
    const char *folder = lab_data_folder(lab);
    char path[LAB_PATH];
    report_text(r, "files", folder);
    report_text(r, "keeper_log", lab_path(lab, "keeper", ".log", path));
    report_text(r, "files_are", lab_in_memory(folder) ? "in memory" : "on disk");
    if (statvfs(folder, &fs) == 0) {
        report_integer(r, "files_free_bytes", (int64_t)(fs.f_bavail * (uint64_t)fs.f_frsize));
    }
}

/* Most servers reach one another: the others are what is wrong. */
static void tell_outside(const struct look *look)
{
    char text[OUTSIDE_NAMED * (TORUS_TEXT + 2) + 40] = "";
    size_t used = 0;
    unsigned outside = 0;
    for (unsigned i = 0; i < look->seen; i++) {
        char name[TORUS_TEXT];
        if (look->sight[i].reach == look->together) {
            continue;
        }
        torus_format(torus_coord(&look->lab->torus, look->sight[i].server), name);
        if (outside++ < OUTSIDE_NAMED) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? ", " : "", name);
        }
    }
    if (outside > OUTSIDE_NAMED) {
        snprintf(text + used, sizeof text - used, " and %u more", outside - OUTSIDE_NAMED);
    }
    fprintf(stderr, "%u servers reach one another, and do not reach %s\n", look->together,
            outside > 0 ? text : "another one that runs");
}

/*
 * Says why a lab may be in pieces though every daemon runs: a busy machine delays hellos long before the daemons wait
 * so much that explain_is_starved() says so.
 */
static void tell_apart(const struct look *look)
{
    const struct explain *e = &look->explain;
    if (look->know < look->seen && look->together > 0) {
        tell_outside(look);
    } else if (look->know < look->seen) {
        unsigned count = look->seen - look->know;
        fprintf(stderr, "%u of %u server%s do%s not reach all that run\n", count, look->seen,
                look->seen == 1 ? "" : "s", count == 1 ? "es" : "");
    }
    if (look->whole < look->seen) {
        unsigned count = look->seen - look->whole;
        fprintf(stderr, "%u of %u servers miss%s a link: cwlab ctl --name %s all wiring says which, and why\n", count,
                look->seen, count == 1 ? "es" : "", look->lab->name);
    }
    bool explained = e->dead > 0 || e->paused > 0 || paused_lately(look) || held_lately(look);
    if (look->know < look->seen && !explained && !explain_is_starved(e)) {
        fprintf(stderr,
                "daemons have waited %.0f %% of their lives for a processor; where that is why, longer timers help: "
                "cwlab rescale --name %s --scale %lu\nlogs: %s/*.log\n",
                e->waited * 100, look->lab->name, (unsigned long)look->lab->scale * 2, lab_data_folder(look->lab));
    }
}

static int run(const struct program_command *self, int argc, char **argv)
{
    const char *name = NULL;
    bool json = false;
    const struct option option[] = {
        {"name", OPTION_TEXT, &name, "LAB", "which lab; not needed while there is only one", false},
        {"json", OPTION_FLAG, &json, NULL, "print JSON: one object a line", false},
    };
    struct option_words words;
    struct lab lab;
    char dims[QUANTITY_TEXT], rate[QUANTITY_TEXT];
    int code = program_options(self, option, sizeof option / sizeof *option, argc, argv, &words);
    if (code == PROGRAM_GO) {
        code = command_lab(self, name, &lab);
    }
    if (code != PROGRAM_GO) {
        return code;
    }
    cw_server s;
    if (words.count > 1 ||
        (words.count == 1 && (code = command_read_server(self, &lab, words.word[0], &s)) != PROGRAM_GO)) {
        return words.count > 1 ? program_refuse(self, "expected at most one server") : code;
    }
    static struct look look;
    look = (struct look){.lab = &lab,
                         .report = report_open(NULL),
                         .json = json,
                         .only = words.count > 0 && lab.driver == LAB_NETNS ? words.word[0] : NULL,
                         .explain = {.processors = scale_processors()}};
    quantity_dims_format(torus_dims(&lab.torus), dims);
    quantity_rate_format(lab.bits_per_second, rate);
    report_text(look.report, "lab", lab.name);
    report_text(look.report, "dims", dims);
    report_text(look.report, "driver", lab_driver_name(lab.driver));
    report_text(look.report, "shim", lab.driver == LAB_PROCESS ? "pair" : lab_shim_name(lab.shim));
    report_integer(look.report, "mtu", lab.mtu);
    report_text(look.report, "rate", lab.bits_per_second > 0 ? rate : "not limited");
    report_integer(look.report, "keeper", lab.keeper);
    tell_files(look.report, &lab);
    code = command_keeper(self, &lab, "status", 0, NULL, add, &look);
    sum_up(&look);
    explain_load(&look.explain);
    code = program_print(self, look.report, json, code);
    fflush(stdout);
    if (!json) {
        tell_pause(&look);
        tell_hold(&look);
        tell_stalls(&look);
        tell_rescaled(&look);
        tell_scale(&look);
    }
    if (!json && look.apart) {
        tell_apart(&look);
    }
    if (!json && !look.well) {
        explain_tell(&look.explain, &lab, stderr);
    }
    return code == EXIT_FINE && (look.apart || !look.well) ? EXIT_BROKEN : code;
}

const struct program_command command_status = {
    .program = &program_cwlab,
    .name = "status",
    .summary = "a lab and its daemons: state, process, how many servers each reaches, memory",
    .words = "[SERVER] [options]",
    .text =
        "Prints a row for each daemon: running, paused, dead, or left (it left in order; JSON says dead for both);\n"
        "its process as the machine numbers it; how often it was started and how its last process ended; and what\n"
        "its node says of itself. Memory is the daemon's own, without shared pages. know_all counts the daemons\n"
        "that reach all servers whose daemons run: none, when one of these servers is out of everybody's reach.\n"
        "know_one_another counts those that reach one another all the same, when they are more than half. What is\n"
        "wrong is explained below the rows, and the exit code is 1 then. --json prints a line for each daemon,\n"
        "which has \"server\", and then one for the lab, which has \"lab\".",
    .example = "  cwlab status\n"
               "  cwlab status 1,0,2 --json",
    .run = run,
};

/* ---- list -------------------------------------------------------------------------------------------------------- */

struct listing {
    struct report *all;
    unsigned count;
};

static void list_one(void *context, const char *name)
{
    struct listing *listing = context;
    struct report *r = report_open(NULL);
    struct lab lab;
    char why[LAB_WHY], dims[QUANTITY_TEXT];
    static const char *const states[] = {
        [HOLD_UP] = "up", [HOLD_COMES] = "coming up", [HOLD_ENDS] = "ending", [HOLD_DEAD] = "dead"};
    bool readable = lab_load(&lab, name, why) == 0;
    enum hold_state state = hold_state(&lab);
    report_text(r, "lab", name);
    report_text(r, "state", readable || state != HOLD_DEAD ? states[state] : "unreadable");
    if (readable) {
        quantity_dims_format(torus_dims(&lab.torus), dims);
        report_text(r, "dims", dims);
        report_text(r, "driver", lab_driver_name(lab.driver));
        report_integer(r, "keeper", lab.keeper);
    }
    report_append(listing->all, "labs", r);
    listing->count++;
}

static int list(const struct program_command *self, int argc, char **argv)
{
    bool json = false;
    const struct option option[] = {{"json", OPTION_FLAG, &json, NULL, "print JSON: one object a line", false}};
    int code = program_options(self, option, 1, argc, argv, NULL);
    if (code != PROGRAM_GO) {
        return code;
    }
    struct report *r = report_open(NULL);
    struct listing listing = {r, 0};
    lab_each(list_one, &listing);
    if (!json && listing.count == 0) {
        fprintf(stderr, "no lab is up: cwlab up makes one\n");
    }
    return program_print(self, r, json, EXIT_FINE);
}

const struct program_command command_list = {
    .program = &program_cwlab,
    .name = "list",
    .summary = "the labs of this user, and what dead ones have left",
    .words = "[--json]",
    .text =
        "A lab is dead when its keeper was killed: everything went with it but a folder of logs, which the next\n"
        "cwlab up of that name removes, or cwlab down --all. One that is coming up has no keeper that answers yet;\n"
        "one that is ending was told to (cwlab down, or the end of the cwlab up that made it).",
    .example = "  cwlab list",
    .run = list,
};
