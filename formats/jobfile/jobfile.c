/* SPDX-License-Identifier: Apache-2.0 */
/* jobfile.c - from the text's tree to jobs: first what each is by itself, then the grants, which name others. */
#include "jobfile/jobfile.h"
#include "jobfile/job_right.h"

#include "base/base64.h"
#include "base/words.h"
#include "conf/conf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 1024 };

struct reading {
    const char *file;
    const struct jobfile_options *options;
    struct conf tree;
    struct jobfile out;
    jobfile_mistake_fn *mistake;
    void *context;
    unsigned mistakes;
    bool torn;   /* some of the text could not be read, and what it held may be what is missing now */
    bool memory; /* it ran out */
};

/* Where we are: the job, and what of it. */
struct spot {
    const struct conf_item *item; /* for its line */
    const char *job, *part;       /* part may be "" */
};

__attribute__((format(printf, 3, 4))) static void wrong(struct reading *r, struct spot at, const char *format, ...)
{
    if (at.item->guessed || ++r->mistakes > JOBFILE_MISTAKES) {
        return; /* a guess was told as the mistake that it was made for */
    }
    char why[TEXT_MOST / 2], text[TEXT_MOST];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    snprintf(text, sizeof text, "%.300s:%u: %s%.40s%s%.60s%s%s", r->file, at.item->line,
             at.job[0] != '\0' ? "job " : "", at.job, at.job[0] != '\0' ? ": " : "", at.part,
             at.part[0] != '\0' ? ": " : "", why);
    r->mistake(r->context, text);
}

static void missing(struct reading *r, struct spot at, const char *what)
{
    if (!r->torn) {
        wrong(r, at, "%s", what);
    }
}

static void tell_text(void *context, unsigned line, const char *why)
{
    struct reading *r = context;
    const struct conf_item at = {.line = line};
    wrong(r, (struct spot){&at, "", ""}, "%s", why);
    r->torn = true;
}

static void no_memory(struct reading *r)
{
    r->memory = true;
}

static const struct conf_item *item_at(const struct reading *r, uint32_t index)
{
    return index == CONF_NONE ? NULL : &r->tree.item[index];
}

static struct spot spot_of(const struct jobfile_entry *e, const struct conf_item *item, const char *part)
{
    return (struct spot){item, e->plan.name, part};
}

/* The value of an item; NULL: it is a section, which was told. */
static const char *value_of(struct reading *r, struct spot at)
{
    if (at.item->value == NULL) {
        wrong(r, at, "expected a value, not a section");
    }
    return at.item->value;
}

/* ---- Numbers and servers ----------------------------------------------------------------------------------------- */

static bool read_number(struct reading *r, struct spot at, uint64_t least, uint64_t most, uint64_t *out)
{
    const char *text = value_of(r, at);
    if (text == NULL) {
        return false;
    }
    if (words_number(text, least, most, out) < 0) {
        wrong(r, at, "'%.40s': expected a whole number from %" PRIu64 " to %" PRIu64, text, least, most);
        return false;
    }
    return true;
}

/* "1,0,2" inside dims. */
static bool read_coordinate(cw_dims dims, const char *text, cw_server *out)
{
    unsigned c[3];
    int used = 0;
    bool plain = strspn(text, "0123456789,") == strlen(text);
    if (!plain || sscanf(text, "%4u,%4u,%4u%n", &c[0], &c[1], &c[2], &used) != 3 || text[used] != '\0' ||
        c[0] >= dims.x || c[1] >= dims.y || c[2] >= dims.z) {
        return false;
    }
    *out = (c[0] * dims.y + c[1]) * dims.z + c[2];
    return true;
}

static bool read_server(struct reading *r, struct spot at, cw_server *out)
{
    cw_dims dims = r->options->dims;
    uint64_t number, servers = (uint64_t)dims.x * dims.y * dims.z;
    const char *text = value_of(r, at);
    if (text == NULL) {
        return false;
    }
    if (strchr(text, ',') != NULL && servers > 0) {
        if (!read_coordinate(dims, text, out)) {
            wrong(r, at, "'%.40s': expected x,y,z of a server in %ux%ux%u", text, dims.x, dims.y, dims.z);
            return false;
        }
        return true;
    }
    uint64_t most = servers > 0 ? servers - 1 : CW_SERVER_NONE - 1;
    if (words_number(text, 0, most, &number) < 0) {
        wrong(r, at, "'%.40s': expected a server: a number from 0 to %" PRIu64 "%s", text, most,
              servers > 0 ? ", or x,y,z" : " (x,y,z only where the torus is known: --dims)");
        return false;
    }
    *out = (cw_server)number;
    return true;
}

