/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* struct ucred */
#include "ctl/ask/client.h"

#include "message/answer_line.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define END_PATIENCE CW_MS(500) /* a process ends a while after its connections have */

enum { LINE_MAX_BYTES = 32 * 1024 * 1024, READ_BYTES = 64 * 1024, STOP_MS = 100 };

struct client {
    int fd;
    int daemon_fd; /* a pidfd of the daemon's process; -1: none could be had */
    pid_t daemon_pid;
    int64_t asked_ns; /* when the request that waits was sent */
    int file;         /* the open file that goes with the next request; -1: none */
    bool failed;
    const volatile int *stop;
    struct keys *keys; /* NULL, or on */
    int64_t id;
    char *bytes; /* read and not yet used */
    size_t used, room, looked;
    char path[128];
    bool in_lab;
    char lab[80], daemon[32]; /* as client_set_lab() has told it */
};

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * CW_NS_PER_SEC + t.tv_nsec;
}

/* Such a daemon has left its socket without any rights. */
bool client_left(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) && (st.st_mode & 07777) == 0;
}

static int refuse_connect(const char *path, int rc, char why[static CLIENT_WHY])
{
    if ((rc == -ECONNREFUSED || rc == -EACCES) && client_left(path)) {
        snprintf(why, CLIENT_WHY, "%s: no daemon is there: it left in order (systemctl start cubewayd)", path);
        return rc;
    }
    switch (-rc) {
    case ENOENT:
        snprintf(why, CLIENT_WHY, "%s: no such socket; is cubewayd running? (systemctl status cubewayd)", path);
        break;
    case ECONNREFUSED:
        snprintf(why, CLIENT_WHY,
                 "%s: nobody answers there: the daemon that made it has died (journalctl -u cubewayd says how); start "
                 "it again: "
                 "systemctl start cubewayd",
                 path);
        break;
    case EACCES:
    case EPERM:
        snprintf(why, CLIENT_WHY, "%s: permission denied; be root, or of the group that the socket belongs to (ls -l)",
                 path);
        break;
    default:
        snprintf(why, CLIENT_WHY, "%s: %s", path, strerror(-rc));
    }
    return rc;
}

/* While the connection lives, so that the number is still that process's. */
static void open_daemon(struct client *c)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0) {
        c->daemon_pid = peer.pid;
        c->daemon_fd = (int)syscall(SYS_pidfd_open, peer.pid, 0);
    }
}

int client_open(struct client **out, const char *path, char why[static CLIENT_WHY])
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        return refuse_connect(path, -ENAMETOOLONG, why);
    }
    strcpy(address.sun_path, path);
    struct client *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return refuse_connect(path, -ENOMEM, why);
    }
    snprintf(c->path, sizeof c->path, "%s", path);
    c->file = c->daemon_fd = -1;
    c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (const struct sockaddr *)&address, sizeof address) < 0) {
        int rc = -errno;
        client_close(c);
        return refuse_connect(path, rc, why);
    }
    open_daemon(c);
    *out = c;
    return 0;
}

const char *client_path(const struct client *c)
{
    return c->path;
}

void client_close(struct client *c)
{
    if (c != NULL) {
        if (c->fd >= 0) {
            close(c->fd);
        }
        if (c->daemon_fd >= 0) {
            close(c->daemon_fd);
        }
        free(c->bytes);
        free(c);
    }
}

void client_attach(struct client *c, int file)
{
    c->file = file;
}

void client_stop_on(struct client *c, const volatile int *stop)
{
    c->stop = stop;
}

void client_stop_by(struct client *c, struct keys *keys)
{
    c->keys = keys != NULL && keys->on ? keys : NULL;
}

void client_set_lab(struct client *c, const char *option, const char *daemon)
{
    c->in_lab = true;
    snprintf(c->lab, sizeof c->lab, "%s", option);
    snprintf(c->daemon, sizeof c->daemon, "%s", daemon);
}

const char *client_lab(const struct client *c)
{
    return c->in_lab ? c->lab : NULL;
}

const char *client_daemon(const struct client *c)
{
    return c->in_lab ? c->daemon : NULL;
}

bool client_failed(const struct client *c)
{
    return c->failed;
}

