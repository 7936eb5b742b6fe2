/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "services/loader.h"

#include "services/builtin.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SHOWN = 100, SPELLED = 2 * 32 + 1, PARTS_MOST = 64 };

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

/*
 * glibc takes a file for one that is open already if it bears the same name, although another file may have been put in
 * its place since (a new build of a service, to be loaded while the old one runs). So each file gets a name of its own:
 * before the path stand 32 times "/." or "//", which change nothing of where it leads, as the bits of a hash of the
 * file's number and time say.
 */
static void spell(const struct stat *st, char out[static SPELLED])
{
    uint64_t hash = (uint64_t)st->st_ino * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)st->st_mtim.tv_sec;
    hash = (hash ^ (uint64_t)st->st_mtim.tv_nsec << 32) * UINT64_C(0xd6e8feb86659fd93);
    for (unsigned i = 0; i < SPELLED / 2; i++) {
        out[2 * i] = '/';
        out[2 * i + 1] = hash >> (63 - i) & 1 ? '.' : '/';
    }
    out[SPELLED - 1] = '\0';
}

/*
 * Of a file that ends before its parts do, as one whose copying was broken off, dlopen() maps what is not there, and
 * the daemon dies at the first touch. Gives where the parts end; 0: that is none of our business, dlopen() says what is
 * wrong.
 */
static uint64_t end_of_parts(const char *path)
{
    ElfW(Ehdr) head;
    ElfW(Phdr) part[PARTS_MOST];
    uint64_t end = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return 0;
    }
    if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_phentsize != sizeof *part || head.e_phnum > PARTS_MOST) {
        close(fd);
        return 0;
    }
    size_t bytes = head.e_phnum * sizeof *part;
    if (pread(fd, part, bytes, (off_t)head.e_phoff) != (ssize_t)bytes) {
        end = head.e_phoff + bytes;
        bytes = 0;
    }
    for (size_t i = 0; i < bytes / sizeof *part; i++) {
        uint64_t last = 0;
        bool loaded = part[i].p_type == PT_LOAD && !__builtin_add_overflow(part[i].p_offset, part[i].p_filesz, &last);
        end = loaded && last > end ? last : end;
    }
    close(fd);
    return end;
}

int loader_open(const char *path, struct loader_module *out, char why[static TABLE_WHY_BYTES])
{
    char name[4096], spelled[SPELLED];
    struct stat st;
    why[0] = '\0';
    if (access(path, R_OK) < 0 || stat(path, &st) < 0) {
        int rc = -errno;
        return wrong(rc, why, path, strerror(-rc));
    }
    if (end_of_parts(path) > (uint64_t)st.st_size) {
        return wrong(-ENOEXEC, why, path, "it is cut short: it ends before its parts do; build or copy it again");
    }
    spell(&st, spelled);
    /* A bare name would be looked for along the library path. */
    if (snprintf(name, sizeof name, "%s%s%s%s", path[0] == '/' ? "" : ".", spelled, path[0] == '/' ? "" : "/", path) >=
        (int)sizeof name) {
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
        return wrong(rc == -EINVAL ? -ENOEXEC : rc, why, path, fault);
    }
    if (builtin_service(service->name) != NULL) {
        char taken[160];
        snprintf(taken, sizeof taken, "its service is called %s, as one that is built in: give it another name",
                 service->name);
        dlclose(handle);
        return wrong(-ENOEXEC, why, path, taken);
    }
    *out = (struct loader_module){handle, service};
    return 0;
}

struct search {
    const struct link_map *map;
    char *out;
};

/* Notes of an ELF file: a head, a name and a content, each filled up to four bytes. */
static void look_at_notes(const uint8_t *at, size_t length, char *out)
{
    ElfW(Nhdr) head;
    while (length >= sizeof head) {
        memcpy(&head, at, sizeof head);
        size_t name = (head.n_namesz + 3U) & ~(size_t)3, content = (head.n_descsz + 3U) & ~(size_t)3;
        if (name > length || content > length || sizeof head + name + content > length) {
            return;
        }
        const uint8_t *id = at + sizeof head + name;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && memcmp(at + sizeof head, "GNU", 4) == 0) {
            for (unsigned i = 0; i < (LOADER_BUILD_ID - 1) / 2 && i < head.n_descsz; i++) {
                snprintf(out + 2 * i, 3, "%02x", id[i]);
            }
        }
        at += sizeof head + name + content;
        length -= sizeof head + name + content;
    }
}

static int look_at_object(struct dl_phdr_info *object, size_t size, void *context)
{
    const struct search *search = context;
    (void)size;
    if (object->dlpi_addr != search->map->l_addr || strcmp(object->dlpi_name, search->map->l_name) != 0) {
        return 0;
    }
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_NOTE) {
            look_at_notes((const uint8_t *)(object->dlpi_addr + part->p_vaddr), part->p_memsz, search->out);
        }
    }
    return 1;
}

void loader_build_id(const struct loader_module *module, char out[static LOADER_BUILD_ID])
{
    struct search search = {.out = out};
    out[0] = '\0';
    if (dlinfo(module->handle, RTLD_DI_LINKMAP, &search.map) == 0) {
        (void)dl_iterate_phdr(look_at_object, &search);
    }
}

void loader_close(struct loader_module *module)
{
    dlclose(module->handle);
    *module = (struct loader_module){NULL, NULL};
}
