/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/memcached/text.h"

#include <string.h>

const char mc_error_unknown[] = "ERROR";
const char mc_error_format[] = "CLIENT_ERROR bad command line format";
const char mc_error_chunk[] = "CLIENT_ERROR bad data chunk";
const char mc_error_expiry[] = "CLIENT_ERROR invalid exptime argument";
const char mc_error_too_large[] = "SERVER_ERROR object too large for cache";

/* ---- Words ------------------------------------------------------------------------------------------------------- */

struct mc_word mc_word(struct mc_word *rest)
{
    const uint8_t *at = rest->at;
    const uint8_t *end = at + rest->length;
    while (at < end && *at == ' ') {
        at++;
    }
    const uint8_t *stop = at < end ? memchr(at, ' ', (size_t)(end - at)) : NULL;
    stop = stop != NULL ? stop : end;
    *rest = (struct mc_word){stop, (size_t)(end - stop)};
    return (struct mc_word){at, (size_t)(stop - at)};
}

bool mc_is(struct mc_word w, const char *text)
{
    return w.length == strlen(text) && memcmp(w.at, text, w.length) == 0;
}

bool mc_number(struct mc_word w, uint64_t most, uint64_t *out)
{
    uint64_t n = 0;
    size_t first = w.length > 1 && w.at[0] == '+' ? 1 : 0;
    for (size_t i = first; i < w.length; i++) {
        if (w.at[i] < '0' || w.at[i] > '9' || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(w.at[i] - '0'), &n)) {
            return false;
        }
    }
    *out = n;
    return w.length > 0 && n <= most;
}

