/* SPDX-License-Identifier: Apache-2.0 */
/* scene_kit.h - scenes out of rows that are written as text. */
#ifndef UNIT_CTL_WATCH_SCENE_KIT_H
#define UNIT_CTL_WATCH_SCENE_KIT_H

#include "ctl/watch/scene.h"
#include "suite.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static inline struct message *kit_row(const char *text)
{
    char why[200] = "";
    struct message *row = message_parse(text, strlen(text), why, sizeof why);
    ck_assert_msg(row != NULL, "%s: %s", text, why);
    return row;
}

static inline void kit_server(struct scene *s, const char *text)
{
    struct message *row = kit_row(text);
    scene_take_server(s, row);
    message_close(row);
}

static inline void kit_picture(struct scene *s, const char *text)
{
    struct message *row = kit_row(text);
    scene_take_picture(s, row);
    message_close(row);
}

/* A look at a whole torus: all serve, all cables are up, and each link has sent as many bytes as `sent` says. */
static inline struct scene *kit_whole(cw_dims dims, int64_t now_ns, uint64_t sent)
{
    static const char *const links[] = {"+x", "-x", "+y", "-y", "+z", "-z"};
    struct scene *s = scene_new(dims, now_ns / 1000);
    ck_assert_ptr_nonnull(s);
    for (cw_server i = 0; i < s->torus.servers; i++) {
        char name[TORUS_TEXT], text[300];
        torus_format(torus_coord(&s->torus, i), name);
        snprintf(text, sizeof text, "{\"server\": \"%s\", \"now_ns\": %lld, \"state\": \"serving\", \"inside\": 3}",
                 name, (long long)now_ns);
        kit_picture(s, text);
        for (unsigned link = 0; link < CW_LINK_COUNT; link++) {
            snprintf(text, sizeof text,
                     "{\"server\": \"%s\", \"link\": \"%s\", \"state\": \"up\", \"sent_bytes\": %llu, "
                     "\"bits_per_second\": 1000000000}",
                     name, links[link], (unsigned long long)sent);
            kit_picture(s, text);
        }
    }
    return s;
}

#endif
