/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_plan.c - every cable of a torus, before there is one: as a table, or as labels to print and to stick on both ends
 * of each cable.
 */
#include "ctl/commands.h"

#include "base/quantity.h"

#include <inttypes.h>
#include <string.h>

enum { END = 24, SERVERS_MOST = 1 << 16 };

struct cable {
    unsigned number; /* from 1 on */
    char server[16], far[16];
    const char *link, *port;
};

/* Calls each for every cable once, from the server whose positive end it is; gives how many there are. */
static unsigned each_cable(cw_dims dims, void (*each)(const struct call *call, const struct cable *c),
                           const struct call *call)
{
    const unsigned size[CW_AXES] = {dims.x, dims.y, dims.z};
    unsigned count = 0;
    for (unsigned i = 0; i < size[0] * size[1] * size[2]; i++) {
        const unsigned at[CW_AXES] = {i / (size[1] * size[2]), i / size[2] % size[1], i % size[2]};
        for (unsigned axis = 0; axis < CW_AXES; axis++) {
            struct cable c = {.number = count + 1};
            unsigned to[CW_AXES] = {at[0], at[1], at[2]};
            to[axis] = (at[axis] + 1) % size[axis];
            if (size[axis] == 1) {
                continue; /* an axis of one server has no cables */
            }
            snprintf(c.server, sizeof c.server, "%u,%u,%u", at[0] % 1000, at[1] % 1000, at[2] % 1000);
            snprintf(c.far, sizeof c.far, "%u,%u,%u", to[0] % 1000, to[1] % 1000, to[2] % 1000);
            c.link = quantity_link_name((cw_link)(2 * axis));
            c.port = quantity_link_name(cw_link_opposite((cw_link)(2 * axis)));
            each(call, &c);
            count++;
        }
    }
    return count;
}

static void print_json(const struct call *call, const struct cable *c)
{
    struct message *m = message_open();
    if (m != NULL) {
        message_integer(m, "cable", c->number);
        message_text(m, "server", c->server);
        message_text(m, "link", c->link);
        message_text(m, "leads_to", c->far);
        message_text(m, "port", c->port);
        message_print(m, call->out);
        message_close(m);
    }
}

static void print_line(const struct call *call, const struct cable *c)
{
    char near[END], far[END];
    snprintf(near, sizeof near, "%s of %s", c->link, c->server);
    snprintf(far, sizeof far, "%s of %s", c->port, c->far);
    fprintf(call->out, "%5u  %-17s  %s\n", c->number, near, far);
}

static void rule(FILE *out)
{
    fputs("+---------------------------------+---------------------------------+\n", out);
}

/* Two labels side by side, one for each end: the big line says into which port this end goes. */
static void print_labels(const struct call *call, const struct cable *c)
{
    char near[END], far[END];
    snprintf(near, sizeof near, "%s of %s", c->link, c->server);
    snprintf(far, sizeof far, "%s of %s", c->port, c->far);
    fprintf(call->out, "| %5u  plug into %-14s | %5u  plug into %-14s |\n", c->number, near, c->number, far);
    fprintf(call->out, "|        other end %-14s |        other end %-14s |\n", far, near);
    rule(call->out);
}

int run_plan(struct call *call)
{
    const char *text = call->arguments->word[1];
    bool labels = call_given(call, "labels") != NULL, json = call->arguments->json;
    cw_dims dims;
    if (quantity_dims(text, strlen(text), &dims) < 0 || (uint32_t)dims.x * dims.y * dims.z > SERVERS_MOST) {
        fprintf(call->errors, "cwctl: '%.40s': expected the extent of a torus of at most %d servers, as 4x4x4\n", text,
                SERVERS_MOST);
        return EXIT_USAGE;
    }
    if (labels && !json) {
        rule(call->out);
    } else if (!json && (uint32_t)dims.x * dims.y * dims.z > 1) {
        fprintf(call->out, "%s%5s  %-17s  %s%s\n", table_bold(call->style), "CABLE", "FROM", "TO",
                table_plain(call->style));
    }
    unsigned count = each_cable(dims, json ? print_json : labels ? print_labels : print_line, call);
    if (!json) {
        unsigned servers = (unsigned)dims.x * dims.y * dims.z;
        fprintf(call->out, "%s%u server%s, %u cable%s\n", count > 0 ? "\n" : "", servers, servers == 1 ? "" : "s",
                count, count == 1 ? "" : "s");
    }
    return EXIT_FINE;
}
