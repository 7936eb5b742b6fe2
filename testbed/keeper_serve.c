/* SPDX-License-Identifier: Apache-2.0 */
/* keeper_serve.c - the requests that a keeper answers. */
#include "testbed/keeper.h"

#include "base/check.h"
#include "base/quantity.h"
#include "message/answer_line.h"
#include "message/request_line.h"
#include "testbed/conf.h"
#include "testbed/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long nobody may have ordered anything before daemons begin again by themselves, and how often they may. */
static const cw_span quiet = CW_SEC(10), between_rescales = CW_SEC(60);

struct asked {
    struct keeper *k;
    const struct keeper_client *client;
    const struct request_line *request;
    cw_server server;
    cw_link link;
    int passed[2]; /* descriptors for the last answer */
    char why[LAB_WHY];
};

/* Takes and sends a line of the answer. The last line carries the descriptors that were asked for. */
static void answer(const struct asked *a, char *line, size_t length, bool done)
{
    CHECK(line != NULL);
    struct iovec bytes = {line, length};
    char control[CMSG_SPACE(sizeof a->passed)] = {0};
    struct msghdr out = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (done && a->passed[0] >= 0) {
        out.msg_control = control;
        out.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&out);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof a->passed);
        memcpy(CMSG_DATA(c), a->passed, sizeof a->passed);
    }
    (void)sendmsg(a->client->fd, &out, MSG_NOSIGNAL);
    free(line);
}

static int refuse(struct asked *a, int rc, const char *why)
{
    snprintf(a->why, sizeof a->why, "%.*s", LAB_WHY - 1, why);
    return rc;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static int need_server(struct asked *a)
{
    const char *word = a->request->argv[0];
    cw_coord c;
    if (word == NULL || torus_parse(&a->k->lab.torus, word, strlen(word), &c) < 0) {
        return refuse(a, -EINVAL, "expected a server of the torus, as 0,1,2");
    }
    a->server = torus_id(&a->k->lab.torus, c);
    return 0;
}

/* A process that holds all servers does some of it itself: this is the line for that. */
static int refuse_process(struct asked *a)
{
    static const struct {
        const char *name, *then, *word; /* then: the third word; NULL: there is none */
    } own[] = {{"fail", NULL, "fail"},
               {"power-off", NULL, "fail"},
               {"restore", NULL, "restore"},
               {"link", "down", "cut"},
               {"link", "up", "mend"}};
    const struct request_line *r = a->request;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        bool link = own[i].then != NULL;
        bool same = strcmp(r->command, own[i].name) == 0 && r->argc > (link ? 2 : 0) &&
                    (!link || strcmp(r->argv[2], own[i].then) == 0);
        if (same) {
            snprintf(a->why, sizeof a->why,
                     "all servers of this lab live in one process, which does that itself: cwlab ctl --name %s %.40s "
                     "%s%s%.8s",
                     a->k->lab.name, r->argv[0], own[i].word, link ? " " : "", link ? r->argv[1] : "");
            return -EOPNOTSUPP;
        }
    }
    return refuse(a, -EOPNOTSUPP,
                  "all servers of this lab live in one process: it cannot be done to one of them (cwlab up --driver "
                  "netns gives each its own)");
}

/* Refuses a command that needs servers that are processes of their own. */
static int need_process(struct asked *a)
{
    if (a->k->lab.driver == LAB_PROCESS) {
        return refuse_process(a);
    }
    return need_server(a);
}

static int need_link(struct asked *a)
{
    int rc = need_process(a);
    const char *word = a->request->argv[1];
    if (rc == 0 && (word == NULL || quantity_link(word, strlen(word), &a->link) < 0)) {
        rc = refuse(a, -EINVAL, "expected a link: +x -x +y -y +z -z");
    }
    return rc;
}

