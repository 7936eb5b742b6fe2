/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/common.h"

#include "base/bytes.h"

#include <stdio.h>
#include <string.h>

const struct metric kv_count_names[KV_COUNTS] = {
    [KV_COUNT_GETS] = {"gets", "Reads asked for at this server."},
    [KV_COUNT_WRITES] = {"writes", "Writes and deletes asked for at this server."},
    [KV_COUNT_HITS_HERE] = {"hits_here", "Reads asked for at this server that hit at this server as root."},
    [KV_COUNT_HITS_COPY] = {"hits_copy", "Reads asked for at this server that hit a copy, here or elsewhere."},
    [KV_COUNT_HITS_ROOT] = {"hits_root", "Reads asked for at this server that hit at another server as root."},
    [KV_COUNT_MISSES] = {"misses", "Reads asked for at this server that found no value."},
    [KV_COUNT_ROOT_GETS] = {"root_gets", "Reads of any server answered as root."},
    [KV_COUNT_ROOT_WRITES] = {"root_writes", "Writes of any server done as root."},
    [KV_COUNT_SERVED_COPY] = {"served_copy", "Reads of other servers answered from a copy here."},
    [KV_COUNT_FETCHES] = {"fetches", "Copies asked for at roots, to be kept here."},
    [KV_COUNT_POISONED] = {"poisoned", "Copies asked for that were taken back before they came."},
    [KV_COUNT_DROPS] = {"drops", "Requests to other servers to drop a copy, before a write."},
    [KV_COUNT_MOVED] = {"moved", "Values and copies dropped because the root of their key changed."},
    [KV_COUNT_RETRIES] = {"retries", "Questions asked again after no answer, or a refusal."},
    [KV_COUNT_REPEATED] = {"repeated", "Writes that came again as root and were not done again."},
    [KV_COUNT_UNKNOWN] = {"unknown", "Writes asked for here of which nobody knows whether they were done."},
    [KV_COUNT_TIMED_OUT] = {"timed_out", "Questions asked here without an answer in time."},
    [KV_COUNT_BULK] = {"bulk", "Questions that fitted no packet and went by the transport."},
    [KV_COUNT_FLUSHES] = {"flushes", "Times this server was asked to drop all values of a job everywhere."},
    [KV_COUNT_MALFORMED] = {"malformed", "Packets and messages that were malformed or not of this service."},
};

const struct metric kv_time_names[KV_TIMES] = {
    [KV_TIME_GET_HERE] = {"get_here", "Time of reads that hit at this server as root."},
    [KV_TIME_GET_COPY] = {"get_copy", "Time of reads that hit a copy."},
    [KV_TIME_GET_ROOT] = {"get_root", "Time of reads that hit at another server as root."},
    [KV_TIME_MISS] = {"get_miss", "Time of reads that found no value."},
    [KV_TIME_SET] = {"set", "Time of writes that carry a value."},
    [KV_TIME_DELETE] = {"delete", "Time of deletes."},
    [KV_TIME_OTHER] = {"other", "Time of writes that neither carry a value nor delete one."},
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

void kv_text(const uint8_t *bytes, size_t length, char *out, size_t room)
{
    size_t at = 0;
    for (size_t i = 0; i < length && at + 5 <= room; i++) {
        if (bytes[i] >= ' ' && bytes[i] <= '~' && bytes[i] != '\\') {
            out[at++] = (char)bytes[i];
        } else {
            at += (size_t)snprintf(out + at, 5, "\\x%02x", bytes[i]);
        }
    }
    out[at] = '\0';
}

const char *kv_who(const struct kvcache *k, const struct item_name *name, char out[static KV_WHO])
{
    char key[128] = "";
    cw_coord c = cw_server_coord(k->svc, k->self);
    if (name == NULL) {
        snprintf(out, KV_WHO, "server %u,%u,%u", c.x, c.y, c.z);
        return out;
    }
    kv_text(name->key, name->key_length, key, sizeof key);
    snprintf(out, KV_WHO, "server %u,%u,%u, key '%s' of job %u", c.x, c.y, c.z, key, name->job);
    return out;
}
