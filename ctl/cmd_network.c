/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_network.c - what other programs of this machine are told of a network (service ip): the rules by which a
 * gateway's kernel masks addresses (nftables), the list by which containers get theirs (CNI), and the units by which
 * systemd-networkd makes the device. It asks the service for its state, and changes nothing but by nat --apply.
 */
#define _GNU_SOURCE /* popen */
#include "ctl/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT = 80, EACH4 = 24, EACH6 = 64 };

/* The state of the network, in one row. */
static int ask_state(const struct call *call, struct rows *rows)
{
    int code = tunnel_ask(call, "status", NULL, rows);
    if (code == EXIT_FINE && rows->count == 0) {
        fprintf(call->errors, "cwctl: the network says nothing of itself\n");
        code = EXIT_NO;
    }
    return code;
}

static const char *field(const struct rows *state, const char *name)
{
    return message_get_text(state->row[0], name, "");
}

/* Prints what `write` writes, or with --json one object that has it as a text. */
static void give(const struct call *call, const struct rows *state, const char *device,
                 void (*write)(const struct call *call, const struct rows *state, const char *device, FILE *out))
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = call->arguments->json ? open_memstream(&text, &length) : call->out;
    if (out == NULL) {
        return;
    }
    write(call, state, device, out);
    if (out != call->out) {
        struct message *m = message_open();
        fclose(out);
        message_text(m, "network", tunnel_name(call));
        message_text(m, "text", text);
        message_print(m, call->out);
        message_close(m);
        free(text);
    }
}

/* ---- nat --------------------------------------------------------------------------------------------------------- */

static const char *const sysctls[] = {"net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding"};

/* The device that leads outside. NULL: nobody has named it, and that is told. */
static const char *outside_device(const struct call *call, const struct rows *state)
{
    const struct arguments_given *given = call_given(call, "device");
    const char *device = given != NULL ? given->text : field(state, "gateway_device");
    bool good = device[0] != '\0' && strlen(device) < 16 && strpbrk(device, "\"\\\n/ ") == NULL;
    if (!good) {
        fprintf(call->errors,
                "cwctl: which device leads outside? Name it by --device, or in cubewayd.conf: network "
                "%s { gateway { device = eth0 } }\n",
                tunnel_name(call));
    }
    return good ? device : NULL;
}

/* Loaded again, they take the place of those before: the first line makes the table if there is none. */
static void write_rules(const struct call *call, const struct rows *state, const char *device, FILE *out)
{
    const char *name = tunnel_name(call), *inside = field(state, "device");
    fprintf(out, "table inet cubeway-%s\ndelete table inet cubeway-%s\ntable inet cubeway-%s {\n", name, name, name);
    fprintf(out, "    chain mask {\n        type nat hook postrouting priority srcnat; policy accept;\n");
    fprintf(out, "        oifname \"%s\" ip saddr %s masquerade\n", device, field(state, "subnet"));
    fprintf(out, "        oifname \"%s\" ip6 saddr %s masquerade\n    }\n", device, field(state, "subnet6"));
    fprintf(out, "    chain segments {\n        type filter hook forward priority mangle; policy accept;\n");
    fprintf(out, "        iifname \"%s\" tcp flags syn tcp option maxseg size set rt mtu\n", inside);
    fprintf(out, "        oifname \"%s\" tcp flags syn tcp option maxseg size set rt mtu\n    }\n}\n", inside);
}

static void write_file(const struct call *call, const struct rows *state, const char *device, FILE *out)
{
    fprintf(out, "# A gateway of network %s. nft -f FILE loads this; beside it:\n", tunnel_name(call));
    for (size_t i = 0; i < sizeof sysctls / sizeof *sysctls; i++) {
        fprintf(out, "#     sysctl -w %s=1\n", sysctls[i]);
    }
    write_rules(call, state, device, out);
}

