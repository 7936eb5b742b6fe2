/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_ledger.h"

#include "base/bytes.h"
#include "kv_counters.h"
#include "kv_expiry.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILL_BITS = 16 };

/* The first that is wrong stays. */
__attribute__((format(printf, 2, 3))) static void wrong(struct kv_ledger *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (l->wrong[0] == '\0') {
        (void)vsnprintf(l->wrong, sizeof l->wrong, format, args);
    }
    va_end(args);
}

struct kv_entry *kv_ledger_new(struct kv_ledger *l)
{
    if (l->count >= KV_LEDGER_MAX) {
        return NULL;
    }
    struct kv_entry *e = &l->entry[l->count++];
    *e = (struct kv_entry){.ended = KV_NO_END};
    return e;
}

uint64_t kv_ledger_value(const struct kv_ledger *l, const struct kv_entry *e)
{
    return (uint64_t)(e - l->entry) + 1;
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static uint8_t filling(uint64_t head, size_t i)
{
    return (uint8_t)(head * 7 + (head >> FILL_BITS) + i);
}

size_t kv_record_write(const struct kv_ledger *l, const struct kv_entry *e, uint16_t fill, uint8_t *out)
{
    uint64_t head = kv_ledger_value(l, e) << FILL_BITS | fill;
    put_be64(out, head);
    for (size_t i = 0; i < fill; i++) {
        out[KV_RECORD_HEAD + i] = filling(head, i);
    }
    return KV_RECORD_HEAD + (size_t)fill;
}

bool kv_makes_anew(enum kv_op op)
{
    return op == KV_SET || op == KV_ADD || op == KV_REPLACE || op == KV_CAS;
}

static bool reads(enum kv_op op)
{
    return op == KV_GET;
}

bool kv_renews(enum kv_op op)
{
    return op == KV_TOUCH || op == KV_GAT;
}

size_t kv_number_write(uint64_t number, char out[static 24])
{
    return (size_t)snprintf(out, 24, "%" PRIu64, number);
}

/* One record at `at`: its length, or 0: it is none. */
static size_t read_record(struct kv_ledger *l, const uint8_t *bytes, size_t length, size_t at, uint64_t *value)
{
    uint64_t head = length - at >= KV_RECORD_HEAD ? get_be64(bytes + at) : 0;
    size_t size = KV_RECORD_HEAD + (size_t)(head & KV_RECORD_FILL_MAX);
    *value = head >> FILL_BITS;
    if (*value == 0 || *value > l->count || size > length - at) {
        wrong(l, "a hit of %zu bytes with no record at %zu", length, at);
        return 0;
    }
    for (size_t i = 0; i < size - KV_RECORD_HEAD; i++) {
        if (bytes[at + KV_RECORD_HEAD + i] != filling(head, i)) {
            wrong(l, "a hit with a wrong byte %zu", at + KV_RECORD_HEAD + i);
            return 0;
        }
    }
    return size;
}

/*
 * The value of a word: each record by a question for that key, and each of APPEND behind the one that it has always
 * been behind.
 */
static uint64_t read_word(struct kv_ledger *l, const struct kv_entry *e, const uint8_t *bytes, size_t length)
{
    uint64_t before = 0, value = 0;
    for (size_t at = 0, size; at < length; at += size) {
        size = read_record(l, bytes, length, at, &value);
        if (size == 0) {
            return 0;
        }
        struct kv_entry *by = &l->entry[value - 1];
        if (by->key != e->key || (at == 0 ? !kv_makes_anew(by->op) : by->op != KV_APPEND)) {
            wrong(l, "key %u: a hit with a record of question %" PRIu64 ", which is not for it", e->key, value);
            return 0;
        }
        if (at > 0 && by->before != 0 && by->before != before) {
            wrong(l, "key %u: %" PRIu64 " was appended twice: to %" PRIu64 " and to %" PRIu64, e->key, value,
                  by->before, before);
            return 0;
        }
        by->before = at > 0 ? before : by->before;
        before = value;
    }
    if (value == 0) {
        wrong(l, "key %u: a hit without a byte", e->key);
    }
    return value;
}

static bool read_number(const uint8_t *bytes, size_t length, uint64_t *out)
{
    uint64_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] < '0' || bytes[i] > '9') {
            return false;
        }
        n = n * 10 + (uint64_t)(bytes[i] - '0');
    }
    *out = n;
    return length > 0;
}

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

