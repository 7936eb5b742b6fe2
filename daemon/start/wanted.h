/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wanted.h - what is wanted of cubewayd: its command line, and the configuration that this names. Where only an answer
 * is wanted (--help, --version, --show-config, --check-config), it is given here.
 */
#ifndef DAEMON_START_WANTED_H
#define DAEMON_START_WANTED_H

#include "daemon/config/config.h"

/* The exit codes of cubewayd: it left in order, or answered; it could not start or run; a wrong option or file. */
enum { WANTED_FINE = 0, WANTED_FAILED = 1, WANTED_USAGE = 2 };

/*
 * -1: a daemon is wanted, as *out says; what the command line and the environment (CUBEWAY_STRICT) say goes before what
 * the file says. Otherwise the exit code: all was said that there is to say, mistakes on standard error.
 */
int wanted_read(int argc, char **argv, struct daemon_config *out);

#endif
