/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/memcached/meta.h"

#include "base/base64.h"

#include <string.h>

static const char error_token[] = "CLIENT_ERROR bad token in command line format";
static const char error_key[] = "CLIENT_ERROR error decoding key";

/* All commands accept all flags. A flag that means nothing to a command is checked if it is a number, and ignored. */
static const char all_flags[] = "bcfhklqstuvCDFIJLMNOPRT";

/* The flags that mean something to a command, and memcached's words for flags that are wrong or come twice. */
struct meta_command {
    char name;
    const char *flags;
    const char *error_invalid, *error_duplicate;
};

static const struct meta_command commands[] = {
    {'g', "bcfhklOqstuvNRT", "CLIENT_ERROR invalid flag", "CLIENT_ERROR duplicate flag"},
    {'s', "bckOqCFIMT", "CLIENT_ERROR invalid flag", "CLIENT_ERROR duplicate flag"},
    {'d', "bkOqCIT", "CLIENT_ERROR invalid or duplicate flag", "CLIENT_ERROR invalid or duplicate flag"},
    {'a', "bckOqtvCDJMNT", "CLIENT_ERROR invalid or duplicate flag", "CLIENT_ERROR invalid or duplicate flag"},
};

static const struct meta_command *command_of(char name)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (commands[i].name == name) {
            return &commands[i];
        }
    }
    return NULL;
}

/* ---- Flags ------------------------------------------------------------------------------------------------------- */

static const char *take_opaque(struct mc_meta_wants *w, struct mc_word token)
{
    if (token.length > MC_OPAQUE_MAX) {
        return "CLIENT_ERROR opaque token too long";
    }
    memcpy(w->opaque, token.at, token.length);
    w->opaque_length = (uint8_t)token.length;
    return NULL;
}

static const char *take_set_mode(struct mc_meta *m, struct mc_word token)
{
    static const struct {
        char letter;
        enum kv_op op;
    } modes[] = {{'E', KV_ADD}, {'A', KV_APPEND}, {'P', KV_PREPEND}, {'R', KV_REPLACE}, {'S', KV_SET},
                 {'e', KV_ADD}, {'a', KV_APPEND}, {'p', KV_PREPEND}, {'r', KV_REPLACE}, {'s', KV_SET}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (token.at[0] == (uint8_t)modes[i].letter) {
            m->request.op = modes[i].op;
            return NULL;
        }
    }
    return "CLIENT_ERROR invalid mode for ms M token";
}

static const char *take_step_mode(struct mc_meta *m, struct mc_word token)
{
    switch (token.at[0]) {
    case 'I':
    case 'i':
    case '+':
        m->request.op = KV_INCR;
        return NULL;
    case 'D':
    case 'd':
    case '-':
        m->request.op = KV_DECR;
        return NULL;
    default:
        return "CLIENT_ERROR invalid mode for ma M token";
    }
}

/* memcached's words for a flag whose token cannot be read. */
static const char *token_error(const struct mc_meta *m, char flag)
{
    if (m->name == 'd' || m->name == 'a') {
        return command_of(m->name)->error_invalid;
    }
    switch (flag) {
    case 'F':
        return mc_error_format;
    case 'D':
        return "CLIENT_ERROR invalid numeric delta value";
    case 'J':
        return "CLIENT_ERROR invalid numeric initial value";
    case 'M':
        return "CLIENT_ERROR incorrect length for M token";
    default:
        return error_token;
    }
}

static void add_step(struct mc_meta *m, enum kv_step step)
{
    unsigned at = 0;
    while (m->request.steps >> at != 0) {
        at += 4;
    }
    m->request.steps |= (uint16_t)((unsigned)step << at);
}

static bool means(const struct mc_meta *m, char flag)
{
    return strchr(command_of(m->name)->flags, flag) != NULL;
}

/* Flags whose token is a time. */
static const char *take_time(struct mc_meta *m, char flag, struct mc_word token, const struct mc_clock *clock)
{
    struct kv_request *r = &m->request;
    cw_span *to = flag == 'N' ? &r->vivify : flag == 'R' ? &r->recache : &r->expiry;
    cw_span span;
    if (!mc_expiry(token, clock, &span)) {
        return token_error(m, flag);
    }
    if (!means(m, flag)) {
        return NULL;
    }
    *to = span;
    if (m->name != 's') { /* ms: T is the expiry of the new value, not a step */
        add_step(m, flag == 'N' ? KV_STEP_VIVIFY : flag == 'R' ? KV_STEP_RECACHE : KV_STEP_RENEW);
    }
    return NULL;
}

static const char *take_number(struct mc_meta *m, char flag, struct mc_word token)
{
    uint64_t n = 0;
    if (!mc_number(token, flag == 'F' ? UINT32_MAX : UINT64_MAX, &n)) {
        return token_error(m, flag);
    }
    if (!means(m, flag)) {
        return NULL;
    }
    switch (flag) {
    case 'F':
        m->request.flags = (uint32_t)n;
        break;
    case 'C':
        m->request.cas = n;
        break;
    case 'J':
        m->request.initial = n;
        break;
    default:
        m->request.delta = n;
        break;
    }
    return NULL;
}

