/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send.c - files that go: from the command with an open file, by its digest, to the message, and what became of it.
 */
#include "services/multicast/file/internal.h"

#include "base/nearest.h"
#include "base/utf8.h"
#include "base/words.h"
#include "services/reply/refuse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN = 101, MODES = 0777, PROGRESS_LEAST_MS = 50, PROGRESS_MOST_MS = 3600000 };

/* ---- Ending ------------------------------------------------------------------------------------------------------ */

static void answer(struct file_send *send, int rc)
{
    cw_request *r = send->request;
    send->request = NULL;
    if (r != NULL) {
        cw_request_done(r, rc);
    }
}

/* Lets go of what the sending holds; its row stays for a while. */
static void end(struct file_send *send, int status)
{
    struct files *f = send->files;
    if (send->asking) {
        send->asking = false;
        f->cancel_recipients(f->context, send);
    }
    send->over = true;
    send->status = status;
    send->over_at = cw_now(f->s);
    send->given = file_reader_given(send->reader);
    file_reader_close(send->reader);
    free(send->set);
    send->set = NULL;
    cw_counter_add(f->count[FILES_SENT], 1);
}

static void fail(struct file_send *send, int status, const char *why)
{
    if (send->request != NULL) {
        (void)refuse_with(send->request, status, "%s: %s", send->label.name, why);
    }
    end(send, status);
    answer(send, status);
}

static void end_goal(const struct file_send *send, struct file_goal *goal, int status, cw_span took)
{
    goal->ended = true;
    goal->status = status;
    goal->took = took;
    goal->there = status == 0 ? send->label.bytes : goal->there;
    goal->away = false;
}

/* Notes what the engine knows of a member's pieces. */
static void learn(const struct file_send *send, struct file_goal *goal, const struct cast_member *m)
{
    uint64_t bytes = send->label.bytes;
    if (!goal->asked && m->lacked != UINT32_MAX) {
        uint64_t lacks = (uint64_t)m->lacked * send->piece_bytes;
        goal->asked = true;
        goal->before = lacks < bytes ? bytes - lacks : 0;
        goal->there = goal->there > goal->before ? goal->there : goal->before;
        file_pace_note(&goal->pace, goal->there, cw_now(send->files->s));
    }
    goal->missed = m->missed * send->piece_bytes;
    goal->away = m->state == CAST_AWAY;
}

/* For the log and the stream of events. */
static void tell(const struct file_send *send, const char *what)
{
    char name[NAME_SHOWN], text[sizeof name + 120];
    (void)utf8_show(send->label.name, strlen(send->label.name), name, sizeof name);
    snprintf(text, sizeof text, "file %s %.100s", name, what);
    cw_log(send->files->s, CW_LOG_INFO, text);
}

static void tell_begin(const struct file_send *send)
{
    char text[60];
    snprintf(text, sizeof text, "goes from here to %u server%s", send->goals, send->goals == 1 ? "" : "s");
    tell(send, text);
}

static void tell_end(const struct file_send *send, unsigned have, int status)
{
    char text[100];
    snprintf(text, sizeof text, "was sent from here: %u of %u server%s %s it%s%s", have, send->goals,
             send->goals == 1 ? "" : "s", have == 1 || send->goals == 1 ? "has" : "have",
             status < 0 ? "; it ended early: " : "", status < 0 ? file_reason(status) : "");
    tell(send, text);
}

/* The engine's done(). */
static void on_result(void *context, const struct cast_result *result)
{
    struct file_send *send = context;
    unsigned has = 0;
    send->piece_bytes = result->piece_bytes;
    send->repeats = result->repeats;
    for (unsigned i = 0; i < send->goals; i++) {
        struct file_goal *goal = &send->goal[i];
        const struct cast_member *m =
            i < result->count && result->member[i].server == goal->server ? &result->member[i] : NULL;
        int status = m != NULL ? cast_member_result(m, result->status) : -ENETUNREACH;
        if (m != NULL) {
            learn(send, goal, m);
        }
        end_goal(send, goal, status, m != NULL ? m->took : CW_NS(0));
        has += status == 0 && !goal->contested;
    }
    send->repeated = result->repeated;
    tell_end(send, has, result->status);
    end(send, result->status);
    if (send->request != NULL) {
        file_rows_end(send, send->request);
    }
    answer(send, has == send->goals ? 0 : 1);
}

/* ---- Beginning --------------------------------------------------------------------------------------------------- */

