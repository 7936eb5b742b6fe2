/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offline.h - what cubewayd answers without running: its version, a configuration, what is wrong with one. As text, or
 * with --json as one object a line on standard output.
 */
#ifndef DAEMON_CONFIG_OFFLINE_H
#define DAEMON_CONFIG_OFFLINE_H

#include "daemon/config/config.h"

#include <stdio.h>

struct offline {
    bool json;
    FILE *out, *errors; /* mistakes and warnings go to errors, unless it is JSON */
};

void offline_version(const struct offline *o);
/* The configuration as a file; as JSON one setting a line, as cwctl config show has it. */
void offline_config(const struct offline *o, const struct daemon_config *config);
/* One thing that is wrong, or is put up with, or is worth to know; the context of the first two is a struct offline. */
void offline_mistake(void *context, const char *text);
void offline_warning(void *context, const char *text);
/*
 * Keeps what is told of a file ("file:line: .."), to print it in the order of its lines: what bears no line of the file
 * comes last, in the order in which it was told. Begin with the first two members set; the context of the two functions
 * is a struct offline_sorter.
 */
struct offline_sorter {
    const struct offline *offline; /* borrowed */
    const char *file;              /* borrowed */
    struct offline_line *line;
    size_t count, room;
};
void offline_sort_mistake(void *context, const char *text);
void offline_sort_warning(void *context, const char *text);
/* Prints all of it, and forgets it. */
void offline_sorted(struct offline_sorter *sorter);
__attribute__((format(printf, 3, 4))) void offline_note(const struct offline *o, const char *file, const char *format,
                                                        ...);
/* How the check of the file ended. */
void offline_checked(const struct offline *o, const char *file, unsigned mistakes, unsigned warnings);

#endif
