/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/disk/journal.h"

#include "base/check.h"
#include "base/container.h"
#include "storage/storage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 256 << 10, WHY = 200, FULL_PERCENT = 70, CHECKPOINT_SEGMENTS = 16 };
/* Files for long values: so many at least; one of them is kept for what storage moves, and one from what is new. */
enum { LONG_SEGMENTS = 3, KEPT = 1, KEPT_FROM_NEW = 2, PAGE = 4096 };

/* A value that is borrowed. */
struct loan {
    struct list_node node; /* of journal.loans, while the disk has it */
    uint64_t ticket;
    void (*back)(void *arg);
    void *arg;
};

/* A record that found no room yet. */
struct stuck {
    struct list_node node;
    uint64_t ticket;
    struct loan *loan;      /* NULL: the value is in bytes[] */
    struct storage_put put; /* without a loan its value is in bytes[] */
    uint8_t bytes[];
};

struct journal {
    struct journal_events events;
    struct storage *storage;
    enum journal_state state;
    uint64_t id, boot, bytes_max, segment, long_segment;
    uint64_t put, told; /* the last ones */
    struct list waiters;
    struct list stuck;
    struct list loans;                /* by rising ticket */
    uint64_t stuck_count, stuck_long; /* stuck_long: bytes of long values */
    bool longs;                       /* somebody asked for room for a long value */
    bool no_space;                    /* the last attempt found the disk full */
    bool doomed;                      /* there was no memory for a record: dead as soon as somebody can be told */

    /* While it opens. */
    uint8_t kind; /* that is read */
    bool spoiled;
    char why[WHY];
};

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void tell(struct journal *j, bool good)
{
    struct list_node *n;
    while ((n = list_first(&j->waiters)) != NULL) {
        struct journal_waiter *w = container_of(n, struct journal_waiter, node);
        if (good && w->ticket > j->told) {
            return;
        }
        list_remove(n);
        w->told(w, good);
    }
}

static void give_back(struct loan *loan)
{
    if (loan != NULL) {
        loan->back(loan->arg);
        free(loan);
    }
}

/* The disk has no more use for the values of these. */
static void give_back_until(struct journal *j, uint64_t ticket)
{
    struct list_node *n;
    while ((n = list_first(&j->loans)) != NULL && container_of(n, struct loan, node)->ticket <= ticket) {
        list_remove(n);
        give_back(container_of(n, struct loan, node));
    }
}

static void forget_stuck(struct journal *j)
{
    struct list_node *n;
    while ((n = list_pop_front(&j->stuck)) != NULL) {
        struct stuck *k = container_of(n, struct stuck, node);
        give_back(k->loan);
        free(k);
    }
    j->stuck_count = 0;
    j->stuck_long = 0;
}

static void die(struct journal *j, const char *why)
{
    if (j->state != JOURNAL_OPEN) {
        return;
    }
    j->state = JOURNAL_DEAD;
    j->doomed = false;
    snprintf(j->why, sizeof j->why, "%s", why);
    forget_stuck(j);
    tell(j, false);
    j->events.died(j->events.arg);
}