/* Flags without a token. */
static void take_letter(struct mc_meta *m, char flag)
{
    struct mc_meta_wants *w = &m->wants;
    switch (flag) {
    case 'b':
        w->binary = true;
        break;
    case 'q':
        w->quiet = true;
        break;
    case 'v':
        w->value = true;
        break;
    case 'u':
        m->request.meta |= KV_META_UNUSED;
        break;
    case 'I':
        m->request.meta |= KV_META_STALE;
        break;
    default: /* flags that ask for something in the answer */
        w->flag[w->flags++] = flag;
        m->request.meta |= strchr("hlt", flag) != NULL ? KV_META_TIMES : 0;
        if (flag == 't') {
            add_step(m, KV_STEP_LEFT);
        }
        break;
    }
}

static const char *take_flag(struct mc_meta *m, char flag, struct mc_word token, const struct mc_clock *clock)
{
    if (strchr("TNR", flag) != NULL) {
        return take_time(m, flag, token, clock);
    }
    if (strchr("FCJD", flag) != NULL) {
        return take_number(m, flag, token);
    }
    if (flag == 'O') {
        m->wants.flag[m->wants.flags++] = flag;
        return take_opaque(&m->wants, token);
    }
    if (flag == 'M' && token.length != 1) {
        return token_error(m, flag);
    }
    if (!means(m, flag)) {
        return NULL;
    }
    if (flag == 'M') {
        return m->name == 's' ? take_set_mode(m, token) : take_step_mode(m, token);
    }
    take_letter(m, flag);
    return NULL;
}

static const char *take_flags(struct mc_meta *m, struct mc_word rest, const struct mc_clock *clock)
{
    const struct meta_command *c = command_of(m->name);
    bool seen[128] = {false};
    for (struct mc_word w = mc_word(&rest); w.length > 0; w = mc_word(&rest)) {
        char flag = (char)(w.at[0] & 0x7f);
        if (flag == '\0' || w.at[0] > 0x7f || strchr(all_flags, flag) == NULL) {
            return c->error_invalid;
        }
        if (seen[(unsigned)flag]) {
            return c->error_duplicate;
        }
        seen[(unsigned)flag] = true;
        const char *error = take_flag(m, flag, (struct mc_word){w.at + 1, w.length - 1}, clock);
        if (error != NULL) {
            return error;
        }
    }
    if (m->name == 's' && m->request.op == KV_SET && seen['C']) {
        m->request.op = KV_CAS;
    }
    if (m->name == 'g') {
        m->request.meta |= KV_META;
        m->request.op = seen['T'] ? KV_GAT : seen['N'] || seen['R'] ? KV_LOOK : KV_GET;
    }
    return NULL;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static const char *decode_key(struct mc_meta *m)
{
    char text[KV_KEY_MAX + 1];
    memcpy(text, m->key.at, m->key.length);
    text[m->key.length] = '\0';
    int length = memchr(text, '\0', m->key.length) == NULL ? base64_decode(text, m->decoded, sizeof m->decoded) : -1;
    if (length <= 0) {
        return error_key;
    }
    m->request.key = m->decoded;
    m->request.key_length = (size_t)length;
    return NULL;
}

static const char *take_key(struct mc_meta *m, struct mc_word *rest)
{
    m->key = mc_word(rest);
    m->request.key = m->key.at;
    m->request.key_length = m->key.length;
    return m->key.length == 0 || m->key.length > KV_KEY_MAX ? mc_error_format : NULL;
}

/* me <key> [b] */
static const char *read_debug(struct mc_meta *m, struct mc_word rest)
{
    const char *error = take_key(m, &rest);
    struct mc_word b = mc_word(&rest);
    m->wants.binary = mc_is(b, "b");
    m->request.meta = KV_META_TIMES | KV_META_UNUSED;
    return error == NULL && m->wants.binary && decode_key(m) != NULL ? mc_error_format : error;
}

static const char *read_set(struct mc_meta *m, struct mc_word rest, const struct mc_clock *clock)
{
    const char *error = take_key(m, &rest);
    if (error != NULL || !mc_number(mc_word(&rest), INT32_MAX - 2, &m->bytes)) {
        return mc_error_format;
    }
    error = take_flags(m, rest, clock);
    error = error == NULL && m->wants.binary ? decode_key(m) : error;
    error = error == NULL && m->bytes > KV_VALUE_MAX ? mc_error_too_large : error;
    m->swallow = error != NULL;
    return error;
}

static const char *read_other(struct mc_meta *m, struct mc_word rest, const struct mc_clock *clock)
{
    const char *error = take_key(m, &rest);
    error = error == NULL ? take_flags(m, rest, clock) : error;
    if (error == NULL && m->wants.binary && decode_key(m) != NULL) {
        error = m->name == 'g' ? error_key : command_of(m->name)->error_invalid;
    }
    return error;
}

void mc_meta_read(struct mc_meta *m, struct mc_word name, struct mc_word rest, const struct mc_clock *clock)
{
    struct mc_word peek = rest;
    bool none = mc_word(&peek).length == 0;
    m->name = (char)name.at[1];
    m->request = (struct kv_request){KV_REQUEST_INIT, .op = KV_GET, .delta = 1};
    m->wants = (struct mc_meta_wants){0};
    m->key = (struct mc_word){0};
    m->bytes = 0;
    m->swallow = false;
    m->error = NULL;
    switch (m->name) {
    case 'n':
        return;
    case 'e':
        m->error = read_debug(m, rest);
        return;
    case 's':
        m->request.op = KV_SET;
        m->error = none ? mc_error_unknown : read_set(m, rest, clock);
        return;
    case 'd':
        m->request.op = KV_DELETE;
        break;
    case 'a':
        m->request.op = KV_INCR;
        break;
    default:
        break;
    }
    m->error = none ? mc_error_unknown : read_other(m, rest, clock);
}
