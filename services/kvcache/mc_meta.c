/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/mc_meta.h"

#include "base/base64.h"

#include <string.h>

static const char error_token[] = "CLIENT_ERROR bad token in command line format";
static const char error_key[] = "CLIENT_ERROR error decoding key";

/* What a command knows: flags of its own, flags that memcached has and this cache cannot do, and memcached's words for the others. */
struct meta_command {
    char name;
    const char *flags;
    const char *missing;
    const char *error_invalid, *error_duplicate, *error_missing;
};

static const struct meta_command commands[] = {
    {'g', "bcfkOqsvTuPL", "hltNR", "CLIENT_ERROR invalid flag", "CLIENT_ERROR duplicate flag",
     "CLIENT_ERROR invalid flag: mg has no h, l, t, N and R here"},
    {'s', "bcCFkOqTMPL", "I", "CLIENT_ERROR invalid flag", "CLIENT_ERROR duplicate flag",
     "CLIENT_ERROR invalid flag: ms has no I here"},
    {'d', "bCkOqvPL", "IT", "CLIENT_ERROR invalid or duplicate flag", "CLIENT_ERROR invalid or duplicate flag",
     "CLIENT_ERROR invalid flag: md has no I and T here"},
    {'a', "bcCNJDkOqvMPL", "tT", "CLIENT_ERROR invalid or duplicate flag", "CLIENT_ERROR invalid or duplicate flag",
     "CLIENT_ERROR invalid flag: ma has no t and T here"},
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

/* ---- Flags ----------------------------------------------------------------------------------------------------------- */

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
    for (size_t i = 0; token.length == 1 && i < sizeof modes / sizeof *modes; i++) {
        if (token.at[0] == (uint8_t)modes[i].letter) {
            m->request.op = modes[i].op;
            return NULL;
        }
    }
    return token.length == 1 ? "CLIENT_ERROR invalid mode for ms M token" : "CLIENT_ERROR incorrect length for M token";
}

static const char *take_step_mode(struct mc_meta *m, struct mc_word token)
{
    if (token.length != 1) {
        return "CLIENT_ERROR incorrect length for M token";
    }
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

/* A flag that memcached calls bad by the words of its command. */
static const char *number_error(const struct mc_meta *m, char flag)
{
    const struct meta_command *c = command_of(m->name);
    return m->name == 'd' || m->name == 'a' ? c->error_invalid : flag == 'F' ? mc_error_format : error_token;
}

static const char *take_number(struct mc_meta *m, char flag, struct mc_word token, const struct mc_clock *clock)
{
    uint64_t n = 0;
    bool good;
    if (flag == 'T' || flag == 'N') {
        m->request.create = flag == 'N';
        if (flag == 'T' && m->name == 'g') {
            m->request.op = KV_GAT;
        }
        good = mc_expiry(token, clock, &m->request.expiry);
    } else {
        good = mc_number(token, flag == 'F' ? UINT32_MAX : UINT64_MAX, &n);
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
    case 'D':
        m->request.delta = n;
        break;
    default:
        break;
    }
    return good ? NULL : number_error(m, flag);
}

static const char *take_flag(struct mc_meta *m, char flag, struct mc_word token, const struct mc_clock *clock)
{
    struct mc_meta_wants *w = &m->wants;
    const char *error = NULL;
    switch (flag) {
    case 'O':
        error = take_opaque(w, token);
        w->flag[w->flags++] = flag;
        break;
    case 'c':
    case 'f':
    case 's':
    case 'k':
        w->flag[w->flags++] = flag;
        break;
    case 'b':
        w->binary = true;
        break;
    case 'q':
        w->quiet = true;
        break;
    case 'v':
        w->value = m->name != 'd';
        break;
    case 'M':
        error = m->name == 's' ? take_set_mode(m, token) : take_step_mode(m, token);
        break;
    case 'T':
    case 'N':
    case 'F':
    case 'C':
    case 'J':
    case 'D':
        error = take_number(m, flag, token, clock);
        break;
    default: /* u, P, L: nothing here */
        break;
    }
    return error;
}

static const char *take_flags(struct mc_meta *m, struct mc_word rest, const struct mc_clock *clock)
{
    const struct meta_command *c = command_of(m->name);
    bool seen[128] = {false};
    for (struct mc_word w = mc_word(&rest); w.length > 0; w = mc_word(&rest)) {
        char flag = (char)(w.at[0] & 0x7f);
        if (flag == '\0' || w.at[0] > 0x7f || strchr(c->flags, flag) == NULL) {
            bool missing = flag != '\0' && w.at[0] <= 0x7f && strchr(c->missing, flag) != NULL;
            return missing ? c->error_missing : c->error_invalid;
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
    return NULL;
}

/* ---- Lines ----------------------------------------------------------------------------------------------------------- */

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
    return error == NULL && m->wants.binary ? decode_key(m) : error;
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
