/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/mapper.h"

#include "base/bytes.h"
#include "base/words.h"

#include <errno.h>
#include <string.h>

enum { LENGTH_BYTES = 4, DIGITS_MOST = 7 };

static const cw_bytes one = {(const uint8_t *)"1", 1};

/* Reads what stands behind "field:". */
static int field_read(const char *word, struct mapper_kind_of *out)
{
    char digits[DIGITS_MOST + 1] = "";
    const char *colon = strchr(word, ':');
    size_t length = colon != NULL ? (size_t)(colon - word) : strlen(word);
    uint64_t field;
    int separator = -1;
    if (length > DIGITS_MOST) {
        return -EINVAL;
    }
    memcpy(digits, word, length);
    if (words_number(digits, 1, MAPPER_FIELD_MOST, &field) < 0) {
        return -EINVAL;
    }
    if (colon != NULL) {
        separator = strcmp(colon + 1, "tab") == 0 ? '\t' : (uint8_t)colon[1];
        if (separator != '\t' && (separator == '\0' || separator == '\n' || colon[2] != '\0')) {
            return -EINVAL;
        }
    }
    *out = (struct mapper_kind_of){.kind = MAPPER_FIELD, .field = (uint32_t)field, .separator = (int16_t)separator};
    return 0;
}

int mapper_read(const char *word, struct mapper_kind_of *out)
{
    static const struct {
        const char *name;
        enum mapper_kind kind;
    } plain[] = {{"words", MAPPER_WORDS}, {"lines", MAPPER_LINES}, {"kv", MAPPER_KV}, {"records", MAPPER_RECORDS}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (strcmp(word, plain[i].name) == 0) {
            *out = (struct mapper_kind_of){.kind = plain[i].kind, .separator = -1};
            return 0;
        }
    }
    if (strncmp(word, "field", 5) != 0 || (word[5] != ':' && word[5] != '\0')) {
        return -ENOENT;
    }
    return word[5] == ':' ? field_read(word + 6, out) : -EINVAL;
}

void mapper_open(struct mapper *m, struct mapper_kind_of of, mapper_sink_fn sink, void *context)
{
    memset(m, 0, offsetof(struct mapper, line_bytes));
    m->of = of;
    m->sink = sink;
    m->context = context;
    m->line = 1;
}

static int fault(struct mapper *m, int error, const char *what)
{
    m->fault = what;
    return error;
}

static int give(struct mapper *m, cw_bytes key, cw_bytes value)
{
    if (key.length > RECORD_KEY_MOST) {
        return fault(m, -EMSGSIZE, "has a key of more than 1,024 bytes");
    }
    if (value.length > RECORD_MOST - key.length) {
        return fault(m, -EMSGSIZE, "is a record of more than 64 KiB");
    }
    return m->sink(m->context, key, value);
}

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t';
}

/* Where the separators from `at` on end (blanks), or the field that begins there. */
static size_t blanks_end(cw_bytes line, size_t at, bool blanks)
{
    while (at < line.length && is_blank(line.bytes[at]) == blanks) {
        at++;
    }
    return at;
}

static size_t field_end(cw_bytes line, size_t at, int separator)
{
    const uint8_t *found = at == line.length ? NULL : memchr(line.bytes + at, separator, line.length - at);
    return found == NULL ? line.length : (size_t)(found - line.bytes);
}

/* The field of a line; of no length: it has none. */
static cw_bytes field_of(const struct mapper_kind_of *of, cw_bytes line)
{
    bool blanks = of->separator < 0;
    size_t from = 0, to = 0;
    for (uint32_t n = 1;; n++) {
        from = blanks ? blanks_end(line, from, true) : from;
        to = blanks ? blanks_end(line, from, false) : field_end(line, from, of->separator);
        if (n == of->field) {
            return (cw_bytes){line.bytes + from, to - from};
        }
        if (to == line.length) {
            return (cw_bytes){NULL, 0};
        }
        from = to + !blanks;
    }
}

/* The records of a line, as a module gives them. */
struct emission {
    struct mapper *m;
    uint32_t records;
    int rc; /* < 0: no more are taken */
};

/* Those that the sink has already are left out. */
static int emit(void *to, cw_bytes key, cw_bytes value)
{
    struct emission *e = to;
    struct mapper *m = e->m;
    if (e->rc < 0 || e->records++ < m->taken) {
        return e->rc;
    }
    e->rc = key.length == 0 ? fault(m, -EINVAL, "gives a record without a key") : give(m, key, value);
    m->taken += e->rc == 0;
    return e->rc;
}

static int map_module(struct mapper *m, cw_bytes line)
{
    struct emission e = {.m = m};
    int rc = m->of.module->map(line, m->of.argument, emit, &e);
    if (e.rc < 0) {
        return e.rc;
    }
    m->taken = 0;
    return rc != 0 ? fault(m, -EINVAL, "is none that the module takes") : 0;
}

static int map_line(struct mapper *m, cw_bytes line)
{
    if (m->of.kind == MAPPER_MODULE) {
        return map_module(m, line);
    }
    if (m->of.kind == MAPPER_LINES) {
        return line.length == 0 ? 0 : give(m, line, one);
    }
    if (m->of.kind == MAPPER_FIELD) {
        cw_bytes field = field_of(&m->of, line);
        int rc = field.length == 0 ? 0 : give(m, field, one);
        m->skipped += field.length == 0;
        return rc;
    }
    const uint8_t *tab = line.length == 0 ? NULL : memchr(line.bytes, '\t', line.length);
    if (tab == NULL) {
        return fault(m, -EINVAL, "has no TAB between key and value");
    }
    size_t key = (size_t)(tab - line.bytes);
    if (key == 0) {
        return fault(m, -EINVAL, "has no key before its TAB");
    }
    return give(m, (cw_bytes){line.bytes, key}, (cw_bytes){tab + 1, line.length - key - 1});
}

