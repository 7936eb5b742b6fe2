/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/command.h"

#include "services/reply/refuse.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAID_MOST = 4096 };

struct heard {
    cw_time at;
    cw_coord from;
    struct group_name group;
    size_t bytes;
    char text[GROUP_TEXT_MOST + 1];
};

struct group_command {
    cw_svc *s;
    const struct api *api;
    cw_multicast *as; /* the operators' name space */
    cw_timer *timer;
    const char *join; /* the option */
    struct heard heard[GROUP_HEARD_MOST];
    uint64_t heard_count;
    struct asked *asked; /* commands that wait */
};

/* A command that waits for an answer. */
struct asked {
    struct asked *next;
    struct group_command *c;
    cw_request *r;
    cw_time began;
    const char *what;
    char name[GROUP_NAME_MOST + 1];
};

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static int refuse_name(cw_request *r, const char *word)
{
    return refuse_request(r, "a group's name is 1 to %d letters, digits, '.', '_' or '-', and not all; not '%.80s'",
                          GROUP_NAME_MOST, word);
}

/* What cannot be shown as it is becomes '.'. */
static void printable(const void *bytes, size_t length, char *out, size_t most)
{
    const uint8_t *b = bytes;
    size_t n = length < most - 1 ? length : most - 1;
    for (size_t i = 0; i < n; i++) {
        out[i] = b[i] >= ' ' && b[i] <= '~' ? (char)b[i] : '.';
    }
    out[n] = '\0';
}

static void tell_name(cw_request *r, const struct group_name *name)
{
    char text[GROUP_NAME_MOST + 1];
    printable(name->text, name->length, text, sizeof text);
    cw_request_text(r, "group", text);
}

/* ---- Commands that wait ------------------------------------------------------------------------------------------ */

static struct asked *new_asked(struct group_command *c, cw_request *r, const char *what, const char *name)
{
    struct asked *a = calloc(1, sizeof *a);
    if (a != NULL) {
        *a = (struct asked){.next = c->asked, .c = c, .r = r, .began = cw_now(c->s), .what = what};
        snprintf(a->name, sizeof a->name, "%s", name);
        c->asked = a;
    }
    return a;
}

static void free_asked(struct asked *a)
{
    struct asked **at = &a->c->asked;
    while (*at != a) {
        at = &(*at)->next;
    }
    *at = a->next;
    free(a);
}

/* Ends it; a refusal has its sentence. */
static void answer(struct asked *a, int status)
{
    cw_request *r = a->r;
    if (status == -ENOENT) {
        (void)refuse_with(r, status, "nobody is a member of the group or keeps it: '%.80s'", a->name);
    } else if (status == -ETIMEDOUT) {
        (void)refuse_with(r, status, "the root of the group has not answered within %d s: '%.80s'",
                          (int)(GROUP_PATIENCE.ns / CW_SEC(1).ns), a->name);
    } else if (status == -ENOSPC) {
        (void)refuse_with(r, status, "the root of the group has room for no more memberships: '%.80s'", a->name);
    } else if (status == -ECANCELED) {
        (void)refuse_with(r, status, "something else was wanted of the group meanwhile: '%.80s'", a->name);
    }
    free_asked(a);
    cw_request_done(r, status);
}

static void on_acked(void *arg, int status)
{
    struct asked *a = arg;
    if (status == 0) {
        cw_request_text(a->r, "group", a->name);
        cw_request_text(a->r, "this_server", a->what);
        cw_request_int(a->r, "took_ns", cw_time_since(cw_now(a->c->s), a->began).ns);
    }
    answer(a, status);
}

static void on_members(void *arg, int status, const cw_coord *member, unsigned count)
{
    struct asked *a = arg;
    for (unsigned i = 0; i < count; i++) {
        if (i > 0) {
            cw_request_row(a->r);
        }
        tell_server(a->r, "member", member[i]);
    }
    answer(a, status);
}

static void on_published(void *arg, const cw_multicast_result *result)
{
    struct asked *a = arg;
    if (result->status == 0) {
        cw_request_text(a->r, "group", a->name);
        cw_request_int(a->r, "members", result->members);
        cw_request_int(a->r, "complete", result->complete);
        cw_request_int(a->r, "took_ns", cw_time_since(cw_now(a->c->s), a->began).ns);
    }
    for (unsigned i = 0; i < result->rows; i++) {
        if (result->row[i].status != 0) {
            cw_request_row(a->r);
            tell_server(a->r, "incomplete", result->row[i].server);
            cw_request_int(a->r, "status", result->row[i].status);
        }
    }
    answer(a, result->status);
}

