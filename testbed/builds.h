/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builds.h - copies of the modules that a lab runs. A new build of a service takes the place of the old one by its file
 * name, so a daemon that starts later finds in that file what the others may have refused. The lab keeps each build
 * that it has seen, in the folder of what may grow, until it ends.
 */
#ifndef TESTBED_BUILDS_H
#define TESTBED_BUILDS_H

#include "services/loader.h"
#include "testbed/lab.h"

/*
 * Keeps a copy of the file, unless there is one of this build. A file without a build id is not kept: what cannot be
 * told from others is not found again. 0; -errno: it cannot be read or written, or is no module.
 */
CW_MUST_CHECK int builds_keep(const struct lab *lab, const char *file);
/*
 * A file that has this build of this service: `file` itself, of which a copy is then kept, or the copy that the lab has
 * of it. Gives out; NULL: there is none, or `build` is "".
 */
const char *builds_find(const struct lab *lab, const char *service, const char *build, const char *file,
                        char out[static LAB_PATH]);

#endif
