/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/builds.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_BYTES = 1 << 16, STEM = TABLE_NAME_MAX + LOADER_BUILD_ID + 1 };

/* Which service it is of, and which build. */
static int look(const char *file, char service[static TABLE_NAME_MAX + 1], char build[static LOADER_BUILD_ID])
{
    struct loader_module module;
    char why[TABLE_WHY_BYTES];
    int rc = loader_open(file, &module, why);
    if (rc == 0) {
        snprintf(service, TABLE_NAME_MAX + 1, "%s", module.service->name);
        loader_build_id(&module, build);
        loader_close(&module);
    }
    return rc;
}

static bool is(const char *file, const char *service, const char *build)
{
    char its_name[TABLE_NAME_MAX + 1], its_build[LOADER_BUILD_ID];
    return look(file, its_name, its_build) == 0 && strcmp(its_name, service) == 0 && strcmp(its_build, build) == 0;
}

static char *place(const struct lab *lab, const char *service, const char *build, const char *end,
                   char out[static LAB_PATH])
{
    char stem[STEM + 1];
    snprintf(stem, sizeof stem, "%.*s-%.*s", TABLE_NAME_MAX, service, LOADER_BUILD_ID - 1, build);
    return lab_data(lab, stem, end, out);
}

static int copy(FILE *in, FILE *out)
{
    char bytes[COPY_BYTES];
    size_t got;
    while ((got = fread(bytes, 1, sizeof bytes, in)) > 0) {
        if (fwrite(bytes, 1, got, out) != got) {
            return -EIO;
        }
    }
    return ferror(in) != 0 || fflush(out) != 0 ? -EIO : 0;
}

static int copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "re");
    if (in == NULL) {
        return -errno;
    }
    FILE *out = fopen(to, "we");
    int rc = out == NULL ? -errno : copy(in, out);
    if (out != NULL && fclose(out) != 0) {
        rc = -EIO;
    }
    fclose(in);
    return rc;
}

/* Another build may have come under the name of the file meanwhile: then it is no copy of this one. */
static int keep(const struct lab *lab, const char *file, const char *service, const char *build)
{
    char kept[LAB_PATH], fresh[LAB_PATH];
    if (access(place(lab, service, build, ".so", kept), R_OK) == 0) {
        return 0;
    }
    int rc = copy_file(file, place(lab, service, build, ".so.new", fresh));
    if (rc == 0 && !is(fresh, service, build)) {
        rc = -ESTALE;
    }
    if (rc == 0 && rename(fresh, kept) < 0) {
        rc = -errno;
    }
    if (rc < 0) {
        (void)unlink(fresh);
    }
    return rc;
}

int builds_keep(const struct lab *lab, const char *file)
{
    char service[TABLE_NAME_MAX + 1], build[LOADER_BUILD_ID];
    int rc = look(file, service, build);
    return rc < 0 || build[0] == '\0' ? rc : keep(lab, file, service, build);
}

const char *builds_find(const struct lab *lab, const char *service, const char *build, const char *file,
                        char out[static LAB_PATH])
{
    if (build[0] == '\0') {
        return NULL;
    }
    if (is(file, service, build)) {
        (void)!keep(lab, file, service, build); /* without a copy this file is all there is */
        snprintf(out, LAB_PATH, "%s", file);
        return out;
    }
    return access(place(lab, service, build, ".so", out), R_OK) == 0 ? out : NULL;
}
