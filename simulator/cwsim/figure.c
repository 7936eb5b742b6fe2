/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/figure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_ROOM = 4096 };

int figure_folder(const struct program_command *self, const char *folder)
{
    if (mkdir(folder, 0777) < 0 && errno != EEXIST) {
        int rc = -errno;
        (void)program_refuse(self, "%s: %s", folder, strerror(-rc));
        return rc;
    }
    return 0;
}

static int save_csv(const struct figure *f, const struct report *r, FILE *out)
{
    size_t count = 0;
    while (f->columns[count] != NULL) {
        count++;
    }
    return report_print_csv(r, f->list, f->columns, count, out);
}

static int save_json(const struct figure *f, const struct report *r, FILE *out)
{
    (void)f;
    return report_print_json(r, out);
}

static int save(const struct figure *f, const struct report *r, const char *suffix,
                int (*print)(const struct figure *f, const struct report *r, FILE *out))
{
    char path[PATH_ROOM];
    if (snprintf(path, sizeof path, "%s/%s.%s", f->folder, f->name, suffix) >= (int)sizeof path) {
        return -ENAMETOOLONG;
    }
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        return -errno;
    }
    int rc = print(f, r, out);
    return fclose(out) != 0 && rc == 0 ? -errno : rc;
}

int figure_save(const struct figure *f, const struct report *r)
{
    int rc = save(f, r, "csv", save_csv);
    if (rc == 0) {
        rc = save(f, r, "json", save_json);
    }
    if (rc == 0) {
        rc = plot_write(&f->plot, f->folder, f->name);
    }
    if (rc < 0) {
        (void)program_refuse(f->self, "%s/%s.*: %s", f->folder, f->name, strerror(-rc));
    }
    return rc;
}

void figure_draw(const struct figure *f)
{
    int rc = plot_draw(f->folder, f->name);
    if (rc == -ENOPKG) {
        (void)program_refuse(f->self,
                             "no gnuplot here, so no %s.png (apt-get install gnuplot-nox); "
                             "`gnuplot %s.gp` in %s draws it later",
                             f->name, f->name, f->folder);
    } else if (rc < 0) {
        (void)program_refuse(f->self, "%s/%s.gp was not drawn: %s", f->folder, f->name,
                             rc == -EIO ? "gnuplot failed" : strerror(-rc));
    }
}
