/* SPDX-License-Identifier: Apache-2.0 */
/*
 * muster.c - the first part of a run at its lead: contributors prepare their inputs, and who is to write the result
 * says whether it can.
 */
#include "services/aggregate/stream/internal.h"
#include "services/aggregate/stream/lead.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A preparation that is asked for. */
struct asked {
    struct run_name run;
    cw_server of, by;
};

void muster_refuse(struct lead *l, cw_server server, int status, const struct letter *said, bool writing)
{
    if (l->refusals < LEAD_REFUSALS) {
        struct refusal *f = &l->refusal[l->refusals++];
        *f = (struct refusal){.server = server, .status = status, .writing = writing};
        f->line = said != NULL ? said->line : 0;
        f->limit = said != NULL ? said->limit : 0;
    }
}

bool muster_is_gone(int status)
{
    return status == -ENETUNREACH || status == -ECONNRESET || status == -ETIMEDOUT;
}

const char *muster_reason(int status)
{
    switch (status) {
    case -ENOENT:
        return "there is no such file in its data folder";
    case -EACCES:
    case -EPERM:
        return "the daemon there may not open the file or the folder";
    case -EXDEV:
    case -ELOOP:
        return "the name leads out of its data folder";
    case -EISDIR:
        return "it is no regular file";
    case -EINVAL:
        return "its input is not what the mapper or the combination takes";
    case -EMSGSIZE:
        return "a line, a word or a value is too long";
    case -EBADMSG:
        return "the records of its input are not sorted, or damaged";
    case -ENODATA:
        return "its input ends too early";
    case -ERANGE:
        return "a sum is too large";
    case -EOPNOTSUPP:
        return "no data folder is set there: service aggregate { options { data = \"/path\" } }";
    case -ENOTDIR:
        return "its records do not fit into memory, and no spool folder is set there (options memory and spool)";
    case -ENOSPC:
    case -EDQUOT:
        return "its spool folder, or its disk, is full";
    case -EFBIG:
        return "the result is more than its memory holds (option memory)";
    case -ENOBUFS:
        return "it has no room for another run (option memory)";
    case -EBUSY:
        return "another run is about to write its result to that name there";
    case -ENETUNREACH:
        return "it is not in view";
    case -ECONNRESET:
        return "it has died, restarted or left";
    case -ETIMEDOUT:
        return "it does not answer, or nothing has moved for the limit";
    case -ECANCELED:
        return "the run was ended";
    case -ENOTCONN:
        return "no program feeds that there (cwctl aggregate feed NAME)";
    case -EPIPE:
        return "the program that fed it was gone before its input had ended";
    case -ELIBACC:
        return "it has no such module in its modules folder (service aggregate { options { modules = \"/path\" } })";
    case -ELIBBAD:
        return "its module of that name is another one: its digest is not that of the server where the run was ordered";
    case -E2BIG:
        return "a key has more values than there is room for at the root (an 8th of option job_memory)";
    case -ENOSR:
        return "its job has no more memory there (option job_memory)";
    case -EXFULL:
        return "its job has no more room in the spool folder there (option job_spool)";
    case -EUSERS:
        return "its job has no room for another run there";
    case -EILSEQ:
        return "what it has as a copy is another file than was read before";
    case -EALREADY:
        return "another run takes what is fed there under that name";
    default:
        return strerror(-status);
    }
}

void muster_tell(char out[static MUSTER_REASON], const struct lead *l, int status, uint64_t line, uint64_t limit)
{
    const char *why = muster_reason(status);
    cw_job job = l->wish.job;
    if (line > 0) {
        snprintf(out, MUSTER_REASON, "line %" PRIu64 ": %s", line, why);
    } else if (limit > 0 && status == -EUSERS) {
        snprintf(out, MUSTER_REASON, "job %" PRIu32 " has %" PRIu64 " runs there, and may have no more", job, limit);
    } else if (limit > 0) {
        snprintf(out, MUSTER_REASON,
                 "job %" PRIu32 " may have %" PRIu64 " bytes of %s there, and needs more (option %s)", job, limit,
                 status == -ENOSR ? "memory" : "the spool", status == -ENOSR ? "job_memory" : "job_spool");
    } else {
        snprintf(out, MUSTER_REASON, "%s", why);
    }
}

/* A server is gone, before or after it has prepared. */
static void lose(struct lead *l, cw_server server, int status)
{
    cw_server whose;
    bool writing;
    if (!trees_set_has(l->gone, server) && !heir_lose(l, server, &whose, &writing)) {
        muster_refuse(l, whose, status, NULL, writing);
    }
}

/* Who was asked for a copy has none, or another file: the next one is asked. */
static void ask_another(struct lead *l, cw_server of, cw_server by, int status)
{
    if (status != -ENOENT && status != -ECONNRESET) {
        l->unlike = by;
        l->unlike_status = status;
    }
    if (heir_ask(l, of)) {
        return;
    }
    if ((l->wish.flags & LETTER_WITHOUT) == 0) {
        muster_refuse(l, of, -ECONNRESET, NULL, false);
    }
    trees_set_remove(l->counted, of);
}

