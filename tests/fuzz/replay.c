/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - main() of a fuzz target where there is no libFuzzer: runs the target on every file named and on every
 * file of every folder named, and on each file cut short at every length. A crash names the file: it is printed first
 * with -v. Each run gets its own heap block of the exact size, so that a sanitizer sees one byte too many.
 * Exit 0 when at least one file was run; an empty corpus is a failure, not a pass.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILE_BYTES_MAX = 1 << 20, CUTS_MAX = 4096 };

struct replay {
    uint8_t *bytes; /* FILE_BYTES_MAX */
    unsigned files, failed;
    unsigned long runs;
    bool verbose;
};

static void run_copy(struct replay *r, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, r->bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    r->runs++;
}

static void replay_file(struct replay *r, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        perror(path);
        r->failed++;
        return;
    }
    size_t size = fread(r->bytes, 1, FILE_BYTES_MAX, f);
    bool whole = !ferror(f) && (size < FILE_BYTES_MAX || fgetc(f) == EOF);
    fclose(f);
    if (!whole) {
        fprintf(stderr, "%s: cannot be read, or above %d bytes\n", path, FILE_BYTES_MAX);
        r->failed++;
        return;
    }
    if (r->verbose) {
        printf("%s: %zu bytes\n", path, size);
        fflush(stdout);
    }
    r->files++;
    run_copy(r, size);
    for (size_t cut = 0; cut < size && cut < CUTS_MAX; cut++) {
        run_copy(r, cut);
    }
}

static void replay_path(struct replay *r, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        perror(path);
        r->failed++;
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        replay_file(r, path);
        return;
    }
    struct dirent **names = NULL;
    int count = scandir(path, &names, NULL, alphasort); /* sorted: the same order on every machine */
    for (int i = 0; i < count; i++) {
        char full[4096];
        int length = snprintf(full, sizeof full, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && length > 0 && (size_t)length < sizeof full) {
            replay_file(r, full);
        }
        free(names[i]);
    }
    free(names);
}

int main(int argc, char **argv)
{
    struct replay r = {.bytes = malloc(FILE_BYTES_MAX)};
    if (r.bytes == NULL) {
        return EXIT_FAILURE;
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0) {
            r.verbose = true;
        } else {
            replay_path(&r, argv[i]);
        }
    }
    free(r.bytes);
    printf("%u files, %lu runs\n", r.files, r.runs);
    return r.failed == 0 && r.files > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
