/* SPDX-License-Identifier: Apache-2.0 */
/* command_options.c - the options that some commands have: what they are called, mean, and may be. */
#include "ctl/commands.h"

#include <string.h>

/* ---- Options of some commands ------------------------------------------------------------------------------------ */

static const struct arguments_option options[] = {
    {"count", ARGUMENTS_NUMBER, "count", false, "N", "how many packets to send, or frames to capture"},
    {"interval", ARGUMENTS_SPAN, "interval_us", false, "TIME",
     "time from one packet to the next (when the last is answered)"},
    {"size", ARGUMENTS_NUMBER, "size", false, "BYTES", "bytes of payload in a packet"},
    {"lost-after", ARGUMENTS_SPAN, "timeout_us", false, "TIME", "time after which a packet counts as lost (1s)"},
    {"rows", ARGUMENTS_FLAG, "rows", false, "", "print a line for every packet"},
    {"dead", ARGUMENTS_TEXT, "dead", true, "SERVER", "suppose that this server has died; may be given again"},
    {"job", ARGUMENTS_TEXT, "job", false, "SERVICE", "the service or job whose name KEY is, by name or number"},
    {"heirs", ARGUMENTS_NUMBER, "heirs", false, "N", "how many servers to list, in the order of the key (4)"},
    {"all", ARGUMENTS_FLAG, "all", false, "", "show everything, not only what matters"},
    {"name", ARGUMENTS_TEXT, "name", false, "NAME", "the name that the service must have"},
    {"option", ARGUMENTS_TEXT, "option", true, "NAME=VALUE", "an option of the service itself; may be given again"},
    {"check", ARGUMENTS_FLAG, "check", false, "", "only say whether it could be done"},
    {"undo", ARGUMENTS_FLAG, "undo", false, "", "put back what the last reload of the service NAME replaced"},
    {"everywhere", ARGUMENTS_FLAG, NULL, false, "", "on all daemons of the lab, or of this machine: on all or on none"},
    {"weight", ARGUMENTS_NUMBER, "weight", false, "N", "share of a link against other services, 1 to 1000 (10)"},
    {"background", ARGUMENTS_FLAG, "background", false, "", "send only when no other service wants the link"},
    {"queue-packets", ARGUMENTS_NUMBER, "queue_packets", false, "N", "how many packets may wait"},
    {"queue-bytes", ARGUMENTS_NUMBER, "queue_bytes", false, "BYTES", "how many bytes may wait"},
    {"drop", ARGUMENTS_TEXT, "drop", false, "tail|oldest|priority", "which packet is dropped when the queue is full"},
    {"key", ARGUMENTS_TEXT, NULL, false, "FILE", "the operator's private key (CUBEWAY_OPERATOR_KEY)"},
    {"file", ARGUMENTS_TEXT, NULL, false, "FILE", "a file whose bytes are the value"},
    {"flags", ARGUMENTS_NUMBER, NULL, false, "N", "32 bits that are kept beside the value"},
    {"expire", ARGUMENTS_SPAN, NULL, false, "TIME", "when the value goes by itself (never)"},
    {"r", ARGUMENTS_NUMBER, NULL, false, "N", "on how many servers each value is kept: 3 or 4 (3)"},
    {"if-version", ARGUMENTS_NUMBER, NULL, false, "N", "only if that is the version there (0: if there is no value)"},
    {"if-absent", ARGUMENTS_FLAG, NULL, false, "", "leave what is there already"},
    {"prefix", ARGUMENTS_FLAG, NULL, false, "", "all names that begin with KEY"},
    {"after", ARGUMENTS_TEXT, NULL, false, "NAME", "only names behind this one"},
    {"most", ARGUMENTS_NUMBER, NULL, false, "N", "only the first N"},
    {"no-wait", ARGUMENTS_FLAG, NULL, false, "", "end now, without waiting until all servers have it"},
    {"replace", ARGUMENTS_FLAG, NULL, false, "", "replace jobs that are there by those of the file"},
    {"cluster", ARGUMENTS_NUMBER, NULL, false, "N", "the cluster for which the file is signed"},
    {"dims", ARGUMENTS_TEXT, NULL, false, "XxYxZ", "the dimensions of the torus, for coordinates in the file"},
    {"to", ARGUMENTS_TEXT, NULL, true, "all|SERVER|GROUP", "who gets the file; may be given again"},
    {"as", ARGUMENTS_TEXT, NULL, false, "NAME", "the name of the file there (as here)"},
    {"mode", ARGUMENTS_TEXT, "mode", false, "OCTAL", "the mode of the file there, for example 644 (as here)"},
    {"keep", ARGUMENTS_FLAG, "keep", false, "", "where a file of that name exists, keep it, and say so"},
    {"progress", ARGUMENTS_FLAG, NULL, false, "", "show how far it is, on standard error (on a terminal: always)"},
    {"members", ARGUMENTS_FLAG, "members", false, "", "print a line for every server that gets the file"},
    {"follow", ARGUMENTS_FLAG, "follow", false, "", "go on with what happens, until q or Ctrl-C"},
    {"write", ARGUMENTS_TEXT, NULL, false, "FILE", "keep the names in this file, between two lines of our own"},
    {"zone", ARGUMENTS_TEXT, NULL, false, "dnsmasq|unbound", "lines for the configuration of this name server"},
    {"network", ARGUMENTS_TEXT, NULL, false, "NAME", "another network than the one that is built in (ip)"},
    {"apply", ARGUMENTS_FLAG, NULL, false, "", "load the rules and set the sysctls now"},
    {"device", ARGUMENTS_TEXT, NULL, false, "NAME", "the device that leads outside (gateway_device)"},
    {"full", ARGUMENTS_TEXT, NULL, false, "RATE",
     "what counts as a full cable, as 1gbit (the busiest one, or 1 Mbit/s)"},
    {"last", ARGUMENTS_NUMBER, NULL, false, "N", "of the past, only the last N"},
    {"labels", ARGUMENTS_FLAG, NULL, false, "", "labels for both ends of each cable"},
    {"force", ARGUMENTS_FLAG, "force", false, "", "leave, whatever stands against it"},
    {"effective", ARGUMENTS_FLAG, NULL, false, "", "what is in force, including defaults (always so)"},
    {"from", ARGUMENTS_TEXT, NULL, false, "NAME", "the file of each server, below the data folder there"},
    {"of", ARGUMENTS_TEXT, NULL, true, "SERVER", "a server whose vector is counted; may be given again (all servers)"},
    {"without", ARGUMENTS_FLAG, NULL, false, "", "when servers die, go on without them, and name them"},
    {"copies", ARGUMENTS_TEXT, NULL, false, "NAME",
     "when a server dies, others read their copy of its file: NAME, with the server for %, as copies/%"},
    {"order", ARGUMENTS_TEXT, NULL, false, "any|fixed", "fixed: the same bits in every run, and slower (any)"},
    {"limit", ARGUMENTS_SPAN, NULL, false, "TIME", "fail when nothing has moved for so long (30s)"},
    {"bytes", ARGUMENTS_NUMBER, NULL, false, "N", "how long each vector is, as 50M (10M)"},
    {"map", ARGUMENTS_TEXT, NULL, false, "MAPPER",
     "words, lines, kv, field:N, field:N:SEPARATOR, records or module:NAME (words)"},
    {"combine", ARGUMENTS_TEXT, NULL, false, "WHAT",
     "sum min max count avg first last topk:K set:K module:NAME none (sum)"},
    {"top", ARGUMENTS_NUMBER, NULL, false, "N", "only the N keys with the greatest values, the greatest first"},
    {"partitions", ARGUMENTS_NUMBER, NULL, false, "N", "in so many parts the keys go to the trees (96)"},
    {"path", ARGUMENTS_TEXT, NULL, false, "WAY",
     "records go over trees, shortest, direct, or auto: the fastest (auto)"},
    {"by", ARGUMENTS_TEXT, NULL, false, "x|y|z|server", "an answer for each plane of the torus, or each server"},
    {"on", ARGUMENTS_TEXT, NULL, true, "SERVER", "ask this server; may be given again (all servers)"},
    {"within", ARGUMENTS_SPAN, NULL, false, "TIME", "answer after so long, whoever is silent (1s)"},
    {"every", ARGUMENTS_SPAN, NULL, false, "TIME", "ask again every TIME, from 50ms on, until q or Ctrl-C"},
    {"for", ARGUMENTS_SPAN, NULL, false, "TIME", "with --every: for so long"},
    {"keep-for", ARGUMENTS_SPAN, NULL, false, "TIME", "keep what was fed for so long after the program has ended (3s)"},
    {NULL, ARGUMENTS_FLAG, NULL, false, NULL, NULL},
};

