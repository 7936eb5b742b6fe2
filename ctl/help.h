/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.h - the help pages of cwctl, made of the table of commands: of all, of one, and of a group; and what may have
 * been meant where the words of a command line are no command.
 *
 * A group is all commands that begin with the same word, when there are several: "kv get", "kv set" and so on. A group
 * may contain a command of one word ("services" beside "services load").
 */
#ifndef CTL_HELP_H
#define CTL_HELP_H

#include "ctl/commands.h"

/* How many commands the group of that word has; 0: there is no such group. */
size_t help_group_size(const char *word);
/* What the commands of that group are for; NULL: there is no such group. Static. */
const char *help_group_summary(const char *word);
void help_all(FILE *out);
/* One command; where it has the name of a group, the others of the group follow. */
void help_command(const struct command *c, FILE *out);
/* The group of that word, which must be one, without a command of one word. */
void help_group(const char *word, FILE *out);

enum { HELP_NAME = 48 };
/*
 * The name that is nearest to a word that is no command: of the first words of commands, or with `behind` of the
 * commands of that group. False: none is near.
 */
bool help_nearest(const char *behind, const char *word, char out[static HELP_NAME]);
/* Says on errors, in one line, that the words are no command, and what may have been meant. */
void help_refuse(const char *const *words, int count, FILE *errors);

#endif
