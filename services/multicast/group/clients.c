/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/clients.h"

#include "services/multicast/group/mutant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a service has to do with a name. */
struct subject {
    struct group_name name;
    uint8_t group; /* GROUP_MEMBER, GROUP_KEEPER */
    bool listens;
};

/* An acknowledgement or an answer that a service waits for. */
struct wait {
    struct wait *next;
    cw_multicast *user;
    cw_multicast_acked_fn acked;
    cw_multicast_members_fn members;
    void *arg;
};

struct cw_multicast {
    cw_multicast *next;
    struct clients *clients;
    cw_svc *user;
    cw_job job;
    cw_multicast_config config;
    struct subject *subject;
    unsigned count, room;
    struct wait *waits;
    bool refused; /* was given -EAGAIN */
};

struct clients {
    cw_svc *s;
    struct membership *membership;
    struct publisher *publisher;
    struct datagrams *datagrams;
    cw_multicast *first;
};

/* ---- Names ----------------------------------------------------------------------------------------------------------------- */

static struct subject *find(const cw_multicast *u, const struct group_name *name)
{
    for (unsigned i = 0; i < u->count; i++) {
        if (group_name_compare(&u->subject[i].name, name) == 0) {
            return &u->subject[i];
        }
    }
    return NULL;
}

static int find_or_add(cw_multicast *u, const struct group_name *name, struct subject **out)
{
    *out = find(u, name);
    if (*out != NULL) {
        return 0;
    }
    if (u->count == CLIENT_TOPICS_MOST) {
        return -ENOSPC;
    }
    if (u->count == u->room) {
        unsigned room = u->room == 0 ? 4 : 2 * u->room;
        struct subject *grown = realloc(u->subject, room * sizeof *grown);
        if (grown == NULL) {
            return -ENOMEM;
        }
        u->subject = grown;
        u->room = room;
    }
    *out = &u->subject[u->count++];
    **out = (struct subject){.name = *name};
    return 0;
}

static void drop_if_idle(cw_multicast *u, struct subject *t)
{
    if (t->group == 0 && !t->listens) {
        *t = u->subject[--u->count];
    }
}

/* Who has that job here. */
static cw_multicast *of_job(const struct clients *u, cw_job job)
{
    cw_multicast *m = u->first;
    while (m != NULL && m->job != job) {
        m = m->next;
    }
    return m;
}

static bool wants(const cw_multicast *m, const struct group_name *name, bool to_group)
{
    const struct subject *t = m != NULL ? find(m, name) : NULL;
    return t != NULL && (to_group ? (t->group & GROUP_MEMBER) != 0 : t->listens);
}

/* ---- Waits ------------------------------------------------------------------------------------------------------------------ */

static struct wait *new_wait(cw_multicast *u, void *arg)
{
    struct wait *w = calloc(1, sizeof *w);
    if (w != NULL) {
        w->user = u;
        w->arg = arg;
        w->next = u->waits;
        u->waits = w;
    }
    return w;
}

static void unlink_wait(struct wait *w)
{
    struct wait **at = &w->user->waits;
    while (*at != w) {
        at = &(*at)->next;
    }
    *at = w->next;
}

static void on_acked(void *arg, int status)
{
    struct wait *w = arg;
    unlink_wait(w);
    w->acked(w->arg, status);
    free(w);
}

static void members_known(void *arg, int status, const uint8_t *set, unsigned count)
{
    struct wait *w = arg;
    cw_svc *s = w->user->clients->s;
    cw_coord *member = status == 0 ? calloc(count + 1, sizeof *member) : NULL;
    status = status == 0 && member == NULL ? -ENOMEM : status;
    unsigned at = 0;
    for (cw_server i = 0; at < count && member != NULL; i++) {
        if (set[i / 8] >> i % 8 & 1) {
            member[at++] = cw_server_coord(s, i);
        }
    }
    unlink_wait(w);
    w->members(w->arg, status, member, at);
    free(member);
    free(w);
}

/* ---- Groups and topics -------------------------------------------------------------------------------------------------------- */

