/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - every key there is, once: cubewayd.conf(5) in tables. */
#include "daemon/config/internal.h"

#include "services/table.h"

#include <limits.h>

static const char *const level_words[] = {"error", "warn", "info", "debug", NULL};
static const char *const shim_words[] = {"none", "raw", "pcap", "udp", NULL};
static const char *const priority_words[] = {"high", "normal", "realtime", NULL};
static const char *const transit_words[] = {"auto", "kernel", "user", NULL};
static const char *const drop_words[] = {"tail", "oldest", "priority", NULL}; /* as enum node_drop_policy */

#define KEY(struct_type, key, what, field, ...)                                   \
    {                                                                             \
        .name = key, .kind = what, SETTING_FIELD(struct_type, field), __VA_ARGS__ \
    }
#define TOP(name, what, field, ...) KEY(struct daemon_config, name, what, field, __VA_ARGS__)
#define LINK(name, what, field, ...) KEY(struct config_link, name, what, field, __VA_ARGS__)
#define FAULT(name, what, field, ...) KEY(struct config_fault, name, what, field, __VA_ARGS__)
#define SERVICE(name, what, field, ...) KEY(struct config_service, name, what, field, __VA_ARGS__)

enum { PPM_MOST = 1000000, MTU_LEAST = 1500, MTU_MOST = 9000, WEIGHT_MOST = 1000 };
#define US(n) (UINT64_C(1000) * (n)) /* in ns, as spans of settings are limited */
#define MS(n) US(UINT64_C(1000) * (n))
#define HOUR MS(3600 * 1000)

static const struct setting top_keys[] = {
    TOP("name", SETTING_TEXT, name, .least = 1),
    TOP("cluster", SETTING_COUNT, cluster, .most = UINT32_MAX),
    TOP("state_dir", SETTING_TEXT, state_dir, .least = 1),
    TOP("operator_key", SETTING_TEXT, operator_key, .optional = true),
    TOP("job_file", SETTING_TEXT, job_file, .optional = true),
    TOP("user", SETTING_TEXT, user, .optional = true),
    TOP("priority", SETTING_WORD, priority, .words = priority_words),
    TOP("transit", SETTING_WORD, transit, .words = transit_words),
    TOP("watcher", SETTING_BOOL, watcher),
    TOP("watchdog", SETTING_SPAN, watchdog, .most = HOUR),
    TOP("strict", SETTING_BOOL, strict),
    TOP("alone", SETTING_BOOL, alone),
    TOP("mtu", SETTING_COUNT, mtu, .least = MTU_LEAST, .most = MTU_MOST, .optional = true),
    TOP("ethertype", SETTING_HEX, ethertype, .least = 0x0600, .most = 0xffff),
    TOP("ethertype_control", SETTING_HEX, ethertype_control, .least = 0x0600, .most = 0xffff, .optional = true),
    {.name = NULL},
};
static const struct setting control_keys[] = {
    TOP("socket", SETTING_TEXT, control_socket),
    TOP("mode", SETTING_MODE, control_mode, .most = SETTING_ANY),
    TOP("group", SETTING_TEXT, control_group, .optional = true),
    {.name = NULL},
};
static const struct setting metrics_keys[] = {
    TOP("listen", SETTING_TEXT, metrics_listen, .optional = true),
    {.name = NULL},
};
static const struct setting log_keys[] = {
    TOP("level", SETTING_WORD, log_level, .words = level_words),
    {.name = NULL},
};
static const struct setting timer_keys[] = {
    TOP("hello", SETTING_SPAN, timers.hello, .least = US(100), .most = HOUR),
    TOP("dead", SETTING_SPAN, timers.dead, .least = US(200), .most = HOUR),
    TOP("hold", SETTING_SPAN, timers.hold, .least = US(200), .most = HOUR),
    TOP("flood_bound", SETTING_SPAN, timers.flood_bound, .most = HOUR),
    TOP("retry", SETTING_SPAN, timers.retry, .least = US(10), .most = HOUR),
    TOP("pending_limit", SETTING_SPAN, timers.pending_limit, .least = MS(1), .most = HOUR),
    TOP("pace", SETTING_SPAN, timers.pace, .most = HOUR),
    TOP("damp", SETTING_SPAN, timers.damp, .most = HOUR),
    TOP("damp_max", SETTING_SPAN, timers.damp_max, .most = HOUR),
    TOP("refresh", SETTING_SPAN, timers.refresh, .least = MS(1000), .most = 24 * HOUR),
    {.name = NULL},
};
static const struct setting queue_keys[] = {
    TOP("packets", SETTING_COUNT, queue_packets, .least = 1, .most = 1 << 20),
    TOP("bytes", SETTING_COUNT, queue_bytes, .least = 1 << 14, .most = INT_MAX),
    TOP("hold_bytes", SETTING_COUNT, hold_bytes, .least = 1 << 14, .most = INT_MAX),
    {.name = NULL},
};
static const struct setting pump_keys[] = {
    TOP("busy_poll", SETTING_SPAN, busy_poll, .most = HOUR),
    TOP("io_threads", SETTING_BOOL, io_threads),
    TOP("nap", SETTING_SPAN, nap, .most = MS(1)),
    {.name = NULL},
};

