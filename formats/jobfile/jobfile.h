/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobfile.h - jobs as operators write them down (the syntax of conf/conf.h), and back.
 *
 *     job "web" {
 *         id = 5001;
 *         processes = "0-8";                      # process n lives on server n; or:
 *         processes { 0-3 = 9; 4 = "1,1,1" }      # 0 to 3 on servers 9 to 12, 4 on the server at 1,1,1
 *         ports { http = 1; admin = 2 }
 *         grant "store" { processes = all; ports = "get, put, 7-9" }
 *         version = 3; generation = 1;            # 1 and 1 when they are not said
 *         signature = "...";                      # of the record that the rest makes, base64
 *     }
 *
 * What is not granted is denied, also to the job itself (NMU 3). A job or a port is given by its number, or by its
 * name: that of a job in the file, or of one that the caller knows. Pure but for memory and, in jobfile_load(), the
 * file.
 */
#ifndef JOBFILE_JOBFILE_H
#define JOBFILE_JOBFILE_H

#include "jobfile/job_plan.h"

enum {
    JOBFILE_MISTAKES = 20,   /* reported of one file, at most */
    JOBFILE_JOBS = 1024,     /* in one file, at most */
    JOBFILE_BYTES = 8 << 20, /* of one file, at most */
};

/* Finds jobs and ports that are not in the file, by their names. */
struct jobfile_names {
    void *context;
    cw_job (*job)(void *context, const char *name); /* 0: no job has this name */
    bool (*port)(void *context, cw_job job, const char *name, cw_port *out);
};

struct jobfile_options {
    /* of the torus; 0x0x0: not known, and a server can only be given by its number */
    cw_dims dims;
    const struct jobfile_names *names; /* borrowed; NULL: no names but those of the file are known */
};

struct jobfile_entry {
    struct job_plan plan;
    unsigned line;
    bool sealed; /* the signature is there; whether it is good has not been checked */
    uint8_t signature[JOB_RECORD_SIGNATURE_BYTES];
};

struct jobfile {
    struct jobfile_entry *entry;
    unsigned count;
};

/* One mistake, "file:line: what: what is wrong and what is expected", without a newline; borrowed for the call. */
typedef void jobfile_mistake_fn(void *context, const char *text);

/*
 * Reads text[length] of a file of that name. 0, and *out has at least one job, and a record can be made of each; it is
 * to be closed. -EINVAL: every mistake was reported, and *out is untouched; -ENOMEM, reported too.
 */
CW_MUST_CHECK int jobfile_parse(struct jobfile *out, const char *file, const char *text, size_t length,
                                const struct jobfile_options *options, jobfile_mistake_fn *mistake, void *context);
/* The same for a file; also -errno when it cannot be read, reported too. */
CW_MUST_CHECK int jobfile_load(struct jobfile *out, const char *file, const struct jobfile_options *options,
                               jobfile_mistake_fn *mistake, void *context);
void jobfile_close(struct jobfile *file);
/* Borrows the job of that name; NULL. */
const struct jobfile_entry *jobfile_find(const struct jobfile *file, const char *name);

/*
 * Writes a section that jobfile_parse() reads as the same plan, if its names are good (job_plan_name_good()). Remote
 * jobs and their ports are written as numbers. signature may be NULL.
 */
void jobfile_write(const struct job_plan *plan, const uint8_t *signature, FILE *out);

#endif
