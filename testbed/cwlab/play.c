/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/cwlab/play.h"

#include "base/quantity.h"
#include "testbed/cwlab/command.h"
#include "testbed/cwlab/converge.h"
#include "testbed/cwlab/outcome/judge.h"
#include "testbed/peer.h"
#include "wire/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    HEADS = FRAME_HEAD_BYTES + PACKET_HEAD_BYTES,
    SOON_MS = 20, /* from now to the scenario's beginning */
    ANSWER_MS = 5000,
    STARTED_ROUNDS = 1000, /* of a millisecond: until a daemon that was started answers */
    QUIET_MS = 5000,
    DRAINED_MS = 100,
};

/* The counts of a server; of a killed one those that it gave when it was last asked. */
struct tally {
    uint64_t made, delivered, dropped[CW_DROP_COUNT];
};

struct player {
    const struct scenario *s;
    const struct lab *lab;
    FILE *errors;
    struct peer keeper;
    cw_time zero;
    bool *alive;
    const struct workload *load; /* NULL: none is on */
    struct tally before;         /* the counts of all servers when the scenario began */
    struct tally gone;           /* the counts of servers that were killed */
    unsigned kills, starts, pauses, cuts, refused, tells_failed;
    int64_t late_worst_ns; /* by how much an action came too late, at worst */
    bool cut;
    int broken;
};

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

static void keeper(struct player *p, const char *what, cw_server s, const char *second, const char *third)
{
    char name[TORUS_TEXT], why[PEER_WHY];
    const char *argv[] = {name, second, third};
    torus_format(torus_coord(&p->lab->torus, s), name);
    int count = second == NULL ? 1 : third == NULL ? 2 : 3;
    if (peer_ask(&p->keeper, peer_request(what, count, argv), CW_MS(ANSWER_MS), NULL, NULL, why) < 0) {
        p->refused++;
        fprintf(p->errors, "cwlab run: %s %s: %s\n", what, name, why);
    }
}

static void add_status(void *context, const struct message *row)
{
    struct tally *t = context;
    t->made += (uint64_t)message_get_integer(row, "made", 0);
    t->delivered += (uint64_t)message_get_integer(row, "delivered", 0);
}

static void add_drop(void *context, const struct message *row)
{
    struct tally *t = context;
    const char *cause = message_get_text(row, "cause", NULL);
    for (unsigned i = 0; i < CW_DROP_COUNT && cause != NULL; i++) {
        if (strcmp(cw_drop_name((cw_drop)i), cause) == 0) {
            t->dropped[i] += (uint64_t)message_get_integer(row, "packets", 0);
        }
    }
}

static void ask_tally(struct player *p, cw_server s, struct tally *sum)
{
    char why[PEER_WHY];
    if (command_daemon(p->lab, s, peer_request("status", 0, NULL), CW_MS(ANSWER_MS), add_status, sum, why) == 0) {
        (void)command_daemon(p->lab, s, peer_request("drops", 0, NULL), CW_MS(ANSWER_MS), add_drop, sum, why);
    }
}

static void bench(struct player *p, cw_server s)
{
    char rate[32], size[32], why[PEER_WHY];
    const struct workload *w = p->load;
    const char *argv[] = {"bench", "stop", NULL, NULL, NULL};
    int count = 2;
    if (w != NULL) {
        uint32_t bytes = w->bytes != 0 ? w->bytes : p->lab->mtu;
        snprintf(size, sizeof size, "size=%u", bytes - HEADS);
        snprintf(rate, sizeof rate, w->kind == WORKLOAD_KEYS ? "rate=%" PRIu64 : "count=%" PRIu64,
                 w->kind == WORKLOAD_KEYS ? w->rate : (uint64_t)(w->links != 0 ? w->links : CW_LINK_COUNT));
        argv[1] = "start";
        argv[2] = w->kind == WORKLOAD_KEYS ? "mode=keys" : "mode=links";
        argv[3] = rate;
        argv[4] = size;
        count = 5;
    }
    int rc = command_daemon(p->lab, s, peer_request("service", count, argv), CW_MS(ANSWER_MS), NULL, NULL, why);
    if (rc < 0 && w != NULL) {
        p->refused++;
        fprintf(p->errors, "cwlab run: the workload of server %u: %s\n", s, why);
    }
}

