/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/common.h"

#include "base/bytes.h"

#include <string.h>

const struct kv_count_name kv_count_names[KV_COUNTS] = {
    [KV_COUNT_GETS] = {"gets", "Reads asked for at this server."},
    [KV_COUNT_WRITES] = {"writes", "Writes and deletes asked for at this server."},
    [KV_COUNT_HITS_HERE] = {"hits_here", "Of the reads, hits at this server as root."},
    [KV_COUNT_HITS_COPY] = {"hits_copy", "Of the reads, hits from a copy."},
    [KV_COUNT_HITS_ROOT] = {"hits_root", "Of the reads, hits at another server as root."},
    [KV_COUNT_MISSES] = {"misses", "Of the reads, those without a value."},
    [KV_COUNT_ROOT_GETS] = {"root_gets", "Reads answered as root."},
    [KV_COUNT_ROOT_WRITES] = {"root_writes", "Writes done as root."},
    [KV_COUNT_SERVED_COPY] = {"served_copy", "Reads of other servers answered from a copy here."},
    [KV_COUNT_FETCHES] = {"fetches", "Copies asked for."},
    [KV_COUNT_POISONED] = {"poisoned", "Of these, taken back before they came."},
    [KV_COUNT_DROPS] = {"drops", "Times a holder was asked to drop a copy."},
    [KV_COUNT_MOVED] = {"moved", "Values and copies dropped because their key moved."},
    [KV_COUNT_RETRIES] = {"retries", "Questions asked again."},
    [KV_COUNT_REPEATED] = {"repeated", "Writes that came again, and were not done again."},
    [KV_COUNT_UNKNOWN] = {"unknown", "Writes of which nobody knows whether they were done."},
    [KV_COUNT_TIMED_OUT] = {"timed_out", "Questions without an answer."},
    [KV_COUNT_BULK] = {"bulk", "Questions that went by the transport."},
    [KV_COUNT_FLUSHES] = {"flushes", "Times this server was asked to drop all values of a job everywhere."},
    [KV_COUNT_MALFORMED] = {"malformed", "Packets and messages that are none of ours."},
};

const struct kv_count_name kv_time_names[KV_TIMES] = {
    [KV_TIME_GET_HERE] = {"get_here", "Reads that hit at this server as root."},
    [KV_TIME_GET_COPY] = {"get_copy", "Reads that hit a copy."},
    [KV_TIME_GET_ROOT] = {"get_root", "Reads that hit at another server as root."},
    [KV_TIME_MISS] = {"get_miss", "Reads without a value."},
    [KV_TIME_SET] = {"set", "Writes that carry a value."},
    [KV_TIME_DELETE] = {"delete", "Deletes."},
    [KV_TIME_OTHER] = {"other", "All other writes."},
};

const char *kv_status_text(enum kv_status status)
{
    static const char *const text[KV_STATUSES] = {
        [KV_OK] = "done",
        [KV_MISS] = "not found",
        [KV_EXISTS] = "changed by somebody else",
        [KV_NOT_STORED] = "not stored",
        [KV_NOT_NUMBER] = "the value is no number",
        [KV_TOO_LARGE] = "too large",
        [KV_NO_MEMORY] = "no memory for it",
        [KV_NO_MAJORITY] = "this side of the cluster is not the majority",
        [KV_TIMED_OUT] = "no answer in time",
        [KV_UNKNOWN] = "nobody knows whether it was done",
        [KV_DENIED] = "no privilege",
    };
    return (unsigned)status < KV_STATUSES ? text[status] : "?";
}

void kv_count(struct kvcache *k, enum kv_counter what)
{
    k->count[what]++;
    cw_counter_add(k->counter[what], 1);
}

struct item_name kv_name(const cw_key *id, const struct kv_request *r)
{
    return (struct item_name){.id = *id, .job = r->job, .key = r->key, .key_length = (uint8_t)r->key_length};
}

cw_key kv_mem_id(struct kvcache *k, cw_job job, const uint8_t *key, size_t length)
{
    uint8_t name[4 + KV_KEY_MAX];
    put_be32(name, job);
    memcpy(name + 4, key, length);
    return cw_key_of(k->svc, name, 4 + length);
}

void kv_keep_bytes(struct kv_request *r, uint8_t *at)
{
    memcpy(at, r->key, r->key_length);
    if (r->value_length > 0) {
        memcpy(at + r->key_length, r->value, r->value_length);
    }
    r->key = at;
    r->value = at + r->key_length;
}
