/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - the tables of keys. Reading (config.c) and writing (write.c) share them, so that both know the same
 * keys.
 */
#ifndef DAEMON_CONFIG_INTERNAL_H
#define DAEMON_CONFIG_INTERNAL_H

#include "daemon/config/config.h"
#include "setting/setting.h"

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
extern const struct setting config_network_keys[]; /* of struct config_service, whose section is a network's */

/* How config_check() reports a mistake. The key is a path as conf_line() takes it: it also says the line. */
struct config_report {
    void (*tell)(struct config_report *report, const char *key, const char *text);
    /* Something in these sections was a mistake, which was told: nothing is said of what follows from it. */
    bool dims, timers, queue;
};
/* Reads what can be read, into *out in any case, and returns how many mistakes were told. */
unsigned config_read(const char *file, const char *text, size_t length, struct daemon_config *out,
                     config_mistake_fn *mistake, void *context);
void config_check(const struct daemon_config *config, struct config_report *report);

#endif