/* ---- Faults ------------------------------------------------------------------------------------------------------ */

static void kill_one(struct player *p, cw_server s, bool power)
{
    if (p->alive[s]) {
        ask_tally(p, s, &p->gone);
        keeper(p, power ? "power-off" : "fail", s, power ? NULL : "whole", NULL);
        p->alive[s] = false;
        p->kills++;
    }
}

static void start_one(struct player *p, cw_server s)
{
    struct converge_view view;
    if (p->alive[s]) {
        return;
    }
    keeper(p, "restore", s, NULL, NULL);
    p->alive[s] = true;
    p->starts++;
    for (int i = 0; i < STARTED_ROUNDS && converge_ask(p->lab, s, &view) < 0; i++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    if (p->load != NULL) {
        bench(p, s);
    }
}

/* Cuts or mends a cable as the simulator does: its ends lose carrier if the scenario lets ends see it, else frames. */
static void cable(struct player *p, cw_server s, cw_link link, bool both, bool works)
{
    cw_server far = torus_neighbour(&p->lab->torus, s, link);
    const char *name = quantity_link_name(link), *back = quantity_link_name(cw_link_opposite(link));
    if (both && p->s->config.carrier.ns >= 0) {
        keeper(p, "link", s, name, works ? "up" : "down");
    } else {
        keeper(p, "loss", s, name, works ? "0" : "1000000");
        if (both) {
            keeper(p, "loss", far, back, works ? "0" : "1000000");
        }
    }
    p->cuts += !works;
    p->cut |= !works;
}

static void harm(struct player *p, const struct fault *f)
{
    char ppm[16];
    snprintf(ppm, sizeof ppm, "%u", f->harm.loss);
    for (cw_server s = 0; s < p->lab->torus.servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            bool here = (f->server == CW_SERVER_NONE || f->server == s) && (f->link == CW_LINK_SELF || f->link == link);
            if (here && (torus_links(&p->lab->torus) & cw_links_of(link))) {
                keeper(p, "loss", s, quantity_link_name(link), ppm);
            }
        }
    }
}

static unsigned part(cw_coord c, unsigned axis)
{
    return axis == 0 ? c.x : axis == 1 ? c.y : c.z;
}

/* Whether the fault is meant for server s: one of its plane or row, or of the planes that a partition cuts. */
static bool meant(const struct player *p, const struct fault *f, cw_server s)
{
    const struct torus *t = &p->lab->torus;
    cw_coord c = torus_coord(t, s);
    if (f->kind == FAULT_KILL_ROW) {
        bool row = true;
        for (unsigned axis = 0; axis < CW_AXES; axis++) {
            row &= axis == f->axis || part(c, axis) == part(torus_coord(t, f->server), axis);
        }
        return row;
    }
    return part(c, f->axis) == (unsigned)f->number || (f->kind != FAULT_KILL_SLAB && part(c, f->axis) == 0);
}

static void many(struct player *p, const struct fault *f)
{
    for (cw_server s = 0; s < p->lab->torus.servers; s++) {
        if (!meant(p, f, s)) {
            continue;
        }
        if (f->kind == FAULT_KILL_SLAB || f->kind == FAULT_KILL_ROW) {
            kill_one(p, s, false);
        } else {
            cable(p, s, (cw_link)(2 * f->axis + 1), true, f->kind == FAULT_REJOIN);
        }
    }
}

static void heal(struct player *p)
{
    for (cw_server s = 0; s < p->lab->torus.servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT && p->cut; link++) {
            if (torus_links(&p->lab->torus) & cw_links_of(link)) {
                keeper(p, "loss", s, quantity_link_name(link), "0");
                keeper(p, "link", s, quantity_link_name(link), "up");
            }
        }
        start_one(p, s);
    }
}

