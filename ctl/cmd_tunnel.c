/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_tunnel.c - the network of the server (service ip): its state, its flows, whose an address is, and the names of
 * all servers, for /etc/hosts. It asks by `cwctl service ip`.
 */
#define _GNU_SOURCE /* asprintf, mkostemp */
#include "ctl/commands.h"
#include "hosts/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NAME = 96,
    GRANT = 200,
    RIGHTS = 07777,
    RIGHTS_NEW = 0644, /* all programs of a machine read such a file */
};

const char *tunnel_name(const struct call *call)
{
    const struct arguments_given *network = call_given(call, "network");
    return network != NULL ? network->text : "ip";
}

int tunnel_ask(const struct call *call, const char *command, const char *word, struct rows *rows)
{
    int code = EXIT_FINE;
    struct request_draft *r = request_draft_open("service", call->server);
    request_draft_word(r, tunnel_name(call));
    request_draft_word(r, command);
    if (word != NULL) {
        request_draft_word(r, word);
    }
    int rc = call_ask(call, r, call_patience(call), rows_add, rows, &code);
    request_draft_close(r);
    return rc < 0 ? code : EXIT_FINE;
}

static void print_json(const struct call *call, const struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        message_print(rows->row[i], call->out);
    }
}

/* ---- status ------------------------------------------------------------------------------------------------------ */

/* The causes for which something was dropped; as fields of the state, too. */
static size_t sort_drops(const struct rows *rows, struct message *state)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        struct message *row = rows->row[i];
        int64_t packets = message_get_integer(row, "packets", 0);
        char field[NAME];
        if (packets > 0) {
            rows->row[i] = rows->row[kept];
            rows->row[kept++] = row;
            snprintf(field, sizeof field, "drop_%s", message_get_text(row, "cause", ""));
            for (char *c = strchr(field, '-'); c != NULL; c = strchr(c, '-')) {
                *c = '_';
            }
            message_integer(state, field, packets);
        }
    }
    return kept;
}

static void show_state(const struct call *call, const struct message *state, const struct rows *drops, size_t kept)
{
    static const struct table_column columns[] = {
        {"door", "door", TABLE_TEXT},
        {"device", "device", TABLE_TEXT},
        {"ethernet", "is an Ethernet (tap)", TABLE_TEXT},
        {"netns", "network namespace", TABLE_TEXT},
        {"ipv4", "IPv4 address", TABLE_TEXT},
        {"ipv6", "IPv6 address", TABLE_TEXT},
        {"subnet", "IPv4 of all servers", TABLE_TEXT},
        {"subnet6", "IPv6 of all servers", TABLE_TEXT},
        {"gateway", "is a gateway", TABLE_TEXT},
        {"gateways_near", "gateways that are nearest", TABLE_COUNT},
        {"mtu", "MTU", TABLE_COUNT},
        {"multicast", "packets to many", TABLE_TEXT},
        {"waiting", "waiting packets", TABLE_COUNT},
        {"waiting_bytes", "waiting bytes", TABLE_BYTES},
        {"held_bytes", "bytes behind holes", TABLE_BYTES},
        {"sent", "sent packets", TABLE_SHORT},
        {"longer", "pieces by longer paths", TABLE_SHORT},
        {"marked", "marked (ECN)", TABLE_SHORT},
        {"in_order", "pieces in order", TABLE_SHORT},
        {"filled", "late, filled a hole", TABLE_SHORT},
        {"given_up", "holes given up", TABLE_SHORT},
        {"late_after_all", "late after that", TABLE_SHORT},
        {"lateness_p99_ns", "lateness, 99 of 100", TABLE_SPAN},
        {NULL, NULL, TABLE_TEXT},
    };
    static const struct table_column causes[] = {
        {"cause", "DROPPED", TABLE_TEXT},
        {"packets", "PACKETS", TABLE_SHORT},
        {"meaning", "BECAUSE", TABLE_TEXT},
        {NULL, NULL, TABLE_TEXT},
    };
    table_print_record(state, columns, call->style, call->out);
    if (kept > 0) {
        fputc('\n', call->out);
        table_print(drops->row, kept, causes, call->style, call->out);
    }
}

