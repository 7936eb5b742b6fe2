/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - what a server must remember over a crash: which incarnations it may have used, and the coordinate that it
 * was given.
 *
 * It is one small file of text, state_dir/<name>.state, with a digest of itself, and is replaced whole: written beside,
 * synced, renamed, and the folder synced. A crash at any instant leaves the old or the new one. One process at a time
 * has it, by a lock on <name>.lock beside it that is held until state_close() or the end of the process.
 */
#ifndef DAEMON_FILES_STATE_H
#define DAEMON_FILES_STATE_H

#include "cubeway/types.h"

enum { STATE_WHY = 512, STATE_PATH = 640 };

struct state {
    uint64_t incarnation; /* the highest one that may have been used; 0: none */
    uint64_t id;          /* of this server, drawn once; 0: not yet */
    bool assigned;        /* dims, self and direction are set */
    cw_dims dims;
    cw_coord self;
    uint8_t direction[CW_LINK_COUNT]; /* of each port; 7 where there is none (boot/place.h) */
};

struct state_file {
    char path[STATE_PATH];
    char folder[STATE_PATH];
    int lock;  /* descriptor */
    bool made; /* the folder was not there before */
    struct state state;
};

/*
 * Reads what was kept. A new server has nothing, and its folder is made when it is missing. 0; or -errno, and why in
 * one sentence. -EBUSY: another daemon of this name runs. -EBADMSG: the file is damaged; it must be removed by hand,
 * for nobody else knows what it held.
 */
CW_MUST_CHECK int state_open(struct state_file *file, const char *folder, const char *name, char why[static STATE_WHY]);
/* Reads what was kept, and makes and locks nothing: for who looks only. As state_open() but for -EBUSY. */
CW_MUST_CHECK int state_look(const char *folder, const char *name, char why[static STATE_WHY]);
/* When this returns 0, the state is on the disk. */
CW_MUST_CHECK int state_save(struct state_file *file, const struct state *state, char why[static STATE_WHY]);
void state_close(struct state_file *file);
/*
 * To be called by root before it becomes another user (it does nothing for others, or for user ""). Gives that user the
 * folder, when state_open() has made it, so that what is found later can be kept; and the lock, so that a daemon that
 * is started as that user can take it. 0, or -errno and why.
 */
CW_MUST_CHECK int state_give(const struct state_file *file, const char *user, char why[static STATE_WHY]);
/* Could state_save() write, as the user of now? 0, or -errno and why. */
CW_MUST_CHECK int state_check(const struct state_file *file, char why[static STATE_WHY]);

/*
 * Gives the first of `count` incarnations that were never used and that nobody will use again. They are above all
 * stored ones, and not less than the time in us, so that a server whose disk was lost still comes back with a new one.
 * They are on the disk when this returns.
 */
CW_MUST_CHECK int state_incarnations(struct state_file *file, uint64_t now_us, uint64_t count, uint64_t *first,
                                     char why[static STATE_WHY]);

#endif
