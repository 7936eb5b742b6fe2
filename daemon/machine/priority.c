/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/machine/priority.h"

#include "daemon/machine/privileges.h"

#include <errno.h>
#include <stddef.h>

const char priority_realtime_takes[] =
    "it takes CAP_SYS_NICE, and under systemd a unit without RestrictRealtime: the drop-in "
    "/usr/share/doc/cubeway/examples/realtime.conf";
static const char nice_takes[] = "it takes CAP_SYS_NICE or a limit on nice; priority = normal does without";

/* Before other processes of this session. */
static const char *hurry(bool realtime, struct log *log)
{
    if (privileges_hurry(realtime) == 0) {
        return NULL;
    }
    LOG(log, realtime ? CW_LOG_WARN : CW_LOG_INFO,
        realtime ? "priority = realtime was refused: on a busy machine neighbours may count us out"
                 : "not the priority that was asked for: on a busy machine neighbours may count us out",
        {"why", realtime ? priority_realtime_takes : nice_takes});
    return realtime ? "real time: it takes CAP_SYS_NICE, and under systemd a unit without RestrictRealtime"
                    : "all of it: it takes CAP_SYS_NICE or a limit on nice; priority = normal does without";
}

/* And this session before others. */
static const char *hurry_session(void)
{
    switch (-privileges_hurry_session()) {
    case 0:
        return NULL;
    case EXDEV:
        return "other sessions: another process began this session, and its programs would be preferred, too; a "
               "service manager and setsid begin a new one";
    default:
        return "other sessions: it takes CAP_SYS_NICE";
    }
}

const char *priority_take(const struct daemon_config *config, struct log *log)
{
    bool realtime = config->priority == CONFIG_REALTIME;
    if (config->place == CONFIG_WHOLE || config->priority == CONFIG_NORMAL) {
        return config->priority != CONFIG_NORMAL ? "all of it: a torus in one process holds time" : NULL;
    }
    const char *missing = hurry(realtime, log);
    if (realtime && missing == NULL) {
        return NULL; /* real time is before all sessions */
    }
    const char *session = hurry_session();
    if (missing == NULL && session != NULL) {
        LOG(log, CW_LOG_INFO, "not before processes of other sessions: a busy session may keep us waiting",
            {"why", session});
    }
    return missing != NULL ? missing : session;
}
