/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_town.h"

#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stream_disk stream_disks[STREAM_TOWN_WIDE];
struct stream_town_modules stream_town_modules = {CW_SERVER_NONE, CW_SERVER_NONE};

struct town {
    struct stream *st;
    uint32_t numbers;
};

static const char *const *town_options;
static char *text;
static cw_server servers; /* of the town that is open */

static const void *offers(cw_svc *s, const char *name, unsigned version)
{
    struct stream_disk *d = &stream_disks[cw_server_id(s, cw_self(s))];
    if (strcmp(name, VECTORS_HOST_NAME) == 0 && version == VECTORS_HOST_VERSION) {
        return &d->results;
    }
    if (strcmp(name, MODULES_HOST_NAME) == 0 && version == MODULES_HOST_VERSION) {
        return &d->modules;
    }
    return strcmp(name, SPOOL_HOST_NAME) == 0 && version == SPOOL_HOST_VERSION ? &d->spool : NULL;
}

static int on_open(cw_svc *s, void *state)
{
    static const char *const plain[] = {"data=/d", "spool=/s", NULL};
    s->options = town_options != NULL ? town_options : plain;
    int rc = stream_open(&((struct town *)state)->st, s, NULL);
    s->asked = 0; /* whoever opens it knows of no options */
    return rc;
}

static void on_close(cw_svc *s, void *state)
{
    (void)s;
    stream_close(((struct town *)state)->st);
}

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    return stream_packet(((struct town *)state)->st, p, rx);
}

static void on_event(cw_svc *s, void *state, const cw_event *ev)
{
    (void)s;
    stream_event(((struct town *)state)->st, ev);
}

static int on_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct town *t = state;
    bool first = true;
    (void)s;
    if (strcmp(argv[0], "cancel") == 0) {
        return stream_cancel(t->st, (uint32_t)strtoul(argv[1], NULL, 10));
    }
    if (strcmp(argv[0], "take") == 0) {
        return stream_take(t->st, r, (uint32_t)strtoul(argv[1], NULL, 10));
    }
    if (strcmp(argv[0], "feed") == 0) {
        return stream_feed(t->st, r, argc, argv);
    }
    if (strcmp(argv[0], "status") == 0) {
        stream_status(t->st, r, &first);
        return 0;
    }
    return stream_command(t->st, r, argc, argv, ++t->numbers);
}

static const cw_service service = {
    CW_SERVICE_INIT, .name = "town",    .version = "1",         .job = AGGREGATE_JOB, .state_size = sizeof(struct town),
    .open = on_open, .close = on_close, .on_packet = on_packet, .on_event = on_event, .on_command = on_command,
};

static struct fake_net *open_town(const char *const *options, cw_dims dims)
{
    servers = (cw_server)dims.x * dims.y * dims.z;
    for (cw_server s = 0; s < servers; s++) {
        stream_disk_open(&stream_disks[s]);
        stream_disks[s].other_module = stream_town_modules.other == s;
        stream_disks[s].no_module = stream_town_modules.none == s;
    }
    fake_offers = offers;
    town_options = options;
    return fake_net_open(&service, dims);
}

struct fake_net *stream_town_open(const char *const *options)
{
    return open_town(options, (cw_dims){3, 3, 1});
}

struct fake_net *stream_town_open_wide(void)
{
    return open_town(NULL, (cw_dims){6, 6, 1});
}

void stream_town_close(struct fake_net *net)
{
    ck_assert_uint_eq(fake_net_close(net), 0);
    for (cw_server s = 0; s < servers; s++) {
        ck_assert_uint_eq(stream_disks[s].handles, 0);
        stream_disk_close(&stream_disks[s]);
    }
    fake_offers = NULL;
    free(text);
    text = NULL;
}

struct stream *stream_town_at(struct fake_net *net, cw_server s)
{
    return ((struct town *)net->server[s]->state)->st;
}

void stream_town_put(cw_server s, const char *words)
{
    stream_disk_put(&stream_disks[s], "in", words, strlen(words));
}

void stream_town_fill(unsigned lines)
{
    enum { LINE = 40 };
    char *in = malloc((size_t)(lines + 1) * LINE);
    for (cw_server s = 0; s < STREAM_TOWN; s++) {
        size_t length = (size_t)sprintf(in, "all\t1\n");
        for (unsigned i = 0; i < lines; i++) {
            length += (size_t)sprintf(in + length, "s%uk%u\t%u\n", s, i, i);
        }
        stream_town_put(s, in);
    }
    free(in);
}

void stream_town_begin(struct fake_net *net, cw_server s, const char *line, struct fake_result *r)
{
    fake_command(net->server[s], line, r);
}

const struct fake_result *stream_town_ask(struct fake_net *net, cw_server s, const char *line)
{
    static struct fake_result r;
    fake_command(net->server[s], line, &r);
    fake_net_finish(net, &r);
    return &r;
}

const char *stream_town_result(cw_server s)
{
    const struct stream_blob *b = stream_disk_result(&stream_disks[s], "out");
    if (b == NULL) {
        return "-";
    }
    free(text);
    text = calloc(b->length + 1, 1);
    memcpy(text, b->bytes, b->length);
    return text;
}

void stream_town_lose(struct fake_net *net, cw_server s)
{
    const cw_event ev = {.size = sizeof ev, .kind = CW_EVENT_SERVER_DOWN, .server = torus_coord(&net->torus, s)};
    for (cw_server at = 0; at < servers; at++) {
        net->server[at]->down[at == s ? (s + 1) % servers : s] = true;
        if (at != s) {
            service.on_event(net->server[at], net->server[at]->state, &ev);
        }
    }
}

bool stream_town_right(cw_server s, unsigned lines, uint32_t counted)
{
    const char *result = stream_town_result(s);
    char line[64], all[32];
    unsigned n = 0;
    for (const char *c = result; *c != '\0'; c++) {
        n += *c == '\n';
    }
    snprintf(all, sizeof all, "all\t%d\n", __builtin_popcount(counted));
    bool good = n == 1 + lines * (unsigned)__builtin_popcount(counted) && strncmp(result, all, strlen(all)) == 0;
    for (cw_server of = 0; of < STREAM_TOWN && good && lines > 0; of++) {
        snprintf(line, sizeof line, "\ns%uk%u\t%u\n", of, lines - 1, lines - 1);
        good = (strstr(result, line) != NULL) == ((counted >> of & 1) != 0);
    }
    return good;
}
