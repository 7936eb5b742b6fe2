/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_archive.c - all values of the store, or those below a prefix, as an archive that tar reads, and back. A value is
 * a file of its name; the name in base64, the version and the flags are extended attributes of it ("user.cubeway.." of
 * SCHILY.xattr, which tar passes over unless it is asked for them). A file that has none of them is put under its path.
 */
#define _GNU_SOURCE /* mkstemp, fchmod, realpath */
#include "ctl/store/store.h"

#include "base/base64.h"
#include "ctl/ask/value.h"
#include "ctl/store/store_ask.h"
#include "tar/tar.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ATTRIBUTE "SCHILY.xattr.user.cubeway."

enum { EVERY = 64 }; /* names from one line of progress to the next */

/* An export or import that is under way. */
struct archive {
    const struct call *call;
    FILE *file;
    const char *shown; /* what the file is called in messages */
    int64_t values, bytes, kept;
    bool terminal; /* how far it is, is shown */
    struct tar_file head;
    struct tar_reader reader;
    uint8_t value[CW_STORE_VALUE_MAX + 1];
};

static void show_progress(const struct archive *a, bool end)
{
    if (a->terminal && (end || a->values % EVERY == 0)) {
        fprintf(a->call->errors, end ? "\r\x1b[K" : "\r%" PRId64 " values, %" PRId64 " bytes\x1b[K", a->values,
                a->bytes);
        fflush(a->call->errors);
    }
}

static int say(const struct archive *a, const char *what)
{
    fprintf(a->call->errors, "cwctl: %s: %s\n", a->shown, what);
    return EXIT_NO;
}

/* How it ended; with --json as an object. */
static void tell_end(const struct archive *a, const char *done, FILE *out)
{
    if (a->call->arguments->json) {
        struct message *m = message_open();
        message_integer(m, "values", a->values);
        message_integer(m, "bytes", a->bytes);
        message_integer(m, "kept", a->kept);
        message_print(m, a->call->out);
        message_close(m);
        return;
    }
    fprintf(out, "%" PRId64 " value%s, %" PRId64 " bytes %s", a->values, a->values == 1 ? "" : "s", a->bytes, done);
    if (a->kept > 0) {
        fprintf(out, "; %" PRId64 " there already", a->kept);
    }
    fputc('\n', out);
}

/* ---- Export ------------------------------------------------------------------------------------------------------ */

static int write_bytes(void *context, const void *bytes, size_t size)
{
    struct archive *a = context;
    return fwrite(bytes, 1, size, a->file) == size ? 0 : -EIO;
}

static void number_word(struct tar_file *f, const char *key, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    (void)!tar_word_set(f, key, text); /* fits */
}

/* The header of a value with that name. A path cannot hold NUL: then it is the name as it is shown. */
static void head_of(struct archive *a, const struct message *row, const uint8_t *name, size_t length)
{
    struct tar_file *f = &a->head;
    f->words = 0;
    f->changed_s = (int64_t)time(NULL);
    if (memchr(name, '\0', length) == NULL) {
        memcpy(f->path, name, length);
        f->path[length] = '\0';
    } else {
        snprintf(f->path, sizeof f->path, "%.*s", TAR_PATH_MOST - 1, message_get_text(row, "name", "?"));
    }
    (void)!tar_word_set(f, ATTRIBUTE "name", message_get_text(row, "base64", "")); /* fits */
}

static int put_file(struct archive *a, const struct value *v)
{
    a->head.size = v->length;
    int rc = tar_put(&a->head, write_bytes, a);
    rc = rc < 0 ? rc : write_bytes(a, v->bytes, v->length);
    return rc < 0 ? rc : tar_put_end(v->length, write_bytes, a);
}

/* Asks for the value of a name that a list has told, and writes it. One that went meanwhile is left out. */
static int export_one(struct archive *a, const struct message *row)
{
    uint8_t name[CW_STORE_NAME_MAX + 3];
    int length = base64_decode(message_get_text(row, "base64", ""), name, sizeof name);
    if (length <= 0 || length > CW_STORE_NAME_MAX) {
        return say(a, "the daemon told a name that is none");
    }
    const char *shown = message_get_text(row, "name", "?");
    const struct store_key key = {message_get_text(row, "base64", ""), shown, true};
    struct value v;
    bool gone = false;
    int code = store_fetch(a->call, &key, CW_STORE_NOT_FOUND, &v, &gone);
    if (code != EXIT_FINE) {
        return gone ? EXIT_FINE : code;
    }
    head_of(a, row, name, (size_t)length);
    number_word(&a->head, ATTRIBUTE "version", message_get_integer(v.row, "version", 0));
    number_word(&a->head, ATTRIBUTE "flags", message_get_integer(v.row, "flags", 0));
    code = put_file(a, &v) < 0 ? say(a, strerror(errno)) : EXIT_FINE;
    a->values += code == EXIT_FINE;
    a->bytes += code == EXIT_FINE ? (int64_t)v.length : 0;
    value_close(&v);
    show_progress(a, false);
    return code;
}