/* What the service is to the group from now on; done may be NULL. */
static int change(cw_multicast *u, const char *group, size_t length, uint8_t add, uint8_t remove,
                  cw_multicast_acked_fn done, void *arg)
{
    struct group_name name;
    struct subject *t = NULL;
    int rc = group_name_make(&name, u->job, group, length);
    if (rc == 0 && add != 0) {
        rc = find_or_add(u, &name, &t);
    } else if (rc == 0) {
        t = find(u, &name);
        rc = t == NULL || t->group == 0 ? -ENOENT : 0;
    }
    if (rc < 0) {
        return rc;
    }
    struct wait *w = done != NULL ? new_wait(u, arg) : NULL;
    uint8_t flags = (uint8_t)((t->group | add) & ~remove);
    rc = done != NULL && w == NULL ? -ENOMEM : 0;
    if (rc == 0) {
        if (w != NULL) {
            w->acked = done;
        }
        rc = membership_want(u->clients->membership, &name, flags, w != NULL ? on_acked : NULL, w);
    }
    if (rc < 0 && w != NULL) {
        unlink_wait(w);
        free(w);
    }
    t->group = rc == 0 && !(GROUP_MUTANT(LATE_LEAVE) && flags == 0) ? flags : t->group;
    drop_if_idle(u, t);
    return rc;
}

int clients_create(cw_multicast *u, const char *group, size_t length, cw_multicast_acked_fn done, void *arg)
{
    return change(u, group, length, GROUP_KEEPER, 0, done, arg);
}

int clients_join(cw_multicast *u, const char *group, size_t length, cw_multicast_acked_fn done, void *arg)
{
    return change(u, group, length, GROUP_MEMBER, 0, done, arg);
}

int clients_leave(cw_multicast *u, const char *group, size_t length, cw_multicast_acked_fn done, void *arg)
{
    return change(u, group, length, 0, GROUP_FLAGS, done, arg);
}

int clients_listen(cw_multicast *u, const char *topic, size_t length)
{
    struct group_name name;
    struct subject *t;
    int rc = group_name_make(&name, u->job, topic, length);
    rc = rc == 0 ? find_or_add(u, &name, &t) : rc;
    if (rc == 0) {
        t->listens = true;
    }
    return rc;
}

int clients_ignore(cw_multicast *u, const char *topic, size_t length)
{
    struct group_name name;
    int rc = group_name_make(&name, u->job, topic, length);
    struct subject *t = rc == 0 ? find(u, &name) : NULL;
    if (rc < 0 || t == NULL || !t->listens) {
        return rc < 0 ? rc : -ENOENT;
    }
    t->listens = false;
    drop_if_idle(u, t);
    return 0;
}

int clients_members(cw_multicast *u, const char *group, size_t length, cw_multicast_members_fn done, void *arg)
{
    struct group_name name;
    int rc = done == NULL ? -EINVAL : group_name_make(&name, u->job, group, length);
    struct wait *w = rc == 0 ? new_wait(u, arg) : NULL;
    if (w == NULL) {
        return rc < 0 ? rc : -ENOMEM;
    }
    w->members = done;
    rc = membership_ask(u->clients->membership, &name, members_known, w);
    if (rc < 0) {
        unlink_wait(w);
        free(w);
    }
    return rc;
}

/* ---- Sending ------------------------------------------------------------------------------------------------------------------ */

static int give(cw_multicast *u, struct publisher_order *order, const char *text, size_t length,
                const cw_multicast_content *content)
{
    int rc = group_name_make(&order->name, u->job, text, length);
    if (rc < 0 || content == NULL || (content->flags & ~(unsigned)CW_MULTICAST_BEST_EFFORT) != 0) {
        return -EINVAL;
    }
    order->owner = u;
    order->reliable = !(content->flags & CW_MULTICAST_BEST_EFFORT);
    order->bytes = content->bytes;
    order->length = content->length;
    rc = publisher_send(u->clients->publisher, order);
    u->refused = u->refused || rc == -EAGAIN;
    return rc;
}

int clients_publish(cw_multicast *u, const char *group, size_t length, const cw_multicast_content *content,
                    cw_multicast_done_fn done, void *arg)
{
    struct publisher_order order = {.done = done, .arg = arg};
    return give(u, &order, group, length, content);
}

