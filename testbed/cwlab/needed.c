/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/cwlab/needed.h"

#include "testbed/cwlab/command.h"

#include <stdlib.h>
#include <string.h>

/* A daemon's longest wait may be an old one, but it has waited again within this. */
static const cw_span lately = CW_SEC(30), patience = CW_MS(5000);

void needed_note(struct needed *n, const struct lab *lab, const char *name, const struct converge_view *view,
                 bool paused)
{
    struct lab now = *lab;
    lab_set_timers(&now, lab->fast, lab->scale);
    n->asked++;
    /* A service that holds its thread, and cwlab pause, keep a daemon waiting, too: no timers help against those. */
    bool others = paused || view->hold_longest.ns * 2 >= view->stall_longest.ns;
    bool lost = view->stall_longest.ns >= now.timers.dead.ns - now.timers.hello.ns;
    if (view->stalls == 0 || others || !lost || view->stall_ago.ns > lately.ns) {
        return;
    }
    n->late++;
    if (view->stall_longest.ns > n->longest.ns) {
        n->longest = view->stall_longest;
        snprintf(n->latest, sizeof n->latest, "%s", name);
    }
}

struct round {
    struct needed *n;
    const struct lab *lab;
    char *runs; /* by server: 1 it runs, 2 and was paused before; 0 it does not */
};

void needed_service(struct needed *n, const struct lab *lab, const struct message *row)
{
    /* These have a timer while they are idle, too. */
    static const char idle[] = " jobs kvcache multicast ";
    char word[64];
    const char *file = message_get_text(row, "file", ""), *name = message_get_text(row, "service", "");
    n->modules += file[0] != '\0' && strcmp(file, lab->witness) != 0;
    bool sends = strcmp(name, "witness") == 0 || strcmp(name, "bench") == 0;
    bool timed = message_get_integer(row, "timers", 0) > 0;
    snprintf(word, sizeof word, " %s ", name);
    n->streams += sends && timed;
    n->stores += strcmp(name, LAB_STORE) == 0;
    n->calls += message_get_integer(row, "calls", 0) > 0 || message_get_integer(row, "in_hand", 0) > 0 ||
                message_get_integer(row, "queued_packets", 0) > 0 || (timed && !sends && strstr(idle, word) == NULL);
}

static void add_service(void *context, const struct message *row)
{
    const struct round *round = context;
    needed_service(round->n, round->lab, row);
}

static void add_group(void *context, const struct message *row)
{
    const struct round *round = context;
    (void)row;
    round->n->groups++;
}

static void add_cache(void *context, const struct message *row)
{
    const struct round *round = context;
    round->n->values += (unsigned)message_get_integer(row, "values", 0);
}

static void add_file(void *context, const struct message *row)
{
    const struct round *round = context;
    round->n->files += strcmp(message_get_text(row, "what", ""), "going") == 0 &&
                       strcmp(message_get_text(row, "state", ""), "done") != 0;
}

static bool ask(struct round *round, cw_server s, const char *what, int argc, const char *const *argv,
                void (*row)(void *context, const struct message *row))
{
    char why[PEER_WHY];
    return command_daemon(round->lab, s, peer_request(what, argc, argv), patience, row, round, why) >= 0;
}

static void ask_daemon(struct round *round, cw_server s, bool paused)
{
    static const char *const stats[] = {"kvcache", "stats"}, *const groups[] = {"multicast", "group", "list"};
    struct converge_view view;
    char name[TORUS_TEXT];
    if (converge_ask(round->lab, s, &view) < 0) {
        round->n->unanswered++;
        return;
    }
    torus_format(torus_coord(&round->lab->torus, s), name);
    needed_note(round->n, round->lab, name, &view, paused);
    round->n->faulty += strcmp(view.state, "leaving") == 0;
    bool whole = ask(round, s, "services", 0, NULL, add_service) && ask(round, s, "service", 2, stats, add_cache) &&
                 ask(round, s, "service", 3, groups, add_group) && ask(round, s, "file-status", 0, NULL, add_file);
    round->n->unanswered += !whole;
}

/* The keeper is heard to the end before any daemon is asked: it serves nobody else while it answers. */
static void add_daemon(void *context, const struct message *row)
{
    struct round *round = context;
    const char *name = message_get_text(row, "server", ""), *state = message_get_text(row, "state", "");
    cw_coord c;
    if (torus_parse(&round->lab->torus, name, strlen(name), &c) < 0) {
        return;
    }
    bool runs = strcmp(state, "running") == 0;
    round->n->faulty += !runs;
    round->runs[torus_id(&round->lab->torus, c)] = !runs ? 0 : message_has(row, "paused_ns") ? 2 : 1;
}

bool needed_look(struct needed *n, const struct lab *lab)
{
    char path[LAB_PATH], why[PEER_WHY];
    struct round round = {n, lab, calloc(lab->torus.servers, 1)};
    struct peer p;
    n->asked_for = lab->services + lab->networks;
    if (round.runs == NULL || peer_open(&p, lab_path(lab, "keeper", ".sock", path)) < 0) {
        free(round.runs);
        return false;
    }
    int rc = peer_ask(&p, peer_request("status", 0, NULL), patience, add_daemon, &round, why);
    peer_close(&p);
    for (cw_server s = 0; s < lab->torus.servers && rc >= 0; s++) {
        if (round.runs[s] != 0) {
            ask_daemon(&round, s, round.runs[s] == 2);
        }
    }
    free(round.runs);
    return rc >= 0;
}

enum needed_verdict needed_judge(const struct needed *n, const struct lab *lab, uint64_t scale)
{
    /* Less than twice is no change: the queue of a machine is never the same twice. */
    if (n->late == 0 || n->faulty > 0 || scale < 2 * lab->scale) {
        return NEEDED_NOT;
    }
    unsigned kept = n->unanswered + n->streams + n->values + n->files + n->modules + n->stores + n->groups + n->calls;
    return kept + n->asked_for > 0 ? NEEDED_HELD : NEEDED_NOW;
}

char *needed_why(const struct needed *n, char out[static LAB_REASON])
{
    snprintf(out, LAB_REASON, "%u of %u daemons did not run when due, for up to %.0f ms (%s)", n->late, n->asked,
             (double)n->longest.ns / 1e6, n->latest);
    return out;
}

/* Adds words, behind a number if there are several of one kind. */
static void add_kept(char *out, unsigned count, const char *one, const char *many)
{
    size_t used = strlen(out);
    const char *comma = used > 0 ? ", " : "";
    if (count == 1 || (count > 1 && many == NULL)) {
        snprintf(out + used, LAB_REASON - used, "%s%s", comma, one);
    } else if (count > 1) {
        snprintf(out + used, LAB_REASON - used, "%s%u %s", comma, count, many);
    }
}

char *needed_kept(const struct needed *n, char out[static LAB_REASON])
{
    out[0] = '\0';
    add_kept(out, n->unanswered, "what a daemon has that did not answer", "daemons that did not answer");
    add_kept(out, n->streams, "a stream that is sent", "streams that are sent");
    add_kept(out, n->values, "a cached value", "cached values");
    add_kept(out, n->files, "a file under way", "files under way");
    add_kept(out, n->modules, "what loaded services hold", NULL);
    add_kept(out, n->stores, "what the store holds", NULL);
    add_kept(out, n->groups, "a group", "groups");
    add_kept(out, n->calls, "what a service does now", "things that services do now");
    add_kept(out, n->asked_for, "what a service that was asked for holds", NULL);
    return out;
}
