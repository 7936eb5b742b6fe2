/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/config/offline.h"

#include "cubeway/version.h"
#include "message/message.h"

#include <stdarg.h>

enum { SENTENCE = 400 };

static void print(const struct offline *o, struct message *m)
{
    message_print(m, o->out);
    message_close(m);
}

void offline_version(const struct offline *o)
{
    if (!o->json) {
        fprintf(o->out, "cubewayd %s\n", CW_VERSION);
        return;
    }
    struct message *m = message_open();
    message_text(m, "program", "cubewayd");
    message_text(m, "version", CW_VERSION);
    print(o, m);
}

static void print_setting(void *context, const char *key, const char *value)
{
    struct message *m = message_open();
    message_text(m, "key", key);
    message_text(m, "value", value);
    print(context, m);
}

void offline_config(const struct offline *o, const struct daemon_config *config)
{
    if (o->json) {
        config_visit(config, print_setting, (void *)(uintptr_t)o);
    } else {
        config_write(config, o->out);
    }
}

static void print_finding(const struct offline *o, const char *kind, const char *text)
{
    struct message *m = message_open();
    message_text(m, "kind", kind);
    message_text(m, "text", text);
    print(o, m);
}

void offline_mistake(void *context, const char *text)
{
    const struct offline *o = context;
    if (o->json) {
        print_finding(o, "mistake", text);
    } else {
        fprintf(o->errors, "cubewayd: %s\n", text);
    }
}

void offline_warning(void *context, const char *text)
{
    const struct offline *o = context;
    if (o->json) {
        print_finding(o, "warning", text);
    } else {
        offline_mistake(context, text);
    }
}

void offline_note(const struct offline *o, const char *file, const char *format, ...)
{
    char text[SENTENCE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (o->json) {
        print_finding(o, "note", text);
    } else {
        fprintf(o->out, "%s: %s\n", file, text);
    }
}

void offline_checked(const struct offline *o, const char *file, unsigned mistakes, unsigned warnings)
{
    if (o->json) {
        struct message *m = message_open();
        message_text(m, "file", file);
        message_flag(m, "good", mistakes == 0);
        message_integer(m, "mistakes", mistakes);
        message_integer(m, "warnings", warnings);
        print(o, m);
    } else if (mistakes == 0 && warnings == 0) {
        fprintf(o->out, "%s: good\n", file);
    } else if (mistakes == 0) {
        fprintf(o->out, "%s: good, with %u warning%s\n", file, warnings, warnings == 1 ? "" : "s");
    }
}
