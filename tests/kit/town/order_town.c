/* SPDX-License-Identifier: Apache-2.0 */
#include "order_town.h"

#include "services/aggregate/aggregate.h"
#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct order_file order_files[ORDER_TOWN];

static const char *const *town_options;
static cw_service table;

/* Folders are "/d/x,y,z". */
static struct order_file *file_of(const char *folder)
{
    unsigned x = 0, y = 0, z = 0;
    ck_assert_int_eq(sscanf(folder, "/d/%u,%u,%u", &x, &y, &z), 3);
    return &order_files[x * 3 + y];
}

static int load(void *context, const char *folder, const char *name, uint64_t most, uint8_t **bytes, uint64_t *length)
{
    const struct order_file *f = file_of(folder);
    (void)context;
    if (f->error < 0 || strcmp(name, "v") != 0) {
        return f->error < 0 ? f->error : -ENOENT;
    }
    if (f->length > most) {
        return -EFBIG;
    }
    *bytes = malloc(f->length + 1);
    memcpy(*bytes, f->bytes, f->length);
    *length = f->length;
    return 0;
}

struct vectors_file {
    struct order_file *of;
    char name[64];
    size_t length;
    uint8_t bytes[ORDER_FILE];
};

static int begin(void *context, const char *folder, const char *name, struct vectors_file **out)
{
    struct order_file *f = file_of(folder);
    (void)context;
    if (f->error < 0 || f->store_error < 0) {
        return f->error < 0 ? f->error : f->store_error;
    }
    *out = calloc(1, sizeof **out);
    (*out)->of = f;
    snprintf((*out)->name, sizeof(*out)->name, "%s", name);
    return 0;
}

static int write_piece(void *context, struct vectors_file *f, const uint8_t *bytes, uint64_t length)
{
    (void)context;
    ck_assert_uint_le(length, ORDER_PIECE);
    f->of->pieces++;
    if (f->length + length > ORDER_FILE) {
        return -ENOSPC;
    }
    memcpy(f->bytes + f->length, bytes, (size_t)length);
    f->length += (size_t)length;
    return 0;
}

static void abandon(void *context, struct vectors_file *f)
{
    (void)context;
    free(f);
}

static int end(void *context, struct vectors_file *f)
{
    memcpy(f->of->stored, f->name, sizeof f->name);
    memcpy(f->of->stored_bytes, f->bytes, f->length);
    f->of->stored_length = f->length;
    abandon(context, f);
    return 0;
}

static const struct vectors_host host = {sizeof host, NULL, true, load, ORDER_PIECE, begin, write_piece, end, abandon};

static const void *offers(cw_svc *s, const char *name, unsigned version)
{
    (void)s;
    return strcmp(name, VECTORS_HOST_NAME) == 0 && version == VECTORS_HOST_VERSION ? &host : NULL;
}

static int open_town(cw_svc *s, void *state)
{
    static const char *const plain[] = {"data=/d", NULL};
    s->options = town_options != NULL ? town_options : plain;
    int rc = aggregate_service.open(s, state);
    s->asked = 0; /* whoever opens it knows of no options */
    return rc;
}

struct fake_net *order_town_open(const char *const *options)
{
    memset(order_files, 0, sizeof order_files);
    fake_offers = offers;
    town_options = options;
    table = aggregate_service;
    table.open = open_town;
    return fake_net_open(&table, (cw_dims){3, 3, 1});
}

void order_town_close(struct fake_net *net)
{
    ck_assert_uint_eq(fake_net_close(net), 0);
    fake_offers = NULL;
}

const struct fake_result *order_town_ask(struct fake_net *net, cw_server s, const char *line)
{
    static struct fake_result r;
    fake_command(net->server[s], line, &r);
    fake_net_finish(net, &r);
    return &r;
}

void order_town_fill(cw_server s, unsigned elements)
{
    uint64_t v[ORDER_FILE / sizeof(uint64_t)];
    for (unsigned i = 0; i < elements; i++) {
        v[i] = (s + 1) * UINT64_C(1000) + i;
    }
    order_files[s].length = elements * sizeof *v;
    memcpy(order_files[s].bytes, v, order_files[s].length);
}

void order_town_lose(struct fake_net *net, cw_server s)
{
    const cw_event ev = {.size = sizeof ev, .kind = CW_EVENT_SERVER_DOWN, .server = torus_coord(&net->torus, s)};
    for (cw_server at = 0; at < ORDER_TOWN; at++) {
        net->server[at]->down[at == s ? (s + 1) % ORDER_TOWN : s] = true;
        if (at != s) {
            aggregate_service.on_event(net->server[at], net->server[at]->state, &ev);
        }
    }
}