static bool says(const struct asked *a, size_t i, const char *word)
{
    const char *said = a->request->argv[i];
    return said != NULL && strcmp(said, word) == 0;
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static void describe_end(struct message *row, const struct crew *c)
{
    char text[64] = "";
    if (c->status == -1) {
        return;
    }
    if (WIFSIGNALED(c->status)) {
        snprintf(text, sizeof text, "signal %d%s", WTERMSIG(c->status), c->asked ? ", as ordered" : "");
    } else {
        snprintf(text, sizeof text, "exit code %d%s", WEXITSTATUS(c->status), c->asked ? ", as ordered" : "");
    }
    message_text(row, "ended", text);
}

static int run_status(struct asked *a)
{
    struct keeper *k = a->k;
    cw_time now = peer_clock();
    for (cw_server s = 0; s < k->daemons; s++) {
        const struct crew *c = &k->crew[s];
        struct message *row = message_open();
        size_t length;
        char name[TORUS_TEXT];
        message_text(row, "server", lab_daemon_name(&k->lab, s, name));
        message_text(row, "state", crew_state_name(c));
        message_integer(row, "pid", c->outside);
        message_integer(row, "starts", c->starts);
        message_integer(row, "since_ns", cw_time_since(now, c->state == CREW_DEAD ? c->ended : c->started).ns);
        if (c->state == CREW_DEAD) {
            describe_end(row, c);
        } else if (c->pauses > 0) {
            message_integer(row, "pauses", c->pauses);
        }
        if (c->state == CREW_RUNS && c->pauses > 0) {
            message_integer(row, "paused_ns", c->pause_longest.ns);
            message_integer(row, "continued_ns", cw_time_since(now, c->continued).ns);
        }
        char *line = answer_line_row(row, a->request->id, &length);
        answer(a, line, length, false);
    }
    return 0;
}

static int kill_one(struct asked *a, bool whole)
{
    keeper_note(a->k, "kill", a->server, "");
    int rc = crew_kill(&a->k->crew[a->server], whole);
    if (rc == 0) {
        /* Reaped here, so that the daemon is dead when the answer says so. Its watcher may still be saying goodbye. */
        struct crew *c = &a->k->crew[a->server];
        int status;
        if (waitpid(c->pid, &status, 0) == c->pid) {
            crew_ended(c, status);
            keeper_note(a->k, "ended", a->server, "");
        }
    }
    return rc;
}

/* The daemon that was asked for ended in order the last time. */
static bool has_left(const struct asked *a)
{
    int status = a->k->crew[a->server].status;
    return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int run_fail(struct asked *a)
{
    int rc = need_process(a);
    rc = rc < 0 ? rc : kill_one(a, says(a, 1, "whole"));
    return rc == -ESRCH && !has_left(a) ? 1 : rc;
}

static void set_links(struct asked *a, bool up)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        (void)veth_set_up(a->k->veth, a->server, link, up);
    }
}

static int run_power_off(struct asked *a)
{
    int rc = need_process(a);
    if (rc == 0 && a->k->veth != NULL) {
        rc = kill_one(a, true);
        set_links(a, false);
        a->k->down[a->server] = CW_LINKS_ALL;
    }
    return rc;
}

static int run_leave(struct asked *a)
{
    int rc = need_process(a);
    if (rc < 0) {
        return rc;
    }
    struct crew *c = &a->k->crew[a->server];
    if (c->state != CREW_DEAD && !c->leaves) {
        keeper_note(a->k, "leave", a->server, ""); /* written before the signal is sent */
    }
    rc = crew_terminate(c);
    return rc == -EALREADY || (rc == -ESRCH && has_left(a)) ? 1 : rc;
}

static int run_restore(struct asked *a)
{
    int rc = need_process(a);
    if (rc < 0) {
        return rc;
    }
    if (a->k->down[a->server] != CW_LINKS_NONE) {
        set_links(a, true);
        a->k->down[a->server] = CW_LINKS_NONE;
    }
    if (a->k->crew[a->server].leaves) {
        return refuse(a, -EBUSY, "it is leaving, and can be restored once it has left");
    }
    rc = keeper_start(a->k, a->server);
    return rc == -EALREADY ? refuse(a, rc, "its daemon runs already: there is nothing to restore") : rc;
}

static int run_pause(struct asked *a)
{
    int rc = need_process(a);
    const char *word = a->request->argv[1];
    if (rc < 0) {
        return rc;
    }
    cw_span span = CW_NS(word != NULL ? atoll(word) : 0);
    struct crew *c = &a->k->crew[a->server];
    rc = crew_pause(c, CW_NEVER);
    if (rc == 0) {
        c->resume = span.ns > 0 ? cw_time_add(c->paused, span) : CW_NEVER; /* it lasts for as long as was ordered */
        keeper_note(a->k, "pause", a->server, word != NULL ? word : "");
    }
    return rc == -EALREADY ? refuse(a, rc, "its daemon is paused already") : rc;
}