/* ---- A job by itself --------------------------------------------------------------------------------------------- */

static bool told(struct reading *r, struct spot at, int rc, const char *why)
{
    if (rc == -ENOMEM) {
        no_memory(r);
    } else if (rc < 0) {
        wrong(r, at, "%s", why);
    }
    return rc < 0;
}

static bool read_set(struct reading *r, struct spot at, const char *text, struct processes *set)
{
    int rc = processes_read(set, text);
    if (rc == -E2BIG) {
        wrong(r, at, "more than %d ranges of processes", JOB_RECORD_GRANT_SPANS_MAX);
    } else if (rc == -EINVAL) {
        wrong(r, at, "'%.40s': expected numbers of processes, such as 0-3,7", text);
    } else if (rc < 0) {
        no_memory(r);
    }
    return rc == 0;
}

/* Processes of the text live on servers from *server on; NULL: each on the server of its own number. */
static void add_ranges(struct reading *r, struct jobfile_entry *e, struct spot at, const char *text,
                       const cw_server *server)
{
    struct processes set = {.all = false};
    char why[JOB_PLAN_WHY];
    cw_dims dims = r->options->dims;
    uint64_t servers = (uint64_t)dims.x * dims.y * dims.z, next = server != NULL ? *server : 0;
    if (!read_set(r, at, text, &set)) {
        return;
    }
    if (set.all) {
        wrong(r, at, "all: a job's own processes are numbers, such as 0-26");
    }
    for (uint32_t i = 0; i < set.count; i++) {
        cw_process first = set.span[i].first, last = set.span[i].last;
        uint64_t from = server != NULL ? next : first, to = from + (last - first);
        if (to >= (servers > 0 ? servers : CW_SERVER_NONE)) {
            wrong(r, at, "process %" PRIu32 " would live on server %" PRIu64 ", which there is not", last, to);
            break;
        }
        if (told(r, at, job_plan_add_range(&e->plan, first, last, (cw_server)from, why), why)) {
            break;
        }
        next = to + 1;
    }
    processes_close(&set);
}

static void read_processes(struct reading *r, struct jobfile_entry *e, const struct conf_item *item)
{
    if (item->value != NULL) {
        add_ranges(r, e, spot_of(e, item, "processes"), item->value, NULL);
        return;
    }
    for (const struct conf_item *i = item_at(r, item->first); i != NULL; i = item_at(r, i->next)) {
        cw_server server;
        if (read_server(r, spot_of(e, i, "processes"), &server)) {
            add_ranges(r, e, spot_of(e, i, "processes"), i->key, &server);
        }
    }
}

static void read_ports(struct reading *r, struct jobfile_entry *e, const struct conf_item *section)
{
    char why[JOB_PLAN_WHY];
    if (section->value != NULL) {
        wrong(r, spot_of(e, section, "ports"), "expected a section: ports { get = 1; put = 2 }");
        return;
    }
    for (const struct conf_item *i = item_at(r, section->first); i != NULL; i = item_at(r, i->next)) {
        uint64_t port;
        struct spot at = spot_of(e, i, "ports");
        if (read_number(r, at, 0, UINT16_MAX, &port)) {
            told(r, at, job_plan_add_port(&e->plan, (cw_port)port, i->key, why), why);
        }
    }
}

static void read_signature(struct reading *r, struct jobfile_entry *e, const struct conf_item *item)
{
    struct spot at = spot_of(e, item, "signature");
    const char *text = value_of(r, at);
    if (text == NULL) {
        return;
    }
    e->sealed = base64_decode(text, e->signature, sizeof e->signature) == (int)sizeof e->signature;
    if (!e->sealed) {
        wrong(r, at, "expected %d bytes in base64, as cwctl job sign writes them", JOB_RECORD_SIGNATURE_BYTES);
    }
}

