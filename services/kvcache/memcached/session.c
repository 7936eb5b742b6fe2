/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/memcached/session.h"

#include "services/kvcache/memcached/binary.h"
#include "services/kvcache/memcached/order.h"

#include <stdlib.h>
#include <string.h>

enum { SPACES_MAX = 100 };

/* The bytes that are being read. */
struct input {
    const uint8_t *at;
    size_t length;
};

static void skip(struct input *in, size_t length)
{
    if (length > 0) {
        in->at += length;
        in->length -= length;
    }
}

/* True when the session has to stop for now: its answers are to be taken first, or other clients have their turn. */
static bool enough(const struct mc_session *s)
{
    return s->steps >= MC_STEPS || mc_buffer_length(&s->out) + s->held > s->hub->config->output;
}

/*
 * A command whose value is too long deletes the old one, so that nobody is served a value that should have been
 * replaced.
 */
static void begin_too_large(struct mc_session *s, const struct kv_request *r, bool no_reply)
{
    struct mc_slot *slot = order_slot(s);
    if (slot == NULL) {
        return;
    }
    struct kv_request gone = {KV_REQUEST_INIT, .op = KV_DELETE, .key = r->key, .key_length = r->key_length};
    slot->answer.shape = MC_ANSWER_TEXT;
    slot->answer.text = mc_error_too_large;
    slot->answer.no_reply = no_reply;
    order_set_key(slot, r->key, r->key_length);
    order_begin(s, slot, &gone);
}

static enum mc_shape shape_of(enum kv_op op)
{
    switch (op) {
    case KV_DELETE:
        return MC_ANSWER_DELETED;
    case KV_INCR:
    case KV_DECR:
        return MC_ANSWER_NUMBER;
    case KV_TOUCH:
        return MC_ANSWER_TOUCHED;
    default:
        return MC_ANSWER_STORED;
    }
}

/* ---- Commands: each gives false when it must wait, and then nothing of it has been read -------------------------- */

/* Asks for the keys up to the line's end, as many as may be asked for now. */
static bool take_keys(struct mc_session *s, struct input *in, const uint8_t *end)
{
    struct mc_command *c = &s->gets;
    struct mc_word rest = {in->at, (size_t)(end - in->at)};
    rest.length -= rest.length > 0 && end[-1] == '\r';
    for (struct mc_word key = mc_word(&rest); key.length > 0; key = mc_word(&rest)) {
        struct mc_slot *slot = NULL;
        if (enough(s) || !order_may_begin(s, key.at, key.length, c->request.op == KV_GET)) {
            s->state = MC_KEYS;
            skip(in, (size_t)(key.at - in->at));
            return false;
        }
        s->steps++;
        slot = order_slot(s);
        if (slot == NULL) {
            return false;
        }
        slot->answer.shape = MC_ANSWER_VALUE;
        slot->answer.with_cas = c->with_cas;
        order_set_key(slot, key.at, key.length);
        c->request.key = slot->answer.key;
        c->request.key_length = key.length;
        order_begin(s, slot, &c->request);
    }
    s->state = MC_LINE;
    skip(in, (size_t)(end + 1 - in->at));
    order_line(s, "END");
    return true;
}

static bool take_get(struct mc_session *s, struct input *in, const struct mc_command *c, const uint8_t *end)
{
    if (!mc_keys_fit(c->keys)) {
        order_line(s, mc_error_format);
        skip(in, (size_t)(end + 1 - in->at));
        return true;
    }
    s->gets = *c;
    skip(in, (size_t)(c->keys.at - in->at));
    return take_keys(s, in, end);
}

/* Runs a write whose value is whole: `length` bytes, and two more that should be its end. */
static void run_write(struct mc_session *s, struct mc_slot *slot, struct kv_request *r, const uint8_t *bytes,
                      size_t length)
{
    if (bytes[length] != '\r' || bytes[length + 1] != '\n') {
        bool silent = slot->answer.no_reply;
        order_give(s->hub, slot);
        if (!silent) {
            order_line(s, mc_error_chunk);
        }
        return;
    }
    r->value = bytes;
    r->value_length = length;
    order_begin(s, slot, r);
}

/*
 * A command with a value of `bytes` bytes: run at once when they are here, else when they have come. The slot's answer
 * is set but for the key; it is taken when this gives true.
 */