static void carry_out(struct player *p, const struct fault *f)
{
    char ns[24];
    switch (f->kind) {
    case FAULT_KILL:
    case FAULT_POWER:
        kill_one(p, f->server, f->kind == FAULT_POWER);
        break;
    case FAULT_START:
        start_one(p, f->server);
        break;
    case FAULT_LEAVE:
        ask_tally(p, f->server, &p->gone);
        keeper(p, "leave", f->server, NULL, NULL);
        p->alive[f->server] = false;
        break;
    case FAULT_PAUSE:
        snprintf(ns, sizeof ns, "%" PRId64, f->span.ns);
        keeper(p, "pause", f->server, ns, NULL);
        p->pauses++;
        break;
    case FAULT_CUT:
    case FAULT_CUT_OUT:
        cable(p, f->server, f->link, f->kind == FAULT_CUT, false);
        break;
    case FAULT_MEND:
        cable(p, f->server, f->link, true, true);
        break;
    case FAULT_HARM:
        harm(p, f);
        break;
    case FAULT_HEAL:
        heal(p);
        break;
    default:
        many(p, f);
        break;
    }
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

static void wait_until(struct player *p, cw_time at)
{
    int64_t ns = p->zero.ns + at.ns;
    struct timespec t = {ns / CW_SEC(1).ns, ns % CW_SEC(1).ns};
    (void)clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &t, NULL);
    int64_t late = peer_clock().ns - ns;
    p->late_worst_ns = late > p->late_worst_ns ? late : p->late_worst_ns;
}

static unsigned running(const struct player *p)
{
    unsigned count = 0;
    for (cw_server s = 0; s < p->lab->torus.servers; s++) {
        count += p->alive[s];
    }
    return count;
}

static unsigned agreeing(struct player *p)
{
    unsigned count = running(p);
    const struct converge_goal goal = {.who = p->alive, .want = count};
    return converge_wait(p->lab, &goal, cw_time_add(peer_clock(), CW_MS(QUIET_MS)), NULL, NULL);
}

static void check_quiet(struct player *p, cw_time at)
{
    unsigned count = running(p), agree = agreeing(p);
    if (agree < count) {
        p->broken = 1;
        fprintf(p->errors, "cwlab run: at %" PRId64 " ms only %u of %u servers know all that run\n", at.ns / 1000000,
                agree, count);
    }
}

static void set_load(struct player *p, const struct scenario_load *l)
{
    p->load = l->stop ? NULL : &l->load;
    for (cw_server s = 0; s < p->lab->torus.servers; s++) {
        if (p->alive[s]) {
            bench(p, s);
        }
    }
}

static void tell(struct player *p, const struct scenario_tell *t)
{
    char text[SCENARIO_TELL_TEXT], why[PEER_WHY];
    const char *argv[SCENARIO_TELL_WORDS + 1] = {t->service};
    int count = 1;
    snprintf(text, sizeof text, "%s", t->text);
    for (char *save, *word = strtok_r(text, " ", &save); word != NULL && count <= SCENARIO_TELL_WORDS;
         word = strtok_r(NULL, " ", &save)) {
        argv[count++] = word;
    }
    if (command_daemon(p->lab, t->server, peer_request("service", count, argv), CW_MS(ANSWER_MS), NULL, NULL, why) <
        0) {
        fprintf(p->errors, "cwlab run: tell %s: %s\n", t->service, why);
        p->tells_failed++;
    }
}

struct action {
    cw_time at;
    enum { DO_LOAD, DO_TELL, DO_FAULT, DO_QUIET } what; /* actions of one instant happen in this order */
    unsigned index;
};