static void read_destroyed(struct reading *r, struct jobfile_entry *e, const struct conf_item *item)
{
    struct spot at = spot_of(e, item, "destroyed");
    const char *text = value_of(r, at);
    if (text != NULL && strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
        wrong(r, at, "'%.40s': expected true or false", text);
    } else if (text != NULL) {
        e->plan.destroyed = strcmp(text, "true") == 0;
    }
}

/* What may stand in a job more than once, and is read later. */
static bool is_grant(const struct conf_item *item)
{
    return strcmp(item->key, "grant") == 0;
}

static bool stands_before(const struct reading *r, const struct conf_item *section, const struct conf_item *item)
{
    const struct conf_item *other = item_at(r, section->first);
    while (strcmp(other->key, item->key) != 0) {
        other = item_at(r, other->next);
    }
    return other != item;
}

static void read_item(struct reading *r, struct jobfile_entry *e, const struct conf_item *section,
                      const struct conf_item *item)
{
    uint64_t number;
    struct spot at = spot_of(e, item, item->key);
    if (stands_before(r, section, item)) {
        wrong(r, at, "it was given before");
    } else if (strcmp(item->key, "id") == 0) {
        e->plan.id = read_number(r, at, 1, UINT32_MAX, &number) ? (cw_job)number : e->plan.id;
    } else if (strcmp(item->key, "version") == 0) {
        e->plan.version = read_number(r, at, 1, UINT64_MAX, &number) ? number : 1;
    } else if (strcmp(item->key, "generation") == 0) {
        e->plan.generation = read_number(r, at, 1, UINT64_MAX, &number) ? number : 1;
    } else if (strcmp(item->key, "destroyed") == 0) {
        read_destroyed(r, e, item);
    } else if (strcmp(item->key, "signature") == 0) {
        read_signature(r, e, item);
    } else if (strcmp(item->key, "processes") == 0) {
        read_processes(r, e, item);
    } else if (strcmp(item->key, "ports") == 0) {
        read_ports(r, e, item);
    } else {
        wrong(r, at,
              "no such key of a job; it has id, processes, ports, grant, version, generation, destroyed and "
              "signature");
    }
}

static bool has_key(const struct reading *r, const struct conf_item *section, const char *key)
{
    const struct conf_item *i = item_at(r, section->first);
    while (i != NULL && strcmp(i->key, key) != 0) {
        i = item_at(r, i->next);
    }
    return i != NULL;
}

static void read_job(struct reading *r, const struct conf_item *section)
{
    struct jobfile *f = &r->out;
    if (f->count == JOBFILE_JOBS) {
        wrong(r, (struct spot){section, section->name, ""}, "at most %d jobs in one file", JOBFILE_JOBS);
        return;
    }
    struct jobfile_entry *more = realloc(f->entry, (f->count + 1) * sizeof *more);
    if (more == NULL) {
        no_memory(r);
        return;
    }
    f->entry = more;
    struct jobfile_entry *e = &more[f->count++];
    *e = (struct jobfile_entry){.line = section->line};
    job_plan_open(&e->plan, 0, section->name);
    if (!has_key(r, section, "id") && !r->torn) {
        wrong(r, spot_of(e, section, ""), "expected id, the number of the job: id = 5001");
    }
    const struct conf_item *i = item_at(r, section->first);
    for (; i != NULL && r->mistakes <= JOBFILE_MISTAKES; i = item_at(r, i->next)) {
        if (!is_grant(i)) {
            read_item(r, e, section, i);
        }
    }
    for (const struct jobfile_entry *other = f->entry; other < e; other++) {
        if (strcmp(other->plan.name, e->plan.name) == 0 || (other->plan.id == e->plan.id && e->plan.id != 0)) {
            wrong(r, spot_of(e, section, ""), "job %s in line %u has this name or number already", other->plan.name,
                  other->line);
        }
    }
}

/* ---- Grants ------------------------------------------------------------------------------------------------------ */

/* The ports of the job that a grant is about. */
struct door {
    struct reading *r;
    cw_job job;
    const struct jobfile_entry *entry; /* NULL: not in the file */
};

