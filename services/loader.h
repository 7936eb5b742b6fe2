/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader.h - services from files: a .so that exports cw_service_entry (docs/writing-a-service.md).
 *
 * The same file serves simulator and daemon. A program that loads services links cw_service_host, which makes it export
 * the service API. One thread at a time.
 */
#ifndef SERVICES_LOADER_H
#define SERVICES_LOADER_H

#include "services/table.h"

struct loader_module {
    void *handle;
    const cw_service *service; /* valid until loader_close() */
};

/*
 * Opens the file and asks it for its table, which has passed table_check(). Gives *out, to be closed.
 *   -errno     the file cannot be read (-ENOENT, -EACCES, ..)
 *   -ENOEXEC   it is no module that can be loaded here, or it has no cw_service_entry; its table makes no sense; its
 *              service has the name of one that is built in
 * and the other codes of table_check().
 * why[] then says so in one sentence that begins with the path (the end of a long one); it is "" on success.
 */
CW_MUST_CHECK int loader_open(const char *path, struct loader_module *out, char why[static TABLE_WHY_BYTES]);

/*
 * The first 12 hex digits of the build id that the linker wrote into the module (readelf -n shows all of it): it tells
 * two builds of one version apart. "" where the module has none.
 */
enum { LOADER_BUILD_ID = 13 };
void loader_build_id(const struct loader_module *module, char out[static LOADER_BUILD_ID]);

/* Takes the module, whose service must run on no server any more. */
void loader_close(struct loader_module *module);

#endif
