/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/common.h"

#include "services/store/durable.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINE = 700, PAGE_MOST = 6144 };
enum { CALL_ROOM = 160 }; /* bytes of headers and extensions that the runtime may put beside a call's payload */

const struct metric store_count_names[STORE_COUNTS] = {
    [STORE_COUNT_GETS] = {"gets", "Reads asked for at this server."},
    [STORE_COUNT_WRITES] = {"writes", "Puts and deletes asked for at this server."},
    [STORE_COUNT_SERVED_GETS] = {"served_gets", "Reads of any server answered as leader."},
    [STORE_COUNT_SERVED_WRITES] = {"served_writes", "Puts and deletes of any server done as leader."},
    [STORE_COUNT_LISTS] = {"lists", "Lists asked for at this server."},
    [STORE_COUNT_SERVED_LISTS] = {"served_lists", "Pieces of lists of any server told as leader of a shard."},
    [STORE_COUNT_WATCHES] = {"watches", "Calls that wait for changes asked for at this server."},
    [STORE_COUNT_SERVED_WATCHES] = {"served_watches", "Answers about changes told as leader."},
    [STORE_COUNT_TXNS] = {"txns", "Transactions asked for at this server."},
    [STORE_COUNT_SERVED_TXNS] = {"served_txns", "Transactions of any server done or refused as leader."},
    [STORE_COUNT_RESUMED] = {"resumed", "Transactions that an earlier leader left, and this one brought to their end."},
    [STORE_COUNT_EXPIRED] = {"expired", "Values that went by themselves, as leader of their shard."},
    [STORE_COUNT_REPEATED] = {"repeated", "Writes that came again as leader and were not done again."},
    [STORE_COUNT_STALE] = {"stale", "Writes sent back to start over, because too much had been written since."},
    [STORE_COUNT_CONFLICTS] = {"conflicts", "Conditional writes refused as leader, because the version was another."},
    [STORE_COUNT_MOVED] = {"moved", "Operations sent on to another member."},
    [STORE_COUNT_BUSY] = {"busy", "Operations refused because too many waited already."},
    [STORE_COUNT_FULL] = {"full", "Writes refused because a member has no memory left for values."},
    [STORE_COUNT_OVER_QUOTA] = {"over_quota", "Writes refused as leader because their job holds its quota already."},
    [STORE_COUNT_UNKNOWN] = {"unknown", "Writes asked for here of which nobody knows whether they were done."},
    [STORE_COUNT_NO_QUORUM] = {"no_quorum", "Operations asked for here that no majority of members answered."},
    [STORE_COUNT_NO_ANSWER] = {"no_answer", "Operations asked for here that nobody answered in time."},
    [STORE_COUNT_ATTEMPTS] = {"attempts", "Questions sent to members, for all operations asked for here."},
    [STORE_COUNT_TAKEOVERS] = {"takeovers", "Shards that this server came to lead."},
    [STORE_COUNT_SYNCED] = {"synced", "Registers written again when this server came to lead."},
    [STORE_COUNT_REPAIRED] = {"repaired", "Registers written again for a member that had missed writes."},
    [STORE_COUNT_DEPOSED] = {"deposed", "Times that another server took over a shard which this one led."},
    [STORE_COUNT_GIVEN_UP] = {"given_up", "Times that this server stopped leading because no majority answered."},
    [STORE_COUNT_ASIDE] = {"aside",
                           "Times that this server left a shard to another: its disk was late, or memory short."},
    [STORE_COUNT_DISK_SLOW] = {"disk_slow",
                               "Times that votes and answers waited for this server's disk for 0.3 s or more."},
    [STORE_COUNT_RESENT] = {"resent", "Items sent again to members that had not answered."},
    [STORE_COUNT_LETTERS] = {"letters", "Questions and items that fitted no packet and went by the transport."},
    [STORE_COUNT_LETTERS_HELD] = {"letters_held", "Times that one was told to wait, because too many bytes were here."},
    [STORE_COUNT_REPLACED] = {"replaced", "Members of shards that this server led in whose place another stands now."},
    [STORE_COUNT_GIVEN] = {"given", "Registers given to servers that were to become members."},
    [STORE_COUNT_STRANGE] = {"strange", "Items and questions of another class, shard or life of this server."},
    [STORE_COUNT_WRONG_STORE] = {"wrong_store",
                                 "Of the strange ones, those of another class, or of another life of this server."},
    [STORE_COUNT_WRONG_SHARD] = {"wrong_shard",
                                 "Of the strange ones, those of a shard that this server is no member of."},
    [STORE_COUNT_WRONG_EPOCH] = {"wrong_epoch", "Items of other members of a shard than those that this server knows."},
    [STORE_COUNT_WRONG_BALLOT] = {"wrong_ballot", "Items of a leader after this server had promised another one."},
    [STORE_COUNT_WRONG_LENGTH] = {"wrong_length",
                                  "Of the packets that could not be read, those too short for their head."},
    [STORE_COUNT_DENIED] = {"denied", "Questions about a job's names that came from another job."},
    [STORE_COUNT_MALFORMED] = {"malformed", "Packets that could not be read."},
};

const struct metric store_time_names[STORE_TIMES] = {
    [STORE_TIME_GET] = {"get", "Time of reads asked for here that were answered."},
    [STORE_TIME_WRITE] = {"write", "Time of writes asked for here that were answered."},
    [STORE_TIME_COMMIT] = {"commit", "Time from a write's start at the leader until its members had it."},
    [STORE_TIME_TAKEOVER] = {"takeover", "Time from a leader's first step until its shard was open."},
};

void store_note(struct store *s, enum store_count what)
{
    s->count[what]++;
    cw_counter_add(s->counter[what], 1);
}

void store_say(const struct store *s, cw_level level, const char *format, ...)
{
    char text[LINE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cw_log(s->svc, level, text);
}

const char *store_status_text(cw_store_status status)
{
    static const char *const text[CW_STORE_STATUSES] = {
        [CW_STORE_OK] = "done",
        [CW_STORE_NOT_FOUND] = "not found",
        [CW_STORE_CONFLICT] = "the version there is another",
        [CW_STORE_NO_SPACE] = "no room left for it; deletes still go",
        [CW_STORE_DENIED] = "no privilege",
        [CW_STORE_TOO_LARGE] = "a value has at most 4 MiB",
        [CW_STORE_NO_QUORUM] = "no majority of its members answers; nothing was done",
        [CW_STORE_BUSY] = "too much waits already; nothing was done",
        [CW_STORE_NO_STORE] = "there is no store: cwctl store create disk, or memory, makes one",
        [CW_STORE_NO_ANSWER] = "no answer in time; nothing was done",
        [CW_STORE_UNKNOWN] = "nobody knows whether it was done",
        [CW_STORE_QUOTA] = "the job holds its quota; deletes still go",
    };
    return (unsigned)status < CW_STORE_STATUSES ? text[status] : "?";
}

size_t store_page_room(const struct store *s)
{
    size_t room = cw_mtu(s->svc) - CALL_ROOM - STORE_ANSWER_HEAD;
    return room < PAGE_MOST ? room : PAGE_MOST;
}

bool store_is_full(const struct store *s)
{
    return s->bytes >= s->limits.bytes_max || store_durable_is_full(s);
}

void store_count_registers(struct store *s, const struct store_shard *shard, size_t bytes, size_t registers)
{
    s->bytes += shard->acceptor.table.bytes - bytes;
    s->registers += shard->acceptor.table.registers - registers;
}