bool mc_expiry(struct mc_word w, const struct mc_clock *clock, cw_span *out)
{
    enum { SPAN_MAX = 60 * 60 * 24 * 30 };
    static const uint64_t DATE_MAX = UINT32_MAX; /* in the year 2106 */
    bool negative = w.length > 0 && w.at[0] == '-';
    uint64_t n;
    if (!mc_number(negative ? (struct mc_word){w.at + 1, w.length - 1} : w, DATE_MAX, &n)) {
        return false;
    }
    int64_t seconds = (int64_t)n;
    if (seconds > SPAN_MAX) {
        seconds -= clock->unix_seconds;
        negative = negative || seconds <= 0;
    }
    *out = negative ? KV_AT_ONCE : seconds == 0 ? KV_NEVER : CW_SEC(seconds);
    return true;
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static void refuse(struct mc_command *c, const char *error)
{
    c->kind = MC_ERROR;
    c->error = error;
}

static bool take_key(struct mc_command *c, struct mc_word *rest)
{
    struct mc_word w = mc_word(rest);
    c->request.key = w.at;
    c->request.key_length = w.length;
    return w.length > 0 && w.length <= KV_KEY_MAX;
}

/*
 * What is left of the line is "noreply", or nothing: at most so many words, of which memcached looks at the last only.
 * False: there are more.
 */
static bool take_noreply(struct mc_command *c, struct mc_word *rest, unsigned most)
{
    struct mc_word last = {rest->at, 0};
    unsigned words = 0;
    for (struct mc_word w = mc_word(rest); w.length > 0; w = mc_word(rest)) {
        last = w;
        words++;
    }
    if (words > most) {
        refuse(c, mc_error_unknown);
        return false;
    }
    c->no_reply = mc_is(last, "noreply");
    return true;
}

/*
 * <key> <flags> <exptime> <bytes> [<cas>] [noreply]. After a line that is wrong memcached takes the block for commands,
 * and so does this; a value that is too long is swallowed.
 */
static void read_write(struct mc_command *c, struct mc_word rest, const struct mc_clock *clock)
{
    bool key = take_key(c, &rest);
    struct mc_word flags = mc_word(&rest);
    struct mc_word expiry = mc_word(&rest);
    struct mc_word bytes = mc_word(&rest);
    struct mc_word cas = c->request.op == KV_CAS ? mc_word(&rest) : bytes;
    uint64_t n = 0;
    if (cas.length == 0) {
        refuse(c, mc_error_unknown);
        return;
    }
    if (!take_noreply(c, &rest, 1)) {
        return;
    }
    bool fine = key && mc_number(flags, UINT32_MAX, &n) && mc_expiry(expiry, clock, &c->request.expiry) &&
                mc_number(bytes, INT32_MAX - 2, &c->bytes) &&
                (c->request.op != KV_CAS || mc_number(cas, UINT64_MAX, &c->request.cas));
    c->request.flags = (uint32_t)n;
    if (!fine) {
        refuse(c, mc_error_format);
    } else if (c->bytes > KV_VALUE_MAX) {
        refuse(c, mc_error_too_large);
        c->swallow = true;
    }
}

static void read_get(struct mc_command *c, struct mc_word rest, const struct mc_clock *clock)
{
    struct mc_word peek = rest;
    if (mc_word(&peek).length == 0) {
        refuse(c, mc_error_unknown);
    } else if (c->request.op == KV_GAT && !mc_expiry(mc_word(&rest), clock, &c->request.expiry)) {
        refuse(c, mc_error_expiry);
    }
    c->keys = rest;
}

bool mc_keys_fit(struct mc_word keys)
{
    for (struct mc_word key = mc_word(&keys); key.length > 0; key = mc_word(&keys)) {
        if (key.length > KV_KEY_MAX) {
            return false;
        }
    }
    return true;
}

/* delete <key> [0] [noreply]: an old form had a time after the key; only 0 is accepted. */
static void read_delete(struct mc_command *c, struct mc_word rest)
{
    bool key = take_key(c, &rest);
    struct mc_word first = mc_word(&rest);
    struct mc_word second = mc_word(&rest);
    bool more = mc_word(&rest).length > 0;
    if (c->request.key_length == 0 || more) {
        refuse(c, mc_error_unknown);
        return;
    }
    c->no_reply = mc_is(second.length > 0 ? second : first, "noreply");
    bool fine = first.length == 0 || (second.length == 0 && (mc_is(first, "0") || mc_is(first, "noreply"))) ||
                (mc_is(first, "0") && mc_is(second, "noreply"));
    if (!fine) {
        refuse(c, "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]");
    } else if (!key) {
        refuse(c, mc_error_format);
    }
}

static void read_step(struct mc_command *c, struct mc_word rest)
{
    bool key = take_key(c, &rest);
    struct mc_word delta = mc_word(&rest);
    if (delta.length == 0) {
        refuse(c, mc_error_unknown);
    } else if (!take_noreply(c, &rest, 1)) {
        return;
    } else if (!key) {
        refuse(c, mc_error_format);
    } else if (!mc_number(delta, UINT64_MAX, &c->request.delta)) {
        refuse(c, "CLIENT_ERROR invalid numeric delta argument");
    }
}

static void read_touch(struct mc_command *c, struct mc_word rest, const struct mc_clock *clock)
{
    bool key = take_key(c, &rest);
    struct mc_word expiry = mc_word(&rest);
    if (expiry.length == 0) {
        refuse(c, mc_error_unknown);
    } else if (!take_noreply(c, &rest, 1)) {
        return;
    } else if (!key) {
        refuse(c, mc_error_format);
    } else if (!mc_expiry(expiry, clock, &c->request.expiry)) {
        refuse(c, mc_error_expiry);
    }
}

/* flush_all [<delay>] [noreply] */
static void read_flush(struct mc_command *c, struct mc_word rest, const struct mc_clock *clock)
{
    struct mc_word first = mc_word(&rest);
    struct mc_word peek = rest;
    if (mc_is(first, "noreply") && mc_word(&peek).length == 0) {
        c->no_reply = true;
    } else if (take_noreply(c, &rest, 1) && first.length > 0 && !mc_expiry(first, clock, &c->delay)) {
        refuse(c, mc_error_expiry);
    }
}

/* verbosity [<level>] [noreply] */
static void read_verbosity(struct mc_command *c, struct mc_word rest)
{
    struct mc_word level = mc_word(&rest);
    uint64_t n;
    if (level.length == 0) {
        refuse(c, mc_error_unknown);
    } else if (mc_is(level, "noreply")) {
        c->no_reply = true;
    } else if (take_noreply(c, &rest, 1) && !mc_number(level, UINT32_MAX, &n)) {
        refuse(c, mc_error_format);
    }
}

struct named {
    const char *name;
    enum mc_kind kind;
    enum kv_op op;
    bool with_cas;
};

static const struct named names[] = {
    {"get", MC_GET, KV_GET, false},           {"gets", MC_GET, KV_GET, true},
    {"gat", MC_GET, KV_GAT, false},           {"gats", MC_GET, KV_GAT, true},
    {"set", MC_WRITE, KV_SET, false},         {"add", MC_WRITE, KV_ADD, false},
    {"replace", MC_WRITE, KV_REPLACE, false}, {"append", MC_WRITE, KV_APPEND, false},
    {"prepend", MC_WRITE, KV_PREPEND, false}, {"cas", MC_WRITE, KV_CAS, false},
    {"delete", MC_SIMPLE, KV_DELETE, false},  {"incr", MC_SIMPLE, KV_INCR, false},
    {"decr", MC_SIMPLE, KV_DECR, false},      {"touch", MC_SIMPLE, KV_TOUCH, false},
    {"flush_all", MC_FLUSH, KV_OPS, false},   {"stats", MC_STATS, KV_OPS, false},
    {"version", MC_VERSION, KV_OPS, false},   {"verbosity", MC_VERBOSITY, KV_OPS, false},
    {"quit", MC_QUIT, KV_OPS, false},         {"mg", MC_META, KV_OPS, false},
    {"ms", MC_META, KV_OPS, false},           {"md", MC_META, KV_OPS, false},
    {"ma", MC_META, KV_OPS, false},           {"me", MC_META, KV_OPS, false},
    {"mn", MC_META, KV_OPS, false},
};

static const struct named *find_name(struct mc_word w)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (w.length > 0 && w.at[0] == (uint8_t)names[i].name[0] && mc_is(w, names[i].name)) {
            return &names[i];
        }
    }
    return NULL;
}