static int fail(struct client *c, int rc, char why[static CLIENT_WHY], const char *what)
{
    c->failed = true;
    snprintf(why, CLIENT_WHY, "%s: %s", c->path, what);
    return rc;
}

/* Waits until the descriptor is ready for `what`: 0, -EINTR (stopped) or -ETIME. */
static int await_on(const struct client *c, int fd, short what, cw_span patience)
{
    int64_t end = patience.ns > 0 ? now_ns() + patience.ns : INT64_MAX;
    for (;;) {
        int64_t left = end - now_ns();
        if (c->stop != NULL && *c->stop) {
            return -EINTR;
        }
        if (left <= 0) {
            return -ETIME;
        }
        struct pollfd p[] = {{.fd = fd, .events = what}, {.fd = c->keys != NULL ? STDIN_FILENO : -1, .events = POLLIN}};
        int ms = left > STOP_MS * CW_NS_PER_MS ? STOP_MS : (int)(left / CW_NS_PER_MS) + 1;
        int ready = poll(p, 2, ms);
        if (ready > 0 && p[1].revents != 0 && keys_wait(c->keys, (cw_span){0})) {
            return -EINTR;
        }
        if (ready > 0 && p[0].revents != 0) {
            return 0;
        }
    }
}

static int await(const struct client *c, short what, cw_span patience)
{
    return await_on(c, c->fd, what, patience);
}

int client_outlive(struct client *c, cw_span patience)
{
    return c->daemon_fd < 0 ? -ENOTSUP : await_on(c, c->daemon_fd, POLLIN, patience);
}

/* As send(); the file that is attached goes with the first byte. */
static ssize_t send_some(struct client *c, const char *text, size_t length)
{
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec bytes = {(void *)(uintptr_t)text, length};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (c->file >= 0) {
        message.msg_control = room;
        message.msg_controllen = sizeof room;
        struct cmsghdr *m = CMSG_FIRSTHDR(&message);
        m->cmsg_level = SOL_SOCKET;
        m->cmsg_type = SCM_RIGHTS;
        m->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(m), &c->file, sizeof(int));
    }
    ssize_t n = sendmsg(c->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    c->file = n >= 0 ? -1 : c->file;
    return n;
}

static int send_all(struct client *c, const char *text, size_t length, cw_span patience)
{
    while (length > 0) {
        ssize_t n = send_some(c, text, length);
        if (n >= 0) {
            text += n;
            length -= (size_t)n;
        } else if (errno == EAGAIN) {
            int rc = await(c, POLLOUT, patience);
            if (rc < 0) {
                return rc;
            }
        } else if (errno != EINTR) {
            return -EPIPE;
        }
    }
    return 0;
}

/* Reads more bytes. 0; -EPIPE at the end; or as await(). */
static int read_more(struct client *c, cw_span patience)
{
    if (c->room - c->used < READ_BYTES) {
        size_t room = c->room == 0 ? 2 * (size_t)READ_BYTES : 2 * c->room;
        char *bytes = room <= 2 * (size_t)LINE_MAX_BYTES ? realloc(c->bytes, room) : NULL;
        if (bytes == NULL) {
            return -ENOMEM;
        }
        c->bytes = bytes;
        c->room = room;
    }
    int rc = await(c, POLLIN, patience);
    if (rc < 0) {
        return rc;
    }
    ssize_t n = recv(c->fd, c->bytes + c->used, c->room - c->used, MSG_DONTWAIT);
    if (n > 0) {
        c->used += (size_t)n;
        return 0;
    }
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -EPIPE;
}

/* Reads the lines that are there. 1: the answer has ended, with *rc. */
static int take_lines(struct client *c, void (*row)(void *context, struct message *row), void *context, int *rc,
                      char why[static CLIENT_WHY])
{
    size_t from = 0;
    int ended = 0;
    char *end;
    while (!ended && (end = memchr(c->bytes + c->looked, '\n', c->used - c->looked)) != NULL) {
        struct answer_line answer;
        answer_line_read(c->bytes + from, (size_t)(end - c->bytes) - from, &answer);
        from = c->looked = (size_t)(end - c->bytes) + 1;
        if (answer.kind == ANSWER_STRANGE) {
            *rc = fail(c, -EPROTO, why, "what listens there does not speak the control protocol of cubewayd");
            ended = 1;
        } else if (answer.kind == ANSWER_DONE && !answer.has_id) {
            *rc = fail(c, answer.rc < 0 ? answer.rc : -EPROTO, why, answer.error);
            ended = 1;
        } else if (answer.kind == ANSWER_DONE && answer.id == c->id) {
            snprintf(why, CLIENT_WHY, "%s", answer.error);
            *rc = answer.rc;
            ended = 1;
        } else if (answer.kind == ANSWER_ROW && answer.id == c->id) {
            row(context, answer.row);
        } else {
            message_close(answer.row); /* of a request that was given up */
        }
    }
    memmove(c->bytes, c->bytes + from, c->used - from);
    c->used -= from;
    c->looked = ended ? 0 : c->used;
    return ended;
}

