/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "nmu/book.h"
#include "services/bench/bench.h"
#include "simulator/cwsim/command.h"
#include "wire/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BOOT_MS = 20, AGREE_LIMIT_S = 60, SERVICES_MAX = 16, JOB_FIRST = 900, HEADS = PACKET_HEAD_BYTES };

struct contender {
    cw_service table;
    char name[16];
    uint32_t weight;
    uint32_t size; /* of its payload */
    int64_t received, bytes;
};

struct fairness {
    struct world_config config;
    struct contender service[SERVICES_MAX];
    struct world_service services[SERVICES_MAX];
    struct book_grant grants[SERVICES_MAX]; /* each reaches itself */
    unsigned count;
    cw_span warm, measure;
    bool quiet;
};

/* "1,2,4" or "100,9000": repeated until there is one for each service. */
static int read_list(const char *text, uint64_t most, unsigned count, uint32_t *out, size_t step)
{
    uint64_t value[SERVICES_MAX];
    unsigned n = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        if (n == SERVICES_MAX || quantity_count(text, length, &value[n]) < 0 || value[n] == 0 || value[n] > most) {
            return -EINVAL;
        }
        n++;
        text += length;
        text += *text == ',';
    }
    for (unsigned i = 0; i < count && n > 0; i++) {
        memcpy((char *)out + i * step, &(uint32_t){(uint32_t)value[i % n]}, sizeof *out);
    }
    return n > 0 ? 0 : -EINVAL;
}

/* The same service under several names and jobs: each is one who wants the link. */
static void make_services(struct fairness *f)
{
    for (unsigned i = 0; i < f->count; i++) {
        struct contender *c = &f->service[i];
        snprintf(c->name, sizeof c->name, "load-%u", i + 1);
        c->table = bench_service;
        c->table.name = c->name;
        c->table.job = JOB_FIRST + i;
        f->services[i] = (struct world_service){
            .table = &c->table,
            .policy = {.weight = c->weight, .queue_packets = 1024, .queue_bytes = 8 << 20, .drop = NODE_DROP_TAIL},
        };
        f->grants[i] = (struct book_grant){.from = c->table.job, .to = c->table.job, .port = 0, .all_processes = true};
    }
    f->config.grants = f->grants;
    f->config.grant_count = f->count;
    f->config.services = f->services;
    f->config.service_count = f->count;
}

/* What each has got through the link, seen where it leads to. */
static int count_all(struct trial *t, struct fairness *f, cw_server at)
{
    static const char *const words[] = {"stats"};
    for (unsigned i = 0; i < f->count; i++) {
        struct trial_answer answer;
        int rc = trial_command(t, at, f->service[i].name, 1, words, CW_NS(0), &answer);
        if (rc != 0) {
            return rc;
        }
        f->service[i].received = trial_number(&answer, "received") - f->service[i].received;
        f->service[i].bytes = trial_number(&answer, "bytes") - f->service[i].bytes;
    }
    return 0;
}

static int start_all(struct trial *t, struct fairness *f)
{
    for (unsigned i = 0; i < f->count; i++) {
        char size[24];
        const char *const words[] = {"start", "mode=links", "count=1", size};
        struct trial_answer answer;
        snprintf(size, sizeof size, "size=%u", f->service[i].size);
        int rc = trial_command(t, 0, f->service[i].name, 4, words, CW_NS(0), &answer);
        if (rc != 0) {
            fprintf(t->errors, "cwsim: %s cannot be started: %s\n", f->service[i].name,
                    answer.error[0] != '\0' ? answer.error : strerror(rc < 0 ? -rc : EIO));
            return rc;
        }
    }
    return 0;
}

static void tell(struct fairness *f, struct report *r)
{
    double total = 0, weights = 0, worst = 0;
    for (unsigned i = 0; i < f->count; i++) {
        total += (double)f->service[i].bytes + (double)f->service[i].received * HEADS;
        weights += f->service[i].weight;
    }
    for (unsigned i = 0; i < f->count; i++) {
        const struct contender *c = &f->service[i];
        double share = total > 0 ? ((double)c->bytes + (double)c->received * HEADS) / total : 0;
        double fair = c->weight / weights, off = share / fair - 1;
        struct report *row = report_open(NULL);
        report_text(row, "service", c->name);
        report_integer(row, "weight", c->weight);
        report_integer(row, "payload_bytes", c->size);
        report_integer(row, "packets", c->received);
        report_real(row, "share", share);
        report_real(row, "fair_share", fair);
        report_real(row, "off", off);
        report_append(r, "services", row);
        worst = off > worst ? off : -off > worst ? -off : worst;
    }
    report_real(r, "worst_off", worst);
}

