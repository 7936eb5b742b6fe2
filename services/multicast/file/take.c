/* SPDX-License-Identifier: Apache-2.0 */
/*
 * take.c - files that come: which message writes which part.
 *
 * A part is written by one message at a time. A second message with the same file waits until the part is over (then
 * the file is there); or it takes the part from a message that its source seems to have given up: one from the same
 * source, one whose source cannot be reached, or one that has brought no piece for a while.
 */
#include "services/multicast/file/internal.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cw_span progress_every = CW_MS(500);
/* A message that has brought no piece for so long may lose its part to another message with the same file. */
static const cw_span patience = CW_SEC(10);
/* A part whose message has not asked for the sink for so long is given up. */
static const cw_span unasked_after = CW_SEC(60);

/* ---- The sink ---------------------------------------------------------------------------------------------------- */

static struct cast_sink sink_of(struct file_slot *slot)
{
    return file_part_sink(slot->part);
}

static int slot_write(void *context, uint64_t offset, const uint8_t *bytes, size_t length)
{
    struct file_slot *slot = context;
    if (slot->detached) {
        return -ESTALE;
    }
    slot->moved = cw_now(slot->files->s);
    struct cast_sink sink = sink_of(slot);
    return sink.write(sink.context, offset, bytes, length);
}

static bool slot_has(void *context, uint64_t piece)
{
    struct file_slot *slot = context;
    if (slot->detached) {
        return false;
    }
    struct cast_sink sink = sink_of(slot);
    return sink.has(sink.context, piece);
}

static void tell_source(const struct file_slot *slot, struct file_progress *n)
{
    struct files *f = slot->files;
    cw_packet *p = cw_packet_new(f->s, FILE_PROGRESS_BYTES);
    if (p != NULL) {
        memcpy(n->id, file_part_label(slot->part)->digest, sizeof n->id);
        file_progress_encode(n, cw_packet_data(p, NULL));
        const cw_to to = to_server(f->s, cw_job_of(f->s), FILE_PORT, slot->origin);
        cw_send_or_drop(f->s, p, &to, NULL);
    }
}

static void report_contest(const struct file_slot *slot)
{
    struct file_progress n = {.contested = true, .rival = slot->rival};
    if (slot->contested) {
        tell_source(slot, &n);
    }
}

static void report_progress(struct file_slot *slot, cw_time now)
{
    struct file_part_view v = file_part_look(slot->part);
    struct file_progress n = {.state = v.state, .status = v.status, .there = v.there};
    slot->reported = now;
    tell_source(slot, &n);
    report_contest(slot); /* again and again, as such packets may be lost */
}

static int slot_end(void *context, int status)
{
    struct file_slot *slot = context;
    struct files *f = slot->files;
    slot->open = false;
    if (slot->detached) {
        return -ESTALE;
    }
    struct cast_sink sink = sink_of(slot);
    int rc = sink.end(sink.context, status);
    cw_counter_add(rc == 0 ? f->count[FILES_TAKEN] : f->count[FILES_FAILED], rc != -EINPROGRESS);
    if (status == 0) { /* after another status the service may be closing, and must not send */
        report_progress(slot, cw_now(f->s));
        files_wake(f);
    }
    return rc;
}

/* Nobody takes the sink of this part any more. */
static void give_up(struct file_slot *slot, int status)
{
    cw_counter_add(slot->files->count[FILES_FAILED], 1);
    file_part_abandon(slot->part, status);
    slot->detached = true;
}

/* ---- Offers ------------------------------------------------------------------------------------------------------ */

static struct file_slot *find(const struct files *f, uint64_t ticket)
{
    struct file_slot *slot = f->slots;
    while (slot != NULL && (slot->ticket != ticket || slot->detached)) {
        slot = slot->next;
    }
    return slot;
}

/* The slot that has the part of this file. */
static struct file_slot *rival(const struct files *f, const struct file_label *label)
{
    for (struct file_slot *slot = f->slots; slot != NULL; slot = slot->next) {
        const struct file_label *other = slot->part != NULL ? file_part_label(slot->part) : NULL;
        if (other != NULL && memcmp(other->digest, label->digest, sizeof label->digest) == 0 &&
            strcmp(other->name, label->name) == 0) {
            return slot;
        }
    }
    return NULL;
}

