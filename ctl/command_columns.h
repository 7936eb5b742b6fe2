/* SPDX-License-Identifier: Apache-2.0 */
/* command_columns.h - the columns of the tables that answers are shown in: a part of commands.c. */
#ifndef CTL_COMMAND_COLUMNS_H
#define CTL_COMMAND_COLUMNS_H

#include "ctl/ask/table.h"

static const struct table_column drops_columns[] = {
    {"server", "SERVER", TABLE_TEXT},   {"cause", "CAUSE", TABLE_TEXT}, {"packets", "PACKETS", TABLE_COUNT},
    {"meaning", "MEANING", TABLE_TEXT}, {NULL, NULL, TABLE_TEXT},
};

static const struct table_column link_columns[] = {
    {"server", "SERVER", TABLE_TEXT},
    {"link", "LINK", TABLE_TEXT},
    {"neighbour", "NEIGHBOUR", TABLE_TEXT},
    {"state", "STATE", TABLE_STATE},
    {"heard_ns", "HEARD", TABLE_SPAN},
    {"shim", "SHIM", TABLE_TEXT},
    {"on", "ON", TABLE_TEXT},
    {"mtu", "MTU", TABLE_COUNT},
    {"bits_per_second", "RATE", TABLE_RATE},
    {"tx_frames", "SENT", TABLE_SHORT},
    {"tx_bytes", "BYTES", TABLE_BYTES},
    {"rx_frames", "RECEIVED", TABLE_SHORT},
    {"rx_bytes", "BYTES", TABLE_BYTES},
    {"rx_dropped", "OVERRUNS", TABLE_SHORT},
    {"tx_refused", "REFUSED", TABLE_SHORT},
    {"tx_errors", "ERRORS", TABLE_SHORT},
    {"flaps", "FLAPS", TABLE_COUNT},
    {"relay", "RELAY", TABLE_TEXT},
    {"loss_in_ppm", "LOST IN", TABLE_SHARE},
    {"loss_out_ppm", "LOST OUT", TABLE_SHARE},
    {"neighbour_version", "RUNS", TABLE_TEXT},
    {NULL, NULL, TABLE_TEXT},
};

static const struct table_column server_columns[] = {
    {"server", "SERVER", TABLE_TEXT}, {"state", "STATE", TABLE_STATE},      {"hops", "HOPS", TABLE_COUNT},
    {"by", "BY", TABLE_TEXT},         {"links_up", "LINKS UP", TABLE_TEXT}, {NULL, NULL, TABLE_TEXT},
};

static const struct table_column route_columns[] = {
    {"to", "TO", TABLE_TEXT},      {"reachable", "REACHABLE", TABLE_FLAG},
    {"hops", "HOPS", TABLE_COUNT}, {"by", "BY", TABLE_TEXT},
    {NULL, NULL, TABLE_TEXT},
};

static const struct table_column policy_columns[] = {
    {"service", "SERVICE", TABLE_TEXT},
    {"weight", "WEIGHT", TABLE_COUNT},
    {"background", "BACKGROUND", TABLE_MARK},
    {"queue_packets", "AT MOST", TABLE_COUNT},
    {"queue_bytes", "BYTES", TABLE_BYTES},
    {"drop", "DROPS", TABLE_TEXT},
    {NULL, NULL, TABLE_TEXT},
};

static const struct table_column file_columns[] = {
    {"id", "ID", TABLE_COUNT},
    {"name", "NAME", TABLE_TEXT},
    {"from", "FROM", TABLE_TEXT},
    {"server", "TO", TABLE_TEXT},
    {"state", "STATE", TABLE_STATE},
    {"bytes", "BYTES", TABLE_BYTES},
    {"there_bytes", "THERE", TABLE_BYTES},
    {"before_bytes", "BEFORE", TABLE_BYTES},
    {"members", "MEMBERS", TABLE_COUNT},
    {"complete", "COMPLETE", TABLE_COUNT},
    {"had_already", "HAD IT", TABLE_COUNT},
    {"failed", "FAILED", TABLE_COUNT},
    {"slowest", "SLOWEST", TABLE_TEXT},
    {"slowest_bytes", "HAS", TABLE_BYTES},
    {"sent_bytes", "SENT", TABLE_BYTES},
    {"missed_bytes", "MISSED", TABLE_BYTES},
    {"took_ns", "TIME", TABLE_SPAN},
    {"ended_ns", "ENDED", TABLE_SPAN},
    {"bits_per_s", "RATE", TABLE_RATE},
    {"left_ns", "LEFT", TABLE_SPAN},
    {"trees", "TREES", TABLE_TEXT},
    {"links", "LINKS", TABLE_TEXT},
    {"reason", "REASON", TABLE_TEXT},
    {NULL, NULL, TABLE_TEXT},
};

static const struct table_column service_columns[] = {
    {"service", "SERVICE", TABLE_TEXT},
    {"job", "JOB", TABLE_TEXT},
    {"version", "VERSION", TABLE_TEXT},
    {"weight", "WEIGHT", TABLE_COUNT},
    {"background", "BACKGROUND", TABLE_MARK},
    {"queued_packets", "QUEUED", TABLE_COUNT},
    {"queued_bytes", "BYTES", TABLE_BYTES},
    {"queue_packets", "AT MOST", TABLE_COUNT},
    {"queue_bytes", "BYTES", TABLE_BYTES},
    {"drop", "DROPS", TABLE_TEXT},
    {"in_hand", "HANDS", TABLE_COUNT},
    {"timers", "TIMERS", TABLE_COUNT},
    {"calls", "CALLS", TABLE_COUNT},
    {"misuses", "MISUSES", TABLE_COUNT},
    {"commands", "COMMANDS", TABLE_COUNT},
    {"command_age_ns", "SINCE", TABLE_SPAN},
    {"command", "OLDEST", TABLE_TEXT},
    {"build", "BUILD", TABLE_TEXT},
    {"file", "FILE", TABLE_TEXT},
    {NULL, NULL, TABLE_TEXT},
};

static const struct table_column time_columns[] = {
    {"server", "SERVER", TABLE_TEXT}, {"service", "SERVICE", TABLE_TEXT}, {"upcall", "UPCALL", TABLE_TEXT},
    {"calls", "CALLS", TABLE_COUNT},  {"mean_ns", "MEAN", TABLE_SPAN},    {"half_ns", "50 %", TABLE_SPAN},
    {"most_ns", "99 %", TABLE_SPAN},  {"longest_ns", "ALL", TABLE_SPAN},  {NULL, NULL, TABLE_TEXT},
};

#endif
