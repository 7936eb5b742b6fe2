/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - the tables of keys. Reading (config.c) and writing (write.c) share them, so that both know the same
 * keys.
 */
#ifndef DAEMON_CONFIG_INTERNAL_H
#define DAEMON_CONFIG_INTERNAL_H

#include "base/setting.h"
#include "daemon/config/config.h"

/* A section whose keys are all settings. key NULL: the file itself; settings NULL: the end of the list. */
struct config_section {
    const char *key;
    const struct setting *settings; /* up to name NULL */
};
extern const struct config_section config_sections[];
extern const struct setting config_torus_keys[];   /* without coordinate, which needs dims */
extern const struct setting config_link_keys[];    /* of struct config_link */
extern const struct setting config_fault_keys[];   /* of struct config_fault */
extern const struct setting config_service_keys[]; /* of struct config_service */

/* How config_check() reports a mistake, and the lines that it reports. */
struct config_report {
    void (*tell)(struct config_report *report, unsigned line, const char *key, const char *text);
    unsigned link_line[CW_LINK_COUNT]; /* of each link's section */
    unsigned line;                     /* of the torus section, or 1 */
};
void config_check(const struct daemon_config *config, struct config_report *report);

#endif