const struct arguments_option *commands_options(void)
{
    return options;
}

#define HOUR_US (INT64_C(3600) * 1000 * 1000)

/* Bounds that hold for every daemon; daemons know the others. */
static const struct {
    const char *option;
    int64_t least, most;
    const char *text;
} ranges[] = {
    {"count", 1, INT64_MAX, "a whole number from 1 on, as 1000 or 10k"},
    {"interval", 0, HOUR_US, "a time with its unit from 0 to 1h, as 5s or 200ms"},
    {"lost-after", 1, HOUR_US, "a time with its unit from 1us to 1h, as 5s or 200ms"},
    {"heirs", 1, 4096, "a whole number from 1 to 4096"},
    {"last", 1, INT64_MAX, "a whole number from 1 on, as 1000 or 10k"},
    {"weight", 1, 1000, "a whole number from 1 to 1000"},
    {"most", 1, INT64_MAX, "a whole number from 1 on"},
    {"if-version", 0, INT64_MAX, "a whole number, as store get --json tells it"},
    {"flags", 0, UINT32_MAX, "a whole number from 0 to 4294967295"},
    {"limit", 1, HOUR_US, "a time with its unit from 1us to 1h, as 5s or 200ms"},
    {"bytes", 1, INT64_MAX, "a whole number from 1 on, as 50M"},
    {"within", 20 * 1000, 60 * 1000 * 1000, "a time with its unit from 20ms to 60s"},
    {"every", 50 * 1000, HOUR_US, "a time with its unit from 50ms to 1h, as 1s or 100ms"},
    {"for", 1, 30 * 24 * HOUR_US, "a time with its unit from 1us to 720h, as 1min"},
    {"keep-for", 3000 * 1000, 24 * HOUR_US, "a time with its unit from 3s to 24h, as 1h"},
    {"expire", 1, 30 * 24 * HOUR_US, "a time with its unit from 1us to 720h, as 5s or 200ms"},
};

