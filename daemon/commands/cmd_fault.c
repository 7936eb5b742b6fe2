/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fault.c - harm on purpose, in a torus that lives in this process: what pulling plugs does on a real one.
 */
#include "daemon/commands/commands.h"

#include "base/quantity.h"

#include <errno.h>

/* Ends r with the result, and takes it. */
static void end(struct request *r, int rc)
{
    switch (-rc) {
    case 0:
        request_done(r, 0);
        break;
    case EOPNOTSUPP:
        request_refuse(
            r, rc,
            "only for a torus inside one process (torus.coordinate = all); here, pull the plug; in a lab, cwlab "
            "fail SERVER or cwlab link SERVER LINK down");
        break;
    case EALREADY:
        request_flag(r, "already", true);
        request_row(r);
        request_done(r, 0);
        break;
    case ENODEV:
        request_refuse(r, rc, "the torus has no such cable: that axis has one server");
        break;
    default:
        request_done(r, rc);
    }
}

void cmd_fail(struct request *r)
{
    struct host_server *s = commands_hosted(r);
    if (s != NULL) {
        end(r, host_fail(s));
    }
}

void cmd_restore(struct request *r)
{
    struct host_server *s = commands_hosted(r);
    if (s != NULL) {
        end(r, host_restore(s));
    }
}

static void set_cut(struct request *r, bool cut)
{
    struct host_server *s = commands_hosted(r);
    cw_link link;
    if (s != NULL && commands_read_link(r, request_line(r)->argv[0], &link)) {
        end(r, host_cut(s, link, cut));
    }
}

void cmd_cut(struct request *r)
{
    set_cut(r, true);
}

void cmd_mend(struct request *r)
{
    set_cut(r, false);
}