/* Refuses a command that a function of the interface refused with rc. */
static int refuse_call(cw_request *r, int rc, const char *name)
{
    switch (rc) {
    case -EAGAIN:
        return refuse_with(r, rc, "too much is under way here; try again: '%s'", name);
    case -ENOSPC:
        return refuse_with(r, rc, "this server is in %d groups already, and may be in no more: '%s'", GROUPS_HERE_MOST,
                           name);
    case -ENOENT:
        return refuse_with(r, rc, "this server is no member of the group: '%s'", name);
    default:
        return refuse_with(r, rc, "an error has prevented this for the group: '%s'", name);
    }
}

/* What a call gave: the command waits, or it is refused. */
static int waits(cw_request *r, struct asked *a, int rc)
{
    if (rc >= 0) {
        return 1;
    }
    (void)refuse_call(r, rc, a->name);
    free_asked(a);
    return rc;
}

static int change(struct group_command *c, cw_request *r, bool join, const char *name)
{
    struct asked *a = new_asked(c, r, join ? "member" : "no member", name);
    if (a == NULL) {
        return -ENOMEM;
    }
    size_t length = strlen(name);
    return waits(r, a, join ? api_join(c->as, name, length, on_acked, a) : api_leave(c->as, name, length, on_acked, a));
}

static int members(struct group_command *c, cw_request *r, const char *name)
{
    struct asked *a = new_asked(c, r, "", name);
    return a == NULL ? -ENOMEM : waits(r, a, api_members(c->as, name, strlen(name), on_members, a));
}

static int publish(struct group_command *c, cw_request *r, bool once, const char *name, int words,
                   const char *const *word)
{
    char text[SAID_MOST];
    size_t at = 0;
    for (int i = 0; i < words; i++) {
        int n = snprintf(text + at, sizeof text - at, "%s%s", i > 0 ? " " : "", word[i]);
        at += (size_t)n;
        if (at >= sizeof text) {
            return refuse_with(r, -EMSGSIZE, "a text has at most %d bytes; this one begins: '%.80s'", SAID_MOST - 1,
                               word[0]);
        }
    }
    const cw_multicast_content content = {.bytes = text, .length = at, .flags = once ? CW_MULTICAST_BEST_EFFORT : 0};
    if (at == 0) {
        return refuse_with(r, -EINVAL, "there is no text for the group: '%.80s'", name);
    }
    if (once && at > api_packet_max(c->as, strlen(name))) {
        return refuse_with(r, -EMSGSIZE, "best effort is one packet, and the text does not fit one; it begins: '%.80s'",
                           word[0]);
    }
    struct asked *a = new_asked(c, r, "", name);
    return a == NULL ? -ENOMEM : waits(r, a, api_publish(c->as, name, strlen(name), &content, on_published, a));
}

/* ---- Commands that are answered at once -------------------------------------------------------------------------- */

static void tell_job(cw_request *r, cw_job job)
{
    cw_request_int(r, "job", job);
}

static int list(const struct group_command *c, cw_request *r)
{
    struct membership_row row;
    for (unsigned i = 0; membership_row(c->api->membership, i, &row); i++) {
        if (i > 0) {
            cw_request_row(r);
        }
        tell_name(r, &row.name);
        tell_job(r, row.name.job);
        cw_request_text(r, "this_server",
                        row.flags & GROUP_MEMBER   ? "member"
                        : row.flags & GROUP_KEEPER ? "keeper"
                                                   : "");
        cw_request_int(r, "acknowledged", row.acked);
        cw_request_int(r, "root", row.root);
        cw_request_int(r, "members", row.root ? (int64_t)row.members : -1);
    }
    return 0;
}

static int show_heard(const struct group_command *c, cw_request *r)
{
    uint64_t first = c->heard_count > GROUP_HEARD_MOST ? c->heard_count - GROUP_HEARD_MOST : 0;
    for (uint64_t i = first; i < c->heard_count; i++) {
        const struct heard *h = &c->heard[i % GROUP_HEARD_MOST];
        if (i > first) {
            cw_request_row(r);
        }
        tell_name(r, &h->group);
        tell_server(r, "from", h->from);
        cw_request_int(r, "ago_ns", cw_time_since(cw_now(c->s), h->at).ns);
        cw_request_int(r, "bytes", (int64_t)h->bytes);
        cw_request_text(r, "text", h->text);
    }
    return 0;
}

