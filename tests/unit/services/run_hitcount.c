/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the example from a file and has it count: run_hitcount <hitcount.so>. */
#include "fake_net.h"
#include "services/loader.h"

#include <stdio.h>
#include <string.h>

static struct fake_result request;

static int64_t ask(struct fake_net *net, const char *command)
{
    fake_command(net->server[0], command, &request);
    fake_net_finish(net, &request);
    return request.rc == 0 && fake_has(&request, 0, "hits") ? fake_int(&request, 0, "hits") : -1;
}

int main(int argc, char **argv)
{
    struct loader_module module;
    char why[TABLE_WHY_BYTES];
    if (argc != 2 || loader_open(argv[1], &module, why) < 0) {
        fprintf(stderr, "%s\n", argc == 2 ? why : "usage: run_hitcount <hitcount.so>");
        return 1;
    }
    struct fake_net *net = fake_net_open(module.service, (cw_dims){5, 1, 1});
    for (int i = 0; i < 3; i++) {
        fake_command(net->server[0], "walk 2,0,0", &request);
        fake_net_run(net, CW_MS(1));
    }
    int64_t passed = ask(net, "ask 1,0,0");
    int64_t arrived = ask(net, "ask 2,0,0");
    int64_t behind = ask(net, "ask 3,0,0");
    fake_command(net->server[2], "show", &request);
    bool shown = request.rc == 0 && strcmp(fake_text(&request, 0, "sender"), "0,0,0") == 0 &&
                 fake_int(&request, 0, "hits") == 3 && request.rows == 1;
    fake_command(net->server[2], "walk nowhere", &request);
    bool refused = request.rc < 0;
    size_t left = fake_net_close(net);
    loader_close(&module);
    if (passed != 3 || arrived != 3 || behind != 0 || !shown || !refused || left != 0) {
        fprintf(stderr, "passed %lld, arrived %lld, behind %lld, shown %d, refused %d, left %zu\n", (long long)passed,
                (long long)arrived, (long long)behind, shown, refused, left);
        return 1;
    }
    return 0;
}