/* Holds bytes of a line whose end has not come. */
static int hold(struct mapper *m, const uint8_t *bytes, size_t length)
{
    if (length > MAPPER_LINE_MOST - m->held) {
        return fault(m, -EMSGSIZE, "is longer than 64 KiB");
    }
    if (length > 0) {
        memcpy(m->line_bytes + m->held, bytes, length);
    }
    m->held += (uint32_t)length;
    return 0;
}

static int feed_lines(struct mapper *m, const uint8_t *bytes, size_t length, size_t *used)
{
    while (*used < length) {
        const uint8_t *from = bytes + *used, *end = memchr(from, '\n', length - *used);
        size_t n = end == NULL ? length - *used : (size_t)(end - from);
        int rc = m->held > 0 || end == NULL || n > MAPPER_LINE_MOST ? hold(m, from, n) : 0;
        if (rc < 0) {
            return rc;
        }
        if (end == NULL) {
            *used = length;
            return 0;
        }
        bool held = m->held > 0;
        *used += held ? n : 0; /* what is held is used, whatever the sink says */
        rc = map_line(m, held ? (cw_bytes){m->line_bytes, m->held} : (cw_bytes){from, n});
        if (rc < 0) {
            return rc;
        }
        *used += held ? 1 : n + 1;
        m->held = 0;
        m->line++;
    }
    return 0;
}

static bool is_upper(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z';
}

static bool of_word(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || is_upper(byte) || (byte >= '0' && byte <= '9') || byte >= 0x80;
}

static int feed_words(struct mapper *m, const uint8_t *bytes, size_t length, size_t *used)
{
    for (; *used < length; ++*used) {
        uint8_t byte = bytes[*used];
        if (of_word(byte)) {
            if (m->held == RECORD_KEY_MOST) {
                return fault(m, -EMSGSIZE, "has a word of more than 1,024 bytes");
            }
            m->line_bytes[m->held++] = is_upper(byte) ? byte | 0x20 : byte;
            continue;
        }
        int rc = m->held > 0 ? give(m, (cw_bytes){m->line_bytes, m->held}, one) : 0;
        if (rc < 0) {
            return rc;
        }
        m->held = 0;
        m->line += byte == '\n';
    }
    return 0;
}

/* Gives the records of the block that is whole, but those that the sink has already. */
static int give_block(struct mapper *m)
{
    struct record_reader r;
    int rc = 0;
    uint32_t n = 0;
    record_reader_init(&r);
    record_reader_block(&r, m->line_bytes, m->held);
    while ((rc = record_reader_next(&r)) == 1) {
        if (n++ == m->taken) {
            rc = m->sink(m->context, (cw_bytes){r.key, r.key_length}, (cw_bytes){r.value, r.value_length});
            if (rc < 0) {
                return rc;
            }
            m->taken++;
        }
    }
    if (rc < 0) {
        return fault(m, rc, "is no block of sorted records");
    }
    m->held = m->taken = m->wanted = 0;
    m->whole = false;
    m->line++;
    return 0;
}

static int feed_records(struct mapper *m, const uint8_t *bytes, size_t length, size_t *used)
{
    for (;;) {
        if (m->whole) {
            int rc = give_block(m);
            if (rc < 0) {
                return rc;
            }
        }
        if (*used == length) {
            return 0;
        }
        size_t want = (m->wanted == 0 ? LENGTH_BYTES : m->wanted) - m->held, left = length - *used;
        want = want < left ? want : left;
        memcpy(m->line_bytes + m->held, bytes + *used, want);
        m->held += (uint32_t)want;
        *used += want;
        if (m->wanted == 0 && m->held == LENGTH_BYTES) {
            m->wanted = get_be32(m->line_bytes);
            m->held = 0;
            if (m->wanted == 0 || m->wanted > RECORD_BLOCK) {
                return fault(m, -EBADMSG, "is a block of no bytes or of more than 64 KiB");
            }
        }
        m->whole = m->wanted != 0 && m->held == m->wanted;
    }
}

int mapper_feed(struct mapper *m, const uint8_t *bytes, size_t length, size_t *used)
{
    *used = 0;
    if (m->fault != NULL) {
        return -EINVAL;
    }
    switch (m->of.kind) {
    case MAPPER_WORDS:
        return feed_words(m, bytes, length, used);
    case MAPPER_RECORDS:
        return feed_records(m, bytes, length, used);
    case MAPPER_LINES:
    case MAPPER_KV:
    case MAPPER_FIELD:
    case MAPPER_MODULE:
        break;
    }
    return feed_lines(m, bytes, length, used);
}

int mapper_end(struct mapper *m)
{
    size_t used;
    int rc = mapper_feed(m, NULL, 0, &used); /* a block that the sink has by half */
    if (rc < 0 || m->held == 0) {
        return rc < 0 || m->wanted == 0 ? rc : fault(m, -EBADMSG, "ends within a block of records");
    }
    if (m->of.kind == MAPPER_RECORDS) {
        return fault(m, -EBADMSG, "ends within a block of records");
    }
    cw_bytes held = {m->line_bytes, m->held};
    rc = m->of.kind == MAPPER_WORDS ? give(m, held, one) : map_line(m, held);
    m->held = rc == 0 ? 0 : m->held;
    return rc;
}
