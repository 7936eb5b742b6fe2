/* SPDX-License-Identifier: Apache-2.0 */
#include "services/reply/refuse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 2, 0))) static void say(cw_request *r, const char *format, va_list args)
{
    char text[REFUSE_TEXT];
    vsnprintf(text, sizeof text, format, args);
    cw_request_text(r, "error", text);
}

int refuse_request(cw_request *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(r, format, args);
    va_end(args);
    return -EINVAL;
}

int refuse_with(cw_request *r, int rc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(r, format, args);
    va_end(args);
    return rc;
}

int refuse_option(cw_request *r, const char *word, const struct words_option *options, size_t n)
{
    char text[REFUSE_TEXT];
    words_explain(word, options, n, text, sizeof text);
    return refuse_request(r, "%s", text);
}

int refuse_setting(cw_svc *s, const char *name, const char *value, const char *expected)
{
    char text[REFUSE_TEXT];
    snprintf(text, sizeof text, "option %s = \"%.100s\": expected %s", name, value, expected);
    cw_log(s, CW_LOG_ERROR, text);
    return -EINVAL;
}
