/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preflight.h - finds in advance what the start of a daemon would refuse on this machine: interfaces, addresses, user,
 * group, folders, keys, services and their options.
 *
 * Nothing stays open and nothing is made; no right is needed, and a daemon that runs is not disturbed. Where only root
 * could know better, as for a folder that the caller may not write to, it is a warning.
 */
#ifndef DAEMON_HOST_PREFLIGHT_H
#define DAEMON_HOST_PREFLIGHT_H

#include "daemon/config/config.h"
#include "daemon/config/offline.h"

struct preflight {
    config_mistake_fn *mistake; /* told what the start would refuse: "file:line: key: what is wrong" */
    config_mistake_fn *warning; /* told what the start would put up with, in the same form */
    void *context;
    unsigned mistakes, warnings; /* counted here */
};

/*
 * Looks at all of it, and tells each mistake. The configuration may be one with mistakes (config_load_most()): what it
 * could not read is not looked at.
 */
void preflight(const struct daemon_config *config, struct preflight *p);

/*
 * Reads a file, and tells all of that of it, in the order of its lines. change: called in between, for what goes before
 * what the file says; what it gives ends the check if it is not negative. further: looks, after preflight(), at what
 * other parts of the daemon would find; NULL: nothing. 0; that number; or -errno when the file cannot be read, which is
 * told.
 */
CW_MUST_CHECK int preflight_file(const char *file, struct daemon_config *out, const struct offline *offline,
                                 int (*change)(const void *context, struct daemon_config *config), const void *context,
                                 void (*further)(const struct daemon_config *config, struct preflight *p),
                                 unsigned *mistakes, unsigned *warnings);
/*
 * Tells one mistake, or a warning, of a key of the file, for those that look further. Nothing of a key whose value is a
 * guess (config_line()): its mistake is told by who reads the file.
 */
void preflight_tell(const struct daemon_config *config, struct preflight *p, bool mistake, const char *key,
                    const char *text);
/* The same, with the sentence put together. */
__attribute__((format(printf, 4, 5))) void preflight_wrong(const struct daemon_config *config, struct preflight *p,
                                                           const char *key, const char *format, ...);
__attribute__((format(printf, 4, 5))) void preflight_warn(const struct daemon_config *config, struct preflight *p,
                                                          const char *key, const char *format, ...);
/* A sentence that begins with its key: "links.-x: not configured: ..". */
void preflight_keyed(const struct daemon_config *config, struct preflight *p, bool mistake, const char *text);
/* Reads a file as config_load() does, and tells its mistakes in the order of its lines. 0 or -errno. */
CW_MUST_CHECK int preflight_load(const char *file, struct daemon_config *out, const struct offline *offline);
/* The file has no mistake that preflight_load() would tell; says nothing. */
bool preflight_can_load(const char *file, struct daemon_config *out);
/* As preflight(), for the operator's key and the job file alone, which a start looks at before anything else. */
void preflight_jobs(const struct daemon_config *config, struct preflight *p);

#endif