static void yield_to(struct file_slot *old, const struct cast_offer *offer, cw_time now)
{
    bool given_up = old->origin == offer->origin ||
                    !cw_reachable(old->files->s, cw_server_coord(old->files->s, old->origin)) ||
                    cw_time_since(now, old->moved).ns > patience.ns;
    if (given_up && old->open && !old->detached) {
        struct cast_sink sink = sink_of(old);
        (void)sink.end(sink.context, -ESTALE);
        old->detached = true;
    }
}

static void contest(struct file_slot *slot, cw_server rival)
{
    slot->contested = true;
    slot->rival = rival;
    report_contest(slot);
}

/*
 * Two files of one name come at the same time: the one that is whole last stays, which is one file here and perhaps the
 * other at another member. Both sources are told.
 */
static void meet_others(struct file_slot *slot)
{
    const struct file_label *label = file_part_label(slot->part);
    for (struct file_slot *other = slot->files->slots; other != NULL; other = other->next) {
        if (other != slot && other->part != NULL && !other->detached && !file_part_is_over(other->part) &&
            strcmp(file_part_label(other->part)->name, label->name) == 0) {
            contest(other, slot->origin);
            contest(slot, other->origin);
        }
    }
}

static int begin(struct files *f, const struct cast_offer *offer, const struct file_label *label, cw_time now)
{
    struct file_slot *slot = f->slot_count < FILES_SLOTS ? calloc(1, sizeof *slot) : NULL;
    if (slot == NULL) {
        return f->slot_count < FILES_SLOTS ? -ENOMEM : -EBUSY;
    }
    int rc = file_part_open(&slot->part, &f->env, offer, label);
    if (rc < 0) {
        free(slot);
        return rc;
    }
    slot->files = f;
    slot->ticket = offer->ticket;
    slot->origin = offer->origin;
    slot->asked = slot->moved = slot->began = now;
    slot->next = f->slots;
    f->slots = slot;
    f->slot_count++;
    meet_others(slot);
    files_wake(f);
    return -EAGAIN;
}

/* The message is offered again when a part is over. */
static void wait_for_part(struct files *f, uint64_t ticket)
{
    for (unsigned i = 0; i < f->waitings; i++) {
        if (f->waiting[i] == ticket) {
            return;
        }
    }
    if (f->waitings < FILES_SLOTS) {
        f->waiting[f->waitings++] = ticket;
    }
}

static void reap(struct files *f);

