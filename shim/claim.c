/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/claim.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

static bool is_ours(unsigned long inode, const int *fds, unsigned count)
{
    struct stat st;
    for (unsigned i = 0; i < count; i++) {
        if (fstat(fds[i], &st) == 0 && st.st_ino == inode) {
            return true;
        }
    }
    return false;
}

/* Columns: sk RefCnt Type Proto(hex) Iface R Rmem User Inode. */
int claim_interface(uint32_t index, uint16_t ethertype, const int *fds, unsigned count)
{
    char line[256];
    FILE *list = fopen("/proc/thread-self/net/packet", "re");
    int rc = 0;
    if (list == NULL) {
        return 0;
    }
    while (rc == 0 && fgets(line, sizeof line, list) != NULL) {
        unsigned type, at;
        unsigned long inode;
        bool read = sscanf(line, "%*s %*u %*u %x %u %*u %*u %*u %lu", &type, &at, &inode) == 3;
        if (read && type == ethertype && at == index && !is_ours(inode, fds, count)) {
            rc = -EADDRINUSE;
        }
    }
    fclose(list);
    return rc;
}