static bool take_write(struct mc_session *s, struct input *in, const uint8_t *end, struct mc_slot *slot,
                       const struct kv_request *request, size_t length)
{
    struct kv_request r = *request;
    struct input rest = *in;
    skip(&rest, (size_t)(end + 1 - in->at));
    order_set_key(slot, r.key, r.key_length);
    r.key = slot->answer.key;
    if (rest.length >= length + 2) {
        if (!order_may_begin(s, r.key, r.key_length, false)) {
            return false;
        }
        run_write(s, slot, &r, rest.at, length);
        skip(&rest, length + 2);
    } else {
        s->coming = slot;
        s->write = r;
        s->left = length + 2;
        s->state = MC_BLOCK;
    }
    *in = rest;
    return true;
}

static bool take_block(struct mc_session *s, struct input *in)
{
    size_t length = in->length < s->left ? in->length : (size_t)s->left;
    s->failed |= !mc_buffer_add(&s->block, in->at, length);
    s->left -= length;
    skip(in, length);
    if (s->left > 0 || s->failed || !order_may_begin(s, s->write.key, s->write.key_length, false)) {
        return s->left > 0;
    }
    struct mc_slot *slot = s->coming;
    s->coming = NULL;
    s->state = MC_LINE;
    run_write(s, slot, &s->write, mc_buffer_bytes(&s->block), mc_buffer_length(&s->block) - 2);
    mc_buffer_drop(&s->block);
    return true;
}

static bool take_simple(struct mc_session *s, const struct mc_command *c)
{
    const struct kv_request *r = &c->request;
    if (!order_may_begin(s, r->key, r->key_length, false)) {
        return false;
    }
    struct mc_slot *slot = order_slot(s);
    if (slot != NULL) {
        slot->answer.shape = shape_of(r->op);
        slot->answer.no_reply = c->no_reply;
        order_set_key(slot, r->key, r->key_length);
        order_begin(s, slot, r);
    }
    return true;
}

static bool take_flush(struct mc_session *s, const struct mc_command *c)
{
    if (s->head != NULL) {
        return false;
    }
    struct mc_slot *slot = order_slot(s);
    if (slot == NULL) {
        return true;
    }
    slot->answer.shape = MC_ANSWER_OK;
    slot->answer.no_reply = c->no_reply;
    slot->answer.key_length = 0;
    slot->barrier = true;
    order_push(s, slot);
    order_began(s);
    s->hub->tally.flushes++;
    int rc = s->hub->flush(s->hub->context, c->delay, order_done, slot);
    if (rc < 0) {
        order_ended(s);
        order_answer(slot, NULL, rc);
    }
    return true;
}

static bool take_stats(struct mc_session *s, const struct mc_command *c)
{
    struct mc_word rest = c->keys;
    struct mc_word what = mc_word(&rest);
    struct mc_facts facts;
    if (s->head != NULL) {
        return false;
    }
    s->hub->facts(s->hub->context, &facts);
    s->failed |= !mc_stats_write((const char *)what.at, what.length, &s->hub->tally, &facts, &s->out);
    return true;
}

static void refuse(struct mc_session *s, const char *error, bool swallow, uint64_t bytes, bool no_reply)
{
    if (swallow) {
        s->state = MC_SWALLOW;
        s->left = bytes + 2;
    }
    if (!no_reply) {
        order_line(s, error);
    }
}

static bool take_error(struct mc_session *s, const struct mc_command *c)
{
    const struct kv_request *r = &c->request;
    if (c->error == mc_error_too_large && r->op == KV_SET) {
        if (!order_may_begin(s, r->key, r->key_length, false)) {
            return false;
        }
        begin_too_large(s, r, c->no_reply);
        s->state = MC_SWALLOW;
        s->left = c->bytes + 2;
        return true;
    }
    refuse(s, c->error, c->swallow, c->bytes, c->no_reply);
    return true;
}

/* ---- Meta commands ----------------------------------------------------------------------------------------------- */

static struct mc_slot *meta_slot(struct mc_session *s, const struct mc_meta *m)
{
    struct mc_slot *slot = order_slot(s);
    if (slot != NULL) {
        slot->answer.shape = MC_ANSWER_META;
        slot->answer.meta = m->name;
        slot->answer.wants = m->wants;
    }
    return slot;
}