int file_take(void *context, const struct cast_offer *offer, struct cast_sink *sink)
{
    struct files *f = context;
    struct file_label label;
    cw_time now = cw_now(f->s);
    if (file_label_decode(offer->label, offer->label_bytes, &label) < 0 || offer->bytes != file_label_message(&label)) {
        cw_counter_add(f->count[FILES_MALFORMED], 1);
        return -EBADMSG;
    }
    if (f->env.host == NULL || f->env.folder[0] == '\0') {
        cw_counter_add(f->count[FILES_FAILED], 1);
        return -EOPNOTSUPP;
    }
    reap(f);
    struct file_slot *slot = find(f, offer->ticket);
    if (slot == NULL) {
        struct file_slot *old = rival(f, &label);
        if (old == NULL) {
            return begin(f, offer, &label, now);
        }
        yield_to(old, offer, now);
        wait_for_part(f, offer->ticket);
        return -EAGAIN;
    }
    slot->asked = now;
    int rc = slot->part != NULL ? file_part_ready(slot->part) : -ESTALE;
    if (rc == 0) {
        *sink = (struct cast_sink){.context = slot, .write = slot_write, .has = slot_has, .end = slot_end};
        (void)sink_of(slot);
        slot->open = true;
        slot->moved = now;
    } else if (rc != -EAGAIN && slot->part != NULL) {
        give_up(slot, rc);
    }
    return rc;
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

/*
 * A message may end, or be forgotten, while its part is still being opened: then nobody takes the sink, and nobody ends
 * it. Such a part goes at once, or the file could not come by another message until the slot is given up.
 */
static void look_after(struct file_slot *slot, cw_time now)
{
    if (!slot->detached && !file_part_look(slot->part).taken) {
        const struct cast_session *c = cast_engine_look(slot->files->engine, slot->ticket);
        if (c == NULL || c->ended) {
            give_up(slot, c != NULL ? c->in.receiver.status : -ESTALE);
        } else if (cw_time_since(now, slot->asked).ns > unasked_after.ns) {
            give_up(slot, -ETIMEDOUT);
        }
    }
    if (cw_time_since(now, slot->reported).ns >= progress_every.ns && !slot->detached) {
        report_progress(slot, now);
    }
}

/* For file-status. A part that went over to another message is that one's. */
static void note_end(struct files *f, const struct file_slot *slot)
{
    struct file_part_view v = file_part_look(slot->part);
    if (v.status == -ESTALE) {
        return;
    }
    struct file_came *c = &f->came[f->came_count++ % FILES_CAME_KEPT];
    *c = (struct file_came){.origin = slot->origin, .status = v.status, .bytes = v.bytes, .at = cw_now(f->s)};
    snprintf(c->name, sizeof c->name, "%s", file_part_label(slot->part)->name);
    c->there = v.there;
    c->before = v.before;
    c->took = cw_time_since(c->at, slot->began);
}

static void reap(struct files *f)
{
    for (struct file_slot **at = &f->slots; *at != NULL;) {
        struct file_slot *slot = *at;
        if (slot->part != NULL && file_part_is_over(slot->part)) {
            note_end(f, slot);
            file_part_close(slot->part);
            slot->part = NULL;
        }
        if (slot->part == NULL && !slot->open) {
            *at = slot->next;
            f->slot_count--;
            free(slot);
        } else {
            at = &slot->next;
        }
    }
}

void file_take_tick(struct files *f, cw_time now)
{
    unsigned parts = f->slot_count;
    for (struct file_slot *slot = f->slots; slot != NULL; slot = slot->next) {
        if (slot->part != NULL) {
            look_after(slot, now);
        }
    }
    reap(f);
    if (f->slot_count < parts || f->slot_count == 0) {
        uint64_t waiting[FILES_SLOTS];
        unsigned count = f->waitings;
        memcpy(waiting, f->waiting, sizeof waiting);
        f->waitings = 0; /* who still waits says so again */
        for (unsigned i = 0; i < count; i++) {
            f->env.resume(f->env.context, waiting[i]);
        }
    }
}

/* Those that have ended, the newest first. */
static void tell_came(struct files *f, cw_request *r, bool *first)
{
    cw_time now = cw_now(f->s);
    for (unsigned i = 0; i < FILES_CAME_KEPT && i < f->came_count; i++) {
        const struct file_came *c = &f->came[(f->came_count - 1 - i) % FILES_CAME_KEPT];
        cw_span ago = cw_time_since(now, c->at);
        if (ago.ns > FILES_SHOWN.ns) {
            return;
        }
        if (!*first) {
            cw_request_row(r);
        }
        *first = false;
        cw_request_text(r, "what", "came");
        cw_request_text(r, "name", c->name);
        tell_server_id(f->s, r, "from", c->origin);
        cw_request_text(r, "state", c->status < 0 ? "failed" : "here");
        cw_request_int(r, "bytes", (int64_t)c->bytes);
        cw_request_int(r, "there_bytes", (int64_t)c->there);
        cw_request_int(r, "before_bytes", (int64_t)c->before);
        cw_request_int(r, "took_ns", c->took.ns);
        cw_request_int(r, "ended_ns", ago.ns);
        if (c->status < 0) {
            cw_request_text(r, "reason", file_reason(c->status));
        }
    }
}

void file_take_status(struct files *f, cw_request *r, bool *first)
{
    for (const struct file_slot *slot = f->slots; slot != NULL; slot = slot->next) {
        if (slot->part == NULL) {
            continue;
        }
        const struct file_label *label = file_part_label(slot->part);
        struct file_part_view v = file_part_look(slot->part);
        if (!*first) {
            cw_request_row(r);
        }
        *first = false;
        cw_request_text(r, "what", "coming");
        cw_request_text(r, "name", label->name);
        tell_server_id(f->s, r, "from", slot->origin);
        cw_request_text(r, "state", file_state_word(v.state));
        cw_request_int(r, "bytes", (int64_t)v.bytes);
        cw_request_int(r, "there_bytes", (int64_t)v.there);
        cw_request_int(r, "before_bytes", (int64_t)v.before);
        cw_request_int(r, "checked_bytes", (int64_t)v.checked);
        if (v.status < 0) {
            cw_request_text(r, "reason", file_reason(v.status));
        }
    }
    tell_came(f, r, first);
}

void file_take_close(struct files *f)
{
    while (f->slots != NULL) {
        struct file_slot *slot = f->slots;
        f->slots = slot->next;
        if (slot->part != NULL) {
            file_part_close(slot->part);
        }
        free(slot);
    }
}
