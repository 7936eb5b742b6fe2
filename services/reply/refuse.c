/* SPDX-License-Identifier: Apache-2.0 */
#include "services/reply/refuse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int refuse_request(cw_request *r, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cw_request_text(r, "error", text);
    return -EINVAL;
}