/* True: the command was taken, and *in is behind it. */
static bool take_meta(struct mc_session *s, struct input *in, const struct mc_command *c, const uint8_t *end)
{
    struct mc_meta *m = &s->meta;
    struct mc_word line = {in->at, (size_t)(c->keys.at - in->at)};
    mc_meta_read(m, mc_word(&line), c->keys, &s->hub->clock);
    const struct kv_request *r = &m->request;
    bool plain = m->error != NULL || m->name == 'n';
    bool too_large = m->error == mc_error_too_large && r->op == KV_SET;
    if ((!plain || too_large) && m->name != 's' && !order_may_begin(s, r->key, r->key_length, r->op == KV_GET)) {
        return false;
    }
    if (too_large) {
        if (!order_may_begin(s, r->key, r->key_length, false)) {
            return false;
        }
        begin_too_large(s, r, false);
        s->state = MC_SWALLOW;
        s->left = m->bytes + 2;
    } else if (plain) {
        refuse(s, m->error != NULL ? m->error : "MN", m->swallow, m->bytes, false);
    } else {
        struct mc_slot *slot = meta_slot(s, m);
        if (slot == NULL) {
            return true;
        }
        if (m->name == 's') {
            bool taken = take_write(s, in, end, slot, r, (size_t)m->bytes);
            if (!taken) {
                order_give(s->hub, slot);
            }
            return taken;
        }
        order_set_key(slot, r->key, r->key_length);
        order_begin(s, slot, r);
    }
    skip(in, (size_t)(end + 1 - in->at));
    return true;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static bool take_text_write(struct mc_session *s, struct input *in, const struct mc_command *c, const uint8_t *end)
{
    struct mc_slot *slot = order_slot(s);
    if (slot == NULL) {
        return true;
    }
    slot->answer.shape = MC_ANSWER_STORED;
    slot->answer.no_reply = c->no_reply;
    bool taken = take_write(s, in, end, slot, &c->request, (size_t)c->bytes);
    if (!taken) {
        order_give(s->hub, slot);
    }
    return taken;
}

/* Takes a whole line, whose end is at `end`. */
static bool take_line(struct mc_session *s, struct input *in, const uint8_t *end)
{
    struct mc_command c = mc_read(in->at, (size_t)(end - in->at), &s->hub->clock);
    bool taken = true;
    if (s->queued >= MC_WINDOW) {
        return false;
    }
    switch (c.kind) {
    case MC_GET:
        return take_get(s, in, &c, end);
    case MC_WRITE:
        return take_text_write(s, in, &c, end);
    case MC_META:
        return take_meta(s, in, &c, end);
    case MC_SIMPLE:
        taken = take_simple(s, &c);
        break;
    case MC_FLUSH:
        taken = take_flush(s, &c);
        break;
    case MC_STATS:
        taken = take_stats(s, &c);
        break;
    case MC_VERSION:
        order_line(s, mc_version_line);
        break;
    case MC_VERBOSITY:
        if (!c.no_reply) {
            order_line(s, "OK");
        }
        break;
    case MC_QUIT:
        s->over = true;
        break;
    case MC_ERROR:
        taken = take_error(s, &c);
        break;
    }
    if (taken) {
        skip(in, (size_t)(end + 1 - in->at));
    }
    return taken;
}

/* True when a line that has no end yet may become longer. Beyond MC_LINE_MAX only one that asks for keys may. */
static bool may_grow(struct input in)
{
    static const char *const names[] = {"get ", "gets ", "gat ", "gats "};
    size_t spaces = 0;
    if (in.length <= MC_LINE_MAX) {
        return true;
    }
    while (spaces < in.length && spaces <= SPACES_MAX && in.at[spaces] == ' ') {
        spaces++;
    }
    skip(&in, spaces);
    for (size_t i = 0; spaces <= SPACES_MAX && i < sizeof names / sizeof *names; i++) {
        if (in.length > strlen(names[i]) && memcmp(in.at, names[i], strlen(names[i])) == 0) {
            return in.length <= MC_KEYS_MAX;
        }
    }
    return false;
}

/*
 * The first bytes of a client. False: they are not text. A client of the binary protocol is answered and hung up on at
 * its first byte. The answer repeats what is there of the request's head, which comes in one piece from every client
 * that is known; what is not there is 0.
 */
static bool is_text(struct mc_session *s, const struct input *in)
{
    uint8_t head[MC_BINARY_HEAD] = {0}, answer[MC_BINARY_MOST];
    if (s->speaks_text || in->at[0] != MC_BINARY_REQUEST) {
        s->speaks_text = true;
        return true;
    }
    memcpy(head, in->at, in->length < sizeof head ? in->length : sizeof head);
    s->failed |= !mc_buffer_add(&s->out, answer, mc_binary_refuse(head, answer));
    s->over = true;
    return false;
}

/* Takes one step. False: more bytes must come, or something must happen first (then stuck is set). */
static bool step(struct mc_session *s, struct input *in)
{
    if (s->state == MC_SWALLOW) {
        size_t length = in->length < s->left ? in->length : (size_t)s->left;
        skip(in, length);
        s->left -= length;
        s->state = s->left > 0 ? MC_SWALLOW : MC_LINE;
        return s->left == 0;
    }
    if (s->state == MC_BLOCK) {
        bool good = take_block(s, in);
        s->stuck = !good;
        return good && in->length > 0;
    }
    if (in->length == 0 || !is_text(s, in)) {
        return false;
    }
    const uint8_t *end = in->length > s->searched ? memchr(in->at + s->searched, '\n', in->length - s->searched) : NULL;
    if (end == NULL) {
        s->searched = in->length;
        if (s->state == MC_LINE && !may_grow(*in)) {
            order_line(s, "CLIENT_ERROR line too long");
            s->over = true;
        }
        return false;
    }
    s->searched = 0;
    s->stuck = !(s->state == MC_KEYS ? take_keys(s, in, end) : take_line(s, in, end));
    return !s->stuck;
}

static void read_all(struct mc_session *s, struct input *in)
{
    bool more = true;
    s->stuck = false;
    while (more && !s->over && !s->failed) {
        if (enough(s)) {
            s->stuck = true;
            return;
        }
        s->steps++;
        more = step(s, in);
    }
}

/* ---- In and out -------------------------------------------------------------------------------------------------- */

/* Reads the bytes that were kept, and keeps those that cannot be read yet. */
static void read_kept(struct mc_session *s)
{
    struct input in = {mc_buffer_bytes(&s->kept), mc_buffer_length(&s->kept)};
    read_all(s, &in);
    mc_buffer_take(&s->kept, mc_buffer_length(&s->kept) - in.length);
}

static void finish(struct mc_session *s)
{
    s->hub->steps += s->steps;
    s->steps = 0;
    if (s->over || s->failed) {
        s->over = true;
        mc_buffer_drop(&s->kept);
    }
    s->inside = false;
    order_account(s);
}

void mc_session_feed(struct mc_session *s, const uint8_t *bytes, size_t length)
{
    s->inside = true;
    s->hub->tally.bytes_read += length;
    if (mc_buffer_length(&s->kept) > 0) {
        s->failed |= !mc_buffer_add(&s->kept, bytes, length);
        read_kept(s);
    } else {
        struct input in = {bytes, length};
        read_all(s, &in);
        s->failed |= !mc_buffer_add(&s->kept, in.at, in.length);
    }
    finish(s);
}

void mc_session_resume(struct mc_session *s)
{
    s->inside = true;
    read_kept(s);
    finish(s);
}

bool mc_session_wants(const struct mc_session *s)
{
    return !s->over && !s->stuck;
}

const struct mc_buffer *mc_session_answers(const struct mc_session *s)
{
    return &s->out;
}

void mc_session_taken(struct mc_session *s, size_t length)
{
    s->hub->tally.bytes_written += length;
    mc_buffer_take(&s->out, length);
    order_account(s);
}

bool mc_session_over(const struct mc_session *s)
{
    return s->over && (s->failed || s->head == NULL);
}

bool mc_session_owes(const struct mc_session *s)
{
    return mc_buffer_length(&s->out) > 0 ||
           (s->head == NULL && (s->state != MC_LINE || mc_buffer_length(&s->kept) > 0));
}

bool mc_session_waits(const struct mc_session *s)
{
    return s->head != NULL;
}

struct mc_session *mc_session_open(struct mc_hub *hub, void *owner)
{
    struct mc_session *s = calloc(1, sizeof *s);
    if (s != NULL) {
        s->hub = hub;
        s->owner = owner;
        hub->sessions++;
    }
    return s;
}

void mc_session_close(struct mc_session *s)
{
    s->closed = true;
    if (s->under_way == 0) {
        order_end(s);
    }
}

void mc_hub_close(struct mc_hub *hub)
{
    while (hub->spare != NULL) {
        struct mc_slot *slot = hub->spare;
        hub->spare = slot->next;
        free(slot);
    }
    hub->spares = 0;
}