static int measure(struct fairness *f, struct report *r)
{
    struct trial t;
    struct report_span span;
    int rc = trial_open(&t, &f->config, "fairness", f->quiet, stderr);
    if (rc < 0) {
        return rc;
    }
    cw_server far = torus_neighbour(world_torus(t.world), 0, CW_LINK_XP);
    rc = trial_boot(&t, CW_MS(BOOT_MS), CW_SEC(AGREE_LIMIT_S));
    if (rc == 0) {
        rc = start_all(&t, f);
    }
    if (rc == 0) {
        rc = trial_run_for(&t, f->warm);
    }
    if (rc == 0) {
        rc = count_all(&t, f, far);
    }
    if (rc == 0) {
        trial_span_begin(&t, &span);
        rc = trial_run_for(&t, f->measure);
    }
    if (rc == 0) {
        rc = count_all(&t, f, far);
    }
    if (rc == 0) {
        trial_span_end(&t, &span);
        report_run(r, t.world, &span);
        tell(f, r);
    }
    trial_close(&t);
    return rc;
}

static int run(const struct program_command *self, int argc, char **argv)
{
    struct fairness f = {.warm = CW_MS(20), .measure = CW_SEC(2)};
    uint32_t services = 4;
    int64_t within = 10000;
    const char *sizes = "100,1400,4000,8900", *weights = "1";
    struct command_common common;
    struct option option[COMMAND_OPTIONS_MAX] = {
        {"services", OPTION_SMALL, &services, "N", "so many services want the link, 1 to 16", false},
        {"sizes", OPTION_TEXT, &sizes, "N,N..", "bytes of payload of the packets of each service, in turn", false},
        {"weights", OPTION_TEXT, &weights, "N,N..", "weights of the services, in turn", false},
        {"within", OPTION_RATIO, &within, "SHARE", "each must get its fair share to within this, else exit code 1",
         false},
        {"warm", OPTION_SPAN, &f.warm, NULL, "queues fill for so long before measuring begins", false},
        {"measure", OPTION_SPAN, &f.measure, NULL, "simulated time that is measured", false},
    };
    command_common(&common, option + 6, (cw_dims){2, 1, 1}, "default");
    int code = command_options(self, option, 6 + COMMAND_COMMON, argc, argv, NULL, &common);
    if (code == PROGRAM_GO) {
        code = command_config(self, &common, &f.config);
    }
    if (code != PROGRAM_GO) {
        return code;
    }
    if (services < 1 || services > SERVICES_MAX || common.dims.x < 2 || f.measure.ns <= 0) {
        return program_refuse(self, "expected 1 to %d services, a torus of at least 2 along x, and some time",
                              SERVICES_MAX);
    }
    f.count = services;
    if (read_list(sizes, common.mtu, f.count, &f.service[0].size, sizeof f.service[0]) < 0 ||
        read_list(weights, 1000, f.count, &f.service[0].weight, sizeof f.service[0]) < 0) {
        return program_refuse(self, "--sizes and --weights: expected numbers with commas, as 100,9000");
    }
    make_services(&f);
    f.quiet = common.quiet;
    struct report *r = report_open(self->name);
    int rc = measure(&f, r);
    if (rc == 0) {
        bool fair = report_value(r, "worst_off") <= (double)within / 1e6;
        return program_print(self, r, common.json, fair ? EXIT_FINE : EXIT_BROKEN);
    }
    report_close(r);
    return command_exit(rc);
}

const struct program_command command_fairness = {
    .program = &program_cwsim,
    .name = "fairness",
    .summary = "several services want one link: what each gets, whatever its packets' sizes",
    .words = "[--services N] [--sizes N,N..] [--weights N,N..] [options]",
    .text = "Services on server 0,0,0 keep the link +x full, each with packets of its own size. Each must get its\n"
            "weight's share of the link's bytes (packet headers included), --within of that share.",
    .example = "  cwsim fairness --services 4 --sizes 100,1400,4000,8900\n"
               "  cwsim fairness --services 3 --weights 1,2,4 --json",
    .run = run,
};