static int run_continue(struct asked *a)
{
    int rc = need_process(a);
    if (rc == 0) {
        rc = crew_continue(&a->k->crew[a->server]);
    }
    if (rc == 0) {
        keeper_note(a->k, "continued", a->server, "");
    }
    return rc == -EALREADY ? refuse(a, rc, "its daemon is not paused") : rc;
}

static int run_link(struct asked *a)
{
    int rc = need_link(a);
    bool up = says(a, 2, "up");
    if (rc < 0) {
        return rc;
    }
    if (!up && !says(a, 2, "down")) {
        return refuse(a, -EINVAL, "expected up or down");
    }
    cw_links *down = &a->k->down[a->server];
    bool already = up == ((*down & cw_links_of(a->link)) == 0);
    rc = veth_set_up(a->k->veth, a->server, a->link, up);
    if (rc == 0) {
        *down = up ? *down & (cw_links)~cw_links_of(a->link) : *down | cw_links_of(a->link);
        keeper_note(a->k, up ? "link-up" : "link-down", a->server, quantity_link_name(a->link));
    }
    return rc == 0 ? already : rc;
}

static int run_loss(struct asked *a)
{
    int rc = need_link(a);
    const char *word = a->request->argv[2];
    if (rc < 0) {
        return rc;
    }
    long ppm = word != NULL ? atol(word) : -1;
    if (ppm < 0 || ppm > VETH_MILLION) {
        return refuse(a, -EINVAL, "expected parts per million from 0 to 1000000");
    }
    rc = veth_set_loss(a->k->veth, a->server, a->link, (uint32_t)ppm);
    if (rc == -EPERM) {
        return refuse(a, rc,
                      "losing a part of the frames needs root of the machine (a program in the kernel's packet "
                      "path); all of them (100%) or none can be lost by anybody");
    }
    if (rc == 0) {
        uint32_t *loss = &a->k->loss[a->server * CW_LINK_COUNT + a->link];
        bool already = *loss == (uint32_t)ppm;
        *loss = (uint32_t)ppm;
        keeper_note(a->k, "loss", a->server, word);
        return already;
    }
    return rc;
}

static int run_namespace(struct asked *a)
{
    int rc = need_process(a);
    if (rc == 0) {
        a->passed[0] = a->k->user_ns;
        a->passed[1] = veth_namespace(a->k->veth, a->server);
    }
    return rc;
}

static int write_timers(struct asked *a)
{
    int rc = lab_save(&a->k->lab);
    for (cw_server s = 0; s < a->k->daemons && rc == 0; s++) {
        rc = conf_retime(&a->k->lab, s);
    }
    return rc < 0 ? refuse(a, rc, "the configurations cannot be written: is there room in the folder of the lab?") : 0;
}

/* Why nobody's order must not touch the daemons now; NULL: it may. Judged here, as a look takes some seconds. */
static const char *disturbs(const struct keeper *k, const char *since)
{
    cw_time looked = {since != NULL ? atoll(since) : 0}, now = peer_clock();
    if (k->lab.wanted < 0) {
        return "somebody has fixed the timers of this lab";
    }
    if (k->tied || !cw_time_before(cw_time_add(k->ordered, quiet), looked)) {
        return "somebody works with this lab";
    }
    if (k->lab.rescaled_from > 0 && cw_time_since(now, k->lab.rescaled).ns < between_rescales.ns) {
        return "this lab has been given longer timers within the last minute";
    }
    for (cw_server s = 0; s < k->daemons; s++) {
        if (k->crew[s].state != CREW_RUNS || k->crew[s].leaves) {
            return "a server is dead, paused or leaving";
        }
    }
    return NULL;
}

/*
 * Every daemon is dead before the first one starts with other timers, and a dead one will start with them: servers with
 * unlike timers never meet, for they could deliver one key twice (semantics 4.2).
 */
