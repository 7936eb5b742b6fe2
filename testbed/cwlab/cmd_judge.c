/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/cwlab/command.h"
#include "testbed/cwlab/outcome/judge.h"

#include <inttypes.h>
#include <string.h>

static const cw_span settle = CW_MS(200);

static void add_stream(struct report *all, const struct lab *lab, const struct trail *t, cw_server s, unsigned life,
                       int64_t from, int64_t to)
{
    struct judge_stream stream;
    char name[TORUS_TEXT];
    if (judge_stream(t, s, from, to, &stream) < 0 || stream.sent + stream.refused == 0) {
        return;
    }
    struct report *r = report_open(NULL);
    torus_format(torus_coord(&lab->torus, s), name);
    report_text(r, "from", name);
    report_integer(r, "life", life);
    report_integer(r, "sent", (int64_t)stream.sent);
    report_integer(r, "delivered", (int64_t)stream.delivered);
    report_integer(r, "lost", (int64_t)stream.lost);
    report_integer(r, "duplicated", (int64_t)stream.duplicated);
    report_integer(r, "refused", (int64_t)stream.refused);
    report_integer(r, "receivers", stream.receivers);
    if (stream.delivered > 1) { /* one alone follows none */
        report_integer(r, "gap_worst_ns", stream.gap_worst_ns);
    }
    if (stream.delivered > 0) {
        report_integer(r, "latency_median_ns", stream.latency_median_ns);
        report_integer(r, "latency_worst_ns", stream.latency_worst_ns);
    }
    report_append(all, "streams", r);
}

/*
 * Adds what each life of the server has sent: one that was killed and restored counts its packets from 0 again, and
 * what was lost of one life is not delivered by the next.
 */
static void add_streams(struct report *all, const struct lab *lab, const struct trail *t, cw_server s, int64_t from,
                        int64_t to)
{
    unsigned life = 0;
    for (int64_t begin = INT64_MIN, end; begin < to; begin = end) {
        end = judge_next_life(t, s, begin);
        if (end > from) {
            add_stream(all, lab, t, s, life, begin > from ? begin : from, end < to ? end : to);
        }
        life++;
    }
}

/* Adds which server delivered how many packets of the streams that add_stream() counts. */
static void add_receivers(struct report *all, const struct lab *lab, const struct trail *t, int64_t from, int64_t to)
{
    for (cw_server s = 0; s < lab->torus.servers; s++) {
        uint64_t count = 0;
        char name[TORUS_TEXT];
        for (size_t i = 0; i < t->count; i++) {
            count += t->event[i].server == s && t->event[i].record.kind == WITNESS_DELIVERED &&
                     t->event[i].record.job == WITNESS_JOB && t->event[i].record.sent_ns >= from &&
                     t->event[i].record.sent_ns < to;
        }
        if (count > 0) {
            struct report *r = report_open(NULL);
            torus_format(torus_coord(&lab->torus, s), name);
            report_text(r, "server", name);
            report_integer(r, "delivered", (int64_t)count);
            report_append(all, "receivers", r);
        }
    }
}

/* How many of the deliveries that are judged are of packets of streams that are too young to be counted in streams. */
static uint64_t count_young(const struct trail *t, int64_t to)
{
    uint64_t count = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct witness_record *r = &t->event[i].record;
        count += r->kind == WITNESS_DELIVERED && r->job == WITNESS_JOB && r->sent_ns >= to;
    }
    return count;
}

