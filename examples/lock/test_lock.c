/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_lock.c - the lock on five servers that are pretended: the root of a lock's key dies while the lock is held, and
 * comes back. Nobody else may have the lock as long as its holder believes in it.
 */
#include <fake_net.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct fake_result answer;
static int failures;

static void must(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s: the last command gave %d\n", what, answer.rc);
        failures++;
    }
}

static int command(struct fake_net *net, cw_server at, const char *line)
{
    fake_command(net->server[at], line, &answer);
    fake_net_finish(net, &answer);
    return answer.rc;
}

static cw_server root_of(struct fake_net *net, cw_server asked, const char *name)
{
    cw_coord root = {0, 0, 0};
    cw_key key = cw_key_of(net->server[asked], name, strlen(name));
    (void)cw_servers_for_key(net->server[asked], &key, 1, &root);
    return cw_server_id(net->server[asked], root);
}

/* 0 takes the lock of which `home` is the root, that dies; when can another server have it? In milliseconds. */
static int other_has_it_after(struct fake_net *net, const char *name, cw_server taker, cw_server home)
{
    int waited = 0;
    must(command(net, taker, name) == 0, "a settled root grants");
    fake_net_down(net, home);
    must(root_of(net, taker, name + strlen("take ")) != home, "its heir is the root");
    cw_server other = taker;
    while (other == taker || other == home) {
        other = (other + 1) % 5;
    }
    while (command(net, other, name) != 0 && waited < 1000) {
        fake_net_run(net, CW_MS(1));
        waited++;
    }
    return waited;
}

static int try_roots(const char *const *options, bool naive)
{
    struct fake_net *net = fake_net_open_with(cw_service_entry(), (cw_dims){5, 1, 1}, options);
    fake_net_run(net, CW_SEC(1)); /* no root is new */
    cw_server home = root_of(net, 0, "red"), taker = (home + 1) % 5;
    int waited = other_has_it_after(net, "take red", taker, home);
    if (!naive) {
        must(waited >= 100, "nobody else has it before the holder's term is over");
        must(waited <= 130, "somebody else has it when the grace is over");
        fake_net_up(net, home); /* it knows nothing, and is the root again */
        must(command(net, taker, "take red") == -EAGAIN, "a root that is new refuses");
        fake_net_run(net, CW_MS(200));
        must(command(net, taker, "take red") == 0, "and grants when it is settled");
        net->server[home]->fenced = true; /* others have counted it out: it gets no packet, and nobody an answer */
        must(command(net, taker, "take red") == -ETIMEDOUT, "a root that is fenced is silent");
    }
    must(fake_net_close(net) == 0, "all packets were freed");
    return waited;
}

int main(void)
{
    static const char *const naive[] = {"naive=yes", NULL};
    (void)try_roots(NULL, false);
    must(try_roots(naive, true) < 100, "without its rules the lock has two holders");
    return failures > 0;
}
