/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/machine/log.h"

#include "shim/clock.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KINDS = 64, TRUNCATED_ROOM = 8 };

/* A line that is being put together; what does not fit is left out. */
struct line {
    char text[LOG_LINE];
    size_t length;
};

/* How often a message was written in this second, how often it was left out, and the newest line that was. */
struct kind {
    const char *message;
    int64_t second;
    unsigned written;
    uint64_t left_out;
    struct line last;
    cw_level level; /* of the newest line */
};

struct log {
    int fd;
    _Atomic int level;
    bool stamp;
    pthread_mutex_t lock;
    uint64_t lost; /* lines that the descriptor refused */
    struct kind kind[KINDS];
};

static const char *const levels[] = {"error", "warn", "info", "debug"};

const char *log_level_name(cw_level level)
{
    return levels[level];
}

bool log_level_parse(const char *text, cw_level *out)
{
    for (unsigned i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (strcmp(text, levels[i]) == 0) {
            *out = (cw_level)i;
            return true;
        }
    }
    return false;
}

struct log *log_open(int fd, cw_level level, bool stamp)
{
    struct log *log = calloc(1, sizeof *log);
    if (log != NULL) {
        log->fd = fd;
        atomic_init(&log->level, (int)level);
        log->stamp = stamp;
        pthread_mutex_init(&log->lock, NULL);
    }
    return log;
}

void log_set_level(struct log *log, cw_level level)
{
    atomic_store_explicit(&log->level, (int)level, memory_order_relaxed);
}

cw_level log_level(const struct log *log)
{
    return (cw_level)atomic_load_explicit(&log->level, memory_order_relaxed);
}

/* ---- The line ---------------------------------------------------------------------------------------------------- */

static void put_char(struct line *l, char c)
{
    if (l->length + TRUNCATED_ROOM < sizeof l->text) {
        l->text[l->length++] = c;
    }
}

static void put_word(struct line *l, const char *word)
{
    for (; *word != '\0'; word++) {
        put_char(l, *word);
    }
}

static bool is_plain(const char *value)
{
    if (value[0] == '\0') {
        return false;
    }
    for (; *value != '\0'; value++) {
        if ((unsigned char)*value <= ' ' || *value == '"' || *value == '=' || *value == '\\' || *value == 0x7f) {
            return false;
        }
    }
    return true;
}

static void put_quoted(struct line *l, const char *value)
{
    static const char hex[] = "0123456789abcdef";
    put_char(l, '"');
    for (; *value != '\0'; value++) {
        unsigned char c = (unsigned char)*value;
        if (c == '"' || c == '\\') {
            put_char(l, '\\');
            put_char(l, (char)c);
        } else if (c == '\n') {
            put_word(l, "\\n");
        } else if (c < ' ' || c == 0x7f) {
            put_word(l, "\\x");
            put_char(l, hex[c >> 4]);
            put_char(l, hex[c & 15]);
        } else {
            put_char(l, (char)c);
        }
    }
    put_char(l, '"');
}

static void put_field(struct line *l, const char *key, const char *value)
{
    if (value == NULL) {
        return;
    }
    if (l->length > 0) {
        put_char(l, ' ');
    }
    put_word(l, key);
    put_char(l, '=');
    if (is_plain(value)) {
        put_word(l, value);
    } else {
        put_quoted(l, value);
    }
}

static void put_time(struct line *l)
{
    struct timespec now;
    struct tm utc;
    char text[64], whole[96];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(whole, sizeof whole, "%s.%06ldZ", text, now.tv_nsec / 1000);
    put_field(l, "time", whole);
}

/*
 * Called with the lock held. A descriptor that is full or gone must not stop a server; a pipe that polls as writable
 * takes PIPE_BUF bytes without waiting.
 */
static void send_line(struct log *log, struct line *l)
{
    struct pollfd room = {.fd = log->fd, .events = POLLOUT};
    l->text[l->length++] = '\n';
    if (poll(&room, 1, 0) != 1 || write(log->fd, l->text, l->length) != (ssize_t)l->length) {
        log->lost++;
    }
}

static void begin_line(const struct log *log, struct line *l, cw_level level)
{
    l->length = 0;
    if (log->stamp) {
        put_time(l);
    }
    put_field(l, "level", levels[level]);
}

static void say_count(struct log *log, cw_level level, const char *what, const char *message, uint64_t count)
{
    struct line l;
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, count);
    begin_line(log, &l, level);
    put_field(&l, "msg", what);
    put_field(&l, "count", number);
    put_field(&l, "message", message);
    send_line(log, &l);
}

/* ---- Repetition -------------------------------------------------------------------------------------------------- */

/* Writes the newest of the lines that were left out, which says how things are now, and how many were before it. */
static void release(struct log *log, struct kind *kind)
{
    if (kind->left_out > 1) {
        say_count(log, kind->level, "repeats were left out", kind->message, kind->left_out - 1);
    }
    if (kind->left_out > 0) {
        send_line(log, &kind->last);
    }
    kind->left_out = 0;
}

/*
 * The entry of the message: its own, or that of the message that has rested longest. Messages are literals, so they are
 * told apart by address.
 */
static struct kind *kind_of(struct log *log, const char *message)
{
    struct kind *oldest = &log->kind[0];
    for (unsigned i = 0; i < KINDS; i++) {
        if (log->kind[i].message == message) {
            return &log->kind[i];
        }
        oldest = log->kind[i].second < oldest->second ? &log->kind[i] : oldest;
    }
    release(log, oldest);
    oldest->message = message;
    oldest->second = -1;
    return oldest;
}

static int64_t second_of(cw_time t)
{
    return t.ns / CW_NS_PER_SEC;
}

static void write_line(struct log *log, cw_level level, const char *message, const struct log_field *fields)
{
    struct kind *kind = kind_of(log, message);
    int64_t second = second_of(clock_now());
    if (kind->second != second) {
        release(log, kind);
        kind->second = second;
        kind->written = 0;
    }
    struct line *l = &kind->last;
    kind->level = level;
    begin_line(log, l, level);
    put_field(l, "msg", message);
    for (; fields->key != NULL; fields++) {
        put_field(l, fields->key, fields->value);
    }
    if (kind->written == LOG_BURST) {
        kind->left_out++;
        return;
    }
    uint64_t lost = log->lost;
    log->lost = 0;
    if (lost > 0) {
        say_count(log, CW_LOG_WARN, "lines were lost: nobody read them", NULL, lost);
    }
    kind->written++;
    send_line(log, l);
}

void log_write(struct log *log, cw_level level, const char *message, const struct log_field *fields)
{
    if (log == NULL || level > log_level(log)) {
        return;
    }
    pthread_mutex_lock(&log->lock);
    write_line(log, level, message, fields);
    pthread_mutex_unlock(&log->lock);
}

void log_settle(struct log *log, cw_time now)
{
    pthread_mutex_lock(&log->lock);
    for (unsigned i = 0; i < KINDS; i++) {
        if (log->kind[i].second < second_of(now)) {
            release(log, &log->kind[i]);
        }
    }
    pthread_mutex_unlock(&log->lock);
}

void log_close(struct log *log)
{
    if (log == NULL) {
        return;
    }
    for (unsigned i = 0; i < KINDS; i++) {
        release(log, &log->kind[i]);
    }
    pthread_mutex_destroy(&log->lock);
    free(log);
}