static bool find_port(void *context, const char *name, cw_port *out)
{
    const struct door *d = context;
    const struct jobfile_names *names = d->r->options->names;
    const struct job_port *port = d->entry != NULL ? job_plan_port_named(&d->entry->plan, name) : NULL;
    if (port != NULL) {
        *out = port->port;
        return true;
    }
    return d->entry == NULL && names != NULL && names->port(names->context, d->job, name, out);
}

static bool find_job(struct reading *r, struct spot at, const char *text, struct door *out)
{
    const struct jobfile_names *names = r->options->names;
    uint64_t number;
    *out = (struct door){.r = r};
    if (words_number(text, 1, UINT32_MAX, &number) == 0) {
        out->job = (cw_job)number;
    }
    for (unsigned i = 0; i < r->out.count && out->entry == NULL; i++) {
        const struct job_plan *p = &r->out.entry[i].plan;
        if (strcmp(p->name, text) == 0 || (p->id != 0 && p->id == out->job)) {
            out->entry = &r->out.entry[i];
        }
    }
    if (out->entry != NULL) {
        out->job = out->entry->plan.id;
    } else if (out->job == 0 && names != NULL) {
        out->job = names->job(names->context, text);
    }
    if (out->job == 0 && out->entry == NULL) {
        wrong(r, at, "no job of this name is known here; expected one of this file, or a number");
    }
    return out->job != 0;
}

static void read_grant_item(struct reading *r, struct spot at, struct door *door, struct processes *who,
                            struct job_ports *ports)
{
    const struct job_port_names names = {.context = door, .find = find_port};
    char why[JOB_PORTS_WHY];
    bool set = strcmp(at.item->key, "processes") == 0, port = strcmp(at.item->key, "ports") == 0;
    if (!set && !port) {
        wrong(r, at, "'%.40s': no such key of a grant; it has processes and ports", at.item->key);
    } else if (value_of(r, at) == NULL) {
        return;
    } else if (set && processes_is_empty(who)) {
        if (!read_set(r, at, at.item->value, who)) {
            processes_add_all(who); /* told once is enough */
        }
    } else if (port && !ports->all && ports->count == 0) {
        if (told(r, at, job_ports_read(ports, at.item->value, &names, why), why)) {
            ports->all = true;
        }
    } else {
        wrong(r, at, "%s was given before", at.item->key);
    }
}