static int export_all(struct archive *a, const char *prefix)
{
    char after[STORE_CURSOR] = "";
    bool more = true;
    int code = EXIT_FINE;
    while (code == EXIT_FINE && more) {
        struct rows page = {NULL, 0, 0};
        code = store_page(a->call, prefix, after, CW_STORE_LIST_MAX, &page, &more);
        for (size_t i = 0; code == EXIT_FINE && i < page.count; i++) {
            code = *a->call->stop == 0 ? export_one(a, page.row[i]) : EXIT_NO;
        }
        rows_clear(&page);
    }
    if (*a->call->stop != 0) {
        code = say(a, "stopped before all values were in it");
    }
    if (code == EXIT_FINE && (tar_close(write_bytes, a) < 0 || fflush(a->file) != 0)) {
        code = say(a, strerror(errno));
    }
    show_progress(a, true);
    return code;
}

/* Into what is no regular file: a device, or a pipe. */
static int export_into(struct archive *a, const char *path, const char *prefix)
{
    a->file = fopen(path, "wb");
    if (a->file == NULL) {
        return say(a, strerror(errno));
    }
    int code = export_all(a, prefix);
    return fclose(a->file) == 0 || code != EXIT_FINE ? code : say(a, strerror(errno));
}

/* A new file beside the one of that path (its name + ".XXXXXX"), with the mode that the file has, or would get. */
static FILE *open_beside(char *part, const struct stat *old)
{
    mode_t mask = umask(0);
    (void)umask(mask);
    int fd = mkstemp(part);
    FILE *file = fd >= 0 && fchmod(fd, old != NULL ? old->st_mode & 0777 : 0666 & ~mask) == 0 ? fdopen(fd, "wb") : NULL;
    if (file == NULL && fd >= 0) {
        (void)close(fd);
        (void)unlink(part);
    }
    return file;
}

/* To a file, which has its name when it is whole, and not before. */
static int export_as(struct archive *a, const char *path, const struct stat *old, const char *prefix)
{
    size_t room = strlen(path) + sizeof ".XXXXXX";
    char *part = malloc(room);
    if (part == NULL) {
        return say(a, strerror(ENOMEM));
    }
    snprintf(part, room, "%s.XXXXXX", path);
    a->file = open_beside(part, old);
    int code = a->file != NULL ? export_all(a, prefix) : say(a, strerror(errno));
    if (a->file != NULL) {
        bool kept = code == EXIT_FINE && fsync(fileno(a->file)) == 0;
        kept = fclose(a->file) == 0 && kept && rename(part, path) == 0;
        code = kept || code != EXIT_FINE ? code : say(a, strerror(errno));
        if (!kept) {
            (void)unlink(part);
        }
    }
    free(part);
    return code;
}

static int export_to(struct archive *a, const char *path, const char *prefix)
{
    struct stat old;
    char *whole = realpath(path, NULL); /* the file that a link leads to, and not the link */
    const char *target = whole != NULL ? whole : path;
    bool there = stat(target, &old) == 0;
    int code = there && !S_ISREG(old.st_mode) ? export_into(a, target, prefix)
                                              : export_as(a, target, there ? &old : NULL, prefix);
    free(whole);
    return code;
}

static struct archive *archive_open(const struct call *call, const char *shown)
{
    struct archive *a = calloc(1, sizeof *a);
    if (a == NULL) {
        fprintf(call->errors, "cwctl: %s\n", strerror(ENOMEM));
        return NULL;
    }
    a->call = call;
    a->shown = shown;
    a->terminal = isatty(fileno(call->errors)) && !call->arguments->json;
    return a;
}

int run_store_export(struct call *call)
{
    const struct arguments_given *to = call_given(call, "file");
    const char *prefix = call->arguments->words > 2 ? call->arguments->word[2] : "";
    if (to == NULL && (isatty(fileno(call->out)) || call->arguments->json)) {
        fprintf(call->errors, "cwctl: an archive is not for %s: give it a file (--file FILE)\n",
                call->arguments->json ? "the output that --json writes to" : "a terminal");
        return EXIT_USAGE;
    }
    struct archive *a = archive_open(call, to != NULL ? to->text : "standard output");
    if (a == NULL) {
        return EXIT_NO;
    }
    a->file = call->out;
    int code = to != NULL ? export_to(a, to->text, prefix) : export_all(a, prefix);
    if (code == EXIT_FINE) {
        tell_end(a, "written", to != NULL ? call->out : call->errors);
    }
    free(a);
    return code;
}