static int set_sysctl(const char *name)
{
    char path[TEXT];
    snprintf(path, sizeof path, "/proc/sys/%s", name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    int rc = fd < 0 || write(fd, "1\n", 2) != 2 ? -errno : 0;
    if (fd >= 0) {
        close(fd);
    }
    return rc;
}

/*
 * Nothing is changed where the two devices are not: the daemon may be in another namespace than we are. A machine
 * without IPv6 has nothing to forward there.
 */
static int apply_rules(const struct call *call, const struct rows *state, const char *device)
{
    const char *const devices[] = {field(state, "device"), device};
    for (size_t i = 0; i < 2; i++) {
        if (if_nametoindex(devices[i]) == 0) {
            fprintf(call->errors,
                    "cwctl: there is no device %s here: rules are loaded where the gateway's daemon runs, "
                    "in its network namespace\n",
                    devices[i]);
            return EXIT_NO;
        }
    }
    for (size_t i = 0; i < sizeof sysctls / sizeof *sysctls; i++) {
        int rc = set_sysctl(sysctls[i]);
        if (rc < 0 && !(rc == -ENOENT && i > 0)) {
            fprintf(call->errors, "cwctl: %s cannot be set: %s\n", sysctls[i], strerror(-rc));
            return EXIT_NO;
        }
    }
    FILE *nft = popen("nft -f -", "we");
    if (nft != NULL) {
        write_rules(call, state, device, nft);
    }
    int ended = nft != NULL ? pclose(nft) : -1;
    if (ended != 0) {
        fprintf(call->errors, "cwctl: nft has not loaded the rules%s\n",
                ended != -1 && WIFEXITED(ended) && WEXITSTATUS(ended) == 127 ? ": it is in the package nftables" : "");
    }
    return ended == 0 ? EXIT_FINE : EXIT_NO;
}

int run_tunnel_nat(struct call *call)
{
    struct rows state = {NULL, 0, 0};
    int code = ask_state(call, &state);
    if (code == EXIT_FINE && strcmp(field(&state, "gateway"), "yes") != 0) {
        fprintf(call->errors,
                "cwctl: this server is no gateway: its number is not in network %s { gateway { servers } "
                "} of cubewayd.conf\n",
                tunnel_name(call));
        code = EXIT_NO;
    }
    const char *device = code == EXIT_FINE ? outside_device(call, &state) : NULL;
    if (code == EXIT_FINE && device == NULL) {
        code = EXIT_USAGE;
    } else if (code == EXIT_FINE && call_given(call, "apply") != NULL) {
        code = apply_rules(call, &state, device);
    } else if (code == EXIT_FINE) {
        give(call, &state, device, write_file);
    }
    rows_clear(&state);
    return code;
}

/* ---- cni --------------------------------------------------------------------------------------------------------- */

/* "10.64.11." of "10.64.11.1", "fd00:0:1:b::" of "fd00:0:1:b::1". */
static void stem_of(const char *address, char out[static TEXT])
{
    size_t length = strlen(address);
    snprintf(out, TEXT, "%.*s", (int)(length > 0 ? length - 1 : 0), address);
}

static void write_cni(const struct call *call, const struct rows *state, const char *device, FILE *out)
{
    char four[TEXT], six[TEXT];
    (void)device;
    stem_of(field(state, "ipv4"), four);
    stem_of(field(state, "ipv6"), six);
    fprintf(out,
            "{\n"
            "  \"cniVersion\": \"1.0.0\",\n"
            "  \"name\": \"cubeway-%s\",\n"
            "  \"plugins\": [\n"
            "    {\n"
            "      \"type\": \"ptp\",\n"
            "      \"mtu\": %" PRId64 ",\n"
            "      \"ipMasq\": false,\n"
            "      \"ipam\": {\n"
            "        \"type\": \"host-local\",\n"
            "        \"ranges\": [\n"
            "          [{\"subnet\": \"%s0/%d\", \"rangeStart\": \"%s2\", \"rangeEnd\": \"%s254\", \"gateway\": "
            "\"%s1\"}],\n"
            "          [{\"subnet\": \"%s/%d\", \"rangeStart\": \"%s2\", \"gateway\": \"%s1\"}]\n"
            "        ],\n"
            "        \"routes\": [{\"dst\": \"0.0.0.0/0\"}, {\"dst\": \"::/0\"}]\n"
            "      }\n"
            "    }\n"
            "  ]\n"
            "}\n",
            tunnel_name(call), message_get_integer(state->row[0], "mtu", 0), four, EACH4, four, four, four, six, EACH6,
            six, six);
}

int run_tunnel_cni(struct call *call)
{
    struct rows state = {NULL, 0, 0};
    int code = ask_state(call, &state);
    if (code == EXIT_FINE) {
        give(call, &state, NULL, write_cni);
    }
    rows_clear(&state);
    return code;
}

/* ---- networkd ---------------------------------------------------------------------------------------------------- */

static void write_networkd(const struct call *call, const struct rows *state, const char *device, FILE *out)
{
    const char *four = field(state, "ipv4"), *six = field(state, "ipv6");
    bool tap = strcmp(field(state, "ethernet"), "yes") == 0;
    (void)call;
    fprintf(out,
            "# /etc/systemd/network/30-%s.netdev\n"
            "[NetDev]\n"
            "Name=%s\n"
            "Kind=%s\n"
            "MTUBytes=%" PRId64 "\n"
            "\n"
            "[%s]\n"
            "User=cubeway\n"
            "VNetHeader=yes\n"
            "\n"
            "# /etc/systemd/network/30-%s.network\n"
            "# The daemon puts ECN on the two routes when it starts, for which networkd has no word.\n"
            "[Match]\n"
            "Name=%s\n"
            "\n"
            "[Network]\n"
            "LinkLocalAddressing=no\n"
            "IPv6AcceptRA=no\n"
            "ConfigureWithoutCarrier=yes\n"
            "IgnoreCarrierLoss=yes\n"
            "Address=%s/32\n"
            "Address=%s/128\n"
            "\n",
            device, device, tap ? "tap" : "tun", message_get_integer(state->row[0], "mtu", 0), tap ? "Tap" : "Tun",
            device, device, four, six);
    fprintf(out, "[Route]\nDestination=%s\nScope=link\nPreferredSource=%s\n\n", field(state, "subnet"), four);
    fprintf(out, "[Route]\nDestination=%s\nPreferredSource=%s\n", field(state, "subnet6"), six);
}

int run_tunnel_networkd(struct call *call)
{
    struct rows state = {NULL, 0, 0};
    int code = ask_state(call, &state);
    if (code == EXIT_FINE) {
        give(call, &state, field(&state, "device"), write_networkd);
    }
    rows_clear(&state);
    return code;
}