static void read_grant(struct reading *r, unsigned index, const struct conf_item *section)
{
    char part[64];
    struct job_plan *plan = &r->out.entry[index].plan;
    snprintf(part, sizeof part, "grant %.40s", section->name != NULL ? section->name : "");
    struct spot at = {section, plan->name, part};
    struct door door;
    struct processes who = {.all = false};
    struct job_ports ports = {.all = false};
    if (section->value != NULL || section->name == NULL) {
        wrong(r, at, "expected a section: grant \"job\" { processes = all; ports = \"1-3\" }");
        return;
    }
    if (!find_job(r, at, section->name, &door)) {
        return;
    }
    for (const struct conf_item *i = item_at(r, section->first); i != NULL; i = item_at(r, i->next)) {
        read_grant_item(r, (struct spot){i, plan->name, part}, &door, &who, &ports);
    }
    if (processes_is_empty(&who)) {
        missing(r, at, "expected processes, those that may be reached: all, or numbers such as 0-3,7");
    } else if (!ports.all && ports.count == 0) {
        missing(r, at, "expected ports, those that may be used: all, or numbers such as 1-3, or names");
    } else if (job_plan_grant_raw(plan, door.job, &ports, &who) < 0) {
        no_memory(r);
    }
    processes_close(&who);
    job_ports_close(&ports);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static const struct conf_item *first_job(const struct reading *r)
{
    return item_at(r, r->tree.item[0].first);
}

/* Does it make a record? */
static void check_record(struct reading *r, struct jobfile_entry *e, const struct conf_item *section)
{
    struct job_plan *p = &e->plan;
    uint8_t *bytes;
    size_t size;
    char why[JOB_PLAN_WHY];
    if (p->destroyed && (p->ranges | p->ports | p->rights) != 0) {
        wrong(r, spot_of(e, section, ""), "a destroyed job has no processes, ports and grants");
    } else if (job_plan_normalize(p) < 0) {
        no_memory(r);
    } else if (!told(r, spot_of(e, section, ""), job_plan_record(p, &bytes, &size, why), why)) {
        free(bytes);
    }
}

static void read_all(struct reading *r)
{
    static const struct conf_item top = {.key = "", .line = 1};
    const struct conf_item *i = first_job(r);
    for (; i != NULL && r->mistakes <= JOBFILE_MISTAKES; i = item_at(r, i->next)) {
        struct spot at = {i, "", i->key};
        if (strcmp(i->key, "job") != 0 || i->value != NULL || i->name == NULL) {
            wrong(r, at, "expected only jobs here: job \"name\" { id = 5001; ... }");
        } else if (!job_plan_name_good(i->name)) {
            wrong(r, at, "'%.40s': expected a name of a letter and up to 30 of a-z A-Z 0-9 - _ . behind it", i->name);
        } else {
            read_job(r, i);
        }
    }
    if (first_job(r) == NULL && !r->torn) {
        wrong(r, (struct spot){&top, "", ""}, "expected at least one job \"name\" { id = 5001; ... }");
    }
    if (r->mistakes > 0 || r->memory) {
        return; /* grants name what may be missing for it */
    }
    unsigned index = 0;
    for (i = first_job(r); i != NULL; i = item_at(r, i->next), index++) {
        for (const struct conf_item *k = item_at(r, i->first); k != NULL; k = item_at(r, k->next)) {
            if (is_grant(k)) {
                read_grant(r, index, k);
            }
        }
        if (r->mistakes == 0 && !r->memory) {
            check_record(r, &r->out.entry[index], i);
        }
    }
}

static int finish(struct reading *r, struct jobfile *out)
{
    char text[TEXT_MOST];
    if (r->mistakes > JOBFILE_MISTAKES) {
        snprintf(text, sizeof text, "%.300s: and more mistakes", r->file);
        r->mistake(r->context, text);
    }
    if (r->memory) {
        snprintf(text, sizeof text, "%.300s: out of memory", r->file);
        r->mistake(r->context, text);
    }
    if (r->mistakes > 0 || r->memory) {
        jobfile_close(&r->out);
        return r->memory ? -ENOMEM : -EINVAL;
    }
    *out = r->out;
    return 0;
}

int jobfile_parse(struct jobfile *out, const char *file, const char *text, size_t length,
                  const struct jobfile_options *options, jobfile_mistake_fn *mistake, void *context)
{
    struct reading r = {.file = file, .options = options, .mistake = mistake, .context = context};
    if (conf_open_most(&r.tree, text, length, tell_text, &r) < 0) {
        no_memory(&r);
        return finish(&r, out);
    }
    read_all(&r);
    conf_close(&r.tree);
    return finish(&r, out);
}

int jobfile_load(struct jobfile *out, const char *file, const struct jobfile_options *options,
                 jobfile_mistake_fn *mistake, void *context)
{
    char why[TEXT_MOST];
    FILE *in = fopen(file, "re");
    int rc = in == NULL ? -errno : 0;
    char *text = rc == 0 ? malloc(JOBFILE_BYTES + 1) : NULL;
    size_t length = text != NULL ? fread(text, 1, JOBFILE_BYTES + 1, in) : 0;
    if (rc == 0) {
        rc = text == NULL ? -ENOMEM : ferror(in) ? -EIO : 0;
        rc = rc == 0 && length > JOBFILE_BYTES ? -EFBIG : rc;
        fclose(in);
    }
    if (rc < 0) {
        snprintf(why, sizeof why, "%.500s: %s", file, strerror(-rc));
        mistake(context, why);
    } else {
        rc = jobfile_parse(out, file, text, length, options, mistake, context);
    }
    free(text);
    return rc;
}

void jobfile_close(struct jobfile *file)
{
    for (unsigned i = 0; i < file->count; i++) {
        job_plan_close(&file->entry[i].plan);
    }
    free(file->entry);
    *file = (struct jobfile){NULL, 0};
}

const struct jobfile_entry *jobfile_find(const struct jobfile *file, const char *name)
{
    for (unsigned i = 0; i < file->count; i++) {
        if (strcmp(file->entry[i].plan.name, name) == 0) {
            return &file->entry[i];
        }
    }
    return NULL;
}
