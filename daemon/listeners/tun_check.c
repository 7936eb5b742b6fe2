/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/listeners/tun_check.h"

#include "daemon/listeners/tun_device.h"
#include "services/tunnel/packet/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A network of the configuration, and what is known of its addresses. */
struct candidate {
    const struct config_service *section;
    bool known;
    struct address_plan plan;
};

static bool is_network(const struct config_service *s)
{
    return s->enabled && s->file[0] == '\0' && (s->job != 0 || strcmp(s->name, TUNNEL_NAME) == 0);
}

static const char *option_of(const struct config_service *s, const char *name, const char *otherwise)
{
    const char *value = config_service_option(s, name);
    return value != NULL ? value : otherwise;
}

/* False: the options are wrong by themselves, or nobody knows yet how large the torus is. */
static bool plan_of(const struct daemon_config *config, const struct config_service *s, struct address_plan *plan)
{
    char why[ADDRESS_WHY_BYTES], number[16];
    enum address_fault fault;
    snprintf(number, sizeof number, "%u", config->cluster);
    const struct address_wish wish = {.subnet4 = option_of(s, "subnet", NULL),
                                      .subnet6 = option_of(s, "subnet6", NULL),
                                      .servers = option_of(s, "servers", NULL),
                                      .gateways = option_of(s, "gateway_servers", NULL),
                                      .outside = option_of(s, "gateway_for", NULL),
                                      .cluster = (uint32_t)strtoul(option_of(s, "cluster", number), NULL, 10),
                                      .dims = config->dims,
                                      .job = s->job != 0 ? s->job : TUNNEL_JOB};
    bool told = s->job != 0 && wish.subnet4 == NULL;
    return config->dims.x != 0 && !told && address_plan_make(plan, &wish, &fault, why) == 0;
}

static cw_server self_of(const struct daemon_config *config)
{
    const cw_coord c = config->self;
    return ((cw_server)c.x * config->dims.y + c.y) * config->dims.z + c.z;
}

static void check_device(const struct daemon_config *config, const struct candidate *n, struct preflight *p)
{
    char why[TUN_DEVICE_WHY], key[CONFIG_KEY];
    enum tun_fault fault;
    struct tunnel_place place = {.stranger = false};
    bool known = n->known && config->place == CONFIG_STATIC && !config->misplaced;
    if (known) {
        tunnel_place(&n->plan, self_of(config), 0, &place);
    }
    const struct tun_wish wish = {.name = option_of(n->section, "device", TUNNEL_DEVICE),
                                  .place = known ? &place : NULL,
                                  .force = strcmp(option_of(n->section, "force", "no"), "yes") == 0,
                                  .ethernet = strcmp(option_of(n->section, "ethernet", "no"), "yes") == 0,
                                  .netns = option_of(n->section, "netns", NULL)};
    if (place.stranger) {
        return;
    }
    int rc = tun_device_check(&wish, &fault, why);
    if (rc < 0 || why[0] != '\0') {
        const char *option = rc < 0 ? tun_fault_option(fault) : NULL;
        preflight_tell(config, p, rc < 0 && rc != -EACCES, config_service_key(n->section, option, key), why);
    }
}

/* Two networks that have addresses in common would get one another's packets. */
static void check_overlap(const struct daemon_config *config, const struct candidate *a, const struct candidate *b,
                          struct preflight *p)
{
    char key[CONFIG_KEY], text[256], own[ADDRESS_TEXT_BYTES], its[ADDRESS_TEXT_BYTES];
    struct ip_address one, two;
    if (!a->known || !b->known || !address_overlap(&a->plan, &b->plan) || a->section->job == b->section->job) {
        return; /* that they are one job is told already */
    }
    unsigned la = address_subnet(&a->plan, 4, &one), lb = address_subnet(&b->plan, 4, &two);
    bool four = memcmp(a->plan.prefix6, b->plan.prefix6, sizeof a->plan.prefix6) != 0;
    if (four) {
        snprintf(text, sizeof text, "%s/%u overlaps with %s/%u of network \"%s\": choose another subnet",
                 address_text(&two, own), lb, address_text(&one, its), la, a->section->name);
    } else {
        snprintf(text, sizeof text, "network \"%s\" has the same IPv6 subnet: choose another subnet6",
                 a->section->name);
    }
    preflight_tell(config, p, true, config_service_key(b->section, four ? "subnet" : "subnet6", key), text);
}

void tun_check(const struct daemon_config *config, struct preflight *p)
{
    struct candidate *all = calloc(CONFIG_SERVICES, sizeof *all);
    unsigned count = 0;
    for (unsigned i = 0; all != NULL && i < config->service_count; i++) {
        struct candidate *n = &all[count];
        char key[CONFIG_KEY];
        if (!is_network(&config->service[i])) {
            continue;
        }
        *n = (struct candidate){.section = &config->service[i]};
        if (config->place == CONFIG_WHOLE) {
            preflight_tell(
                config, p, true, config_service_key(n->section, NULL, key),
                "a torus inside one process has no devices: take the section out, or give each server a daemon");
            continue;
        }
        n->known = plan_of(config, n->section, &n->plan);
        check_device(config, n, p);
        for (unsigned k = 0; k < count; k++) {
            check_overlap(config, &all[k], n, p);
        }
        count++;
    }
    free(all);
}
