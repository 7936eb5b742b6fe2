/* SPDX-License-Identifier: Apache-2.0 */
/* lend.h - runs other programs for cwlab: what they find in their environment, and how they end. */
#ifndef TESTBED_CWLAB_LEND_H
#define TESTBED_CWLAB_LEND_H

#include "testbed/cwlab/command.h"

/*
 * Makes the programs that this process runs from now on know their server: CUBEWAY_SOCKET (which cwctl asks unless its
 * options say otherwise), CWLAB_NAME, CWLAB_SERVER, the lab's key (grants_lend_key()), and a PATH that begins with the
 * folder of cwlab, where cwctl is. Shells that read no file of their own take their prompt from PS1.
 */
void lend_environment(const struct lab *lab, cw_server s);
/*
 * For an interactive bash, which sets its own prompt: writes a file that reads the user's own one first and puts lab
 * and server before the prompt. Its path goes to out. False: the shell is no bash, or the file cannot be written.
 */
bool lend_prompt(const struct lab *lab, const char *shell, char out[static LAB_PATH]);
/*
 * This process goes into the server's network namespace, and into the user namespace of the lab, as programs do that it
 * runs from now on. Where servers have names, it sees these, too (names.h). PROGRAM_GO, or an exit code, and standard
 * error says why.
 */
CW_MUST_CHECK int lend_enter(const struct program_command *self, const struct lab *lab, cw_server s);
/*
 * Runs argv (ended by NULL) as a child that dies with this process; gives its exit code, or 128 and its signal as
 * shells do. EXIT_USAGE, with a line on standard error: it could not be waited for.
 */
int lend_run(const struct program_command *self, char *const argv[]);

#endif
