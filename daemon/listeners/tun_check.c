/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/listeners/tun_check.h"

#include "daemon/listeners/tun_device.h"
#include "services/tunnel/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY "service \"" TUNNEL_NAME "\""

static const struct config_service *find(const struct daemon_config *config)
{
    for (unsigned i = 0; i < config->service_count; i++) {
        if (config->service[i].enabled && strcmp(config->service[i].name, TUNNEL_NAME) == 0) {
            return &config->service[i];
        }
    }
    return NULL;
}

static const char *option_of(const struct config_service *s, const char *name, const char *otherwise)
{
    for (unsigned i = 0; i < s->options; i++) {
        if (strcmp(s->option[i].name, name) == 0) {
            return s->option[i].value;
        }
    }
    return otherwise;
}

/* False: the options are wrong by themselves. */
static bool place_of(const struct daemon_config *config, const struct config_service *s, struct tunnel_place *out)
{
    char why[ADDRESS_WHY_BYTES], number[16];
    enum address_fault fault;
    struct address_plan plan;
    snprintf(number, sizeof number, "%u", config->cluster);
    const struct address_wish wish = {.subnet4 = option_of(s, "subnet", NULL),
                                      .subnet6 = option_of(s, "subnet6", NULL),
                                      .cluster = (uint32_t)strtoul(option_of(s, "cluster", number), NULL, 10),
                                      .dims = config->dims,
                                      .job = TUNNEL_JOB};
    if (address_plan_make(&plan, &wish, &fault, why) < 0) {
        return false;
    }
    const cw_coord c = config->self;
    cw_server self = ((cw_server)c.x * config->dims.y + c.y) * config->dims.z + c.z;
    *out = (struct tunnel_place){.length4 = plan.length4};
    address_of(&plan, self, 4, &out->own4);
    address_of(&plan, self, 6, &out->own6);
    return true;
}

void tun_check(const struct daemon_config *config, struct preflight *p)
{
    char why[TUN_DEVICE_WHY], key[64];
    enum tun_fault fault;
    struct tunnel_place place;
    const struct config_service *s = find(config);
    if (s == NULL) {
        return;
    }
    if (config->place == CONFIG_WHOLE) {
        preflight_tell(config, p, true, KEY,
                       "a torus inside one process has no devices: take the section out, or give each server a daemon");
        return;
    }
    bool known =
        config->place == CONFIG_STATIC && !config->misplaced && config->dims.x != 0 && place_of(config, s, &place);
    const struct tun_wish wish = {.name = option_of(s, "device", TUNNEL_DEVICE),
                                  .place = known ? &place : NULL,
                                  .force = strcmp(option_of(s, "force", "no"), "yes") == 0};
    int rc = tun_device_check(&wish, &fault, why);
    if (rc < 0 || why[0] != '\0') {
        bool given = rc < 0 && option_of(s, tun_fault_option(fault), NULL) != NULL;
        snprintf(key, sizeof key, KEY "%s%s", given ? ".options." : "", given ? tun_fault_option(fault) : "");
        preflight_tell(config, p, rc < 0 && rc != -EACCES, key, why);
    }
}