static int run_rescale(struct asked *a)
{
    struct keeper *k = a->k;
    const struct lab before = k->lab;
    const char *word = a->request->argv[0], *wanted = word != NULL ? a->request->argv[1] : NULL;
    const char *why = wanted != NULL ? a->request->argv[2] : NULL;
    long scale = word != NULL ? atol(word) : 0;
    if (k->lab.driver == LAB_PROCESS || k->lab.plays != NULL) {
        return refuse(a, -EOPNOTSUPP, "the timers of this lab do not depend on how busy the machine is");
    }
    if (scale < 1 || scale > LAB_SCALE_MOST) {
        return refuse(a, -EINVAL, "expected how many times as long the timers are to be, 1 to 10000");
    }
    const char *not_now = why != NULL ? disturbs(k, a->request->argv[3]) : NULL;
    if (not_now != NULL) {
        return refuse(a, -EBUSY, not_now);
    }
    k->ordered = why == NULL ? peer_clock() : k->ordered;
    lab_set_timers(&k->lab, k->lab.fast, (uint64_t)scale);
    k->lab.wanted = wanted != NULL ? atof(wanted) : -1;
    k->lab.rescaled = why != NULL ? peer_clock() : (cw_time){0};
    k->lab.rescaled_from = why != NULL ? before.scale : 0;
    snprintf(k->lab.rescaled_for, LAB_REASON, "%s", why != NULL ? why : "");
    int rc = write_timers(a);
    if (rc < 0) {
        k->lab = before;
        (void)!write_timers(a); /* what could be written is as it was */
        return rc;
    }
    for (cw_server s = 0; s < k->daemons; s++) {
        a->server = s;
        bool stays = k->crew[s].state != CREW_DEAD && !k->crew[s].leaves; /* who leaves has gone then */
        k->crew[s].again = k->crew[s].state != CREW_DEAD && kill_one(a, true) == 0 && stays;
    }
    for (cw_server s = 0; s < k->daemons; s++) {
        int started = k->crew[s].again ? keeper_start(k, s) : 0;
        k->crew[s].again = false;
        rc = rc < 0 ? rc : started;
    }
    return rc;
}

static int run_down(struct asked *a)
{
    a->k->done = true;
    return 0;
}

static const struct {
    const char *name;
    int (*run)(struct asked *a);
} commands[] = {
    {"status", run_status}, {"fail", run_fail},       {"power-off", run_power_off}, {"leave", run_leave},
    {"pause", run_pause},   {"restore", run_restore}, {"continue", run_continue},   {"link", run_link},
    {"loss", run_loss},     {"down", run_down},       {"namespace", run_namespace}, {"rescale", run_rescale},
};

/* Why the request was refused, in words; NULL: it was not. */
static const char *reason_of(const struct asked *a, int rc)
{
    if (rc >= 0) {
        return NULL;
    }
    if (a->why[0] != '\0') {
        return a->why;
    }
    switch (-rc) {
    case ESRCH:
        return has_left(a) ? "it has left already, and its daemon has ended" : "its daemon is dead already";
    case ENODEV:
        return "it has no cable there";
    default:
        return strerror(-rc);
    }
}

static int run(struct asked *a)
{
    if (strcmp(a->request->command, "status") != 0 && strcmp(a->request->command, "rescale") != 0) {
        a->k->ordered = peer_clock();
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, a->request->command) == 0) {
            return commands[i].run(a);
        }
    }
    return refuse(a, -ENOSYS, "the keeper knows no such command");
}

static void serve_line(struct keeper *k, const struct keeper_client *c, const char *text, size_t length)
{
    char why[REQUEST_LINE_WHY];
    struct request_line request;
    struct asked a = {.k = k, .client = c, .request = &request, .passed = {-1, -1}};
    int rc = request_line_open(&request, text, length, why);
    rc = rc < 0 ? refuse(&a, -EPROTO, why) : run(&a);
    char *line = answer_line_done(request.has_id, request.id, rc, reason_of(&a, rc), &length);
    answer(&a, line, length, true);
    request_line_close(&request);
}

bool keeper_serve(struct keeper *k, struct keeper_client *c)
{
    if (c->bytes == NULL) {
        c->bytes = malloc(REQUEST_LINE_MAX);
        CHECK(c->bytes != NULL);
    }
    ssize_t got = recv(c->fd, c->bytes + c->used, REQUEST_LINE_MAX - c->used, MSG_DONTWAIT);
    if (got <= 0) {
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    }
    c->used += (size_t)got;
    char *end;
    while ((end = memchr(c->bytes, '\n', c->used)) != NULL) {
        size_t length = (size_t)(end - c->bytes);
        serve_line(k, c, c->bytes, length);
        c->used -= length + 1;
        memmove(c->bytes, end + 1, c->used);
    }
    return c->used < REQUEST_LINE_MAX;
}
