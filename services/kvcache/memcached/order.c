/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/memcached/order.h"

#include <stdlib.h>
#include <string.h>

enum { SPARES = 4096 };

void order_account(struct mc_session *s)
{
    size_t now = mc_buffer_length(&s->out) + s->held;
    s->hub->answers += now - s->counted;
    s->counted = now;
}

void order_began(struct mc_session *s)
{
    s->under_way++;
    s->hub->under_way++;
}

void order_ended(struct mc_session *s)
{
    s->under_way--;
    s->hub->under_way--;
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

/*
 * An answer is lost: what comes behind it would be taken for it. Nothing goes out any more, and the client is hung up
 * on.
 */
static void fail(struct mc_session *s)
{
    s->failed = true;
    s->over = true;
}

struct mc_slot *order_slot(struct mc_session *s)
{
    struct mc_hub *hub = s->hub;
    struct mc_slot *slot = hub->spare;
    if (slot != NULL) {
        hub->spare = slot->next;
        hub->spares--;
    } else {
        slot = malloc(sizeof *slot);
        if (slot == NULL) {
            fail(s);
            return NULL;
        }
        slot->held = (struct mc_buffer){0};
    }
    slot->session = s;
    slot->next = NULL;
    slot->op = KV_OPS;
    slot->done = slot->barrier = false;
    slot->answer.with_cas = slot->answer.no_reply = false;
    return slot;
}

void order_give(struct mc_hub *hub, struct mc_slot *slot)
{
    mc_buffer_drop(&slot->held);
    if (hub->spares >= SPARES) {
        free(slot);
        return;
    }
    slot->next = hub->spare;
    hub->spare = slot;
    hub->spares++;
}

void order_push(struct mc_session *s, struct mc_slot *slot)
{
    if (s->tail != NULL) {
        s->tail->next = slot;
    } else {
        s->head = slot;
    }
    s->tail = slot;
    s->queued++;
}

static void pop(struct mc_session *s)
{
    struct mc_slot *slot = s->head;
    s->head = slot->next;
    s->tail = s->head != NULL ? s->tail : NULL;
    s->queued--;
    order_give(s->hub, slot);
}

/* Moves answers whose turn has come, and that are ready, to the client. */
static void advance(struct mc_session *s)
{
    while (s->head != NULL && s->head->done) {
        struct mc_buffer *held = &s->head->held;
        size_t length = mc_buffer_length(held);
        if (!s->failed && !mc_buffer_add(&s->out, length > 0 ? mc_buffer_bytes(held) : NULL, length)) {
            fail(s);
        }
        s->held -= length;
        pop(s);
    }
}

void order_end(struct mc_session *s)
{
    while (s->head != NULL) {
        pop(s);
    }
    if (s->coming != NULL) {
        order_give(s->hub, s->coming);
    }
    s->hub->answers -= s->counted;
    mc_buffer_drop(&s->kept);
    mc_buffer_drop(&s->block);
    mc_buffer_drop(&s->out);
    struct mc_hub *hub = s->hub;
    free(s);
    if (--hub->sessions == 0 && hub->gone != NULL) {
        hub->gone(hub->context);
    }
}

/* Writes the slot's answer: to the client if it is the first, else into the slot, to wait for the answers before it. */
void order_answer(struct mc_slot *slot, const struct kv_result *r, int rc)
{
    struct mc_session *s = slot->session;
    bool first = slot == s->head;
    struct mc_buffer *to = first ? &s->out : &slot->held;
    bool told = !s->closed && !s->failed;
    if (told && !(rc < 0 ? mc_answer_refuse(&slot->answer, rc, to) : mc_answer_write(&slot->answer, r, to))) {
        fail(s);
    }
    slot->done = true;
    if (first) {
        mc_buffer_drop(&slot->held);
    } else {
        s->held += mc_buffer_length(to);
    }
    advance(s);
}

void order_done(void *arg, const struct kv_result *r)
{
    struct mc_slot *slot = arg;
    struct mc_session *s = slot->session;
    order_ended(s);
    if (slot->op != KV_OPS) {
        mc_tally_count(&s->hub->tally, slot->op, r);
    }
    order_answer(slot, r, 0);
    if (s->inside) {
        return;
    }
    if (s->closed) {
        if (s->under_way == 0) {
            order_end(s);
        }
        return;
    }
    order_account(s);
    s->hub->ready(s->hub->context, s->owner);
}

void order_line(struct mc_session *s, const char *text)
{
    if (s->failed) {
        return;
    }
    if (s->head == NULL) {
        if (!mc_answer_line(text, &s->out)) {
            fail(s);
        }
        return;
    }
    struct mc_slot *slot = order_slot(s);
    if (slot != NULL) {
        slot->answer.shape = MC_ANSWER_TEXT;
        slot->answer.text = text;
        order_push(s, slot);
        order_answer(slot, NULL, 0);
    }
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

static bool touches(const struct mc_slot *slot, const uint8_t *key, size_t length)
{
    return slot->answer.key_length == length && memcmp(slot->answer.key, key, length) == 0;
}

bool order_may_begin(const struct mc_session *s, const uint8_t *key, size_t length, bool looks)
{
    if (s->head == NULL) {
        return true;
    }
    size_t most = s->hub->config->memory;
    /* Each operation under way may bring a value of the greatest length. */
    if (s->queued >= MC_WINDOW || s->hub->answers > most || s->hub->under_way >= most / KV_VALUE_MAX) {
        return false;
    }
    for (const struct mc_slot *slot = s->head; slot != NULL; slot = slot->next) {
        if (slot->barrier) {
            return false;
        }
        if (!slot->done && !(looks && slot->op == KV_GET) && touches(slot, key, length)) {
            return false;
        }
    }
    return true;
}

void order_set_key(struct mc_slot *slot, const uint8_t *key, size_t length)
{
    slot->answer.key_length = (uint8_t)length;
    memcpy(slot->answer.key, key, length);
}

void order_begin(struct mc_session *s, struct mc_slot *slot, const struct kv_request *r)
{
    slot->op = r->op;
    order_push(s, slot);
    order_began(s);
    int rc = s->hub->run(s->hub->context, r, order_done, slot);
    if (rc < 0) {
        order_ended(s);
        s->hub->tally.failed++;
        order_answer(slot, NULL, rc);
    }
}
