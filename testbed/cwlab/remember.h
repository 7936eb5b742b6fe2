/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remember.h - services that were loaded, replaced or unloaded while a lab runs stay so: a daemon that is started again
 * reads its configuration file, so that is made to say what runs.
 */
#ifndef TESTBED_CWLAB_REMEMBER_H
#define TESTBED_CWLAB_REMEMBER_H

#include "services/loader.h"
#include "testbed/lab.h"

enum { REMEMBER_MODULES = 16, REMEMBER_OPTIONS = 512 };

/* The modules that one daemon runs, in their order. */
struct remembered {
    unsigned count;
    struct remembered_module {
        char service[LAB_NAME], file[LAB_PATH], options[REMEMBER_OPTIONS]; /* "name=value name=value" */
        char build[LOADER_BUILD_ID];
        uint32_t weight;
        bool background;
    } module[REMEMBER_MODULES];
};

/*
 * Copies a configuration that conf.h wrote, with these modules in the place of those that it has. -EIO.
 */
CW_MUST_CHECK int remember_write(FILE *in, const struct remembered *what, FILE *out);
/*
 * Asks all daemons of the lab what they run, and writes it into their configurations: where a module's file has another
 * build by now, the lab's copy of the one that runs (builds.h). A daemon that is dead gets what the others run, where
 * they all run the same. Nothing is done where all servers live in one process, which is never
 * started again. 0, or -errno of the first file that could not be written.
 */
CW_MUST_CHECK int remember_services(const struct lab *lab);

#endif
