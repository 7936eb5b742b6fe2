/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/peer.h"

#include "base/check.h"
#include "message/answer_line.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

cw_time peer_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (cw_time){t.tv_sec * CW_SEC(1).ns + t.tv_nsec};
}

int peer_open(struct peer *p, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    *p = (struct peer){.fd = -1, .passed = {-1, -1}};
    if (strlen(path) >= sizeof address.sun_path) {
        return -ENAMETOOLONG;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    p->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (p->fd < 0) {
        return -errno;
    }
    if (connect(p->fd, (const struct sockaddr *)&address, sizeof address) < 0) {
        int rc = -errno;
        close(p->fd);
        p->fd = -1;
        return rc;
    }
    p->room = REQUEST_LINE_MAX;
    p->bytes = malloc(p->room);
    CHECK(p->bytes != NULL);
    return 0;
}

void peer_close(struct peer *p)
{
    if (p->fd >= 0) {
        close(p->fd);
    }
    free(p->bytes);
    *p = (struct peer){.fd = -1, .passed = {-1, -1}};
}

struct request_draft *peer_request(const char *command, int argc, const char *const *argv)
{
    struct request_draft *r = request_draft_open(command, NULL);
    for (int i = 0; i < argc; i++) {
        request_draft_word(r, argv[i]);
    }
    return r;
}

static int send_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent < 0) {
            return -errno;
        }
        bytes += sent;
        length -= (size_t)sent;
    }
    return 0;
}

/* Reads the bytes that have arrived, and the descriptors that came with them. */
static int fill(struct peer *p, cw_time until)
{
    char control[CMSG_SPACE(sizeof p->passed)];
    struct iovec space = {p->bytes + p->used, p->room - p->used};
    struct msghdr m = {.msg_iov = &space, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    int64_t left = cw_time_since(until, peer_clock()).ns;
    struct pollfd waits = {.fd = p->fd, .events = POLLIN};
    if (space.iov_len == 0) {
        return -EPROTO;
    }
    if (left <= 0 || poll(&waits, 1, (int)(left / 1000000 + 1)) == 0) {
        return -ETIMEDOUT;
    }
    ssize_t got = recvmsg(p->fd, &m, MSG_CMSG_CLOEXEC);
    if (got < 0) {
        return errno == EINTR ? 0 : -errno;
    }
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
        size_t bytes = c->cmsg_len - CMSG_LEN(0);
        memcpy(p->passed, CMSG_DATA(c), bytes < sizeof p->passed ? bytes : sizeof p->passed);
    }
    p->used += (size_t)got;
    return got == 0 ? -ECONNRESET : 0;
}

/* Reads the next line. -EPROTO: the line is not one of an answer. */
static int next(struct peer *p, cw_time until, struct answer_line *out)
{
    char *end;
    while ((end = memchr(p->bytes, '\n', p->used)) == NULL) {
        int rc = fill(p, until);
        if (rc < 0) {
            return rc;
        }
    }
    size_t length = (size_t)(end - p->bytes);
    answer_line_read(p->bytes, length, out);
    p->used -= length + 1;
    memmove(p->bytes, end + 1, p->used);
    return out->kind == ANSWER_STRANGE ? -EPROTO : 0;
}

/* Takes the request and sends it under a new id. */
static int send_request(struct peer *p, struct request_draft *request)
{
    size_t length;
    char *line;
    int rc = request_draft_line(request, ++p->id, &line, &length);
    CHECK(rc != -ENOMEM);
    request_draft_close(request);
    if (rc < 0) {
        return rc;
    }
    rc = send_all(p->fd, line, length);
    free(line);
    return rc;
}

/* Our own words for why there is no answer. */
static const char *reason_of(int rc)
{
    switch (rc) {
    case -ETIMEDOUT:
        return "no answer in time";
    case -ECONNRESET:
        return "it closed the connection";
    case -EPROTO:
        return "its answer cannot be read";
    default:
        return strerror(-rc);
    }
}

int peer_ask(struct peer *p, struct request_draft *request, cw_span patience,
             void (*row)(void *context, const struct message *row), void *context, char why[static PEER_WHY])
{
    cw_time until = cw_time_add(peer_clock(), patience);
    struct answer_line answer;
    int rc = send_request(p, request);
    why[0] = '\0';
    while (rc == 0 && (rc = next(p, until, &answer)) == 0) {
        bool ours = answer.has_id && answer.id == p->id;
        if (ours && answer.kind == ANSWER_DONE) {
            const char *unnamed = answer.rc < 0 ? strerror(-answer.rc) : "";
            snprintf(why, PEER_WHY, "%.*s", PEER_WHY - 1, answer.error[0] != '\0' ? answer.error : unnamed);
            return answer.rc;
        }
        if (ours && row != NULL) {
            row(context, answer.row);
        }
        message_close(answer.row);
    }
    snprintf(why, PEER_WHY, "%s", reason_of(rc));
    return rc;
}