void journal_give_up(struct journal *j)
{
    if (j->state == JOURNAL_OPEN) {
        j->state = JOURNAL_DEAD;
        snprintf(j->why, sizeof j->why, "the disk is older than what others heard from it");
        storage_renounce(j->storage);
        forget_stuck(j);
        tell(j, false);
    }
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static void refuse(struct journal *j, const char *what, const char *why)
{
    j->state = JOURNAL_REFUSED;
    snprintf(j->why, sizeof j->why, "%s%s%s", what, why[0] != '\0' ? ": " : "", why);
    j->events.opened(j->events.arg, j->state);
}

static void clear(struct journal *j);

static void end_loading(struct journal *j)
{
    if (j->spoiled) {
        storage_renounce(j->storage);
        refuse(j, "a record on the disk is damaged; at its next start this server has a new, empty store", "");
        return;
    }
    j->state = JOURNAL_OPEN;
    j->events.opened(j->events.arg, j->state);
}

static void load(struct journal *j);

static void on_found(void *arg, int result, const struct log_record *r)
{
    struct journal *j = arg;
    if (result == 0) {
        j->events.found(j->events.arg, r->kind, r->value, r->value_size);
    }
}

static void on_walked(void *arg, int result)
{
    struct journal *j = arg;
    j->spoiled = result < 0;
    j->kind = result < 0 ? JOURNAL_KINDS : j->kind + 1;
    load(j);
}

/* Reads records, kind after kind. */
static void load(struct journal *j)
{
    if (j->kind < JOURNAL_KINDS) {
        int rc = storage_walk(j->storage, j->kind, &(struct storage_walker){j, on_found, on_walked});
        if (rc == 0) {
            return;
        }
        j->spoiled = true;
    }
    end_loading(j);
}

static void on_opened(void *arg, const struct storage_opened *how)
{
    struct journal *j = arg;
    j->id = how->store_id;
    j->boot = how->boot;
    switch (how->as) {
    case STORAGE_FORMATTED:
    case STORAGE_RECOVERED:
        snprintf(j->why, sizeof j->why, "%s", how->as == STORAGE_FORMATTED ? "new" : "recovered");
        j->kind = 1;
        load(j);
        return;
    case STORAGE_RENEWED:
        snprintf(j->why, sizeof j->why, "begun anew: %s", how->why != NULL ? how->why : "damage");
        clear(j);
        end_loading(j);
        return;
    case STORAGE_OTHER:
        refuse(j,
               "it is the store of another cluster or server, or was made with another segment_mib or by an earlier "
               "release",
               how->why != NULL ? how->why : "");
        return;
    case STORAGE_FAILED:
        refuse(j, strerror(-how->error), how->why != NULL ? how->why : "");
        return;
    }
}

/* ---- Putting ----------------------------------------------------------------------------------------------------- */

static int append(struct journal *j, const struct storage_put *put, uint64_t ticket)
{
    int rc = storage_append(j->storage, put, 1, ticket);
    CHECK(rc != -EINVAL && rc != -EMSGSIZE);
    j->no_space = rc == -ENOSPC;
    return rc;
}

/* The disk has it, or has copied what is short. */
static void take_loan(struct journal *j, struct loan *loan, const struct storage_put *put)
{
    if (loan != NULL && put->value_size > JOURNAL_INLINE_MAX) {
        list_push_back(&j->loans, &loan->node);
    } else {
        give_back(loan);
    }
}

static uint64_t long_bytes(const struct storage_put *put)
{
    return put->value_size <= JOURNAL_INLINE_MAX ? 0 : ((uint64_t)put->value_size + PAGE - 1) / PAGE * PAGE;
}

/* What found no room goes first. */
static void try_again(struct journal *j)
{
    struct list_node *n;
    while (j->state == JOURNAL_OPEN && (n = list_first(&j->stuck)) != NULL) {
        struct stuck *k = container_of(n, struct stuck, node);
        if (append(j, &k->put, k->ticket) < 0) {
            break;
        }
        list_remove(n);
        j->stuck_count--;
        j->stuck_long -= long_bytes(&k->put);
        take_loan(j, k->loan, &k->put);
        free(k);
    }
    storage_flush(j->storage);
}

static void keep(struct journal *j, const struct storage_put *put, uint64_t ticket, struct loan *loan)
{
    const size_t copied = loan == NULL ? put->value_size : 0;
    struct stuck *k = malloc(sizeof *k + copied);
    if (k == NULL) {
        j->doomed = true; /* an order with a hole is none */
        give_back(loan);
        return;
    }
    *k = (struct stuck){.ticket = ticket, .loan = loan, .put = *put};
    k->put.value = loan == NULL ? k->bytes : put->value;
    if (copied > 0) {
        memcpy(k->bytes, put->value, put->value_size);
    }
    list_push_back(&j->stuck, &k->node);
    j->stuck_count++;
    j->stuck_long += long_bytes(put);
}

static void add(struct journal *j, const struct storage_put *put, struct loan *loan)
{
    if ((j->state != JOURNAL_OPEN && j->state != JOURNAL_OPENING) || j->doomed) {
        give_back(loan);
        return;
    }
    if (j->stuck_count > 0) {
        try_again(j);
    }
    uint64_t ticket = ++j->put;
    if (loan != NULL) {
        loan->ticket = ticket;
    }
    if (j->stuck_count > 0 || append(j, put, ticket) < 0) {
        keep(j, put, ticket, loan);
    } else {
        take_loan(j, loan, put);
    }
    storage_flush(j->storage);
}

static struct storage_put a_put(uint8_t kind, const cw_key *key, const void *value, size_t size)
{
    CHECK(kind >= 1 && kind < JOURNAL_KINDS && size <= JOURNAL_VALUE_MAX);
    return (struct storage_put){.kind = kind,
                                .key = *key,
                                .value = value,
                                .value_size = (uint32_t)size,
                                .value_sum = storage_sum(value, (uint32_t)size)};
}

void journal_put(struct journal *j, uint8_t kind, const cw_key *key, const void *value, size_t size)
{
    CHECK(size <= JOURNAL_INLINE_MAX);
    const struct storage_put put = a_put(kind, key, value, size);
    add(j, &put, NULL);
}

void journal_lend(struct journal *j, uint8_t kind, const cw_key *key, const void *value, size_t size,
                  void (*back)(void *arg), void *arg)
{
    const struct storage_put put = a_put(kind, key, value, size);
    struct loan *loan = malloc(sizeof *loan);
    if (loan == NULL) {
        j->doomed = true;
        back(arg);
        return;
    }
    *loan = (struct loan){.back = back, .arg = arg};
    add(j, &put, loan);
}

void journal_doom(struct journal *j)
{
    j->doomed = true;
}

void journal_drop(struct journal *j, uint8_t kind, const cw_key *key)
{
    add(j, &(struct storage_put){.kind = kind, .drop = true, .key = *key}, NULL);
}

/* What a store that lost its id held is no register any more, and its room is free. */
static void clear(struct journal *j)
{
    const struct key_slot *slot;
    for (uint64_t at = 0; (slot = storage_next(j->storage, &at)) != NULL;) {
        cw_key key = slot->key;
        journal_drop(j, slot->kind, &key);
    }
}

/* ---- What storage tells ------------------------------------------------------------------------------------------ */

static void on_appended(void *arg, uint64_t ticket, int result, uint64_t position)
{
    struct journal *j = arg;
    (void)position;
    give_back_until(j, ticket);
    if (result < 0) {
        die(j, "a write to the disk failed");
        return;
    }
    j->told = ticket;
    tell(j, true);
    j->events.landed(j->events.arg);
}

static void on_room(void *arg)
{
    struct journal *j = arg;
    try_again(j);
    if (j->state == JOURNAL_OPEN) {
        j->events.landed(j->events.arg); /* time has something to do now */
    }
}

static void on_damaged(void *arg, uint8_t kind, const cw_key *key)
{
    struct journal *j = arg;
    if (j->state == JOURNAL_OPEN) {
        j->events.damaged(j->events.arg, kind, key);
    }
}

static void on_stopped(void *arg, int result)
{
    (void)arg;
    (void)result;
}

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

int journal_open(struct journal **out, const struct journal_options *options, const struct journal_events *events,
                 struct disk *disk)
{
    struct storage_config config = storage_config_default();
    struct journal *j = calloc(1, sizeof *j);
    if (j == NULL) {
        return -ENOMEM;
    }
    j->events = *events;
    j->bytes_max = options->bytes_max;
    j->segment = options->segment;
    list_init(&j->waiters);
    list_init(&j->stuck);
    list_init(&j->loans);
    config.class_id = options->owner;
    config.fresh_id = options->fresh_id;
    config.meta_segment = options->segment;
    config.blob_segment = options->segment < JOURNAL_LONG_SEGMENT ? JOURNAL_LONG_SEGMENT : options->segment;
    config.group_max = options->segment / 4 < GROUP ? options->segment / 4 : GROUP;
    config.inline_max = JOURNAL_INLINE_MAX;
    config.bytes_max = options->bytes_max;
    config.blob_least = LONG_SEGMENTS;
    config.unlisted = true; /* earlier releases gave the log names */
    config.checkpoint_every = (uint64_t)options->segment * CHECKPOINT_SEGMENTS;
    const struct storage_events told = {.arg = j,
                                        .opened = on_opened,
                                        .appended = on_appended,
                                        .room = on_room,
                                        .stopped = on_stopped,
                                        .damaged = on_damaged};
    int rc = storage_open(&j->storage, &config, &told, disk);
    if (rc < 0) {
        free(j);
        return rc;
    }
    j->long_segment = config.blob_segment;
    *out = j;
    return 0;
}

void journal_close(struct journal *j)
{
    if (j == NULL) {
        return;
    }
    j->state = JOURNAL_DEAD;
    tell(j, false);
    forget_stuck(j);
    storage_close(j->storage);
    give_back_until(j, UINT64_MAX);
    free(j);
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

enum journal_state journal_state(const struct journal *j)
{
    return j->state;
}

const char *journal_why(const struct journal *j)
{
    return j->why;
}

uint64_t journal_id(const struct journal *j)
{
    return j->id;
}

uint64_t journal_boot(const struct journal *j)
{
    return j->boot;
}

uint64_t journal_position(const struct journal *j)
{
    struct storage_status status;
    storage_status(j->storage, &status);
    return status.position;
}

bool journal_is_settled(const struct journal *j)
{
    return j->state == JOURNAL_OPEN && !j->doomed && j->told == j->put;
}

uint64_t journal_put_last(const struct journal *j)
{
    return j->doomed ? UINT64_MAX : j->put;
}

bool journal_is_doomed(const struct journal *j)
{
    return j->state == JOURNAL_OPEN && j->doomed;
}

uint64_t journal_put_told(const struct journal *j)
{
    return j->told;
}

void journal_wait(struct journal *j, struct journal_waiter *waiter)
{
    CHECK(!journal_is_settled(j));
    waiter->ticket = journal_put_last(j);
    list_push_back(&j->waiters, &waiter->node);
}

/*
 * Bytes of long values that find places for sure, in whatever order they come: of each file the end may be too short
 * for the next one.
 */
static uint64_t certain(const struct journal *j, const struct storage_status *status, unsigned kept)
{
    const uint64_t most = JOURNAL_VALUE_MAX, files = status->blob_free > kept ? status->blob_free - kept : 0;
    const uint64_t tail = status->blob_free == 0 ? 0 : status->blob_tail; /* else it is for what is moved */
    const uint64_t both = tail + files * (j->long_segment - most);
    return files > 0 && tail < most ? files * j->long_segment - (files - 1) * most : both;
}

static enum journal_room judge(const struct journal *j, const struct storage_status *status, uint64_t bytes,
                               unsigned kept)
{
    return j->stuck_long + bytes <= certain(j, status, kept) ? JOURNAL_ROOM
           : status->blob_more                               ? JOURNAL_ROOM_SOON
                                                             : JOURNAL_ROOM_NONE;
}

enum journal_room journal_room(struct journal *j, size_t bytes, size_t besides)
{
    const uint64_t padded = (bytes + PAGE - 1) / PAGE * (uint64_t)PAGE;
    struct storage_status status;
    storage_status(j->storage, &status);
    /* A value is padded by less than its half. */
    enum journal_room room = judge(j, &status, padded + besides + besides / 2, KEPT);
    j->longs = true;
    if (room != JOURNAL_ROOM) {
        storage_want(j->storage);
    }
    return room;
}

uint64_t journal_scrub(struct journal *j)
{
    return j->state == JOURNAL_OPEN ? storage_scrub(j->storage) : 0;
}

bool journal_is_full(const struct journal *j)
{
    struct storage_status status;
    storage_status(j->storage, &status);
    const uint64_t live = status.meta_live + status.blob_live;
    const bool longs = j->longs || status.blob_segments > 0;
    const bool short_log = !status.meta_more && status.meta_room < j->segment / 2; /* less is for what is under way */
    return j->no_space || short_log || (j->bytes_max > 0 && live / FULL_PERCENT >= j->bytes_max / 100) ||
           (longs && judge(j, &status, JOURNAL_VALUE_MAX, KEPT_FROM_NEW) == JOURNAL_ROOM_NONE);
}

void journal_tick(struct journal *j, cw_time now)
{
    if (journal_is_doomed(j)) {
        storage_renounce(j->storage); /* what this id has said that it holds is not all there */
        die(j, "there was no memory for what had to be written");
        return;
    }
    storage_tick(j->storage, now);
}

cw_time journal_next_wake(const struct journal *j)
{
    return storage_next_wake(j->storage);
}

void journal_status(const struct journal *j, struct journal_status *out)
{
    struct storage_status status;
    storage_status(j->storage, &status);
    *out = (struct journal_status){.records = status.registers,
                                   .live = status.meta_live + status.blob_live,
                                   .bytes = (uint64_t)status.meta_segments * j->segment +
                                            (uint64_t)status.blob_segments * j->long_segment,
                                   .groups = status.groups,
                                   .put = j->put,
                                   .waiting = j->stuck_count,
                                   .scrubbed = status.scrubbed,
                                   .damaged = status.damaged};
}