static int make_goals(struct file_send *send)
{
    struct files *f = send->files;
    unsigned count = 0;
    cw_server self = cw_server_id(f->s, cw_self(f->s));
    send->set[self / 8] &= (uint8_t) ~(1 << self % 8);
    for (cw_server i = 0; i < f->torus->servers; i++) {
        count += send->set[i / 8] >> i % 8 & 1;
    }
    send->goal = calloc(count + 1, sizeof *send->goal);
    if (send->goal == NULL) {
        return -ENOMEM;
    }
    for (cw_server i = 0; i < f->torus->servers; i++) {
        if (send->set[i / 8] >> i % 8 & 1) {
            send->goal[send->goals++].server = i;
        }
    }
    return count > 0 ? 0 : -EDESTADDRREQ;
}

static bool is_under_way(const struct file_send *send)
{
    for (const struct file_send *other = send->files->sends; other != NULL; other = other->next) {
        if (other != send && other->sending && !other->over && strcmp(other->label.name, send->label.name) == 0 &&
            memcmp(other->label.digest, send->label.digest, sizeof send->label.digest) == 0) {
            return true;
        }
    }
    return false;
}

static const char *explain(int rc)
{
    switch (-rc) {
    case ENETUNREACH:
        return "no member but this server can be reached; \"cwctl servers\" says how they are";
    case EBUSY:
        return "too many messages are under way here; \"cwctl file status\" lists the files among them";
    case EMSGSIZE:
        return "the packets here are too small to name all servers (mtu)";
    case E2BIG:
        return "too large a file for packets of this size";
    default:
        return file_reason(rc);
    }
}

/* The digest and the members are known: makes the message. */
static void start(struct file_send *send)
{
    struct files *f = send->files;
    uint8_t label[FILE_LABEL_MOST];
    send->label.bytes = file_reader_facts(send->reader)->bytes;
    send->label.mode = send->mode_given ? send->label.mode : (uint16_t)file_reader_facts(send->reader)->mode;
    memcpy(send->label.digest, file_reader_digest(send->reader), sizeof send->label.digest);
    if (is_under_way(send)) {
        fail(send, -EALREADY,
             "it is being sent from here already, under this name; \"cwctl file status\" shows how far it is");
        return;
    }
    struct cast_order order = {
        .kind = CAST_FILE,
        .bytes = file_label_message(&send->label),
        .label = label,
        .label_bytes = file_label_encode(&send->label, label),
        .members = send->set,
        .from = file_reader_source(send->reader),
        .ask_first = true,
        .done = on_result,
        .context = send,
    };
    memcpy(order.id, send->label.digest, sizeof order.id);
    int rc = cast_engine_send(f->engine, &order, &send->ticket);
    if (rc < 0) {
        fail(send, rc, explain(rc));
        return;
    }
    file_reader_ticket(send->reader, send->ticket);
    tell_begin(send);
    send->sending = true;
    send->sent = cw_now(f->s);
}

static const char *explain_reading(int status)
{
    switch (-status) {
    case ENODATA:
        return "it became shorter while it was read";
    case EOPNOTSUPP:
        return "it has content, though its length is said to be 0, as files of /proc have: copy it, and send the copy";
    default:
        return strerror(-status);
    }
}

/* The reader's ready(). */
static void on_ready(void *context, int status)
{
    struct file_send *send = context;
    if (status < 0) {
        fail(send, status, explain_reading(status));
        return;
    }
    send->digested = true;
    if (!send->asking) {
        start(send);
    }
}

static const char no_member[] = "no member but this server itself: it has the file already";

static void fail_group(struct file_send *send, int status)
{
    static const char *const meant[] = {"all", NULL};
    char why[FILE_GROUP + 80];
    const char *near = nearest_word(send->group, meant);
    switch (status) {
    case -ENOENT:
        snprintf(why, sizeof why, "nobody is in a group '%s'%s", send->group,
                 near != NULL ? "; did you mean all?" : "; a server is written X,Y,Z");
        fail(send, -ENXIO, why); /* in file_reason() ENOENT is said of a folder */
        break;
    case -EDESTADDRREQ:
        fail(send, status, no_member);
        break;
    case -ETIMEDOUT:
        fail(send, status, "the members of that group are not known now: try again in a second");
        break;
    default:
        fail(send, status, strerror(-status));
    }
}

static void on_group(void *arg, int status, const uint8_t *set, unsigned count)
{
    struct file_send *send = arg;
    (void)count;
    send->asking = false;
    if (status == 0) {
        memcpy(send->set, set, cast_set_bytes(send->files->torus->servers));
        status = make_goals(send);
    }
    if (status < 0) {
        fail_group(send, status);
        return;
    }
    if (send->digested) {
        start(send);
    }
}

/* Finds out to whom the file goes: at once, or, for a group, later. */
static int find_members(struct file_send *send, cw_request *r, int argc, const char *const *argv)
{
    struct files *f = send->files;
    int rc = f->read_recipients(f->context, r, argc, argv, send->set, on_group, send);
    send->asking = rc == 1;
    snprintf(send->group, sizeof send->group, "%s", argc > 0 ? argv[0] : "");
    if (rc != 0) {
        return rc < 0 ? rc : 0;
    }
    rc = make_goals(send);
    return rc == -EDESTADDRREQ ? refuse_request(r, "%s", no_member) : rc;
}