/* What /proc says of the daemon's process, as 'T' (stopped); 0: nobody says it. */
static char process_state(const struct client *c)
{
    char path[48], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)c->daemon_pid);
    FILE *f = c->daemon_pid > 0 ? fopen(path, "re") : NULL;
    size_t length = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f != NULL) {
        fclose(f);
    }
    text[length] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && name_end[1] == ' ' ? name_end[2] : '\0';
}

/* Nothing came: a process that is stopped cannot answer; one that runs is in the upcall of a service, most often. */
static void tell_silence(const struct client *c, cw_span waited, const char *log, char *text, size_t room)
{
    char state = process_state(c);
    if (state == 'T' || state == 't') {
        snprintf(
            text, room,
            "no answer in time: the daemon's process (%d) is stopped, by SIGSTOP or a debugger; kill -CONT %d lets "
            "it go on",
            (int)c->daemon_pid, (int)c->daemon_pid);
    } else {
        snprintf(text, room,
                 "no answer in time: none came for %.1f s; an upcall of a service holds the daemon's thread (its log "
                 "says which: %s), or it has no processor; --timeout waits longer",
                 (double)waited.ns / 1e9, log);
    }
}

/* The connection was closed: by a daemon that lives, or since it has ended; one that hung was ended by its watchdog. */
static void tell_end(struct client *c, cw_span waited, const char *log, char *text, size_t room)
{
    if (c->daemon_fd >= 0 && client_outlive(c, END_PATIENCE) == 0) {
        snprintf(
            text, room,
            "the daemon closed the connection: it ended %.1f s after it was asked; its log says whether it crashed, "
            "left, or was ended by its watchdog since a service held its thread (%s)",
            (double)waited.ns / 1e9, log);
    } else {
        snprintf(text, room, "the daemon closed the connection; has it ended? (%s)", log);
    }
}

static int explain(struct client *c, int rc, char why[static CLIENT_WHY])
{
    char text[480], log[160];
    cw_span waited = CW_NS(now_ns() - c->asked_ns);
    snprintf(log, sizeof log, "%s%s%s", c->in_lab ? "cwlab logs " : "journalctl -u cubewayd", c->lab, c->daemon);
    switch (-rc) {
    case EINTR:
        return fail(c, rc, why, "stopped");
    case ETIME:
        tell_silence(c, waited, log, text, sizeof text);
        return fail(c, rc, why, text);
    case ENOMEM:
        return fail(c, rc, why, "out of memory");
    default:
        tell_end(c, waited, log, text, sizeof text);
        return fail(c, -EPIPE, why, text);
    }
}

int client_ask(struct client *c, struct request_draft *request, cw_span patience,
               void (*row)(void *context, struct message *row), void *context, char why[static CLIENT_WHY])
{
    size_t length;
    char *line;
    why[0] = '\0';
    int rc = request_draft_line(request, ++c->id, &line, &length);
    if (rc == -EILSEQ) {
        snprintf(why, CLIENT_WHY, "a word of the command line is not UTF-8 text, and only such text can be sent");
        return -EINVAL;
    }
    if (rc < 0) {
        return explain(c, rc, why);
    }
    c->asked_ns = now_ns();
    int sent = send_all(c, line, length, patience);
    free(line);
    if (sent < 0 && sent != -EPIPE) {
        return explain(c, sent, why);
    }
    /* Reads also when the daemon has hung up: it may have said why. */
    while (c->used == 0 || !take_lines(c, row, context, &rc, why)) {
        int read = read_more(c, patience);
        if (read < 0) {
            return explain(c, read, why);
        }
    }
    return rc;
}