static void read_simple(struct mc_command *c, struct mc_word rest, const struct mc_clock *clock)
{
    if (c->request.op == KV_DELETE) {
        read_delete(c, rest);
    } else if (c->request.op == KV_TOUCH) {
        read_touch(c, rest, clock);
    } else {
        read_step(c, rest);
    }
}

/*
 * The line ends as the first one of an HTTP request does ("POST / HTTP/1.1"). Nobody may make a browser bring commands
 * here, so memcached hangs up on such a line, and so does this.
 */
static bool is_http(struct mc_word rest)
{
    static const char name[] = "HTTP/";
    struct mc_word last = {rest.at, 0};
    for (struct mc_word w = mc_word(&rest); w.length > 0; w = mc_word(&rest)) {
        last = w;
    }
    return last.length >= strlen(name) && memcmp(last.at, name, strlen(name)) == 0;
}

struct mc_command mc_read(const uint8_t *line, size_t length, const struct mc_clock *clock)
{
    struct mc_command c = {.kind = MC_ERROR, .request = {KV_REQUEST_INIT}, .error = mc_error_unknown};
    struct mc_word rest = {line, length > 0 && line[length - 1] == '\r' ? length - 1 : length};
    const struct named *named = find_name(mc_word(&rest));
    if (named == NULL) {
        c.kind = is_http(rest) ? MC_QUIT : MC_ERROR;
        return c;
    }
    c.kind = named->kind;
    c.error = NULL;
    c.request.op = named->op;
    c.with_cas = named->with_cas;
    c.keys = rest;
    if (c.kind == MC_WRITE) {
        read_write(&c, rest, clock);
    } else if (c.kind == MC_GET) {
        read_get(&c, rest, clock);
    } else if (c.kind == MC_SIMPLE) {
        read_simple(&c, rest, clock);
    } else if (c.kind == MC_FLUSH) {
        read_flush(&c, rest, clock);
    } else if (c.kind == MC_VERBOSITY) {
        read_verbosity(&c, rest);
    }
    return c;
}