int clients_send(cw_multicast *u, const cw_coord *to, unsigned count, const char *topic, size_t length,
                 const cw_multicast_content *content, cw_multicast_done_fn done, void *arg)
{
    cw_dims dims = cw_torus(u->clients->s);
    uint8_t *set = calloc(cast_set_bytes((uint32_t)dims.x * dims.y * dims.z), 1);
    int rc = set == NULL ? -ENOMEM : to == NULL || count == 0 ? -EINVAL : 0;
    for (unsigned i = 0; i < count && rc == 0; i++) {
        cw_server id = cw_server_id(u->clients->s, to[i]);
        if (id == CW_SERVER_NONE) {
            rc = -EINVAL;
        } else {
            set[id / 8] |= (uint8_t)(1 << id % 8);
        }
    }
    struct publisher_order order = {.set = set, .done = done, .arg = arg};
    rc = rc == 0 ? give(u, &order, topic, length, content) : rc;
    free(set);
    return rc;
}

size_t clients_packet_max(const cw_multicast *u, size_t name_length)
{
    return datagrams_most(u->clients->datagrams, name_length);
}

/* ---- What comes ------------------------------------------------------------------------------------------------------------------ */

bool clients_want(const struct clients *u, const struct group_name *name, bool to_group)
{
    return wants(of_job(u, name->job), name, to_group);
}

int clients_deliver(struct clients *u, const struct group_name *name, const cw_multicast_message *m)
{
    const cw_multicast *user = of_job(u, name->job);
    if (!wants(user, name, m->to_group)) {
        return -ENOENT;
    }
    user->config.deliver(user->config.context, m);
    return 0;
}

bool clients_forward(struct clients *u, const struct group_name *name, const cw_multicast_message *m)
{
    const cw_multicast *user = of_job(u, name->job);
    return user == NULL || user->config.forward == NULL || user->config.forward(user->config.context, m);
}

void clients_writable(struct clients *u)
{
    for (cw_multicast *m = u->first; m != NULL; m = m->next) {
        if (m->refused) {
            m->refused = false;
            if (m->config.writable != NULL) {
                m->config.writable(m->config.context);
            }
        }
    }
}

/* ---- Life ------------------------------------------------------------------------------------------------------------------------- */

int clients_attach(struct clients *u, cw_svc *user, const cw_multicast_config *config, cw_multicast **out)
{
    if (user == NULL || out == NULL || config == NULL || config->size < sizeof *config || config->deliver == NULL) {
        return -EINVAL;
    }
    if (of_job(u, cw_job_of(user)) != NULL) {
        return -EEXIST;
    }
    cw_multicast *m = calloc(1, sizeof *m);
    if (m == NULL) {
        return -ENOMEM;
    }
    m->clients = u;
    m->user = user;
    m->job = cw_job_of(user);
    m->config = *config;
    m->next = u->first;
    u->first = m;
    *out = m;
    return 0;
}

static void end_waits(cw_multicast *m)
{
    while (m->waits != NULL) {
        struct wait *w = m->waits;
        m->waits = w->next;
        membership_cancel(m->clients->membership, w);
        if (w->acked != NULL) {
            w->acked(w->arg, -ECANCELED);
        } else {
            w->members(w->arg, -ECANCELED, NULL, 0);
        }
        free(w);
    }
}

void clients_detach(cw_multicast *m)
{
    if (m == NULL) {
        return;
    }
    struct clients *u = m->clients;
    cw_multicast **at = &u->first;
    while (*at != m) {
        at = &(*at)->next;
    }
    *at = m->next; /* nothing is delivered any more */
    end_waits(m);
    publisher_cancel(u->publisher, m);
    for (unsigned i = 0; i < m->count; i++) {
        if (m->subject[i].group != 0) {
            int rc = membership_want(u->membership, &m->subject[i].name, 0, NULL, NULL);
            (void)rc; /* it was wanted */
        }
    }
    free(m->subject);
    free(m);
}

int clients_open(struct clients **out, cw_svc *s, struct membership *membership, struct publisher *publisher,
                 struct datagrams *datagrams)
{
    struct clients *u = calloc(1, sizeof *u);
    if (u == NULL) {
        return -ENOMEM;
    }
    *u = (struct clients){.s = s, .membership = membership, .publisher = publisher, .datagrams = datagrams};
    *out = u;
    return 0;
}

void clients_close(struct clients *u)
{
    while (u != NULL && u->first != NULL) {
        cw_multicast *m = u->first;
        u->first = m->next;
        while (m->waits != NULL) {
            struct wait *w = m->waits;
            m->waits = w->next;
            free(w);
        }
        free(m->subject);
        free(m);
    }
    free(u);
}