/* Whoever was to feed it did not come, or has gone. The server is there, and may write. */
static void lose_feed(struct lead *l, cw_server server, int status)
{
    if ((l->wish.flags & LETTER_WITHOUT) == 0) {
        muster_refuse(l, server, status, NULL, false);
        return;
    }
    trees_set_remove(l->counted, server);
    l->why[server] = status;
}

/* Who does not say how many keys it has, though it was asked, had none to tell of. */
static void add_keys(struct lead *l, const struct letter *answer)
{
    struct summary_distinct one;
    if (l->keys == NULL || summary_distinct_decode(answer->summary, answer->summary_bytes, &one) < 0) {
        return;
    }
    l->keys_of_each += summary_distinct_count(&one);
    summary_distinct_merge(l->keys, &one);
}

static void prepared(struct lead *l, cw_server of, int status, const struct letter *answer)
{
    bool member = trees_set_has(l->members, of);
    cw_server server = l->by[of];
    l->asked[of] = 0;
    trees_set_remove(l->silent, server);
    l->awaited--;
    l->moved = cw_now(l->st->s);
    if (status == 0) {
        l->records[of] = answer->records;
        l->bytes += l->digest[of] == 0 ? answer->bytes : 0;
        l->digest[of] = answer->digest;
        add_keys(l, answer);
    } else if (muster_is_gone(status)) {
        lose(l, server, status);
    } else if (server != of) {
        ask_another(l, of, server, status);
    } else if (status == -ENOTCONN || status == -EPIPE) {
        lose_feed(l, server, status);
    } else {
        muster_refuse(l, server, status, answer, !member || status == -EBUSY);
    }
    stream_soon(l->st);
}

static void heard(void *context, void *arg, int status, const uint8_t *bytes, uint64_t size,
                  const struct transport_message *m)
{
    struct stream *st = context;
    struct asked a = *(struct asked *)arg;
    struct letter answer;
    (void)m;
    free(arg);
    struct lead *l = st->closing ? NULL : lead_of_run(st, &a.run);
    if (l == NULL || l->asked[a.of] == 0 || l->by[a.of] != a.by || l->state != LEAD_PREPARES) {
        return;
    }
    bool whole = size > 0 && letter_decode(bytes, (size_t)size, &answer) == 0 && answer.kind == LETTER_PREPARED;
    prepared(l, a.of, status == 0 && !whole ? -EPROTO : status, whole ? &answer : NULL);
}

int muster_ask(struct lead *l, cw_server of, const char *from)
{
    struct stream *st = l->st;
    cw_server by = l->by[of];
    size_t bytes = stream_words(st) * sizeof *l->members;
    struct asked *a = malloc(sizeof *a);
    struct letter letter = {.kind = LETTER_PREPARE, .run = l->run, .wish = l->wish, .servers = st->torus.servers};
    if (a == NULL) {
        return -ENOMEM;
    }
    *a = (struct asked){l->run, of, by};
    letter.of = of;
    letter.digest = l->digest[of];
    snprintf(letter.wish.from, sizeof letter.wish.from, "%s", from);
    if (by == of) {
        memcpy(letter.members, l->members, bytes);
        memcpy(letter.others, l->writers, bytes);
        letter.wish.flags |= l->keys != NULL ? LETTER_ASKS : 0;
    } else {
        trees_set_add(letter.members, by);
    }
    int64_t id = stream_ask(st, by, &letter, heard, a);
    if (id < 0) {
        free(a);
        return (int)id;
    }
    l->asked[of] = id;
    trees_set_add(l->silent, by);
    l->awaited++;
    return 0;
}

void muster_begin(struct lead *l)
{
    uint64_t wanted[MESSAGE_SET_WORDS];
    for (size_t i = 0; i < stream_words(l->st); i++) {
        wanted[i] = l->members[i] | l->writers[i];
    }
    for (cw_server s = 0; s < l->st->torus.servers; s++) {
        if (!trees_set_has(wanted, s)) {
            continue;
        }
        int rc = muster_ask(l, s, l->wish.from);
        if (rc < 0) {
            l->awaited++; /* as if it had been asked, and had answered that */
            prepared(l, s, rc, NULL);
        }
    }
}

void muster_down(struct lead *l, cw_server server)
{
    /* Of one that prepares its request tells; one that has prepared is not asked any more. */
    bool wanted = trees_set_has(l->writers, server), asked = false;
    for (cw_server of = 0; of < l->st->torus.servers; of++) {
        wanted = wanted || (l->by[of] == server && trees_set_has(l->counted, of));
        asked = asked || (l->by[of] == server && l->asked[of] != 0);
    }
    if (wanted && !asked) {
        lose(l, server, -ECONNRESET);
        stream_soon(l->st);
    }
}

void muster_forget(struct lead *l)
{
    for (cw_server s = 0; s < l->st->torus.servers; s++) {
        if (l->asked[s] > 0) {
            int64_t id = l->asked[s];
            l->asked[s] = 0;
            (void)transport_cancel(l->st->call, id);
        }
    }
}
