/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hitcount.c - hitcount on five servers that are pretended: the service API with nothing behind it, time that
 * passes when the test says so, and an abort when the service breaks a rule.
 */
#include <fake_net.h>

#include <stdio.h>
#include <string.h>

static struct fake_result answer;

/* How many packets of server 0,0,0 that server has seen; -1: the command has failed. */
static int64_t ask(struct fake_net *net, const char *command)
{
    fake_command(net->server[0], command, &answer);
    fake_net_finish(net, &answer);
    return answer.rc == 0 ? fake_int(&answer, 0, "hits") : -1;
}

int main(void)
{
    struct fake_net *net = fake_net_open(cw_service_entry(), (cw_dims){5, 1, 1});
    for (int i = 0; i < 3; i++) {
        fake_command(net->server[0], "walk 2,0,0", &answer);
        fake_net_run(net, CW_MS(1));
    }
    int64_t passed = ask(net, "ask 1,0,0"), arrived = ask(net, "ask 2,0,0"), behind = ask(net, "ask 3,0,0");
    fake_command(net->server[0], "walk nowhere", &answer);
    bool refused = answer.rc < 0;
    size_t left = fake_net_close(net); /* packets that nobody has freed */
    if (passed != 3 || arrived != 3 || behind != 0 || !refused || left != 0) {
        fprintf(stderr, "passed %d, arrived %d, behind %d, refused %d, left %zu\n", (int)passed, (int)arrived,
                (int)behind, refused, left);
        return 1;
    }
    return 0;
}