int run_tunnel_status(struct call *call)
{
    struct rows rows = {NULL, 0, 0}, drops = {NULL, 0, 0};
    int code = tunnel_ask(call, "status", NULL, &rows);
    code = code == EXIT_FINE ? tunnel_ask(call, "drops", NULL, &drops) : code;
    if (code == EXIT_FINE && rows.count > 0) {
        size_t kept = sort_drops(&drops, rows.row[0]);
        bool open = strcmp(message_get_text(rows.row[0], "door", ""), "open") == 0;
        if (call->arguments->json) {
            print_json(call, &rows);
        } else {
            show_state(call, rows.row[0], &drops, kept);
        }
        if (!open) {
            fprintf(call->errors, "cwctl: the network has no device: the daemon's log says why, and the daemon makes "
                                  "it anew when it is restarted\n");
            code = EXIT_NO;
        }
    }
    rows_clear(&rows);
    rows_clear(&drops);
    return code;
}

/* ---- flows ------------------------------------------------------------------------------------------------------- */

int run_tunnel_flows(struct call *call)
{
    static const struct table_column columns[] = {
        {"protocol", "PROTOCOL", TABLE_TEXT},
        {"from", "FROM", TABLE_TEXT},
        {"to", "TO", TABLE_TEXT},
        {"server", "SERVER", TABLE_TEXT},
        {"packets", "PACKETS", TABLE_SHORT},
        {"bytes", "BYTES", TABLE_BYTES},
        {"waiting_bytes", "WAITING", TABLE_BYTES},
        {"idle_ns", "SILENT FOR", TABLE_SPAN},
        {NULL, NULL, TABLE_TEXT},
    };
    struct rows rows = {NULL, 0, 0};
    const struct arguments *a = call->arguments;
    int code = tunnel_ask(call, "flows", a->words > 2 ? a->word[2] : NULL, &rows);
    bool none = rows.count == 0 || !message_has(rows.row[0], "from");
    if (code == EXIT_FINE && none) {
        fprintf(call->errors, "cwctl: nothing was sent from here in the last ten seconds\n");
        code = EXIT_NO;
    } else if (code == EXIT_FINE && a->json) {
        print_json(call, &rows);
    } else if (code == EXIT_FINE) {
        table_print(rows.row, rows.count, columns, call->style, call->out);
    }
    rows_clear(&rows);
    return code;
}

/* ---- explain ----------------------------------------------------------------------------------------------------- */

/*
 * Asks the service jobs what `cwctl job explain` would: may packets go there, and by which entry of the signed record?
 * Adds allowed and grant to the row, or why nobody can tell.
 */
static void ask_grant(const struct call *call, struct message *row)
{
    char from[32], to[48], why[CLIENT_WHY], text[GRANT];
    struct rows said = {NULL, 0, 0};
    if (sscanf(message_get_text(row, "ask", ""), "cwctl job explain %31s %47s", from, to) != 2) {
        return;
    }
    struct request_draft *r = request_draft_open("service", call->server);
    request_draft_word(r, "jobs");
    request_draft_word(r, "explain");
    request_draft_word(r, from);
    request_draft_word(r, to);
    int rc = client_ask(call->client, r, call_patience(call), rows_add, &said, why);
    request_draft_close(r);
    if (rc < 0 || said.count == 0) {
        snprintf(text, sizeof text, "cannot be told: %.150s", rc < 0 ? why : "the service jobs says nothing");
        message_text(row, "grant", text);
        rows_clear(&said);
        return;
    }
    rows_type(&said, "allowed", "");
    bool allowed = message_get_flag(said.row[0], "allowed");
    const char *entry = message_get_text(said.row[0], "entry", "");
    const char *because = message_get_text(said.row[0], "because", "");
    message_flag(row, "allowed", allowed);
    if (allowed) { /* without an entry: no operator has signed a record of this job, and it has that of its service */
        snprintf(text, sizeof text, "%.150s", entry[0] != '\0' ? entry : "built in: the network may send to itself");
    } else {
        snprintf(text, sizeof text, "none: %.150s", because);
    }
    message_text(row, "grant", text);
    rows_clear(&said);
}

