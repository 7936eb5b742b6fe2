/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/api.h"

#include "services/multicast/group/mutant.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An acknowledgement or an answer that a client waits for: one of the two functions is set. */
struct api_wait {
    struct api_wait *next;
    cw_multicast *client;
    cw_multicast_acked_fn acked;
    cw_multicast_members_fn members;
    void *arg;
};

/* ---- Waits ------------------------------------------------------------------------------------------------------- */

static struct api_wait *new_wait(cw_multicast *client, void *arg)
{
    struct api_wait *w = calloc(1, sizeof *w);
    if (w != NULL) {
        w->client = client;
        w->arg = arg;
        w->next = client->waits;
        client->waits = w;
    }
    return w;
}

static void unlink_wait(struct api_wait *w)
{
    struct api_wait **at = &w->client->waits;
    while (*at != w) {
        at = &(*at)->next;
    }
    *at = w->next;
}

static void on_acked(void *arg, int status)
{
    struct api_wait *w = arg;
    unlink_wait(w);
    w->acked(w->arg, status);
    free(w);
}

static void on_members(void *arg, int status, const uint8_t *set, unsigned count)
{
    struct api_wait *w = arg;
    cw_svc *s = w->client->api->s;
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

/* ---- Groups and topics ------------------------------------------------------------------------------------------- */

/* Changes what the client is to the group: adds some flags and removes others. done may be NULL. */
static int change(cw_multicast *client, const char *group, size_t length, uint8_t add, uint8_t remove,
                  cw_multicast_acked_fn done, void *arg)
{
    struct group_name name;
    struct client_subject *t = NULL;
    int rc = group_name_make(&name, client->job, group, length);
    if (rc == 0 && add != 0) {
        rc = client_find_or_add(client, &name, &t);
    } else if (rc == 0) {
        t = client_find(client, &name);
        rc = t == NULL || t->group == 0 ? -ENOENT : 0;
    }
    if (rc < 0) {
        return rc;
    }
    struct api_wait *w = done != NULL ? new_wait(client, arg) : NULL;
    uint8_t flags = (uint8_t)((t->group | add) & ~remove);
    rc = done != NULL && w == NULL ? -ENOMEM : 0;
    if (rc == 0) {
        if (w != NULL) {
            w->acked = done;
        }
        rc = membership_want(client->api->membership, &name, flags, w != NULL ? on_acked : NULL, w);
    }
    if (rc < 0 && w != NULL) {
        unlink_wait(w);
        free(w);
    }
    t->group = rc == 0 && !(GROUP_MUTANT(LATE_LEAVE) && flags == 0) ? flags : t->group;
    client_drop_if_idle(client, t);
    return rc;
}

int api_create(cw_multicast *client, const char *group, size_t length, cw_multicast_acked_fn done, void *arg)
{
    return change(client, group, length, GROUP_KEEPER, 0, done, arg);
}

int api_join(cw_multicast *client, const char *group, size_t length, cw_multicast_acked_fn done, void *arg)
{
    return change(client, group, length, GROUP_MEMBER, 0, done, arg);
}

int api_leave(cw_multicast *client, const char *group, size_t length, cw_multicast_acked_fn done, void *arg)
{
    return change(client, group, length, 0, GROUP_FLAGS, done, arg);
}

int api_listen(cw_multicast *client, const char *topic, size_t length)
{
    struct group_name name;
    struct client_subject *t;
    int rc = group_name_make(&name, client->job, topic, length);
    rc = rc < 0 ? rc : client_find_or_add(client, &name, &t);
    if (rc == 0) {
        t->listens = true;
    }
    return rc;
}

int api_ignore(cw_multicast *client, const char *topic, size_t length)
{
    struct group_name name;
    int rc = group_name_make(&name, client->job, topic, length);
    struct client_subject *t = rc == 0 ? client_find(client, &name) : NULL;
    if (rc < 0 || t == NULL || !t->listens) {
        return rc < 0 ? rc : -ENOENT;
    }
    t->listens = false;
    client_drop_if_idle(client, t);
    return 0;
}

int api_members(cw_multicast *client, const char *group, size_t length, cw_multicast_members_fn done, void *arg)
{
    struct group_name name;
    int rc = done == NULL ? -EINVAL : group_name_make(&name, client->job, group, length);
    struct api_wait *w = rc == 0 ? new_wait(client, arg) : NULL;
    if (w == NULL) {
        return rc < 0 ? rc : -ENOMEM;
    }
    w->members = done;
    rc = membership_ask(client->api->membership, &name, on_members, w);
    if (rc < 0) {
        unlink_wait(w);
        free(w);
    }
    return rc;
}

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

/* Fills in the order and gives it to the publisher. */
static int submit(cw_multicast *client, struct publisher_order *order, const char *text, size_t length,
                  const cw_multicast_content *content)
{
    int rc = group_name_make(&order->name, client->job, text, length);
    if (rc < 0 || content == NULL || (content->flags & ~(unsigned)CW_MULTICAST_BEST_EFFORT) != 0) {
        return -EINVAL;
    }
    order->owner = client;
    order->reliable = !(content->flags & CW_MULTICAST_BEST_EFFORT);
    order->bytes = content->bytes;
    order->length = content->length;
    rc = publisher_send(client->api->publisher, order);
    client->refused = client->refused || rc == -EAGAIN;
    return rc;
}

int api_publish(cw_multicast *client, const char *group, size_t length, const cw_multicast_content *content,
                cw_multicast_done_fn done, void *arg)
{
    struct publisher_order order = {.done = done, .arg = arg};
    return submit(client, &order, group, length, content);
}

int api_send(cw_multicast *client, const cw_coord *to, unsigned count, const char *topic, size_t length,
             const cw_multicast_content *content, cw_multicast_done_fn done, void *arg)
{
    const cw_svc *s = client->api->s;
    if (to == NULL || count == 0) {
        return -EINVAL;
    }
    uint8_t *set = calloc(cast_set_bytes(servers_of(cw_torus(s))), 1);
    int rc = set == NULL ? -ENOMEM : 0;
    for (unsigned i = 0; i < count && rc == 0; i++) {
        cw_server id = cw_server_id(s, to[i]);
        if (id == CW_SERVER_NONE) {
            rc = -EINVAL;
        } else {
            set[id / 8] |= (uint8_t)(1 << id % 8);
        }
    }
    struct publisher_order order = {.set = set, .done = done, .arg = arg};
    rc = rc < 0 ? rc : submit(client, &order, topic, length, content);
    free(set);
    return rc;
}

size_t api_packet_max(const cw_multicast *client, size_t name_length)
{
    return datagrams_most(client->api->datagrams, name_length);
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

int api_open(const struct api *api, const cw_svc *user, const cw_multicast_config *config, cw_multicast **out)
{
    int rc = clients_attach(api->clients, user, config, out);
    if (rc == 0) {
        (*out)->api = api;
    }
    return rc;
}

static void end_waits(cw_multicast *client)
{
    while (client->waits != NULL) {
        struct api_wait *w = client->waits;
        client->waits = w->next;
        membership_cancel(client->api->membership, w);
        if (w->acked != NULL) {
            w->acked(w->arg, -ECANCELED);
        } else {
            w->members(w->arg, -ECANCELED, NULL, 0);
        }
        free(w);
    }
}

void api_close(cw_multicast *client)
{
    if (client == NULL) {
        return;
    }
    const struct api *api = client->api;
    clients_detach(client); /* first of all, so that nothing is delivered any more */
    end_waits(client);
    publisher_cancel(api->publisher, client);
    for (unsigned i = 0; i < client->count; i++) {
        if (client->subject[i].group != 0) {
            int rc = membership_want(api->membership, &client->subject[i].name, 0, NULL, NULL);
            (void)rc; /* it cannot fail: something was wanted of this group */
        }
    }
    clients_free(client);
}

void api_abandon(cw_multicast *client)
{
    clients_detach(client);
    while (client->waits != NULL) {
        struct api_wait *w = client->waits;
        client->waits = w->next;
        free(w);
    }
    clients_free(client);
}
