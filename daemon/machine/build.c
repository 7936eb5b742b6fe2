/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "daemon/machine/build.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = BUILD_TEXT - 1, BYTES = DIGITS / 2, ALIGNED = 4 };

/* A field of a note ends where the next one may begin. */
static size_t rounded(size_t size)
{
    return (size + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* True: these notes had the identifier. */
static bool find(const uint8_t *at, size_t size, char *out)
{
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) head;
        memcpy(&head, at, sizeof head);
        size_t name = sizeof head, body = name + rounded(head.n_namesz), end = body + rounded(head.n_descsz);
        if (end > size) {
            break;
        }
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof ELF_NOTE_GNU &&
            memcmp(at + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0 && head.n_descsz >= BYTES) {
            for (unsigned i = 0; i < BYTES; i++) {
                snprintf(out + 2 * (size_t)i, 3, "%02x", at[body + i]);
            }
            return true;
        }
        at += end;
        size -= end;
    }
    return false;
}

/* The program itself comes first: libraries are not looked at. */
static int look(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_NOTE &&
            find((const uint8_t *)(object->dlpi_addr + part->p_vaddr), part->p_memsz, context)) {
            break;
        }
    }
    return 1;
}

void build_name(char out[static BUILD_TEXT])
{
    out[0] = '\0';
    dl_iterate_phdr(look, out);
}