int group_command_run(struct group_command *c, cw_request *r, int argc, const char *const *argv)
{
    static const char words[] =
        "there are: group list, group heard, group members NAME, group join NAME, group leave NAME, "
        "group publish NAME TEXT, group publish-once NAME TEXT; not";
    const char *word = argc >= 2 ? argv[1] : "";
    if (argc == 2 && strcmp(word, "list") == 0) {
        return list(c, r);
    }
    if (argc == 2 && strcmp(word, "heard") == 0) {
        return show_heard(c, r);
    }
    bool once = strcmp(word, "publish-once") == 0;
    bool says = once || strcmp(word, "publish") == 0;
    bool joins = strcmp(word, "join") == 0, known = joins || strcmp(word, "leave") == 0 || strcmp(word, "members") == 0;
    if (!(says && argc >= 4) && !(known && argc == 3)) {
        return refuse_with(r, -EINVAL, "%s: '%.80s'", words, word);
    }
    if (!group_plain_name(argv[2])) {
        return refuse_name(r, argv[2]);
    }
    if (says) {
        return publish(c, r, once, argv[2], argc - 3, argv + 3);
    }
    return word[0] == 'm' ? members(c, r, argv[2]) : change(c, r, joins, argv[2]);
}

/* ---- What comes -------------------------------------------------------------------------------------------------- */

static void deliver(void *context, const cw_multicast_message *m)
{
    struct group_command *c = context;
    struct heard *h = &c->heard[c->heard_count++ % GROUP_HEARD_MOST];
    *h = (struct heard){.at = cw_now(c->s), .from = m->from, .bytes = m->length};
    if (group_name_make(&h->group, 0, m->name, m->name_length) == 0) {
        printable(m->bytes, m->length, h->text, sizeof h->text);
    }
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

/* The next name of the option; false: no more. *length 0 or too much is the caller's to refuse. */
static bool next_name(const char **at, const char **name, size_t *length)
{
    if (*at == NULL) {
        return false;
    }
    *name = *at;
    *length = strcspn(*at, ",");
    *at = (*at)[*length] == ',' ? *at + *length + 1 : NULL;
    return true;
}

static void join_those(cw_svc *s, void *state, void *arg)
{
    (void)state;
    struct group_command *c = arg;
    const char *at = c->join, *name;
    size_t length;
    c->timer = NULL;
    while (next_name(&at, &name, &length)) {
        if (api_join(c->as, name, length, NULL, NULL) < 0) {
            cw_log(s, CW_LOG_ERROR,
                   "a group of the option groups could not be joined: there is no memory, or there are too many");
        }
    }
}

static int look_at_option(struct group_command *c)
{
    const char *at = c->join = cw_option(c->s, "groups"), *name;
    size_t length;
    while (next_name(&at, &name, &length)) {
        char text[GROUP_NAME_MOST + 2] = "";
        memcpy(text, name, length < sizeof text - 1 ? length : sizeof text - 1);
        if (!group_plain_name(text)) {
            cw_log(c->s, CW_LOG_ERROR,
                   "option groups is names with commas between, each 1 to 64 letters, digits, '.', '_' or '-', and not "
                   "all");
            return -EINVAL;
        }
    }
    if (c->join != NULL) {
        c->timer = cw_timer_start(c->s, CW_NS(0), join_those, c);
    }
    return c->join != NULL && c->timer == NULL ? -ENOMEM : 0;
}

int group_command_open(struct group_command **out, cw_svc *s, const struct api *api)
{
    struct group_command *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return -ENOMEM;
    }
    *c = (struct group_command){.s = s, .api = api};
    const cw_multicast_config config = {CW_MULTICAST_INIT, .context = c, .deliver = deliver};
    int rc = look_at_option(c);
    rc = rc < 0 ? rc : api_open(api, s, &config, &c->as);
    if (rc < 0) {
        cw_timer_stop(s, c->timer);
        free(c);
        return rc;
    }
    *out = c;
    return 0;
}

void group_command_close(struct group_command *c)
{
    if (c == NULL) {
        return;
    }
    cw_timer_stop(c->s, c->timer);
    while (c->asked != NULL) {
        free_asked(c->asked);
    }
    free(c);
}
