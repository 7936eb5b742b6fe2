/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/group.h"

#include "services/multicast/cast/head.h"
#include "services/multicast/group/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct group_service {
    cw_svc *s;
    struct torus torus;
    struct membership *membership;
    struct datagrams *datagrams;
    struct bulk *bulk;
    struct publisher *publisher;
    struct clients *clients;
    struct group_command *command;
    struct datagrams_hooks datagrams_hooks;
    struct bulk_hooks bulk_hooks;
    struct publisher_hooks publisher_hooks;
    cw_counter *malformed;
};

/* ---- What comes, to whom it is for --------------------------------------------------------------------------------------------- */

static cw_multicast_message message_of(const struct group_service *p, const struct group_name *name, bool to_group,
                                       cw_server from)
{
    return (cw_multicast_message){.size = sizeof(cw_multicast_message),
                                  .from = torus_coord(&p->torus, from),
                                  .to_group = to_group,
                                  .name = name->text,
                                  .name_length = name->length};
}

static int name_of_datagram(const struct group_head *h, struct group_name *name)
{
    return group_name_make(name, h->job, h->name, h->name_bytes);
}

static cw_multicast_message message_of_datagram(const struct group_service *p, const struct group_name *name,
                                                const struct group_head *h)
{
    cw_multicast_message m = message_of(p, name, (h->flags & DATAGRAM_TO_GROUP) != 0, h->origin);
    m.best_effort = !(h->flags & DATAGRAM_RELIABLE);
    m.bytes = h->bytes;
    m.length = h->length;
    return m;
}

static int datagram_came(void *context, const struct group_head *h)
{
    struct group_service *p = context;
    struct group_name name;
    if (name_of_datagram(h, &name) < 0) {
        return -EINVAL;
    }
    const cw_multicast_message m = message_of_datagram(p, &name, h);
    return clients_deliver(p->clients, &name, &m);
}

static bool datagram_goes_on(void *context, const struct group_head *h)
{
    struct group_service *p = context;
    struct group_name name;
    if (name_of_datagram(h, &name) < 0) {
        return false;
    }
    const cw_multicast_message m = message_of_datagram(p, &name, h);
    return clients_forward(p->clients, &name, &m);
}

static bool bulk_wanted(void *context, const struct group_name *name, bool to_group)
{
    const struct group_service *p = context;
    return clients_want(p->clients, name, to_group);
}

static void bulk_came(void *context, const struct group_name *name, bool to_group, cw_server from, const uint8_t *bytes,
                      size_t length)
{
    struct group_service *p = context;
    cw_multicast_message m = message_of(p, name, to_group, from);
    m.bytes = bytes;
    m.length = length;
    int rc = clients_deliver(p->clients, name, &m);
    (void)rc; /* it has left meanwhile */
}

static int own_came(void *context, const struct group_name *name, bool to_group, bool best_effort, const uint8_t *bytes,
                    size_t length)
{
    struct group_service *p = context;
    cw_multicast_message m = message_of(p, name, to_group, cw_server_id(p->s, cw_self(p->s)));
    m.best_effort = best_effort;
    m.bytes = bytes;
    m.length = length;
    return clients_deliver(p->clients, name, &m);
}

static void room_again(void *context)
{
    struct group_service *p = context;
    clients_writable(p->clients);
}

/* ---- The service's upcalls --------------------------------------------------------------------------------------------------------- */

cw_verdict group_service_packet(struct group_service *p, cw_packet *packet, const cw_rx *rx)
{
    struct group_head h;
    size_t length;
    const uint8_t *bytes = cw_packet_data(packet, &length);
    if (rx->src_job != MULTICAST_JOB || rx->src_process >= p->torus.servers ||
        group_head_decode(bytes, length, &h) < 0) {
        cw_counter_add(p->malformed, 1);
        return CW_DROP;
    }
    if (h.kind == GROUP_ANNOUNCE || h.kind == GROUP_MEMBERS) {
        return membership_packet(p->membership, packet, &h, rx) ? CW_TAKE : CW_FORWARD;
    }
    int rc = datagrams_packet(p->datagrams, &h, rx);
    (void)rc; /* counted there */
    return CW_FORWARD;
}

void group_service_event(struct group_service *p, const cw_event *ev)
{
    membership_event(p->membership, ev);
    datagrams_event(p->datagrams);
}

void group_service_writable(struct group_service *p)
{
    publisher_writable(p->publisher);
}

int group_service_command(struct group_service *p, cw_request *r, int argc, const char *const *argv)
{
    return group_command_run(p->command, r, argc, argv);
}

struct membership *group_service_groups(struct group_service *p)
{
    return p->membership;
}

struct clients *group_service_clients(struct group_service *p)
{
    return p->clients;
}

/* ---- Life ------------------------------------------------------------------------------------------------------------------------------- */

static int open_all(struct group_service *p, struct cast_engine *engine)
{
    int rc = torus_init(&p->torus, cw_torus(p->s));
    rc = rc == 0 ? membership_open(&p->membership, p->s) : rc;
    rc = rc == 0 ? datagrams_open(&p->datagrams, p->s, &p->torus, &p->datagrams_hooks) : rc;
    if (engine != NULL) {
        rc = rc == 0 ? bulk_open(&p->bulk, p->s, engine, &p->bulk_hooks) : rc;
    }
    rc = rc == 0
             ? publisher_open(&p->publisher, p->s, &p->torus, p->membership, p->datagrams, p->bulk, &p->publisher_hooks)
             : rc;
    rc = rc == 0 ? clients_open(&p->clients, p->s, p->membership, p->publisher, p->datagrams) : rc;
    return rc == 0 ? group_command_open(&p->command, p->s, p->clients, p->membership) : rc;
}

int group_service_open(struct group_service **out, cw_svc *s, struct cast_engine *engine)
{
    struct group_service *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return -ENOMEM;
    }
    p->s = s;
    p->datagrams_hooks = (struct datagrams_hooks){p, datagram_came, datagram_goes_on};
    p->bulk_hooks = (struct bulk_hooks){p, bulk_wanted, bulk_came};
    p->publisher_hooks = (struct publisher_hooks){p, own_came, room_again};
    p->malformed = cw_counter_new(s, "group_malformed", "packets to the port of groups that are none");
    int rc = open_all(p, engine);
    if (rc < 0) {
        group_service_stop(p);
        group_service_close(p);
        return rc;
    }
    *out = p;
    return 0;
}

void group_service_stop(struct group_service *p)
{
    if (p != NULL) {
        group_command_close(p->command);
        publisher_close(p->publisher);
        p->command = NULL;
        p->publisher = NULL;
    }
}

void group_service_close(struct group_service *p)
{
    if (p != NULL) {
        clients_close(p->clients);
        datagrams_close(p->datagrams);
        bulk_close(p->bulk);
        membership_close(p->membership);
        free(p);
    }
}