const char *commands_refusal(const struct arguments_given *given)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        bool good = ranges[i].least <= given->number && given->number <= ranges[i].most;
        if (strcmp(ranges[i].option, given->option->name) == 0 && !good) {
            return ranges[i].text;
        }
    }
    return NULL;
}

const char *commands_option_help(const struct command *c, const struct arguments_option *option)
{
    static const struct {
        const char *command, *option, *help;
    } own[] = {
        {"aggregate reduce", "to", "which server gets the result, or all, and the name of the file there"},
        {"aggregate words", "to", "SERVER:NAME (again: a part to each), each:NAME, all:NAME, or - (here)"},
        {"aggregate run", "to", "SERVER:NAME (again: a part to each), each:NAME, all:NAME, or - (here)"},
        {"aggregate words", "from", "the file of each server, below the data folder there, or feed:FEED"},
        {"aggregate run", "from", "the file of each server, below the data folder there, or feed:FEED"},
        {"aggregate check", "to", "which server gets the sum, or all (the one that is asked)"},
        {"drops", "all", "show causes of which nothing was dropped, too"},
        {"wiring", "all", "show every cable of the torus, not only those of this server"},
        {"doctor", "all", "ask every server in view, and put together what they say"},
        {"store txn", "file", "a file with a clause in each line (those that begin with # do not count)"},
        {"store export", "file", "the archive that is written (standard output)"},
        {"watch", "every", "draw it again every TIME (1s)"},
        {"events", "all", "show the events of every server in view, not only those of this daemon"},
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (strcmp(own[i].command, c->name) == 0 && strcmp(own[i].option, option->name) == 0) {
            return own[i].help;
        }
    }
    return option->help;
}

bool commands_takes(const struct command *c, const struct arguments_option *option)
{
    size_t length = strlen(option->name);
    for (const char *at = c->options; *at != '\0';) {
        size_t word = strcspn(at, " ");
        if (word == length && memcmp(at, option->name, length) == 0) {
            return true;
        }
        at += word + (at[word] == ' ');
    }
    return false;
}
