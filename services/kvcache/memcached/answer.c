/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/memcached/answer.h"

#include "base/base64.h"

#include <errno.h>
#include <string.h>

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

size_t mc_digits(uint64_t n, uint8_t out[static MC_DIGITS])
{
    uint8_t backwards[MC_DIGITS];
    size_t length = 0;
    do {
        backwards[length++] = (uint8_t)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    for (size_t i = 0; i < length; i++) {
        out[i] = backwards[length - 1 - i];
    }
    return length;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t length)
{
    if (length > 0) {
        memcpy(at, bytes, length);
    }
    return at + length;
}

static uint8_t *put_number(uint8_t *at, uint8_t before, uint64_t n)
{
    *at = before;
    return at + 1 + mc_digits(n, at + 1);
}

bool mc_answer_line(const char *text, struct mc_buffer *out)
{
    size_t length = strlen(text);
    uint8_t *at = mc_buffer_space(out, length + 2);
    if (at == NULL) {
        return false;
    }
    put(put(at, text, length), "\r\n", 2);
    mc_buffer_put(out, length + 2);
    return true;
}

/* ---- What went wrong --------------------------------------------------------------------------------------------- */

static const char *failure(enum kv_status status)
{
    switch (status) {
    case KV_NOT_NUMBER:
        return "CLIENT_ERROR cannot increment or decrement non-numeric value";
    case KV_TOO_LARGE:
        return mc_error_too_large;
    case KV_NO_MEMORY:
        return "SERVER_ERROR out of memory storing object";
    case KV_NO_MAJORITY:
        return "SERVER_ERROR this part of the cluster has no majority and takes no writes";
    case KV_TIMED_OUT:
        return "SERVER_ERROR no answer in time; the write may have happened";
    case KV_UNKNOWN:
        return "SERVER_ERROR the server that has the key failed; the write may have happened";
    case KV_DENIED:
        return "SERVER_ERROR the cache's job has no privilege for that";
    default:
        return "SERVER_ERROR unexpected result";
    }
}

static const char *refusal(int rc)
{
    switch (rc) {
    case -EMSGSIZE:
        return mc_error_too_large;
    case -ENOMEM:
        return failure(KV_NO_MEMORY);
    case -ENOBUFS:
        return "SERVER_ERROR too many operations are under way";
    case -EOPNOTSUPP:
        return "SERVER_ERROR flush_all is not supported here";
    case -EINVAL:
        return mc_error_format;
    default:
        return "SERVER_ERROR the cache does not run on this server now";
    }
}

/* ---- Classic ----------------------------------------------------------------------------------------------------- */

/* VALUE <key> <flags> <bytes> [<cas>]\r\n<bytes>\r\n */
static bool write_value(const struct mc_answer *a, const struct kv_result *r, struct mc_buffer *out)
{
    static const char word[] = "VALUE ";
    size_t most = sizeof word + KV_KEY_MAX + 3 * (MC_DIGITS + 1) + 4 + r->value_length;
    uint8_t *start = mc_buffer_space(out, most);
    if (start == NULL) {
        return false;
    }
    uint8_t *at = put(start, word, sizeof word - 1);
    at = put(at, a->key, a->key_length);
    at = put_number(at, ' ', r->flags);
    at = put_number(at, ' ', r->value_length);
    if (a->with_cas) {
        at = put_number(at, ' ', r->cas);
    }
    at = put(at, "\r\n", 2);
    at = put(at, r->value, r->value_length);
    at = put(at, "\r\n", 2);
    mc_buffer_put(out, (size_t)(at - start));
    return true;
}

/* The words for a flush that was not done everywhere. */
static const char *flush_failure(enum kv_status status)
{
    bool some = status == KV_TIMED_OUT || status == KV_UNKNOWN;
    return some ? "SERVER_ERROR not all servers have answered; some may keep old values, flush again" : failure(status);
}

/* The line of a classic command for a status. */
static const char *word_of(enum mc_shape shape, enum kv_status status)
{
    static const char *const good[] = {[MC_ANSWER_STORED] = "STORED",
                                       [MC_ANSWER_DELETED] = "DELETED",
                                       [MC_ANSWER_TOUCHED] = "TOUCHED",
                                       [MC_ANSWER_OK] = "OK"};
    switch (status) {
    case KV_OK:
        return good[shape];
    case KV_MISS:
        return "NOT_FOUND";
    case KV_EXISTS:
        return "EXISTS";
    case KV_NOT_STORED:
        return "NOT_STORED";
    default:
        return shape == MC_ANSWER_OK ? flush_failure(status) : failure(status);
    }
}

static bool write_number(const struct kv_result *r, struct mc_buffer *out)
{
    return mc_buffer_add(out, r->value, r->value_length) && mc_buffer_add(out, "\r\n", 2);
}

/* ---- Meta -------------------------------------------------------------------------------------------------------- */

static const char *meta_code(char name, enum kv_status status)
{
    switch (status) {
    case KV_OK:
        return name == 'e' ? "ME" : "HD";
    case KV_MISS:
        return name == 'g' || name == 'e' ? "EN" : "NF";
    case KV_EXISTS:
        return "EX";
    case KV_NOT_STORED:
        return "NS";
    default:
        return NULL;
    }
}

static uint8_t *put_key(uint8_t *at, const struct mc_answer *a)
{
    if (!a->wants.binary) {
        return put(at, a->key, a->key_length);
    }
    char text[(KV_KEY_MAX + 2) / 3 * 4 + 1];
    base64_encode(a->key, a->key_length, text);
    return put(at, text, base64_length(a->key_length));
}

enum {
    META_MOST = 2 + 2 + (KV_KEY_MAX + 2) / 3 * 4 + MC_OPAQUE_MAX + (MC_META_FLAGS + 2) * (MC_DIGITS + 2) + 64,
};

/* How long a value still lives, to the nearest second; "-1" for ever. */
static uint8_t *put_left(uint8_t *at, cw_span left)
{
    if (left.ns == KV_NEVER.ns) {
        return put(at, "-1", 2);
    }
    return at + mc_digits((uint64_t)((left.ns + CW_SEC(1).ns / 2) / CW_SEC(1).ns), at);
}

/* A flag that tells of the value. */
static uint8_t *put_fact(uint8_t *at, char flag, const struct kv_result *r)
{
    *at++ = ' ';
    switch (flag) {
    case 'c':
        return put_number(at, 'c', r->status == KV_OK ? r->cas : 0);
    case 'f':
        return put_number(at, 'f', r->flags);
    case 'h':
        return put_number(at, 'h', (r->marks & KV_MARK_FETCHED) != 0);
    case 'l':
        return put_number(at, 'l', r->idle_s);
    case 't':
        *at++ = 't';
        return put_left(at, r->left);
    default:
        return put_number(at, 's', r->value_length);
    }
}

/* mg: Z, somebody has won the value; X, it is stale; W, this client has won it. */
static uint8_t *put_marks(uint8_t *at, unsigned marks)
{
    at = marks & KV_MARK_SENT ? put(at, " Z", 2) : at;
    at = marks & KV_MARK_STALE ? put(at, " X", 2) : at;
    return marks & KV_MARK_WON ? put(at, " W", 2) : at;
}

/* The flags that were asked for. Without success those that tell of the value are left out: there is none. */
static uint8_t *put_flags(uint8_t *at, const struct mc_answer *a, const struct kv_result *r)
{
    const struct mc_meta_wants *w = &a->wants;
    bool good = r->status == KV_OK;
    bool key = false;
    for (unsigned i = 0; i < w->flags; i++) {
        char flag = w->flag[i];
        if (flag == 'O') {
            at = put(put(at, " O", 2), w->opaque, w->opaque_length);
        } else if (flag == 'k') {
            at = put_key(put(at, " k", 2), a);
            key = true;
        } else if (good || (flag == 'c' && a->meta == 's')) {
            at = put_fact(at, flag, r);
        }
    }
    at = key && w->binary ? put(at, " b", 2) : at;
    return good && a->meta == 'g' ? put_marks(at, r->marks) : at;
}

/* me: what is known of the value. exp is -1 for ever, else minus the seconds that it lives, as memcached has it. */
static uint8_t *put_debug(uint8_t *at, const struct mc_answer *a, const struct kv_result *r)
{
    *at++ = ' ';
    at = put_key(at, a);
    at = put(at, " exp=", 5);
    at = r->left.ns == KV_NEVER.ns ? at : put(at, "-", 1);
    at = put_left(at, r->left);
    at = put_number(put(at, " la", 3), '=', r->idle_s);
    at = put_number(put(at, " cas", 4), '=', r->cas);
    at = put(at, r->marks & KV_MARK_FETCHED ? " fetch=yes" : " fetch=no", r->marks & KV_MARK_FETCHED ? 10 : 9);
    return put_number(put(at, " size", 5), '=', r->value_length);
}

static bool meta_silent(const struct mc_answer *a, enum kv_status status)
{
    return a->wants.quiet && status == (a->meta == 'g' ? KV_MISS : KV_OK);
}

static bool write_meta(const struct mc_answer *a, const struct kv_result *r, struct mc_buffer *out)
{
    const char *code = meta_code(a->meta, r->status);
    bool value = a->wants.value && r->status == KV_OK;
    if (code == NULL) {
        return mc_answer_line(failure(r->status), out);
    }
    if (meta_silent(a, r->status)) {
        return true;
    }
    uint8_t *start = mc_buffer_space(out, META_MOST + (value ? r->value_length : 0));
    if (start == NULL) {
        return false;
    }
    uint8_t *at = put(start, value ? "VA" : code, 2);
    if (value) {
        at = put_number(at, ' ', r->value_length);
    }
    if (a->meta == 'e') {
        at = r->status == KV_OK ? put_debug(at, a, r) : at;
    } else {
        at = put_flags(at, a, r);
    }
    at = put(at, "\r\n", 2);
    if (value) {
        at = put(put(at, r->value, r->value_length), "\r\n", 2);
    }
    mc_buffer_put(out, (size_t)(at - start));
    return true;
}

/* ---- Whole ------------------------------------------------------------------------------------------------------- */

static bool looks(const struct mc_answer *a)
{
    return a->shape == MC_ANSWER_VALUE || (a->shape == MC_ANSWER_META && (a->meta == 'g' || a->meta == 'e'));
}

bool mc_answer_write(const struct mc_answer *a, const struct kv_result *r, struct mc_buffer *out)
{
    if (a->no_reply) {
        return true;
    }
    struct kv_result miss = {.size = sizeof miss, .status = KV_MISS};
    if (looks(a) && r->status != KV_OK) {
        r = &miss;
    }
    switch (a->shape) {
    case MC_ANSWER_TEXT:
        return mc_answer_line(a->text, out);
    case MC_ANSWER_VALUE:
        return r->status != KV_OK || write_value(a, r, out);
    case MC_ANSWER_META:
        return write_meta(a, r, out);
    case MC_ANSWER_NUMBER:
        if (r->status == KV_OK) {
            return write_number(r, out);
        }
        break;
    default:
        break;
    }
    return mc_answer_line(word_of(a->shape, r->status), out);
}

bool mc_answer_refuse(const struct mc_answer *a, int rc, struct mc_buffer *out)
{
    struct kv_result miss = {.size = sizeof miss, .status = KV_MISS};
    if (looks(a) || a->no_reply || a->shape == MC_ANSWER_TEXT) {
        return mc_answer_write(a, &miss, out);
    }
    return mc_answer_line(refusal(rc), out);
}