static const struct setting nmu_keys[] = {
    TOP("seal_tables", SETTING_BOOL, seal_tables),
    {.name = NULL},
};

const struct config_section config_sections[] = {
    {NULL, top_keys},    {"control", control_keys}, {"metrics", metrics_keys},
    {"log", log_keys},   {"timers", timer_keys},    {"queue", queue_keys},
    {"pump", pump_keys}, {"nmu", nmu_keys},         {NULL, NULL},
};

const struct setting config_torus_keys[] = {
    TOP("dims", SETTING_DIMS, dims, .optional = true),
    {.name = NULL},
};
const struct setting config_link_keys[] = {
    LINK("shim", SETTING_WORD, shim, .words = shim_words),
    LINK("interface", SETTING_TEXT, interface, .least = 1, .optional = true),
    LINK("file", SETTING_TEXT, file, .least = 1, .optional = true),
    LINK("local", SETTING_TEXT, local, .least = 1, .optional = true),
    LINK("remote", SETTING_TEXT, remote, .least = 1, .optional = true),
    LINK("rate", SETTING_RATE, bits_per_second, .most = SETTING_ANY, .optional = true),
    LINK("io_thread", SETTING_BOOL, io_thread),
    {.name = NULL},
};
const struct setting config_fault_keys[] = {
    FAULT("loss", SETTING_PPM, loss_ppm, .most = PPM_MOST, .optional = true),
    FAULT("duplicate", SETTING_PPM, duplicate_ppm, .most = PPM_MOST, .optional = true),
    FAULT("reorder", SETTING_PPM, reorder_ppm, .most = PPM_MOST, .optional = true),
    FAULT("corrupt", SETTING_PPM, corrupt_ppm, .most = PPM_MOST, .optional = true),
    FAULT("delay", SETTING_SPAN, delay, .most = HOUR, .optional = true),
    FAULT("rate", SETTING_RATE, bits_per_second, .most = SETTING_ANY, .optional = true),
    FAULT("seed", SETTING_SEED, seed, .most = SETTING_ANY, .optional = true),
    {.name = NULL},
};
const struct setting config_service_keys[] = {
    SERVICE("file", SETTING_TEXT, file, .least = 1, .optional = true),
    SERVICE("enabled", SETTING_BOOL, enabled),
    SERVICE("weight", SETTING_COUNT, policy.weight, .least = 1, .most = WEIGHT_MOST),
    SERVICE("background", SETTING_BOOL, policy.background),
    SERVICE("queue_packets", SETTING_COUNT, policy.queue_packets, .least = 1, .most = 1 << 20),
    SERVICE("queue_bytes", SETTING_COUNT, policy.queue_bytes, .least = 1 << 14, .most = INT_MAX),
    SERVICE("drop", SETTING_WORD, policy.drop, .words = drop_words),
    {.name = NULL},
};
/* Behind its job, those of a service but `file`. */
const struct setting config_network_keys[] = {
    SERVICE("job", SETTING_COUNT, job, .least = TABLE_BUILTIN_JOBS, .most = UINT32_MAX, .optional = true),
    SERVICE("enabled", SETTING_BOOL, enabled),
    SERVICE("weight", SETTING_COUNT, policy.weight, .least = 1, .most = WEIGHT_MOST),
    SERVICE("background", SETTING_BOOL, policy.background),
    SERVICE("queue_packets", SETTING_COUNT, policy.queue_packets, .least = 1, .most = 1 << 20),
    SERVICE("queue_bytes", SETTING_COUNT, policy.queue_bytes, .least = 1 << 14, .most = INT_MAX),
    SERVICE("drop", SETTING_WORD, policy.drop, .words = drop_words),
    {.name = NULL},
};
