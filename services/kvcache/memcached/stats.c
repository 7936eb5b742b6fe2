/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/memcached/stats.h"

#include "cubeway/version.h"
#include "services/kvcache/memcached/answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VERSION_TEXT "1.6.18-cubeway-" CW_VERSION
const char mc_version[] = VERSION_TEXT;
const char mc_version_line[] = "VERSION " VERSION_TEXT;

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

static void count_look(struct mc_tally *t, const struct kv_result *r)
{
    t->gets++;
    if (r->status != KV_OK) {
        t->misses++;
        return;
    }
    t->hits++;
    uint64_t *from = r->source == KV_FROM_HERE   ? &t->from_here
                     : r->source == KV_FROM_COPY ? &t->from_copy
                                                 : &t->from_root;
    ++*from;
}

static void count_cas(struct mc_tally *t, enum kv_status status)
{
    t->sets++;
    t->cas_hits += status == KV_OK;
    t->cas_misses += status == KV_MISS;
    t->cas_bad += status == KV_EXISTS;
}

void mc_tally_count(struct mc_tally *t, enum kv_op op, const struct kv_result *r)
{
    bool good = r->status == KV_OK;
    t->failed += r->status > KV_NOT_NUMBER;
    switch (op) {
    case KV_GAT:
        t->touches++;
        t->touched += good;
        count_look(t, r);
        break;
    case KV_GET:
    case KV_LOOK:
        count_look(t, r);
        break;
    case KV_CAS:
        count_cas(t, r->status);
        break;
    case KV_TOUCH:
        t->touches++;
        t->touched += good;
        break;
    case KV_DELETE:
        t->deletes++;
        t->deleted += good;
        break;
    case KV_INCR:
        t->incrs++;
        t->incred += good;
        break;
    case KV_DECR:
        t->decrs++;
        t->decred += good;
        break;
    default:
        t->sets++;
        break;
    }
}

void mc_tally_reset(struct mc_tally *t)
{
    *t = (struct mc_tally){0};
}

/* ---- Showing ----------------------------------------------------------------------------------------------------- */

enum { LINE = 160 };

static bool stat_text(struct mc_buffer *out, const char *name, const char *value)
{
    char line[LINE];
    snprintf(line, sizeof line, "STAT %s %s", name, value);
    return mc_answer_line(line, out);
}

static bool stat_number(struct mc_buffer *out, const char *name, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return stat_text(out, name, text);
}

static bool stat_seconds(struct mc_buffer *out, const char *name, int64_t us)
{
    char text[48];
    snprintf(text, sizeof text, "%" PRId64 ".%06" PRId64, us / 1000000, us % 1000000);
    return stat_text(out, name, text);
}

static bool write_numbers(const struct mc_tally *t, struct mc_buffer *out)
{
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"total_connections", t->connections_came},
        {"rejected_connections", t->connections_refused},
        {"cmd_get", t->gets},
        {"cmd_set", t->sets},
        {"cmd_flush", t->flushes},
        {"cmd_touch", t->touches},
        {"get_hits", t->hits},
        {"get_misses", t->misses},
        {"get_hits_here", t->from_here},
        {"get_hits_copy", t->from_copy},
        {"get_hits_root", t->from_root},
        {"delete_misses", t->deletes - t->deleted},
        {"delete_hits", t->deleted},
        {"incr_misses", t->incrs - t->incred},
        {"incr_hits", t->incred},
        {"decr_misses", t->decrs - t->decred},
        {"decr_hits", t->decred},
        {"cas_misses", t->cas_misses},
        {"cas_hits", t->cas_hits},
        {"cas_badval", t->cas_bad},
        {"touch_hits", t->touched},
        {"touch_misses", t->touches - t->touched},
        {"failed_operations", t->failed},
        {"idle_kicks", t->idle_kicks},
        {"slow_kicks", t->slow_kicks},
        {"bytes_read", t->bytes_read},
        {"bytes_written", t->bytes_written},
    };
    bool good = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        good = good && stat_number(out, rows[i].name, rows[i].value);
    }
    return good;
}

static bool write_general(const struct mc_tally *t, const struct mc_facts *f, struct mc_buffer *out)
{
    return stat_number(out, "pid", (uint64_t)f->pid) &&
           stat_number(out, "uptime", (uint64_t)(f->uptime.ns / CW_SEC(1).ns)) &&
           stat_number(out, "time", (uint64_t)f->unix_seconds) && stat_text(out, "version", mc_version) &&
           stat_number(out, "pointer_size", 8 * sizeof(void *)) && stat_seconds(out, "rusage_user", f->user_us) &&
           stat_seconds(out, "rusage_system", f->system_us) &&
           stat_number(out, "max_connections", f->config->connections) &&
           stat_number(out, "curr_connections", f->connections) && write_numbers(t, out) &&
           stat_number(out, "answer_bytes", f->answers) && stat_number(out, "threads", 1);
}

static bool write_settings(const struct mc_facts *f, struct mc_buffer *out)
{
    const struct mc_config *c = f->config;
    char host[MC_ADDRESS] = "";
    unsigned port = 0;
    (void)mc_config_split(c->listen, host, &port);
    return stat_number(out, "maxconns", c->connections) && stat_number(out, "tcpport", port) &&
           stat_number(out, "udpport", 0) && stat_text(out, "inter", host) && stat_text(out, "cas_enabled", "yes") &&
           stat_text(out, "flush_enabled", "yes") && stat_number(out, "item_size_max", KV_VALUE_MAX) &&
           stat_number(out, "idle_timeout", (uint64_t)(c->idle.ns / CW_SEC(1).ns)) &&
           stat_number(out, "slow_timeout", (uint64_t)(c->slow.ns / CW_SEC(1).ns)) &&
           stat_number(out, "output_bytes", c->output) && stat_number(out, "answer_bytes_max", c->memory) &&
           stat_text(out, "binding_protocol", "ascii") && stat_number(out, "num_threads", 1);
}

static bool is(const char *what, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(what, word, length) == 0;
}

bool mc_stats_write(const char *what, size_t length, struct mc_tally *t, const struct mc_facts *facts,
                    struct mc_buffer *out)
{
    if (length == 0) {
        return write_general(t, facts, out) && mc_answer_line("END", out);
    }
    if (is(what, length, "settings")) {
        return write_settings(facts, out) && mc_answer_line("END", out);
    }
    if (is(what, length, "reset")) {
        mc_tally_reset(t);
        return mc_answer_line("RESET", out);
    }
    /* There are no slabs here. */
    if (is(what, length, "items") || is(what, length, "slabs") || is(what, length, "sizes")) {
        return mc_answer_line("END", out);
    }
    return mc_answer_line("ERROR", out);
}