static int run(const struct program_command *self, int argc, char **argv)
{
    const char *name = NULL;
    bool json = false, cut = false;
    cw_span last = {0};
    const struct option option[] = {
        {"name", OPTION_TEXT, &name, "LAB", "which lab; not needed while there is only one", false},
        {"cut", OPTION_FLAG, &cut, NULL, "cables were taken out: a server may rightly have been alone", false},
        {"last", OPTION_SPAN, &last, NULL, "judge only what happened in this time before now", false},
        {"json", OPTION_FLAG, &json, NULL, "print JSON: one object a line", false},
    };
    struct lab lab;
    struct trail t;
    struct judge_result result;
    int code = program_options(self, option, sizeof option / sizeof *option, argc, argv, NULL);
    if (code == PROGRAM_GO) {
        code = command_lab(self, name, &lab);
    }
    if (code != PROGRAM_GO) {
        return code;
    }
    int64_t now = peer_clock().ns, from = last.ns > 0 ? now - last.ns : 0;
    /*
     * Trails are read one after the other while streams go on, so that of a packet younger than this we may read
     * only the sending or only the delivery.
     */
    int64_t to = now - settle.ns;
    int rc = trail_load(&t, &lab);
    if (rc < 0 || judge_trail(&t, &lab.torus, from, INT64_MAX, cut, &result) < 0) {
        return program_refuse(self, "the trails cannot be read: %s", strerror(-rc));
    }
    struct report *r = report_open(NULL);
    report_integer(r, "delivered", (int64_t)result.delivered);
    report_integer(r, "judged", (int64_t)result.judged);
    report_integer(r, "misdelivered", (int64_t)result.misdelivered);
    report_integer(r, "turn_worst_ns", (int64_t)result.turn_worst_ns);
    if (result.misdelivered > 0) {
        report_text(r, "first", result.first);
    }
    for (cw_server s = 0; s < lab.torus.servers; s++) {
        add_streams(r, &lab, &t, s, from, to);
    }
    add_receivers(r, &lab, &t, from, to);
    uint64_t young = count_young(&t, to);
    trail_free(&t);
    code = result.misdelivered == 0 ? EXIT_FINE : EXIT_BROKEN;
    if (json || result.delivered > 0) {
        code = program_print(self, r, json, code);
    } else {
        report_close(r); /* all its rows are 0 */
    }
    fflush(stdout);
    if (!json && young > 0) {
        fprintf(stderr,
                "streams go on: of those delivered, %" PRIu64 " packet%s sent since %" PRId64
                " ms before this command began, which streams and receivers leave out\n",
                young, young == 1 ? " was" : "s were", cw_span_ms(settle));
    }
    if (!json && lab.witness[0] == '\0') {
        fprintf(stderr, "this lab has no witness to judge by: witness.so was not found when it came up (CWLAB_WITNESS "
                        "names it)\n");
    } else if (!json && result.delivered == 0) {
        fprintf(stderr,
                "no key packet was delivered%s, so there was nothing to judge: cwlab ctl --name %s SERVER service "
                "witness stream hello rate=1000 sends some\n",
                last.ns > 0 ? " in that time" : " yet", lab.name);
    }
    return code;
}

const struct program_command command_judge = {
    .program = &program_cwlab,
    .name = "judge",
    .summary = "was every key packet delivered at the right server? and what became of the streams",
    .words = "[options]",
    .text = "Every daemon of a lab runs a witness: a service that writes down when its server's links come and go,\n"
            "and which key packets are delivered. By that, the rule that the simulator uses is applied to every\n"
            "delivery. delivered and judged count every key packet until now; streams and receivers leave out what\n"
            "was sent later than 200 ms before the command began, of which trails may hold one half only; while a\n"
            "stream goes on, judge says how many packets that is. A stream begins with\n"
            "'cwlab ctl SERVER service witness stream KEY rate=1000', and ends with '... stop'. Each life of its\n"
            "server is a stream of its own: one that was killed and restored has two. --json prints a line\n"
            "for each stream (\"from\", \"life\"), one for each receiver (\"server\"), and a last one with "
            "\"misdelivered\".",
    .example = "  cwlab ctl 0,0,0 service witness stream hello rate=1000\n"
               "  cwlab fail 1,0,2; sleep 1; cwlab ctl 0,0,0 service witness stop\n"
               "  cwlab judge",
    .run = run,
};
