/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/response.h"

#include "base/check.h"
#include "base/digest.h"

#include <errno.h>
#include <stdlib.h>

int response_open(struct response_table *r, uint32_t limit, uint32_t quota, uint64_t salt)
{
    CHECK(quota >= 1);
    *r = (struct response_table){.quota = quota, .salt = salt, .counts_mask = 1};
    /*
     * Each right counts for one requester and one job at most. Then the table is half full, so that probes are short.
     */
    while (r->counts_mask < 4 * limit) {
        r->counts_mask = r->counts_mask << 1;
    }
    r->counts_mask--;
    return expiry_open(&r->table, sizeof(struct response_right), limit, salt);
}

void response_close(struct response_table *r)
{
    free(r->counts);
    r->counts = NULL;
    expiry_close(&r->table);
}

size_t response_bytes(const struct response_table *r)
{
    return expiry_bytes(&r->table) + (r->counts != NULL ? (r->counts_mask + 1) * sizeof *r->counts : 0);
}

/* Identity as one number that is not 0: a keyed digest, so that nobody can choose two identities with one number. */
static uint64_t one_number(const uint64_t *words, size_t count)
{
    uint64_t who = digest_of_words(words, count);
    return who != 0 ? who : 1;
}

static uint64_t who_is(const struct response_table *r, const struct response_requester *requester)
{
    const uint64_t words[] = {r->salt, requester->job, (uint64_t)requester->process << 32 | requester->server};
    return one_number(words, sizeof words / sizeof *words);
}

static uint64_t job_is(const struct response_table *r, cw_job job)
{
    const uint64_t words[] = {r->salt, job};
    return one_number(words, sizeof words / sizeof *words);
}

/* The place of a requester's count, or the empty place where it would be inserted. */
static uint32_t place_of(const struct response_table *r, uint64_t who)
{
    uint32_t at = (uint32_t)who & r->counts_mask;
    while (r->counts[at].who != 0 && r->counts[at].who != who) {
        at = (at + 1) & r->counts_mask;
    }
    return at;
}

/* Empties a place, and moves up the entries behind it that would no longer be found. */
static void empty_place(struct response_table *r, uint32_t hole)
{
    for (uint32_t at = (hole + 1) & r->counts_mask; r->counts[at].who != 0; at = (at + 1) & r->counts_mask) {
        uint32_t home = (uint32_t)r->counts[at].who & r->counts_mask;
        if (((at - home) & r->counts_mask) >= ((at - hole) & r->counts_mask)) {
            r->counts[hole] = r->counts[at];
            hole = at;
        }
    }
    r->counts[hole] = (struct response_count){.who = 0};
}

static void count_one(struct response_table *r, uint64_t who)
{
    struct response_count *count = &r->counts[place_of(r, who)];
    count->who = who;
    count->rights++;
}

static void count_off(struct response_table *r, uint64_t who)
{
    uint32_t at = place_of(r, who);
    CHECK(r->counts[at].rights > 0);
    if (--r->counts[at].rights == 0) {
        empty_place(r, at);
    }
}

struct response_right *response_open_right(struct response_table *r, unsigned speaker,
                                           const struct response_requester *requester,
                                           const struct ext_request *request, cw_time until)
{
    if (r->counts == NULL) {
        r->counts = calloc(r->counts_mask + 1, sizeof *r->counts);
        if (r->counts == NULL) {
            return NULL;
        }
    }
    uint64_t who = who_is(r, requester), job = job_is(r, requester->job);
    uint32_t left = r->table.limit - expiry_count(&r->table);
    if (r->counts[place_of(r, who)].rights >= r->quota || r->counts[place_of(r, job)].rights >= left) {
        return NULL;
    }
    struct response_right *right = expiry_take(&r->table, until);
    if (right == NULL) {
        return NULL;
    }
    count_one(r, who);
    count_one(r, job);
    right->who = who;
    right->of_job = job;
    right->requester = *requester;
    right->request = *request;
    right->path_bytes = 0;
    right->speaker = (uint16_t)speaker;
    return right;
}

struct response_right *response_find(const struct response_table *r, unsigned speaker, uint32_t handle)
{
    struct response_right *right = expiry_find(&r->table, handle);
    return right != NULL && right->speaker == speaker ? right : NULL;
}

void response_end(struct response_table *r, struct response_right *right)
{
    count_off(r, right->who);
    count_off(r, right->of_job);
    expiry_give(&r->table, right);
}

void response_expire(struct response_table *r, cw_time now)
{
    for (struct response_right *right; (right = expiry_due(&r->table, now)) != NULL;) {
        response_end(r, right);
    }
}

struct response_right *response_each_of(const struct response_table *r, unsigned speaker, uint32_t *place)
{
    for (struct response_right *right; (right = expiry_each(&r->table, place)) != NULL;) {
        if (right->speaker == speaker) {
            return right;
        }
    }
    return NULL;
}

void response_end_all(struct response_table *r, unsigned speaker)
{
    uint32_t place = 0;
    for (struct response_right *right; (right = response_each_of(r, speaker, &place)) != NULL;) {
        response_end(r, right);
    }
}

void response_end_of(struct response_table *r, cw_server requester)
{
    uint32_t place = 0;
    for (struct response_right *right; (right = expiry_each(&r->table, &place)) != NULL;) {
        if (right->requester.server == requester) {
            response_end(r, right);
        }
    }
}
