/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/config/lint.h"

#include "base/quantity.h"
#include "keyspace/torus.h"
#include "services/builtin.h"
#include "services/loader.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

enum { SENTENCE = CONFIG_PATH + TABLE_WHY_BYTES };

__attribute__((format(printf, 3, 4))) static void say(config_mistake_fn *tell, void *context, const char *format, ...)
{
    char text[SENTENCE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tell(context, text);
}

/* The configuration says what is there, be it nothing; or it tried to, and that mistake is told. */
static bool is_spoken_of(const struct config_link *l)
{
    return l->shim != CONFIG_NO_SHIM || l->none_said || l->misread;
}

/* Ports whose directions nobody knows yet: only their number can be too small. */
static unsigned lint_ports(const struct daemon_config *c, const struct torus *t, config_mistake_fn *tell, void *context)
{
    unsigned ports = 0, wanted = t != NULL ? (unsigned)__builtin_popcount(torus_links(t)) : 1;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        ports += is_spoken_of(&c->link[link]);
    }
    if (ports >= wanted) {
        return 0;
    }
    if (t == NULL) {
        say(tell, context, "links: none is configured: this server hears nobody");
    } else {
        say(tell, context, "links: %u configured, and a server of this torus has %u", ports, wanted);
    }
    return 1;
}

unsigned lint_links(const struct daemon_config *c, config_mistake_fn *tell, void *context)
{
    struct torus torus;
    unsigned count = 0;
    bool dims = c->dims.x != 0 && torus_init(&torus, c->dims) == 0;
    if (c->place == CONFIG_WHOLE) {
        return 0; /* it makes its links itself */
    }
    if (c->place == CONFIG_AUTO || !dims) {
        return lint_ports(c, dims ? &torus : NULL, tell, context);
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (!(torus_links(&torus) & cw_links_of(link)) || is_spoken_of(&c->link[link])) {
            continue;
        }
        char far[TORUS_TEXT];
        count++;
        if (c->misplaced) { /* nobody knows who its neighbours are */
            say(tell, context, "links.%s: not configured: there will be no link", quantity_link_name(link));
            continue;
        }
        torus_format(torus_coord(&torus, torus_neighbour(&torus, torus_id(&torus, c->self), link)), far);
        say(tell, context, "links.%s: not configured: there will be no link to %s of %s", quantity_link_name(link),
            quantity_link_name(cw_link_opposite(link)), far);
    }
    return count;
}

unsigned lint_timers(const struct daemon_config *c, config_mistake_fn *tell, void *context)
{
    const struct ls_timers *t = &c->timers;
    if (t->dead.ns >= 3 * t->hello.ns || ls_timers_check(t) < 0 || c->transit == CONFIG_TRANSIT_KERNEL) {
        return 0; /* or config_check() refuses it */
    }
    say(tell, context,
        "timers: dead is less than 3 hello: this leaves no room for lateness, and servers lose their leases without "
        "need");
    return 1;
}

int lint_services(const struct daemon_config *c, config_mistake_fn *tell, void *context)
{
    int rc = 0;
    for (unsigned i = 0; i < c->service_count; i++) {
        const struct config_service *s = &c->service[i];
        struct loader_module module;
        char why[TABLE_WHY_BYTES];
        if (!s->enabled || s->file[0] == '\0') {
            continue;
        }
        if (loader_open(s->file, &module, why) < 0) {
            say(tell, context, "service \"%s\": %s", s->name, why);
            rc = -EINVAL;
            continue;
        }
        /* Any other name is a mere heading: the service runs under the name in its table. */
        if (builtin_service(s->name) != NULL && strcmp(module.service->name, s->name) != 0) {
            say(tell, context,
                "service \"%s\": this name is built in, and the service in %s is called %s: name the section so",
                s->name, s->file, module.service->name);
            rc = -EINVAL;
        }
        loader_close(&module);
    }
    return rc;
}
