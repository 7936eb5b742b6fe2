/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/entry/command.h"

#include "base/words.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"
#include "services/store/ask/asker.h"
#include "services/store/common.h"
#include "services/store/disk/journal.h"
#include "services/store/durable.h"
#include "services/store/entry/operate.h"
#include "services/store/entry/pieces.h"
#include "services/store/entry/transact.h"
#include "services/store/lead.h"
#include "services/store/making.h"
#include "services/store/quota.h"
#include "services/store/scrub.h"
#include "services/store/warden.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const cw_command store_commands[] = {
    {"create", "disk|memory [copies=N]",
     "Make the store, on all servers: each value is on 3 (or 4) of them, on their disks or in their memory."},
    {"get", "KEY [key=base64] [job=N] [form=base64 [from=N [version=N]]] [wait_ms=N]",
     "The value of a name, and its version; with from=N, 30 KiB of it from there on, of that version."},
    {"head", "KEY [key=base64] [job=N] [wait_ms=N]", "The version and the length of the value of a name."},
    {"put", "KEY VALUE [version=N] [flags=N] [ttl_ms=N] [key=base64] [job=N] [form=base64] [stage=N] [wait_ms=N]",
     "Put a value; with version=N, only if that is the version there."},
    {"cas", "KEY VERSION VALUE [flags=N] [ttl_ms=N] [key=base64] [job=N] [form=base64] [stage=N] [wait_ms=N]",
     "Put a value if that is the version there."},
    {"insert", "KEY VALUE [flags=N] [ttl_ms=N] [key=base64] [job=N] [form=base64] [stage=N] [wait_ms=N]",
     "Put a value if there is none."},
    {"delete", "KEY [version=N] [key=base64] [job=N] [wait_ms=N]",
     "Delete a value; with version=N, if that is the version there."},
    {"txn", "CLAUSE... [key=base64] [job=N] [form=base64] [wait_ms=N]",
     "All of it or nothing: if NAME = N|absent|exists, put NAME VALUE [flags=N] [ttl_ms=N], delete NAME, get NAME."},
    {"stage", "N BASE64 [from=N] [drop=1]",
     "A piece of a value that is too long for one command, behind so many bytes: a put with stage=N puts all of them."},
    {"list", "[PREFIX [after=NAME] [limit=N] [job=N] [form=base64] [wait_ms=N]]",
     "A page of names that begin so, in order, and behind them a row that says whether there are more."},
    {"watch", "NAME [prefix=1] [cursor=HEX] [job=N] [form=base64] [wait_ms=N]",
     "Waits for changes of a name, or of all that begin so; and behind them a row with the cursor for the next call."},
    {"usage", "", "What each job holds at this server, of how much; then all of it."},
    {"status", "", "The store as this server knows it."},
    {"scrub", "[now]",
     "How much of what is on this server's disk has been read and verified; with now, all of it is read at once."},
    {"explain", "KEY [job=N]", "Which shard a name is in, and who its members are."},
    {NULL, NULL, NULL},
};

/* ---- The others -------------------------------------------------------------------------------------------------- */

static int create(struct store *s, cw_request *r, int argc, const char *const *argv)
{
    uint64_t copies = STORE_COPIES_LEAST;
    const struct words_option options[] = {{"copies", STORE_COPIES_LEAST, STORE_COPIES_MOST, &copies}};
    bool disk = argc >= 2 && strcmp(argv[1], "disk") == 0;
    if (argc < 2 || (!disk && strcmp(argv[1], "memory") != 0)) {
        return refuse_request(r, "a store is on 'disk' or in 'memory': '%.60s'", argc < 2 ? "" : argv[1]);
    }
    int used = words_options(argc - 2, argv + 2, options, 1);
    if (used < argc - 2) {
        return refuse_option(r, argv[2 + used], options, 1);
    }
    return store_making_begin(s, r, argv[1], disk, (unsigned)copies);
}

static void tell_disk(const struct store *s, cw_request *r)
{
    struct journal_status disk;
    cw_request_text(r, "disk", store_durable_text(s));
    cw_request_int(r, "disk_slow", (int64_t)s->count[STORE_COUNT_DISK_SLOW]);
    cw_request_int(r, "stepped_aside", (int64_t)s->count[STORE_COUNT_ASIDE]);
    if (store_durable_ready(s)) {
        journal_status(s->journal, &disk);
        cw_request_int(r, "disk_bytes", (int64_t)disk.bytes);
        cw_request_int(r, "disk_live", (int64_t)disk.live);
        cw_request_int(r, "disk_groups", (int64_t)disk.groups);
        cw_request_int(r, "disk_records", (int64_t)disk.put);
        cw_request_int(r, "disk_verified", (int64_t)disk.scrubbed);
        cw_request_int(r, "disk_damaged", (int64_t)disk.damaged);
    }
}