int run_tunnel_explain(struct call *call)
{
    static const struct table_column columns[] = {
        {"address", "address", TABLE_TEXT},
        {"outside", "is outside, by a gateway", TABLE_TEXT},
        {"server", "is of server", TABLE_TEXT},
        {"id", "whose number is", TABLE_COUNT},
        {"reachable", "reachable", TABLE_FLAG},
        {"links", "by links", TABLE_TEXT},
        {"longer_links", "longer paths by links", TABLE_TEXT},
        {"hops", "hops", TABLE_COUNT},
        {"hole_wait_ns", "waits for a missing piece", TABLE_SPAN},
        {"allowed", "may be sent to", TABLE_FLAG},
        {"grant", "by which grant", TABLE_TEXT},
        {"ask", "says more", TABLE_TEXT},
        {NULL, NULL, TABLE_TEXT},
    };
    struct rows rows = {NULL, 0, 0};
    int code = tunnel_ask(call, "explain", call->arguments->word[2], &rows);
    bool there = code == EXIT_FINE && rows.count > 0;
    bool reachable = there && strcmp(message_get_text(rows.row[0], "reachable", ""), "yes") == 0, refused = false;
    rows_type(&rows, "", "links");
    if (there) {
        message_flag(rows.row[0], "reachable", reachable);
        ask_grant(call, rows.row[0]);
        refused = message_has(rows.row[0], "allowed") && !message_get_flag(rows.row[0], "allowed");
    }
    if (there && call->arguments->json) {
        print_json(call, &rows);
    } else if (there) {
        table_print_record(rows.row[0], columns, call->style, call->out);
    }
    code = code == EXIT_FINE && (!reachable || refused) ? EXIT_NO : code;
    rows_clear(&rows);
    return code;
}

/* ---- hosts ------------------------------------------------------------------------------------------------------- */

/* The block of a network: its first line, and its last one. */
struct lines {
    char begin[NAME], end[NAME];
};

static const char *domain_of(const struct call *call)
{
    return strcmp(tunnel_name(call), "ip") == 0 ? HOSTS_DOMAIN : tunnel_name(call);
}

static struct hosts_block block_of(const struct call *call, struct lines *lines)
{
    bool built_in = strcmp(tunnel_name(call), "ip") == 0;
    const char *of = built_in ? "" : " of network ", *name = built_in ? "" : tunnel_name(call);
    snprintf(lines->begin, NAME, "# Made by cwctl hosts: the servers of the torus%s%.31s", of, name);
    snprintf(lines->end, NAME, "# End of cwctl hosts%s%.31s", of, name);
    return (struct hosts_block){lines->begin, lines->end, false};
}

static struct hosts_server server_of(const struct message *row)
{
    unsigned x = 0, y = 0, z = 0;
    (void)sscanf(message_get_text(row, "server", ""), "%u,%u,%u", &x, &y, &z);
    return (struct hosts_server){.at = {(uint8_t)x, (uint8_t)y, (uint8_t)z},
                                 .id = (cw_server)message_get_integer(row, "id", 0),
                                 .ipv4 = message_get_text(row, "ipv4", "?"),
                                 .ipv6 = message_get_text(row, "ipv6", "?")};
}

static void write_hosts(const struct rows *rows, const char *domain, FILE *out)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct hosts_server s = server_of(rows->row[i]);
        hosts_write(&s, domain, out);
    }
}

/* The new file gets the owner and the rights of the former one. Access lists and labels are not copied. */
static int keep_rights(const struct stat *former, int fd)
{
    struct stat own;
    int rc = fstat(fd, &own) < 0 ? -errno : 0;
    if (rc == 0 && (own.st_uid != former->st_uid || own.st_gid != former->st_gid)) {
        rc = fchown(fd, former->st_uid, former->st_gid) < 0 ? -errno : 0;
    }
    return rc == 0 && fchmod(fd, former->st_mode & RIGHTS) < 0 ? -errno : rc;
}

/* All lines of `in` (NULL: there is none) but the former block, and the new block, are on the disk. */
static int write_fresh(const struct call *call, FILE *in, const struct rows *rows, FILE *out)
{
    struct lines lines;
    const struct hosts_block ours = block_of(call, &lines);
    int rc = in != NULL ? hosts_copy_others(in, &ours, out) : 0;
    fprintf(out, "%s\n", ours.begin);
    write_hosts(rows, domain_of(call), out);
    fprintf(out, "%s\n", ours.end);
    errno = 0;
    if (rc == 0 && (fflush(out) != 0 || ferror(out))) {
        rc = errno != 0 ? -errno : -EIO;
    }
    return rc == 0 && fsync(fileno(out)) < 0 ? -errno : rc;
}