static void take_value(struct kv_ledger *l, struct kv_entry *e, const struct kv_result *r)
{
    if (e->op != KV_GET && e->op != KV_GAT && e->op != KV_INCR && e->op != KV_DECR) {
        return;
    }
    if (!e->counter) {
        e->value = read_word(l, e, r->value, r->value_length);
    } else if (!read_number(r->value, r->value_length, &e->seen)) {
        wrong(l, "key %u: a counter of %zu bytes that is no number", e->key, r->value_length);
    }
}

/* What a status may say to whom. */
static bool may_be(const struct kv_entry *e, enum kv_status status)
{
    switch (status) {
    case KV_NOT_STORED:
        return e->op == KV_ADD || e->op == KV_REPLACE || e->op == KV_APPEND;
    case KV_EXISTS:
        return e->op == KV_CAS;
    case KV_MISS:
        return e->op != KV_SET && e->op != KV_ADD && e->op != KV_REPLACE && e->op != KV_APPEND;
    case KV_NOT_NUMBER:
    case KV_TOO_LARGE:
        return false;
    default:
        return true;
    }
}

void kv_ledger_answer(struct kv_ledger *l, struct kv_entry *e, const struct kv_result *r, int64_t now)
{
    if (e->answered) {
        wrong(l, "question %" PRIu64 " was answered twice", kv_ledger_value(l, e));
    }
    if (!may_be(e, r->status)) {
        wrong(l, "question %" PRIu64 ", operation %d, was told %d", kv_ledger_value(l, e), (int)e->op, (int)r->status);
    }
    e->answered = true;
    e->status = r->status;
    e->cas = r->cas;
    e->source = r->source;
    e->ended = now;
    switch (r->status) {
    case KV_OK:
        take_value(l, e, r);
        l->done[e->op]++;
        if (reads(e->op)) {
            l->hits[r->source]++;
        } else {
            l->writes++;
            l->longest_write = now - e->begun > l->longest_write ? now - e->begun : l->longest_write;
        }
        break;
    case KV_MISS:
    case KV_NOT_STORED:
    case KV_EXISTS:
        l->misses += reads(e->op);
        l->done[e->op] += !reads(e->op);
        break;
    case KV_UNKNOWN:
    case KV_TIMED_OUT:
        e->ended = KV_NO_END;
        l->indeterminate++;
        break;
    default:
        l->refused++;
        break;
    }
}

/* ---- The history ------------------------------------------------------------------------------------------------- */

static struct kv_event event_of(const struct kv_ledger *l, const struct kv_entry *e)
{
    struct kv_event v = {.key = e->key, .begun = e->begun, .ended = e->ended, .server = e->server};
    bool open = e->ended == KV_NO_END, ok = !open && e->status == KV_OK;
    bool nothing = !open && (e->status == KV_MISS || (e->status == KV_NOT_STORED && e->op != KV_ADD));
    bool other = !open && (e->status == KV_EXISTS || (e->status == KV_NOT_STORED && e->op == KV_ADD));
    if (e->op == 0 || !(open || ok || nothing || other)) {
        return v;
    }
    if (other || (ok && (reads(e->op) || kv_renews(e->op)))) {
        v.kind = KV_EVENT_READ;
        v.value = e->value;
        v.cas = e->cas;
    } else if (reads(e->op) || kv_renews(e->op)) {
        v.kind = e->op == KV_TOUCH && nothing ? KV_EVENT_DELETE : KV_EVENT_NONE;
    } else if (e->op == KV_DELETE || nothing) {
        v.kind = KV_EVENT_DELETE;
        v.before_cas = ok ? e->cas : 0;
    } else {
        v.kind = KV_EVENT_WRITE;
        v.value = kv_ledger_value(l, e);
        v.cas = ok ? e->cas : 0;
        v.before = e->before;
        v.before_cas = e->op == KV_CAS ? e->want : 0;
    }
    return v;
}

bool kv_ledger_check(struct kv_ledger *l, char *why, size_t room)
{
    if (l->wrong[0] != '\0') {
        snprintf(why, room, "%s", l->wrong);
        return false;
    }
    if (!kv_counters_resolve(l, why, room) || !kv_expiry_check(l, why, room)) {
        return false;
    }
    struct kv_event *event = malloc((l->count + 1) * sizeof *event);
    for (size_t i = 0; i < l->count; i++) {
        const struct kv_entry *e = &l->entry[i];
        if (e->op == KV_CAS && e->status == KV_EXISTS && e->ended != KV_NO_END && e->cas == e->want) {
            snprintf(why, room, "key %u: a CAS was told that there is another value, and that it is the one it meant",
                     e->key);
            free(event);
            return false;
        }
        event[i] = event_of(l, e);
    }
    bool good = kv_history_check(event, l->count, why, room);
    free(event);
    return good;
}
