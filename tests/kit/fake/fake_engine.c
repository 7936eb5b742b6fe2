/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_engine.h"

#include "base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct fake_town town;

/*
 * ---- The engine -----------------------------------------------------------------------------------------------------
 */

void cast_engine_kind(struct cast_engine *e, enum cast_content kind, cast_accept_fn accept, void *context)
{
    if (kind != CAST_FILE) {
        abort();
    }
    e->accept = accept;
    e->context = context;
}

int cast_engine_send(struct cast_engine *e, const struct cast_order *order, uint64_t *ticket)
{
    if (e->refuse < 0) {
        return e->refuse;
    }
    e->order = *order;
    memcpy(e->label, order->label, order->label_bytes);
    e->order.label = e->label;
    e->session = (struct cast_session){.out.members.member = e->member};
    for (cw_server i = 0; i < 27; i++) {
        if (order->members[i / 8] >> i % 8 & 1) {
            e->member[e->session.out.members.count++] = (struct cast_member){.server = i, .lacked = UINT32_MAX};
        }
    }
    e->sending = true;
    *ticket = ++e->tickets;
    return 0;
}

void fake_engine_done(int status)
{
    struct cast_engine *e = &town.engine;
    const struct cast_result result = {.ticket = e->tickets,
                                       .status = status,
                                       .bytes = e->order.bytes,
                                       .member = e->member,
                                       .count = e->session.out.members.count,
                                       .repeated = 3,
                                       .repeats = e->session.repeats,
                                       .piece_bytes = e->session.cut.piece_bytes};
    e->sending = false;
    if (e->order.from.close != NULL) {
        e->order.from.close(e->order.from.context);
    }
    e->order.done(e->order.context, &result);
}

int cast_engine_cancel(struct cast_engine *e, uint64_t ticket, int status)
{
    if (!e->sending || ticket != e->tickets) {
        return -ENOENT;
    }
    fake_engine_done(status);
    return 0;
}

void cast_engine_resume(struct cast_engine *e, uint64_t ticket)
{
    e->resumes++;
    e->resumed = ticket;
}

void cast_engine_ended(struct cast_engine *e, uint64_t ticket, int status)
{
    e->ends++;
    e->ended = ticket;
    e->status = status;
}

const struct cast_session *cast_engine_look(const struct cast_engine *e, uint64_t ticket)
{
    if (e->sending && ticket == e->tickets) {
        return &e->session;
    }
    return e->forgotten ? NULL : &e->incoming;
}

/*
 * ---- The service
 * ------------------------------------------------------------------------------------------------------
 */

static const void *offers(cw_svc *s, const char *name, unsigned version)
{
    (void)s;
    return !town.no_host && strcmp(name, FILES_HOST_NAME) == 0 && version == FILES_HOST_VERSION ? &town.disk.host
                                                                                                : NULL;
}

/* Reads "all" or ids. There is one group, "g", whose members a test answers with. */
static int read_recipients(void *context, cw_request *r, int argc, const char *const *argv, uint8_t *set,
                           files_members_fn done, void *arg)
{
    (void)context;
    if (argc == 1 && strcmp(argv[0], "g") == 0) {
        town.group = done;
        town.group_arg = arg;
        return 1;
    }
    for (int i = 0; i < argc; i++) {
        uint64_t id;
        if (strcmp(argv[i], "all") == 0) {
            memset(set, 0xff, 3);
            set[3] = 7;
        } else if (words_number(argv[i], 0, 26, &id) == 0) {
            set[id / 8] |= (uint8_t)(1 << id % 8);
        } else {
            cw_request_text(r, "error", "not a server");
            return -EINVAL;
        }
    }
    return 0;
}

static void cancel_recipients(void *context, const void *arg)
{
    (void)context;
    if (town.group_arg != arg) {
        abort();
    }
    town.group = NULL;
}

static int open_files(cw_svc *s, void *state)
{
    (void)state;
    const struct files_config config = {.s = s,
                                        .engine = &town.engine,
                                        .torus = &s->torus,
                                        .read_recipients = read_recipients,
                                        .cancel_recipients = cancel_recipients};
    return files_open(&town.files, &config);
}

static void close_files(cw_svc *s, void *state)
{
    (void)s;
    (void)state;
    files_close(town.files);
    town.files = NULL;
}

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    size_t length;
    const uint8_t *bytes = cw_packet_data(p, &length);
    (void)s;
    (void)state;
    return files_packet(town.files, bytes, length, rx) < 0 ? CW_DROP : CW_FORWARD;
}

static int on_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    (void)s;
    (void)state;
    return files_command(town.files, r, argc, argv);
}

static const cw_service service = {
    CW_SERVICE_INIT,         .name = "multicast", .version = "1",       .job = 7,
    .state_size = 1,         .open = open_files,  .close = close_files, .on_packet = on_packet,
    .on_command = on_command};

int fake_town_begin(const char *const *options)
{
    int rc = 0;
    memset(&town.engine, 0, sizeof town.engine);
    town.files = NULL;
    town.group = NULL;
    fake_files_init(&town.disk);
    fake_offers = offers;
    town.s = fake_open_with(&service, (cw_dims){3, 3, 3}, (cw_coord){0, 0, 0}, options, &rc);
    return rc;
}

size_t fake_town_end(void)
{
    size_t left = town.s != NULL ? fake_close(town.s) : 0;
    left += town.disk.handles - (town.disk.passed != NULL); /* a handle that nobody claimed is still the test's */
    fake_files_free(&town.disk);
    return left;
}