/* Writes the new file beside the one at `path`, which is no symbolic link, and puts it in that one's place. */
static int replace(const struct call *call, const char *path, FILE *in, const struct rows *rows)
{
    struct stat former = {.st_uid = geteuid(), .st_gid = getegid(), .st_mode = RIGHTS_NEW};
    char *fresh = NULL;
    if (in != NULL && fstat(fileno(in), &former) < 0) {
        return -errno;
    }
    if (in != NULL && !S_ISREG(former.st_mode)) {
        return -EINVAL;
    }
    if (asprintf(&fresh, "%s.XXXXXX", path) < 0) {
        return -ENOMEM;
    }
    int fd = mkostemp(fresh, O_CLOEXEC);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    int rc = out == NULL ? -errno : 0;
    rc = rc < 0 ? rc : keep_rights(&former, fd);
    rc = rc < 0 ? rc : write_fresh(call, in, rows, out);
    if (out != NULL) {
        fclose(out); /* all of it is on the disk, or the file goes */
    } else if (fd >= 0) {
        close(fd);
    }
    rc = rc == 0 && rename(fresh, path) < 0 ? -errno : rc;
    if (rc < 0 && fd >= 0) {
        (void)unlink(fresh);
    }
    free(fresh);
    return rc;
}

/*
 * The file with our block at its end, and without the former one. Where the path is a symbolic link, the file that it
 * leads to is meant, and the link stays. 0; -EILSEQ: the former block has no end; -EINVAL: it is no regular file;
 * -EBUSY: something is mounted there; or another -errno. The file is as it was then.
 */
static int keep_block(const struct call *call, const char *path, const struct rows *rows)
{
    struct stat link;
    char *real = realpath(path, NULL);
    if (real == NULL && (errno != ENOENT || lstat(path, &link) == 0)) {
        return -errno; /* a link that leads nowhere is none that we make a file of */
    }
    FILE *in = real != NULL ? fopen(real, "re") : NULL;
    int rc = real != NULL && in == NULL ? -errno : replace(call, real != NULL ? real : path, in, rows);
    if (in != NULL) {
        fclose(in);
    }
    free(real);
    return rc;
}

static const char *why_not(int rc)
{
    switch (rc) {
    case -EILSEQ:
        return "the line \"# End of cwctl hosts\" is missing: write it behind our names";
    case -EINVAL:
        return "it is no regular file";
    case -EBUSY:
        return "the file is mounted there, as in a container, and cannot be replaced: take the lines of cwctl hosts, "
               "and write them into it";
    default:
        return strerror(-rc);
    }
}

/* 0, or the exit code of a zone that there is not. */
static int zone_of(const struct call *call, enum hosts_zone *zone)
{
    const struct arguments_given *given = call_given(call, "zone");
    if (given == NULL || hosts_zone_parse(given->text, zone) == 0) {
        return 0;
    }
    fprintf(call->errors, "cwctl: --zone %s: expected dnsmasq or unbound\n", given->text);
    return EXIT_USAGE;
}

static void write_zone(const struct call *call, enum hosts_zone zone, const struct rows *rows)
{
    hosts_zone_begin(zone, domain_of(call), call->out);
    for (size_t i = 0; i < rows->count; i++) {
        const struct hosts_server s = server_of(rows->row[i]);
        hosts_zone_write(zone, &s, domain_of(call), call->out);
    }
}

int run_hosts(struct call *call)
{
    struct rows rows = {NULL, 0, 0};
    const struct arguments_given *path = call_given(call, "write");
    enum hosts_zone zone = HOSTS_DNSMASQ;
    int code = zone_of(call, &zone);
    code = code == EXIT_FINE ? tunnel_ask(call, "hosts", NULL, &rows) : code;
    if (code == EXIT_FINE && path != NULL) {
        int rc = keep_block(call, path->text, &rows);
        if (rc < 0) {
            fprintf(call->errors, "cwctl: %s: %s\n", path->text, why_not(rc));
            code = EXIT_NO;
        }
    } else if (code == EXIT_FINE && call->arguments->json) {
        print_json(call, &rows);
    } else if (code == EXIT_FINE && call_given(call, "zone") != NULL) {
        write_zone(call, zone, &rows);
    } else if (code == EXIT_FINE) {
        write_hosts(&rows, domain_of(call), call->out);
    }
    rows_clear(&rows);
    return code;
}
