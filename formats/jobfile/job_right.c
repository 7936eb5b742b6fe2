/* SPDX-License-Identifier: Apache-2.0 */
#include "jobfile/job_right.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Ports ------------------------------------------------------------------------------------------------------- */

/* Takes those in `with` out of *ports and puts them into *common, which was empty. Neither is all. */
static int take_common(struct job_ports *ports, const struct job_ports *with, struct job_ports *common)
{
    *common = (struct job_ports){.all = false};
    common->port = malloc((ports->count + 1) * sizeof *common->port);
    if (common->port == NULL) {
        return -ENOMEM;
    }
    unsigned kept = 0;
    for (unsigned i = 0; i < ports->count; i++) {
        cw_port port = ports->port[i];
        if (job_ports_hold(with, port)) {
            common->port[common->count++] = port;
        } else {
            ports->port[kept++] = port;
        }
    }
    ports->count = kept;
    return 0;
}

/* ---- Rights ------------------------------------------------------------------------------------------------------ */

void job_right_close(struct job_right *right)
{
    job_ports_close(&right->ports);
    processes_close(&right->who);
}

int job_right_from(struct job_right *out, const struct job_grant *grant)
{
    *out = (struct job_right){.job = grant->job, .ports.all = grant->all_ports, .who.all = grant->all_processes};
    out->ports.port = grant->ports > 0 ? malloc(grant->ports * sizeof *out->ports.port) : NULL;
    out->who.span = grant->spans > 0 ? malloc(grant->spans * sizeof *out->who.span) : NULL;
    if ((grant->ports > 0 && out->ports.port == NULL) || (grant->spans > 0 && out->who.span == NULL)) {
        return -ENOMEM;
    }
    for (unsigned i = 0; i < grant->ports; i++) {
        out->ports.port[out->ports.count++] = job_grant_port(grant, i);
    }
    for (unsigned i = 0; i < grant->spans; i++) {
        out->who.span[out->who.count++] = job_grant_span(grant, i);
    }
    out->who.room = out->who.count;
    return 0;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_processes(const void *a, const void *b)
{
    const struct job_right *x = a, *y = b;
    int order = compare(x->job, y->job);
    order = order != 0 ? order : compare(!x->ports.all, !y->ports.all);
    order = order != 0 ? order : compare(!x->who.all, !y->who.all);
    order = order != 0 ? order : compare(x->who.count, y->who.count);
    for (uint32_t i = 0; order == 0 && i < x->who.count; i++) {
        order = compare(x->who.span[i].first, y->who.span[i].first);
        order = order != 0 ? order : compare(x->who.span[i].last, y->who.span[i].last);
    }
    return order;
}

static int by_port(const void *a, const void *b)
{
    const struct job_right *x = a, *y = b;
    int order = compare(x->job, y->job);
    order = order != 0 ? order : compare(!x->ports.all, !y->ports.all);
    return order != 0 || x->ports.all ? order : compare(x->ports.port[0], y->ports.port[0]);
}

static int by_number(const void *a, const void *b)
{
    return compare(*(const cw_port *)a, *(const cw_port *)b);
}

static void drop_empty(struct job_plan *p)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < p->rights; i++) {
        struct job_right *r = &p->right[i];
        if (processes_is_empty(&r->who) || (!r->ports.all && r->ports.count == 0)) {
            job_right_close(r);
        } else {
            p->right[kept++] = *r;
        }
    }
    p->rights = kept;
}

/* Those of one job for equal processes become one, which stands where the first of them was. */
static int join_equal(struct job_plan *p)
{
    unsigned kept = 0;
    for (unsigned i = 1; i < p->rights; i++) {
        struct job_right *a = &p->right[kept], *b = &p->right[i];
        if (a->job != b->job || a->ports.all != b->ports.all || !processes_equal(&a->who, &b->who)) {
            p->right[++kept] = *b;
            continue;
        }
        unsigned count = a->ports.count + b->ports.count;
        cw_port *more = realloc(a->ports.port, (count + 1) * sizeof *more);
        if (more == NULL) {
            for (; i < p->rights; i++) {
                p->right[++kept] = p->right[i];
            }
            p->rights = kept + 1;
            return -ENOMEM;
        }
        if (b->ports.count > 0) {
            memcpy(more + a->ports.count, b->ports.port, b->ports.count * sizeof *more);
        }
        a->ports.port = more;
        a->ports.count = count;
        job_right_close(b);
    }
    p->rights = p->rights > 0 ? kept + 1 : 0;
    for (unsigned i = 0; i < p->rights; i++) {
        if (p->right[i].ports.count > 1) {
            qsort(p->right[i].ports.port, p->right[i].ports.count, sizeof(cw_port), by_number);
        }
    }
    return 0;
}