struct words {
    uint64_t ticket, keep, progress, wait;
    const char *name, *mode;
    int to; /* where the members' words begin */
};

static int read_words(cw_request *r, int argc, const char *const *argv, struct words *w)
{
    const struct words_option options[] = {
        {"ticket", 1, UINT64_MAX, &w->ticket},
        {"keep", 0, 1, &w->keep},
        {"progress", PROGRESS_LEAST_MS, PROGRESS_MOST_MS, &w->progress},
        {"wait", 0, 1, &w->wait},
    };
    *w = (struct words){.wait = 1};
    int i = 1;
    for (; i < argc && strcmp(argv[i], "to") != 0; i++) {
        const char *name = words_value(argv[i], "name"), *mode = words_value(argv[i], "mode");
        w->name = name != NULL ? name : w->name;
        w->mode = mode != NULL ? mode : w->mode;
        if (name == NULL && mode == NULL &&
            words_options(1, argv + i, options, sizeof options / sizeof *options) != 1) {
            return refuse_option(r, argv[i], options, sizeof options / sizeof *options);
        }
    }
    w->to = i + 1;
    if (w->to >= argc || w->name == NULL || w->ticket == 0) {
        return refuse_request(r, "expected: file-send ticket=N name=NAME [mode=OCTAL] [keep=1] [progress=MS] [wait=0] "
                                 "to all|SERVER...|GROUP");
    }
    return 0;
}

static int read_label(cw_request *r, const struct words *w, struct file_send *send)
{
    enum file_name_fault fault = file_name_check(w->name, strlen(w->name));
    if (fault != FILE_NAME_GOOD) {
        char shown[NAME_SHOWN];
        (void)utf8_show(w->name, strlen(w->name), shown, sizeof shown);
        return refuse_request(r, "the name '%s' %s", shown, file_name_text(fault));
    }
    strcpy(send->label.name, w->name);
    send->label.keep = w->keep == 1;
    if (w->mode != NULL) {
        char *after;
        unsigned long mode = strtoul(w->mode, &after, 8);
        if (w->mode[0] < '0' || w->mode[0] > '7' || *after != '\0' || mode > MODES) {
            return refuse_request(r, "mode %.20s: expected 0 to 777, in octal", w->mode);
        }
        send->label.mode = (uint16_t)mode;
        send->mode_given = true;
    }
    return 0;
}

static void forget(struct file_send *send)
{
    if (send->asking) {
        send->files->cancel_recipients(send->files->context, send);
    }
    file_reader_free(send->reader);
    free(send->set);
    free(send->goal);
    free(send);
}

static unsigned under_way(const struct files *f)
{
    unsigned count = 0;
    for (const struct file_send *send = f->sends; send != NULL; send = send->next) {
        count += !send->over;
    }
    return count;
}

static int prepare(struct files *f, cw_request *r, int argc, const char *const *argv, struct file_send *send)
{
    struct words w;
    struct files_file *file;
    send->files = f;
    int rc = read_words(r, argc, argv, &w);
    rc = rc < 0 ? rc : read_label(r, &w, send);
    if (rc == 0 && (send->set = calloc(cast_set_bytes(f->torus->servers), 1)) == NULL) {
        rc = -ENOMEM;
    }
    rc = rc < 0 ? rc : find_members(send, r, argc - w.to, argv + w.to);
    rc = rc < 0 ? rc : f->env.host->claim(f->env.host->context, w.ticket, &file);
    if (rc == -ENOENT) {
        return refuse_with(r, rc, "no file was passed under ticket %llu; \"cwctl file send\" passes one",
                           (unsigned long long)w.ticket);
    }
    if (rc < 0) {
        return rc;
    }
    rc = file_reader_open(&send->reader, &f->env, file, on_ready, send);
    if (rc < 0) {
        f->env.host->close(f->env.host->context, file);
        return rc;
    }
    send->every = CW_MS((int64_t)w.progress);
    send->request = w.wait == 1 ? r : NULL;
    return 0;
}

int file_send_begin(struct files *f, cw_request *r, int argc, const char *const *argv)
{
    if (f->env.host == NULL) {
        return refuse_with(r, -EOPNOTSUPP, "the program around this server knows no files");
    }
    if (under_way(f) >= FILES_SENDS) {
        return refuse_with(r, -EBUSY, "%d files are being sent from here; wait for one to end, or stop one",
                           FILES_SENDS);
    }
    struct file_send *send = calloc(1, sizeof *send);
    int rc = send != NULL ? prepare(f, r, argc, argv, send) : -ENOMEM;
    if (rc < 0) {
        if (send != NULL) {
            forget(send);
        }
        return rc;
    }
    send->id = ++f->ids;
    send->began = send->rowed = cw_now(f->s);
    send->next = f->sends;
    f->sends = send;
    f->send_count++;
    files_wake(f);
    if (send->request != NULL) {
        return 1;
    }
    cw_request_int(r, "id", send->id);
    return 0;
}