static int scrub(struct store *s, cw_request *r, int argc, const char *const *argv)
{
    struct journal_status disk;
    if (argc > 2 || (argc == 2 && strcmp(argv[1], "now") != 0)) {
        return refuse_request(r, "scrub takes 'now', or nothing behind it: '%.60s'", argv[argc - 1]);
    }
    if (!s->of.disk || !store_durable_ready(s) || (argc == 2 && !store_scrub_now(s))) {
        return refuse_request(r, "no store is on this server's disk: %s", store_durable_text(s));
    }
    journal_status(s->journal, &disk);
    tell_server(r, "server", cw_self(s->svc));
    cw_request_text(r, "pace", s->scrub.now ? "at once" : s->scrub.timer != NULL ? "in 14 days" : "nothing to read");
    cw_request_int(r, "read", (int64_t)s->scrub.read);
    cw_request_int(r, "records", (int64_t)disk.records);
    cw_request_int(r, "passes", (int64_t)s->scrub.passes);
    cw_request_int(r, "verified", (int64_t)disk.scrubbed);
    cw_request_int(r, "damaged", (int64_t)disk.damaged);
    return 0;
}

/* Jobs that may take nothing more. */
static unsigned jobs_at_quota(const struct store *s)
{
    unsigned n = 0;
    for (unsigned i = 0; i < s->tally.count; i++) {
        const struct store_used *u = &s->tally.used[i], most = store_quota_of(s, u->job);
        n += u->bytes >= most.bytes || u->names >= most.names;
    }
    return n;
}

static int status(struct store *s, cw_request *r)
{
    unsigned leading = 0, trying = 0, lagging = 0, lost = 0, member_of = 0;
    const struct store_warden_status warden = store_warden_status(s);
    for (unsigned i = 0; i < s->shards; i++) {
        const struct store_lead *lead = s->shard[i]->lead;
        bool open = lead != NULL && lead->phase == STORE_PHASE_OPEN;
        leading += open;
        trying += lead != NULL && !open;
        lagging += open && lead->lagging != 0;
        member_of += s->shard[i]->role == STORE_ROLE_MEMBER;
        for (unsigned m = 0; m < s->shard[i]->config.count; m++) {
            lost += s->shard[i]->lost[m];
        }
    }
    tell_server(r, "server", cw_self(s->svc));
    cw_request_text(r, "store", s->of.id != 0 ? s->of.name : "none");
    cw_request_int(r, "copies", s->of.copies);
    cw_request_int(r, "member_of", member_of);
    cw_request_int(r, "leading", leading);
    cw_request_int(r, "trying", trying);
    cw_request_int(r, "short", lagging);
    cw_request_int(r, "members_lost", lost);
    cw_request_int(r, "to_replace", warden.replacing);
    cw_request_int(r, "filling", warden.filling);
    cw_request_int(r, "bytes_to_go", (int64_t)warden.to_go);
    cw_request_int(r, "copies_missing", (int64_t)warden.copies_missing);
    cw_request_int(r, "jobs", s->tally.count);
    cw_request_int(r, "jobs_at_quota", jobs_at_quota(s));
    cw_request_int(r, "registers", (int64_t)s->registers);
    cw_request_int(r, "bytes", (int64_t)s->bytes);
    cw_request_int(r, "bytes_max", (int64_t)s->limits.bytes_max);
    tell_disk(s, r);
    cw_request_int(r, "waiting", (int64_t)(s->question_count + s->serving_count));
    for (unsigned i = 0; i < STORE_COUNTS; i++) {
        cw_request_int(r, store_count_names[i].name, (int64_t)s->count[i]);
    }
    return 0;
}

static void tell_used(cw_request *r, const char *what, const char *most_name, uint64_t used, uint64_t most)
{
    cw_request_int(r, what, (int64_t)used);
    if (most != UINT64_MAX) {
        cw_request_int(r, most_name, (int64_t)most);
    }
}

