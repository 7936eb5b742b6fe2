/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_file.c - files to other servers: the open file that the client sent along goes to the multicast service, under a
 * ticket of this command.
 */
#include "daemon/commands/commands.h"
#include "daemon/files/file_host.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = REQUEST_LINE_WORDS + 8, WORD = 280, PROGRESS_LEAST_MS = 50, PROGRESS_MOST_MS = 3600000 };
static const char service[] = "multicast";

/* The words of the service's command. */
struct file_words {
    char text[6][WORD];
    const char *word[WORDS];
    int count, texts;
};

__attribute__((format(printf, 2, 3))) static void add(struct file_words *w, const char *format, ...)
{
    char *text = w->text[w->texts++];
    va_list args;
    va_start(args, format);
    vsnprintf(text, WORD, format, args);
    va_end(args);
    w->word[w->count++] = text;
}

static bool add_options(struct request *r, struct file_words *w)
{
    const char *name = NULL, *mode = NULL;
    int64_t progress = 0;
    bool keep = false, no_wait = false;
    if (request_line_text(request_line(r), "name", &name) <= 0 || strlen(name) >= WORD - 8) {
        request_refuse(r, -EINVAL, "file-send: option name is a text of 1 to 200 bytes: what the file is to be called");
        return false;
    }
    if (request_line_text(request_line(r), "mode", &mode) < 0 || (mode != NULL && strlen(mode) > 8)) {
        request_refuse(r, -EINVAL, "file-send: option mode is a text, as \"644\"");
        return false;
    }
    if (!commands_flag(r, "keep", &keep) || !commands_flag(r, "no_wait", &no_wait) ||
        !commands_number(r, "progress", PROGRESS_LEAST_MS, PROGRESS_MOST_MS, &progress)) {
        return false;
    }
    add(w, "name=%s", name);
    if (mode != NULL) {
        add(w, "mode=%s", mode);
    }
    if (progress > 0) {
        add(w, "progress=%" PRId64, progress);
    }
    if (keep) {
        w->word[w->count++] = "keep=1";
    }
    if (no_wait) {
        w->word[w->count++] = "wait=0";
    }
    return true;
}

static void refuse_file(struct request *r, int rc)
{
    switch (-rc) {
    case EISDIR:
        request_refuse(r, rc, "it is a folder: pack it into one file first (tar)");
        break;
    case EINVAL:
        request_refuse(r, rc, "it is no regular file: its length is not known before its end");
        break;
    case EACCES:
        request_refuse(r, rc, "it was not opened for reading");
        break;
    default:
        request_refuse(r, rc, "%s", strerror(-rc));
    }
}

void cmd_file_send(struct request *r)
{
    const struct request_line *line = request_line(r);
    struct host_server *server = commands_server(r);
    struct file_words w = {.word = {"file-send"}, .count = 1};
    uint64_t ticket = 0;
    if (server == NULL || !add_options(r, &w)) {
        return;
    }
    struct file_host *files = host_files(server->host);
    int file = request_file(r);
    if (file < 0) {
        request_refuse(r, -EBADF,
                       "no open file came along with the request (SCM_RIGHTS); \"cwctl file send\" sends one");
        return;
    }
    if (files == NULL) {
        close(file);
        refuse_file(r, -EOPNOTSUPP);
        return;
    }
    int rc = file_host_pass(files, file, &ticket);
    if (rc < 0) {
        refuse_file(r, rc);
        return;
    }
    add(&w, "ticket=%" PRIu64, ticket);
    w.word[w.count++] = "to";
    for (int i = 0; i < line->argc; i++) {
        w.word[w.count++] = line->argv[i];
    }
    commands_relay(r, server, service, w.count, w.word);
    file_host_drop(files, ticket); /* it has been claimed by now, or will not be */
}

void cmd_file_status(struct request *r)
{
    struct host_server *server = commands_server(r);
    bool members = false;
    if (server == NULL || !commands_flag(r, "members", &members)) {
        return;
    }
    const char *const words[] = {"file-status", "members=1"};
    commands_relay(r, server, service, members ? 2 : 1, words);
}

void cmd_file_stop(struct request *r)
{
    struct host_server *server = commands_server(r);
    if (server == NULL) {
        return;
    }
    const char *const words[] = {"file-stop", request_line(r)->argv[0]};
    commands_relay(r, server, service, 2, words);
}