/* ---- On the way -------------------------------------------------------------------------------------------------- */

int file_send_stop(struct files *f, cw_request *r, int argc, const char *const *argv)
{
    uint64_t id;
    if (argc != 2 || words_number(argv[1], 1, UINT32_MAX, &id) < 0) {
        return refuse_request(r,
                              "expected the ID of a sending: cwctl file status shows those of what is sent from here");
    }
    struct file_send *send = f->sends;
    while (send != NULL && (send->id != id || send->over)) {
        send = send->next;
    }
    if (send == NULL) {
        return refuse_with(r, -ENOENT, "nothing is sent from here under the id %llu", (unsigned long long)id);
    }
    if (send->sending) {
        return cast_engine_cancel(f->engine, send->ticket, -ECANCELED);
    }
    fail(send, -ECANCELED, "stopped");
    return 0;
}

void file_send_progress(struct files *f, cw_server from, const struct file_progress *progress)
{
    for (struct file_send *send = f->sends; send != NULL; send = send->next) {
        if (!send->sending || send->over || memcmp(progress->id, send->label.digest, sizeof progress->id) != 0) {
            continue;
        }
        if (progress->contested) {
            send->contested = true;
            send->rival = progress->rival < f->torus->servers ? progress->rival : from;
        }
        for (unsigned i = 0; i < send->goals; i++) {
            struct file_goal *goal = &send->goal[i];
            if (goal->server == from && progress->contested) {
                goal->contested = true;
            } else if (goal->server == from) {
                goal->reported = true;
                goal->state = progress->state;
                goal->there = progress->there < send->label.bytes ? progress->there : send->label.bytes;
                file_pace_note(&goal->pace, goal->there, cw_now(send->files->s));
            }
        }
    }
}

/* Learns from the engine which members have ended. */
static void look(struct file_send *send)
{
    const struct cast_session *c = cast_engine_look(send->files->engine, send->ticket);
    if (c != NULL) {
        send->piece_bytes = c->cut.piece_bytes;
        send->repeated = c->repeated;
        send->repeats = c->repeats;
        send->undealt = (uint64_t)c->out.stripe.left * c->cut.piece_bytes;
    }
    for (unsigned i = 0; c != NULL && i < send->goals; i++) {
        const struct cast_member *m = cast_members_find(&c->out.members, send->goal[i].server);
        if (m != NULL) {
            learn(send, &send->goal[i], m);
        }
        if (m != NULL && (m->state == CAST_HAS || m->state == CAST_LOST)) {
            end_goal(send, &send->goal[i], m->state == CAST_HAS ? 0 : m->status, m->took);
        }
    }
}

static void tick_one(struct file_send *send, cw_time now)
{
    if (send->over) {
        if (send->reader != NULL && file_reader_is_over(send->reader)) {
            file_reader_free(send->reader);
            send->reader = NULL;
        }
        return;
    }
    send->given = file_reader_given(send->reader);
    if (send->sending) {
        look(send);
        file_pace_note(&send->pace, send->given, now);
    }
    if (send->request != NULL && send->every.ns > 0 && cw_time_since(now, send->rowed).ns >= send->every.ns) {
        send->rowed = now;
        file_rows_progress(send, send->request);
        cw_request_row(send->request);
        (void)file_rows_slow(send, send->request);
    }
}

void file_send_tick(struct files *f, cw_time now)
{
    unsigned newest = 0;
    for (struct file_send **at = &f->sends; *at != NULL;) {
        struct file_send *send = *at;
        tick_one(send, now);
        newest++;
        bool old = newest > FILES_SENDS_KEPT || cw_time_since(now, send->over_at).ns > FILES_SHOWN.ns;
        if (send->over && send->reader == NULL && old) {
            *at = send->next;
            f->send_count--;
            forget(send);
        } else {
            at = &send->next;
        }
    }
}

void file_send_status(struct files *f, cw_request *r, bool members, bool *first)
{
    for (struct file_send *send = f->sends; send != NULL; send = send->next) {
        if (send->sending && !send->over) {
            look(send);
        }
        if (!*first) {
            cw_request_row(r);
        }
        *first = false;
        cw_request_text(r, "what", "going");
        file_rows_progress(send, r);
        if (members) {
            file_rows_members(send, r);
        }
    }
}

void file_send_close(struct files *f)
{
    while (f->sends != NULL) {
        struct file_send *send = f->sends;
        f->sends = send->next;
        answer(send, -ECANCELED);
        forget(send);
    }
}