static int usage(struct store *s, cw_request *r)
{
    struct store_used all = {.job = 0};
    for (unsigned i = 0; i < s->tally.count; i++) {
        const struct store_used *u = &s->tally.used[i], most = store_quota_of(s, u->job);
        cw_request_int(r, "job", u->job);
        tell_used(r, "bytes", "bytes_max", u->bytes, most.bytes);
        tell_used(r, "names", "names_max", u->names, most.names);
        cw_request_row(r);
        all.bytes += u->bytes;
        all.names += u->names;
    }
    cw_request_int(r, "jobs", s->tally.count);
    cw_request_int(r, "bytes", (int64_t)all.bytes);
    cw_request_int(r, "names", (int64_t)all.names);
    return 0;
}

static const char *role_of(const struct store *s, const struct store_shard *shard, cw_server hint, cw_server member)
{
    bool mine = shard != NULL && member == s->self;
    if (mine && shard->lead != NULL) {
        return shard->lead->phase == STORE_PHASE_OPEN ? "leads" : "is about to lead";
    }
    if (member == hint) {
        return "led when it answered this server last";
    }
    unsigned m = shard != NULL ? store_config_place(&shard->config, member) : 0;
    if (shard != NULL && m < shard->config.count && shard->lost[m]) {
        return "was a member in a former life";
    }
    return shard != NULL ? "member" : "member at first";
}

static int explain(struct store *s, cw_request *r, int argc, const char *const *argv)
{
    cw_job job = STORE_JOB;
    cw_server member[STORE_COPIES_MOST];
    int rc = argc >= 2 ? store_operate_name(r, argv[1]) : refuse_request(r, "explain takes a name behind it");
    for (int i = 2; i < argc && rc == 0; i++) {
        rc = store_operate_job(r, argv[i], &job);
    }
    if (rc < 0) {
        return rc;
    }
    const struct store_name name = {job, (const uint8_t *)argv[1], strlen(argv[1])};
    cw_key key = store_places_key(&name);
    uint32_t number = store_places_shard(&s->torus, &key);
    struct store_shard *shard = store_shard_find(s, number);
    const struct store_register *have = shard != NULL ? store_table_find(&shard->acceptor.table, &name) : NULL;
    unsigned count = store_places_members(&s->torus, number, s->of.id != 0 ? s->of.copies : STORE_COPIES_LEAST, member);
    if (shard != NULL && shard->config.count > 0) {
        count = shard->config.count;
        memcpy(member, shard->config.member, count * sizeof *member);
    }
    for (unsigned m = 0; m < count; m++) {
        cw_coord c = cw_server_coord(s->svc, member[m]);
        if (m > 0) {
            cw_request_row(r);
        }
        cw_request_int(r, "shard", number);
        tell_server(r, "member", c);
        cw_request_text(r, "state", cw_reachable(s->svc, c) ? "in view" : "not in view");
        cw_request_text(r, "role", role_of(s, shard, store_asker_hint(s, number), member[m]));
        cw_request_int(r, "epoch", shard != NULL ? shard->config.epoch : 0);
        if (have != NULL && member[m] == s->self) {
            cw_request_int(r, "version", (int64_t)have->version);
            cw_request_int(r, "ttl_ms", have->ttl_ms);
            cw_request_text(r, "holds", have->deleted ? "that it was deleted" : "a value");
        }
    }
    return 0;
}

int store_command(struct store *s, cw_request *r, int argc, const char *const *argv)
{
    const char *word = argc >= 1 ? argv[0] : "";
    int rc;
    if (store_operate(s, r, argc, argv, &rc)) {
        return rc;
    }
    if (strcmp(word, "stage") == 0) {
        return store_pieces_stage(s, r, argc, argv);
    }
    if (strcmp(word, "list") == 0) {
        return store_operate_list(s, r, argc, argv);
    }
    if (strcmp(word, "watch") == 0) {
        return store_operate_watch(s, r, argc, argv);
    }
    if (strcmp(word, "txn") == 0) {
        return store_transact(s, r, argc, argv);
    }
    if (strcmp(word, "create") == 0) {
        return create(s, r, argc, argv);
    }
    if (strcmp(word, "explain") == 0) {
        return explain(s, r, argc, argv);
    }
    if (strcmp(word, "scrub") == 0) {
        return scrub(s, r, argc, argv);
    }
    if (strcmp(word, "usage") == 0 && argc == 1) {
        return usage(s, r);
    }
    if (strcmp(word, "status") == 0 && argc == 1) {
        return status(s, r);
    }
    return refuse_request(r,
                          "there are: create, get, head, put, cas, insert, delete, txn, stage, list, watch, usage, "
                          "status, scrub, explain; not '%.60s'",
                          word);
}
