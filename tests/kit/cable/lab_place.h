/* SPDX-License-Identifier: Apache-2.0 */
/* lab_place.h - a folder of a test's own for labs. */
#ifndef KIT_LAB_PLACE_H
#define KIT_LAB_PLACE_H

#include "suite.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* CWLAB_DIR is a fresh folder; the caller removes it with place_remove(). */
static inline char *place_make(void)
{
    static char path[64];
    strcpy(path, "/tmp/cwlab-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(path));
    ck_assert_int_eq(setenv("CWLAB_DIR", path, 1), 0);
    return path;
}

static inline void place_remove(const char *path)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    ck_assert_int_eq(system(command), 0);
}

#endif