/* Takes *right, whatever comes of it. */
static int append(struct job_plan *p, struct job_right *right)
{
    struct job_right *more = realloc(p->right, (p->rights + 1) * sizeof *more);
    if (more == NULL) {
        job_right_close(right);
        return -ENOMEM;
    }
    p->right = more;
    more[p->rights++] = *right;
    return 0;
}

/* What is more than a grant holds goes into further ones. */
static int split_long(struct job_plan *p)
{
    for (unsigned i = 0; i < p->rights; i++) { /* those that are appended come by here as well */
        struct job_ports *ports = &p->right[i].ports;
        if (ports->count <= JOB_RECORD_GRANT_PORTS_MAX) {
            continue;
        }
        struct job_ports tail = {.count = ports->count - JOB_RECORD_GRANT_PORTS_MAX,
                                 .port = ports->port + JOB_RECORD_GRANT_PORTS_MAX};
        struct job_right rest = {.job = p->right[i].job};
        if (job_ports_copy(&rest.ports, &tail) < 0 || processes_copy(&rest.who, &p->right[i].who) < 0) {
            job_right_close(&rest);
            return -ENOMEM;
        }
        ports->count = JOB_RECORD_GRANT_PORTS_MAX;
        if (append(p, &rest) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

int job_plan_normalize(struct job_plan *p)
{
    drop_empty(p);
    if (p->rights == 0) {
        return 0;
    }
    qsort(p->right, p->rights, sizeof *p->right, by_processes);
    if (join_equal(p) < 0 || split_long(p) < 0) {
        return -ENOMEM;
    }
    qsort(p->right, p->rights, sizeof *p->right, by_port);
    return 0;
}

/* ---- Changes ----------------------------------------------------------------------------------------------------- */

/* What of `who` is not in `has`. */
static int missing_in(const struct processes *has, const struct processes *who, struct processes *out)
{
    *out = (struct processes){.all = false};
    if (has->all) {
        return 0;
    }
    int rc = processes_copy(out, who);
    return rc < 0 || who->all ? rc : processes_subtract(out, has);
}

/* 1: all of who is in has; 0: not; -ENOMEM. */
static int holds_all(const struct processes *has, const struct processes *who)
{
    struct processes rest;
    int rc = missing_in(has, who, &rest);
    rc = rc < 0 ? rc : processes_is_empty(&rest);
    processes_close(&rest);
    return rc;
}

/* 1: one is in both. */
static bool have_common(const struct processes *a, const struct processes *b)
{
    if (a->all || b->all) {
        return !processes_is_empty(a) && !processes_is_empty(b);
    }
    for (uint32_t i = 0, k = 0; i < a->count && k < b->count;) {
        if (a->span[i].last < b->span[k].first) {
            i++;
        } else if (b->span[k].last < a->span[i].first) {
            k++;
        } else {
            return true;
        }
    }
    return false;
}

static struct job_right *right_to_all_ports(const struct job_plan *p, cw_job job)
{
    for (unsigned i = 0; i < p->rights; i++) {
        if (p->right[i].job == job && p->right[i].ports.all) {
            return &p->right[i];
        }
    }
    return NULL;
}

static int change(struct processes *who, bool add, const struct processes *by)
{
    return add ? processes_join(who, by) : processes_subtract(who, by);
}

/*
 * Right i, for those of its ports that are among *left, which they leave: one right becomes two when they are not all.
 * 1: it changed.
 */
static int change_right(struct job_plan *p, unsigned i, struct job_ports *left, bool add, const struct processes *who)
{
    struct job_right part = {.job = p->right[i].job};
    if (take_common(left, &p->right[i].ports, &part.ports) < 0) {
        return -ENOMEM;
    }
    int held = add ? holds_all(&p->right[i].who, who) : !have_common(&p->right[i].who, who);
    if (part.ports.count == 0 || held != 0) {
        job_ports_close(&part.ports);
        return held < 0 ? held : 0;
    }
    struct job_ports again;
    int rc = processes_copy(&part.who, &p->right[i].who);
    rc = rc < 0 ? rc : change(&part.who, add, who);
    if (rc == 0) {
        rc = take_common(&p->right[i].ports, &part.ports, &again);
        job_ports_close(&again);
    }
    if (rc < 0) {
        job_right_close(&part);
        return rc;
    }
    rc = append(p, &part);
    return rc < 0 ? rc : 1;
}

/* For listed ports: those that are in a right already. 1: something changed. */
static int change_listed(struct job_plan *p, cw_job job, struct job_ports *left, bool add, const struct processes *who)
{
    int changed = 0;
    for (unsigned i = 0, end = p->rights; i < end; i++) {
        if (p->right[i].job == job && !p->right[i].ports.all) {
            int rc = change_right(p, i, left, add, who);
            if (rc < 0) {
                return rc;
            }
            changed |= rc;
        }
    }
    return changed;
}

/* A right beside those there are. 1. */
static int add_right(struct job_plan *p, cw_job job, const struct job_ports *ports, const struct processes *who)
{
    struct job_right right = {.job = job};
    if (job_ports_copy(&right.ports, ports) < 0 || processes_copy(&right.who, who) < 0) {
        job_right_close(&right);
        return -ENOMEM;
    }
    return append(p, &right) < 0 ? -ENOMEM : 1;
}

static int grant_listed(struct job_plan *p, cw_job job, const struct job_ports *ports, const struct processes *who)
{
    struct job_ports left;
    int rc = job_ports_copy(&left, ports);
    rc = rc < 0 ? rc : change_listed(p, job, &left, true, who);
    if (rc >= 0 && left.count > 0) {
        rc = add_right(p, job, &left, who);
    }
    job_ports_close(&left);
    return rc;
}

int job_plan_grant_raw(struct job_plan *p, cw_job job, const struct job_ports *ports, const struct processes *who)
{
    struct job_right *all = right_to_all_ports(p, job);
    if (processes_is_empty(who) || (!ports->all && ports->count == 0)) {
        return 0;
    }
    int held = all != NULL ? holds_all(&all->who, who) : 0;
    if (held != 0) {
        return held < 0 ? held : 0;
    }
    if (!ports->all) {
        return grant_listed(p, job, ports, who);
    }
    return all == NULL ? add_right(p, job, ports, who) : processes_join(&all->who, who) < 0 ? -ENOMEM : 1;
}

int job_plan_grant(struct job_plan *p, cw_job job, const struct job_ports *ports, const struct processes *who)
{
    int rc = job_plan_grant_raw(p, job, ports, who);
    return rc > 0 && job_plan_normalize(p) < 0 ? -ENOMEM : rc;
}

static int revoke_all_ports(struct job_plan *p, cw_job job, const struct processes *who)
{
    int changed = 0;
    for (unsigned i = 0; i < p->rights; i++) {
        if (p->right[i].job == job && have_common(&p->right[i].who, who)) {
            changed = 1;
            if (processes_subtract(&p->right[i].who, who) < 0) {
                return -ENOMEM;
            }
        }
    }
    return changed;
}

int job_plan_revoke(struct job_plan *p, cw_job job, const struct job_ports *ports, const struct processes *who)
{
    const struct job_right *all = right_to_all_ports(p, job);
    int rc;
    if (ports->all) {
        rc = revoke_all_ports(p, job, who);
    } else if (all != NULL && have_common(&all->who, who)) {
        return -ENOTSUP;
    } else {
        struct job_ports left;
        rc = job_ports_copy(&left, ports);
        rc = rc < 0 ? rc : change_listed(p, job, &left, false, who);
        job_ports_close(&left);
    }
    return rc > 0 && job_plan_normalize(p) < 0 ? -ENOMEM : rc;
}

const struct job_right *job_plan_allows(const struct job_plan *p, cw_job job, bool key, cw_process process,
                                        cw_port port)
{
    for (unsigned i = 0; i < p->rights; i++) {
        const struct job_right *r = &p->right[i];
        if (r->job == job && job_ports_hold(&r->ports, port) && (key ? r->who.all : processes_hold(&r->who, process))) {
            return r;
        }
    }
    return NULL;
}
