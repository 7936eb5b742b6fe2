/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/clients.h"

#include <errno.h>
#include <stdlib.h>

/* ---- Who is here ------------------------------------------------------------------------------------------------- */

static cw_multicast *of_job(const struct clients *c, cw_job job)
{
    cw_multicast *client = c->first;
    while (client != NULL && client->job != job) {
        client = client->next;
    }
    return client;
}

int clients_attach(struct clients *c, const cw_svc *user, const cw_multicast_config *config, cw_multicast **out)
{
    if (user == NULL || out == NULL || config == NULL || config->size < sizeof *config || config->deliver == NULL) {
        return -EINVAL;
    }
    if (of_job(c, cw_job_of(user)) != NULL) {
        return -EEXIST;
    }
    cw_multicast *client = calloc(1, sizeof *client);
    if (client == NULL) {
        return -ENOMEM;
    }
    client->clients = c;
    client->job = cw_job_of(user);
    client->config = *config;
    client->next = c->first;
    c->first = client;
    *out = client;
    return 0;
}

void clients_detach(cw_multicast *client)
{
    cw_multicast **at = &client->clients->first;
    while (*at != client) {
        at = &(*at)->next;
    }
    *at = client->next;
}

void clients_free(cw_multicast *client)
{
    free(client->subject);
    free(client);
}

/* ---- What it wants ----------------------------------------------------------------------------------------------- */

struct client_subject *client_find(const cw_multicast *client, const struct group_name *name)
{
    for (unsigned i = 0; i < client->count; i++) {
        if (group_name_compare(&client->subject[i].name, name) == 0) {
            return &client->subject[i];
        }
    }
    return NULL;
}

int client_find_or_add(cw_multicast *client, const struct group_name *name, struct client_subject **out)
{
    *out = client_find(client, name);
    if (*out != NULL) {
        return 0;
    }
    if (client->count == CLIENT_SUBJECTS_MOST) {
        return -ENOSPC;
    }
    if (client->count == client->room) {
        unsigned room = client->room == 0 ? 4 : 2 * client->room;
        struct client_subject *grown = realloc(client->subject, room * sizeof *grown);
        if (grown == NULL) {
            return -ENOMEM;
        }
        client->subject = grown;
        client->room = room;
    }
    *out = &client->subject[client->count++];
    **out = (struct client_subject){.name = *name};
    return 0;
}

void client_drop_if_idle(cw_multicast *client, struct client_subject *subject)
{
    if (subject->group == 0 && !subject->listens) {
        *subject = client->subject[--client->count];
    }
}

static bool wants(const cw_multicast *client, const struct group_name *name, bool to_group)
{
    const struct client_subject *subject = client != NULL ? client_find(client, name) : NULL;
    return subject != NULL && (to_group ? (subject->group & GROUP_MEMBER) != 0 : subject->listens);
}

/* ---- What arrives ------------------------------------------------------------------------------------------------ */

static cw_multicast_message message_of(const struct clients *c, const struct arrival *a)
{
    return (cw_multicast_message){.size = sizeof(cw_multicast_message),
                                  .from = torus_coord(c->torus, a->from),
                                  .to_group = a->to_group,
                                  .best_effort = a->best_effort,
                                  .name = a->name->text,
                                  .name_length = a->name->length,
                                  .bytes = a->bytes,
                                  .length = a->length};
}

bool clients_want(const struct clients *c, const struct group_name *name, bool to_group)
{
    return wants(of_job(c, name->job), name, to_group);
}

int clients_deliver(const struct clients *c, const struct arrival *a)
{
    const cw_multicast *client = of_job(c, a->name->job);
    if (!wants(client, a->name, a->to_group)) {
        return -ENOENT;
    }
    const cw_multicast_message m = message_of(c, a);
    client->config.deliver(client->config.context, &m);
    return 0;
}

bool clients_forward(const struct clients *c, const struct arrival *a)
{
    const cw_multicast *client = of_job(c, a->name->job);
    if (client == NULL || client->config.forward == NULL) {
        return true;
    }
    const cw_multicast_message m = message_of(c, a);
    return client->config.forward(client->config.context, &m);
}

void clients_writable(struct clients *c)
{
    for (cw_multicast *client = c->first; client != NULL; client = client->next) {
        if (client->refused) {
            client->refused = false;
            if (client->config.writable != NULL) {
                client->config.writable(client->config.context);
            }
        }
    }
}
