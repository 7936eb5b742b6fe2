/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/cwlab/outcome/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Why these bounds. Packets, 5 %: on real servers workloads begin and end a few milliseconds apart, and a busy machine
 * sends late. The share that was dropped, 2 points: what a failure costs depends on when it is seen. Hops, 5 %: they
 * follow from keys, which are random. Numbers that are properties and not measurements must be equal.
 */
static const struct {
    const char *field;
    double relative, absolute;
} bounds[] = {
    {"misdelivered", 0, 0},  {"running", 0, 0},          {"agreeing", 0, 0},
    {"kills", 0, 0},         {"pauses", 0, 0},           {"packets", 0.05, 50},
    {"delivered", 0.05, 50}, {"dropped_share", 0, 0.02}, {"hops_mean", 0.05, 0.05},
};

unsigned compare_reports(struct report *lab, const struct message *simulated)
{
    unsigned outside = 0;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        double there = message_get_real(simulated, bounds[i].field, NAN), here;
        if (isnan(there) || report_number(lab, bounds[i].field, &here) < 0) {
            continue;
        }
        double room = fmax(fabs(there) * bounds[i].relative, bounds[i].absolute);
        bool within = fabs(here - there) <= room + 1e-9;
        struct report *row = report_open(NULL);
        report_text(row, "number", bounds[i].field);
        report_real(row, "simulator", there);
        report_real(row, "lab", here);
        report_real(row, "may_differ_by", room);
        report_flag(row, "within", within);
        report_append(lab, "compared", row);
        outside += !within;
    }
    return outside;
}