static int by_time(const void *left, const void *right)
{
    const struct action *a = left, *b = right;
    if (a->at.ns != b->at.ns) {
        return a->at.ns < b->at.ns ? -1 : 1;
    }
    return a->what != b->what ? (int)a->what - (int)b->what : (int)a->index - (int)b->index;
}

static int run_all(struct player *p)
{
    const struct scenario *s = p->s;
    unsigned count = 0;
    struct action *all = calloc((size_t)s->loads + s->tells + s->plan.count + s->quiets + 1, sizeof *all);
    if (all == NULL) {
        return -ENOMEM;
    }
    for (unsigned i = 0; i < s->loads; i++) {
        all[count++] = (struct action){s->load[i].at, DO_LOAD, i};
    }
    for (unsigned i = 0; i < s->tells; i++) {
        all[count++] = (struct action){s->tell[i].at, DO_TELL, i};
    }
    for (unsigned i = 0; i < s->plan.count; i++) {
        all[count++] = (struct action){s->plan.fault[i].at, DO_FAULT, i};
    }
    for (unsigned i = 0; i < s->quiets; i++) {
        all[count++] = (struct action){s->quiet[i], DO_QUIET, i};
    }
    qsort(all, count, sizeof *all, by_time);
    for (unsigned i = 0; i < count; i++) {
        const struct action *a = &all[i];
        wait_until(p, a->at);
        if (a->what == DO_LOAD) {
            set_load(p, &s->load[a->index]);
        } else if (a->what == DO_TELL) {
            tell(p, &s->tell[a->index]);
        } else if (a->what == DO_FAULT) {
            carry_out(p, &s->plan.fault[a->index]);
        } else {
            check_quiet(p, a->at);
        }
    }
    free(all);
    int64_t late = p->late_worst_ns;
    wait_until(p, s->end);
    p->late_worst_ns = late; /* the end itself may be late, when check_quiet() has waited: that does not count */
    return 0;
}

/* ---- What came of it --------------------------------------------------------------------------------------------- */

static double share(uint64_t part_of, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part_of / (double)whole;
}

static void tell_counts(struct player *p, struct report *r)
{
    struct tally now = p->gone;
    uint64_t dropped = 0;
    for (cw_server s = 0; s < p->lab->torus.servers; s++) {
        if (p->alive[s]) {
            ask_tally(p, s, &now);
        }
    }
    uint64_t packets = now.made - p->before.made, delivered = now.delivered - p->before.delivered;
    report_part(r, "dropped_by_cause", NULL, 0);
    for (unsigned i = 0; i < CW_DROP_COUNT; i++) {
        uint64_t count = now.dropped[i] - p->before.dropped[i];
        dropped += count;
        if (count > 0) {
            report_part(r, "dropped_by_cause", cw_drop_name((cw_drop)i), (int64_t)count);
        }
    }
    /* Packets that no node has counted were lost on cables or in servers that were killed. */
    uint64_t lost = packets > delivered + dropped ? packets - delivered - dropped : 0;
    if (lost > 0) {
        report_part(r, "dropped_by_cause", world_loss_name(WORLD_LOSS_KILLED), (int64_t)lost);
    }
    report_integer(r, "packets", (int64_t)packets);
    report_integer(r, "delivered", (int64_t)delivered);
    report_integer(r, "dropped", (int64_t)(dropped + lost));
    report_real(r, "dropped_share", share(dropped + lost, packets));
    report_integer(r, "lost", (int64_t)lost);
}

