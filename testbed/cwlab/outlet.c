/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/cwlab/outlet.h"

#include "testbed/cwlab/lend.h"
#include "testbed/uplink.h"

#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOKS = 1000, BETWEEN_US = 10000 };

int outlet_choose(const struct program_command *self, struct lab *lab)
{
    char nft[LAB_PATH];
    if (lab->driver == LAB_PROCESS) {
        return program_refuse(self, "--uplink needs a namespace for each server: --driver process has none");
    }
    if (command_find("SLIRP4NETNS", UPLINK_PROGRAM, lab->uplink) < 0) {
        return program_refuse(self, "--uplink: there is no " UPLINK_PROGRAM
                                    ", which leads out of the lab: apt-get install " UPLINK_PROGRAM
                                    ", or name its file by SLIRP4NETNS=FILE");
    }
    if (command_find("NFT", "nft", nft) < 0 && access("/usr/sbin/nft", X_OK) < 0) {
        return program_refuse(self, "--uplink: there is no nft, which masks addresses: apt-get install nftables");
    }
    if (lab->gateways[0] == '\0') {
        snprintf(lab->gateways, LAB_GATEWAYS, "0");
    }
    return PROGRAM_GO;
}

/* In a process of its own, which stays in the gateway's namespace. */
static int apply(const struct program_command *self, const struct lab *lab)
{
    char name[TORUS_TEXT], cwctl[] = "cwctl", tunnel[] = "tunnel", nat[] = "nat", option[] = "--apply";
    cw_server s = uplink_server(lab);
    int code = lend_enter(self, lab, s);
    if (code != PROGRAM_GO) {
        return code;
    }
    torus_format(torus_coord(&lab->torus, s), name);
    for (int i = 0; i < LOOKS && if_nametoindex(LAB_UPLINK) == 0; i++) {
        (void)usleep(BETWEEN_US);
    }
    if (if_nametoindex(LAB_UPLINK) == 0) {
        char log[LAB_PATH];
        return program_refuse(self, "--uplink: " UPLINK_PROGRAM " made no device " LAB_UPLINK " for %s: %s says why",
                              name, lab_data(lab, "uplink", ".log", log));
    }
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    (void)dup2(null, STDOUT_FILENO);
    lend_environment(lab, s);
    char *words[] = {cwctl, tunnel, nat, option, NULL};
    return lend_run(self, words);
}

int outlet_open(const struct program_command *self, const struct lab *lab)
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        _exit(apply(self, lab));
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        return program_refuse(self, "--uplink: no process can be made");
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? PROGRAM_GO
               : program_refuse(self, "--uplink: the gateway's rules could not be loaded");
}