/* ---- Import ------------------------------------------------------------------------------------------------------ */

static int64_t read_bytes(void *context, void *bytes, size_t size)
{
    struct archive *a = context;
    size_t n = fread(bytes, 1, size, a->file);
    return n == 0 && ferror(a->file) ? -EIO : (int64_t)n;
}

/* The name that a file of the archive is put under: how many bytes; 0: none. */
static size_t name_of(const struct tar_file *f, uint8_t out[static CW_STORE_NAME_MAX + 3])
{
    const char *word = tar_word(f, ATTRIBUTE "name");
    if (word != NULL) {
        int length = base64_decode(word, out, CW_STORE_NAME_MAX + 3);
        return length > 0 && length <= CW_STORE_NAME_MAX ? (size_t)length : 0;
    }
    const char *path = strncmp(f->path, "./", 2) == 0 ? f->path + 2 : f->path;
    size_t length = strlen(path);
    if (length > CW_STORE_NAME_MAX) {
        return 0;
    }
    memcpy(out, path, length);
    return length;
}

/* Reads the bytes of the file that has come: how many; negative after a line. */
static int64_t read_value(struct archive *a)
{
    if (a->head.size > CW_STORE_VALUE_MAX) {
        fprintf(a->call->errors, "cwctl: %s: '%.200s' has %" PRIu64 " bytes, and a value at most %d\n", a->shown,
                a->head.path, a->head.size, CW_STORE_VALUE_MAX);
        return -EFBIG;
    }
    int64_t size = tar_get(&a->reader, a->value, sizeof a->value);
    if (size < 0) {
        (void)say(a, a->reader.why);
    }
    return size;
}

static int import_one(struct archive *a)
{
    uint8_t name[CW_STORE_NAME_MAX + 3];
    const char *flags = tar_word(&a->head, ATTRIBUTE "flags");
    bool absent = call_given(a->call, "if-absent") != NULL;
    size_t length = name_of(&a->head, name);
    char word[48], key[STORE_CURSOR];
    if (length == 0) {
        fprintf(a->call->errors, "cwctl: %s: the name of '%.200s' is none: names have 1 to %d bytes\n", a->shown,
                a->head.path, CW_STORE_NAME_MAX);
        return EXIT_NO;
    }
    int64_t size = read_value(a);
    if (size < 0) {
        return EXIT_NO;
    }
    struct rows rows = {NULL, 0, 0};
    base64_encode(name, length, key);
    struct request_draft *r = store_request(a->call, absent ? "insert" : "put", key);
    int code = store_value(a->call, r, a->value, (size_t)size);
    if (code != EXIT_FINE) {
        request_draft_close(r);
        return code;
    }
    snprintf(word, sizeof word, "flags=%.20s", flags != NULL ? flags : "0");
    request_draft_word(r, word);
    request_draft_word(r, STORE_KEY_BASE64);
    code = store_try(a->call, r, a->head.path, absent ? CW_STORE_CONFLICT : CW_STORE_OK, &rows);
    if (code == EXIT_FINE) {
        a->values++;
        a->bytes += size;
    } else if (absent && store_says(&rows, CW_STORE_CONFLICT)) {
        a->kept++;
        code = EXIT_FINE;
    }
    rows_clear(&rows);
    show_progress(a, false);
    return code;
}

static int import_all(struct archive *a)
{
    int code = EXIT_FINE, rc = 0;
    tar_open(&a->reader, read_bytes, a, ATTRIBUTE);
    while (code == EXIT_FINE && *a->call->stop == 0 && (rc = tar_next(&a->reader, &a->head)) > 0) {
        code = import_one(a);
    }
    show_progress(a, true);
    if (*a->call->stop != 0) {
        code = say(a, "stopped before all of it was read");
    } else if (rc < 0) {
        code = say(a, a->reader.why);
    }
    if (code != EXIT_FINE) {
        fprintf(a->call->errors, "cwctl: %" PRId64 " value%s in the store before that, and stay there\n", a->values,
                a->values == 1 ? " was put" : "s were put");
    }
    return code;
}

int run_store_import(struct call *call)
{
    const char *path = call->arguments->word[2];
    bool input = strcmp(path, "-") == 0;
    struct archive *a = archive_open(call, input ? "standard input" : path);
    if (a == NULL) {
        return EXIT_NO;
    }
    a->file = input ? stdin : fopen(path, "rb");
    int code = a->file != NULL ? import_all(a) : say(a, strerror(errno));
    if (a->file != NULL && !input) {
        fclose(a->file);
    }
    if (code == EXIT_FINE) {
        tell_end(a, "put", call->out);
    }
    free(a);
    return code;
}
