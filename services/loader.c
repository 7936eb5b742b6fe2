/* SPDX-License-Identifier: Apache-2.0 */
#include "services/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SHOWN = 100 };

/* Shows the end of a long path, so that there is room for the sentence. */
static int wrong(int rc, char why[static TABLE_WHY_BYTES], const char *path, const char *what)
{
    size_t length = strlen(path);
    bool cut = length > PATH_SHOWN;
    int written =
        snprintf(why, TABLE_WHY_BYTES, "%s%s: %s", cut ? "..." : "", cut ? path + length - PATH_SHOWN : path, what);
    why[TABLE_WHY_BYTES - 1] = '\0';
    return written < 0 ? -EINVAL : rc;
}

/* dlerror() begins with the path, as far as it knows it; ours does too. */
static const char *said(const char *path)
{
    const char *text = dlerror();
    size_t length = strlen(path);
    if (text == NULL) {
        return "it cannot be loaded";
    }
    return strncmp(text, path, length) == 0 && strncmp(text + length, ": ", 2) == 0 ? text + length + 2 : text;
}

int loader_open(const char *path, struct loader_module *out, char why[static TABLE_WHY_BYTES])
{
    char name[4096];
    why[0] = '\0';
    if (access(path, R_OK) < 0) {
        int rc = -errno;
        return wrong(rc, why, path, strerror(-rc));
    }
    /* A bare name would be looked for along the library path. */
    if (snprintf(name, sizeof name, "%s%s", strchr(path, '/') != NULL ? "" : "./", path) >= (int)sizeof name) {
        return wrong(-ENAMETOOLONG, why, path, strerror(ENAMETOOLONG));
    }
    /* Every function it needs must be there now, not when it is first called. */
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        return wrong(-ENOEXEC, why, path, said(name));
    }
    cw_service_entry_fn entry;
    *(void **)&entry = dlsym(handle, CW_SERVICE_ENTRY);
    if (entry == NULL) {
        dlclose(handle);
        return wrong(-ENOEXEC, why, path, "it does not export " CW_SERVICE_ENTRY);
    }
    char fault[TABLE_WHY_BYTES];
    const cw_service *service = entry();
    int rc = table_check(service, TABLE_LOADED, fault);
    if (rc < 0) {
        dlclose(handle);
        return wrong(rc, why, path, fault);
    }
    *out = (struct loader_module){handle, service};
    return 0;
}

void loader_close(struct loader_module *module)
{
    dlclose(module->handle);
    *module = (struct loader_module){NULL, NULL};
}
