/* SPDX-License-Identifier: Apache-2.0 */
#include "jobfile/jobfile.h"

#include "base/base64.h"

#include <inttypes.h>

enum { BASE64_MOST = JOB_RECORD_SIGNATURE_BYTES / 3 * 4 + 8 };

static void write_range(const struct job_range *range, FILE *out)
{
    fprintf(out, "%" PRIu32, range->first);
    if (range->count > 1) {
        fprintf(out, "-%" PRIu32, range->first + (range->count - 1));
    }
}

static void write_ranges(const struct job_plan *p, FILE *out)
{
    bool own = true; /* each on the server of its number */
    for (unsigned i = 0; i < p->ranges; i++) {
        own = own && p->range[i].first == p->range[i].server;
    }
    if (own && p->ranges > 0) {
        fputs("    processes = \"", out);
        for (unsigned i = 0; i < p->ranges; i++) {
            fputs(i > 0 ? "," : "", out);
            write_range(&p->range[i], out);
        }
        fputs("\";\n", out);
    } else if (p->ranges > 0) {
        fputs("    processes {\n", out);
        for (unsigned i = 0; i < p->ranges; i++) {
            fputs("        ", out);
            write_range(&p->range[i], out);
            fprintf(out, " = %" PRIu32 ";\n", p->range[i].server);
        }
        fputs("    }\n", out);
    }
}

static void write_ports(const struct job_plan *p, FILE *out)
{
    if (p->ports > 0) {
        fputs("    ports {\n", out);
        for (unsigned i = 0; i < p->ports; i++) {
            fprintf(out, "        %s = %u;\n", p->port[i].name, p->port[i].port);
        }
        fputs("    }\n", out);
    }
}

void jobfile_write(const struct job_plan *p, const uint8_t *signature, FILE *out)
{
    fprintf(out, "job \"%s\" {\n    id = %" PRIu32 ";\n    version = %" PRIu64 ";\n    generation = %" PRIu64 ";\n",
            p->name, p->id, p->version, p->generation);
    if (p->destroyed) {
        fputs("    destroyed = true;\n", out);
    }
    write_ranges(p, out);
    write_ports(p, out);
    for (unsigned i = 0; i < p->rights; i++) {
        const struct job_right *r = &p->right[i];
        fprintf(out, "    grant %" PRIu32 " {\n        processes = \"", r->job);
        processes_write(&r->who, out);
        fputs("\";\n        ports = \"", out);
        job_ports_write(&r->ports, out);
        fputs("\";\n    }\n", out);
    }
    if (signature != NULL) {
        char text[BASE64_MOST];
        base64_encode(signature, JOB_RECORD_SIGNATURE_BYTES, text);
        fprintf(out, "    signature = \"%s\";\n", text);
    }
    fputs("}\n", out);
}
