/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - how far a file is that is sent, and how it ended, as people read it: from the rows of file-send.
 * Texts are UTF-8 and end without a newline.
 */
#ifndef CTL_ASK_PROGRESS_H
#define CTL_ASK_PROGRESS_H

#include "ctl/ask/table.h"

enum { PROGRESS_LINE = 480 };

/* One line about a sending that is under way, or about a member that keeps the others waiting ("what": "slow"). */
void progress_line(const struct message *row, char out[static PROGRESS_LINE]);
/*
 * The same for a terminal, with a bar where there is room for one: at most `columns` cells wide. Only the bar is in
 * colour.
 */
void progress_bar(const struct message *row, unsigned columns, struct table_style style,
                  char out[static PROGRESS_LINE]);

/*
 * Prints how a sending ended: lines, each with its newline. row[0] is that of the sum, the others are the members'.
 */
void progress_end(struct message *const *row, size_t count, FILE *out);

#endif
