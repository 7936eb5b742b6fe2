/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/uplink.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

cw_server uplink_server(const struct lab *lab)
{
    return (cw_server)strtoul(lab->gateways, NULL, 10);
}

int uplink_start(struct crew *c, const struct lab *lab, int ns)
{
    char self[16] = "", path[48], log[LAB_PATH];
    /* /proc is the machine's, where this process may have another number than it knows (crew.h). */
    if (readlink("/proc/self", self, sizeof self - 1) <= 0) {
        return -ENOENT;
    }
    snprintf(path, sizeof path, "/proc/%s/fd/%d", self, ns);
    const char *const argv[] = {lab->uplink, "--configure", "--mtu=1500", "--netns-type=path", path, LAB_UPLINK, NULL};
    const struct crew_order order = {
        .argv = argv, .ns = -1, .log = lab_data(lab, "uplink", ".log", log), .folder = lab->folder};
    return crew_start(c, &order);
}