static int tell_verdict(struct player *p, struct report *r)
{
    struct trail t;
    struct judge_result result;
    uint64_t hops = 0, most = 0;
    int rc = trail_load(&t, p->lab);
    if (rc < 0) {
        return rc;
    }
    rc = judge_trail(&t, &p->lab->torus, p->zero.ns, INT64_MAX, p->cut, &result);
    for (size_t i = 0; i < t.count; i++) {
        const struct witness_record *w = &t.event[i].record;
        if (w->kind == WITNESS_DELIVERED && w->written_ns >= p->zero.ns) {
            hops += w->hops;
            most = w->hops > most ? w->hops : most;
        }
    }
    trail_free(&t);
    report_integer(r, "delivered_keys", (int64_t)result.delivered);
    report_integer(r, "judged", (int64_t)result.judged);
    report_integer(r, "misdelivered", (int64_t)result.misdelivered);
    report_real(r, "hops_mean", share(hops, result.delivered));
    report_integer(r, "hops_max", (int64_t)most);
    report_integer(r, "turn_worst_ns", (int64_t)result.turn_worst_ns);
    if (result.misdelivered > 0) {
        fprintf(p->errors, "cwlab run: %s\n", result.first);
        p->broken = 1;
    }
    return rc;
}

int play_possible(const struct scenario *s, const struct lab *lab, char why[static PLAY_WHY])
{
    if (s->config.corrupt_passes || s->config.clock_ppm != 0 || s->config.clock_offset.ns != 0) {
        snprintf(why, PLAY_WHY, "clocks that run off and corrupted frames are for the simulator");
        return -EOPNOTSUPP;
    }
    if (s->options > 0) {
        snprintf(why, PLAY_WHY, "'option' of services is for the simulator, and for cubewayd.conf");
        return -EOPNOTSUPP;
    }
    for (unsigned i = 0; i < s->loads; i++) {
        if (!s->load[i].stop && s->load[i].load.kind == WORKLOAD_ALL_TO_ALL) {
            snprintf(why, PLAY_WHY, "'workload all' is a share of a bound that this machine does not reach: use keys");
            return -EOPNOTSUPP;
        }
    }
    for (unsigned i = 0; i < s->plan.count; i++) {
        const struct fault *f = &s->plan.fault[i];
        if (f->kind == FAULT_CLOCK || f->harm.duplicate != 0 || f->harm.corrupt != 0 || f->harm.delayed != 0) {
            snprintf(why, PLAY_WHY, "'%s' of clocks, or frames twice, corrupted or late, is for the simulator",
                     fault_name(f->kind));
            return -EOPNOTSUPP;
        }
    }
    if (lab->driver == LAB_PROCESS && s->plan.count > 0) {
        snprintf(why, PLAY_WHY, "faults need servers that are processes of their own: --driver netns");
        return -EOPNOTSUPP;
    }
    return 0;
}

int play_on_lab(const struct scenario *s, const struct lab *lab, struct report *r, FILE *errors)
{
    struct player p = {.s = s, .lab = lab, .errors = errors};
    char path[LAB_PATH];
    uint32_t servers = lab->torus.servers;
    int rc = peer_open(&p.keeper, lab_path(lab, "keeper", ".sock", path));
    p.alive = malloc(servers * sizeof *p.alive);
    if (rc < 0 || p.alive == NULL) {
        free(p.alive);
        return rc < 0 ? rc : -ENOMEM;
    }
    memset(p.alive, true, servers * sizeof *p.alive);
    for (cw_server i = 0; i < servers; i++) {
        ask_tally(&p, i, &p.before);
    }
    p.zero = cw_time_add(peer_clock(), CW_MS(SOON_MS));
    rc = run_all(&p);
    if (rc == 0) {
        nanosleep(&(struct timespec){0, DRAINED_MS * 1000000}, NULL);
        report_integer(r, "running", running(&p));
        report_integer(r, "agreeing", agreeing(&p));
        tell_counts(&p, r);
        rc = tell_verdict(&p, r);
        report_integer(r, "kills", p.kills);
        report_integer(r, "starts", p.starts);
        report_integer(r, "pauses", p.pauses);
        report_integer(r, "cuts", p.cuts);
        report_integer(r, "refused", p.refused);
        if (s->tells > 0) {
            report_integer(r, "tells_failed", p.tells_failed);
        }
        report_integer(r, "late_worst_ns", p.late_worst_ns);
    }
    peer_close(&p.keeper);
    free(p.alive);
    return rc < 0 ? rc : p.broken;
}
