/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - from the text's tree to the configuration: each key by its table, then the whole against itself (check.c).
 */
#include "daemon/config/internal.h"
#include "daemon/config/reading.h"

#include "base/check.h"
#include "base/digest.h"
#include "base/nearest.h"
#include "base/quantity.h"
#include "conf/conf.h"
#include "keyspace/torus.h"
#include "services/builtin.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const profile_words[] = {"default", "fast", NULL};
static const char *const port_names[] = {"port0", "port1", "port2", "port3", "port4", "port5"};
static const char *const link_words[] = {"port0", "port1", "port2", "port3", "port4", "port5", "fault"};
static const char default_socket[] = "/run/cubeway/<name>.sock";

/* Every key that the file itself may hold, for "did you mean". */
enum { TOP_NAMES = 40 };
static const char *const top_sections[] = {"torus", "links", "service", "network"};

static void tell(struct config_report *report, const char *key, const char *text)
{
    struct reading *r = (struct reading *)(void *)report;
    reading_tell(r, conf_line(&r->tree, key), key, text);
}

static void tell_text(void *context, unsigned line, const char *why)
{
    reading_tell(context, line, "", why);
}

static const char *name_nth(const void *context, size_t i)
{
    return ((const char *const *)context)[i];
}

/* The section whose key was written at the top, or NULL. */
static const char *section_of(const char *key)
{
    for (const struct config_section *s = config_sections + 1; s->settings != NULL; s++) {
        if (setting_find(s->settings, key, strlen(key)) != NULL) {
            return s->key;
        }
    }
    bool torus = strcmp(key, "coordinate") == 0 || setting_find(config_torus_keys, key, strlen(key)) != NULL;
    return torus ? "torus" : NULL;
}

/* A section that is called as a service is, without the word "service". */
static bool tell_service(struct reading *r, const struct conf_item *item)
{
    const char *service = strcmp(item->key, "memcached") == 0 ? "kvcache" : item->key;
    if (item->value != NULL || builtin_service(service) == NULL) {
        return false;
    }
    reading_wrong(r, item, "no such key at the top; did you mean service \"%s\" { ... }?", service);
    return true;
}

static void unknown_at_top(struct reading *r, const struct conf_item *item)
{
    const char *names[TOP_NAMES], *section = item->value != NULL ? section_of(item->key) : NULL;
    size_t count = 0;
    if (section != NULL) {
        reading_wrong(r, item, "no such key at the top: it belongs into %s { ... }", section);
        return;
    }
    if (tell_service(r, item)) {
        return;
    }
    for (const struct setting *s = config_sections[0].settings; s->name != NULL; s++) {
        CHECK(count < TOP_NAMES);
        names[count++] = s->name;
    }
    for (const struct config_section *s = config_sections + 1; s->settings != NULL; s++) {
        CHECK(count < TOP_NAMES);
        names[count++] = s->key;
    }
    for (size_t i = 0; i < sizeof top_sections / sizeof *top_sections; i++) {
        CHECK(count < TOP_NAMES);
        names[count++] = top_sections[i];
    }
    reading_tell_unknown(r, item, "at the top", nearest_name(item->key, strlen(item->key), name_nth, names, count));
}

/* The profile first, wherever it stands: single timers are changes to it. */
static void read_timers(struct reading *r, const struct conf_item *section, const struct setting *table)
{
    const struct setting profile[] = {
        {.name = "profile", .kind = SETTING_WORD, .size = sizeof(int), .words = profile_words}, {.name = NULL}};
    int which = 0;
    if (!reading_want_section(r, section, false)) {
        return;
    }
    for (const struct conf_item *i = reading_item(r, section->first); i != NULL; i = reading_next(r, i)) {
        if (reading_setting(r, profile, i, &which)) {
            reading_is_first(r, section, i);
            r->config->timers = which == 1 ? ls_timers_fast() : ls_timers_default();
        }
    }
    for (const struct conf_item *i = reading_item(r, section->first); i != NULL; i = reading_next(r, i)) {
        if (strcmp(i->key, "profile") == 0) {
            continue;
        }
        if (!reading_setting(r, table, i, r->config)) {
            reading_unknown(r, i, table, "in this section");
        } else {
            reading_is_first(r, section, i);
        }
    }
}

/* "0,1,2", "auto" or "all"; after dims. */
static void read_coordinate(struct reading *r, const struct conf_item *item)
{
    struct daemon_config *c = r->config;
    struct torus torus;
    if (!reading_want_value(r, item)) {
        return;
    }
    if (strcmp(item->value, "auto") == 0) {
        c->place = CONFIG_AUTO;
        return;
    }
    if (strcmp(item->value, "all") == 0) {
        c->place = CONFIG_WHOLE;
        return;
    }
    c->place = CONFIG_STATIC;
    c->misplaced = true;
    if (torus_init(&torus, c->dims) < 0) {
        return; /* no dims: said by config_check */
    }
    int rc = torus_parse(&torus, item->value, strlen(item->value), &c->self);
    c->misplaced = rc < 0;
    if (rc < 0) {
        reading_wrong(r, item,
                      rc == -ERANGE ? "'%.40s' lies outside the dims %ux%ux%u"
                                    : "'%.40s': expected x,y,z inside the dims %ux%ux%u, auto or all",
                      item->value, c->dims.x, c->dims.y, c->dims.z);
    }
}

static const char *torus_nth(const void *context, size_t i)
{
    (void)context;
    return i == 0 ? "coordinate" : config_torus_keys[i - 1].name;
}

/* A key of the section torus that is none. True: `coordinate` may be meant, so it is not said that it is missing. */
static bool tell_torus(struct reading *r, const struct conf_item *item)
{
    size_t count = 1;
    while (config_torus_keys[count - 1].name != NULL) {
        count++;
    }
    const char *near = nearest_name(item->key, strlen(item->key), torus_nth, NULL, count);
    reading_tell_unknown(r, item, "in this section", near);
    return near != NULL && strcmp(near, "coordinate") == 0;
}

static void read_torus(struct reading *r, const struct conf_item *section)
{
    const struct conf_item *coordinate = NULL;
    bool meant = false;
    if (!reading_want_section(r, section, false)) {
        return;
    }
    for (const struct conf_item *i = reading_item(r, section->first); i != NULL; i = reading_next(r, i)) {
        if (strcmp(i->key, "coordinate") == 0) {
            coordinate = reading_is_first(r, section, i) ? i : coordinate;
            continue;
        }
        unsigned before = r->mistakes;
        if (!reading_setting(r, config_torus_keys, i, r->config)) {
            meant = tell_torus(r, i) || meant;
        } else {
            reading_is_first(r, section, i);
        }
        r->report.dims |= r->mistakes > before;
    }
    if (coordinate == NULL) {
        if (!meant) {
            reading_tell(r, section->line, "torus.coordinate", "expected x,y,z of this server, auto or all");
        }
        r->config->misplaced = true;
    } else {
        read_coordinate(r, coordinate);
    }
}

static void read_link(struct reading *r, const struct conf_item *section, cw_link link)
{
    struct config_link *l = &r->config->link[link];
    unsigned before = r->mistakes;
    if (!reading_want_section(r, section, false)) {
        l->misread = true;
        return;
    }
    for (const struct conf_item *i = reading_item(r, section->first); i != NULL; i = reading_next(r, i)) {
        if (strcmp(i->key, "fault") == 0) {
            reading_plain(r, i, config_fault_keys, &l->fault);
        } else if (!reading_setting(r, config_link_keys, i, l)) {
            reading_unknown(r, i, config_link_keys, "of a link");
            continue;
        }
        reading_is_first(r, section, i);
        l->none_said |= strcmp(i->key, "shim") == 0 && i->value != NULL && strcmp(i->value, "none") == 0;
    }
    l->misread |= r->mistakes > before;
}

static bool link_of(struct reading *r, const char *key, cw_link *link)
{
    if (quantity_link(key, strlen(key), link) == 0) {
        r->labels = true;
        return true;
    }
    for (cw_link i = 0; i < CW_LINK_COUNT; i++) {
        if (strcmp(key, port_names[i]) == 0) {
            r->ports = true;
            *link = i;
            return true;
        }
    }
    return false;
}

static void read_links(struct reading *r, const struct conf_item *section)
{
    cw_link link;
    if (!reading_want_section(r, section, false)) {
        return;
    }
    for (const struct conf_item *i = reading_item(r, section->first); i != NULL; i = reading_next(r, i)) {
        if (strcmp(i->key, "fault") == 0) {
            reading_plain(r, i, config_fault_keys, &r->config->fault);
        } else if (link_of(r, i->key, &link)) {
            read_link(r, i, link);
        } else {
            const char *near =
                strlen(i->key) > 2 ? nearest_name(i->key, strlen(i->key), name_nth, link_words, 7) : NULL;
            reading_wrong(r, i,
                          "expected a link: +x, -x, +y, -y, +z or -z, or port0 to port5 when coordinate is auto%s%s%s",
                          near != NULL ? "; did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
            continue;
        }
        reading_is_first(r, section, i);
    }
}

static void read_top(struct reading *r, const struct conf_item *root, const struct conf_item *item)
{
    if (strcmp(item->key, "torus") == 0) {
        read_torus(r, item);
    } else if (strcmp(item->key, "links") == 0) {
        read_links(r, item);
    } else if (strcmp(item->key, "service") == 0) {
        reading_service(r, item);
    } else if (strcmp(item->key, "network") == 0) {
        reading_network(r, item);
    } else {
        const struct config_section *s = config_sections;
        while (s->settings != NULL && (s->key == NULL || strcmp(s->key, item->key) != 0)) {
            s++;
        }
        unsigned before = r->mistakes;
        if (s->settings != NULL && strcmp(s->key, "timers") == 0) {
            read_timers(r, item, s->settings);
            r->report.timers |= r->mistakes > before;
        } else if (s->settings != NULL) {
            reading_plain(r, item, s->settings, r->config);
            r->report.queue |= strcmp(s->key, "queue") == 0 && r->mistakes > before;
        } else if (!reading_setting(r, config_sections[0].settings, item, r->config)) {
            unknown_at_top(r, item);
            return;
        }
    }
    reading_is_first(r, root, item);
}

/* ---- What follows from the rest ---------------------------------------------------------------------------------- */

static void default_name(struct daemon_config *c)
{
    if (c->name[0] != '\0') {
        return;
    }
    if (c->place == CONFIG_WHOLE) {
        snprintf(c->name, sizeof c->name, "all");
    } else if (c->place == CONFIG_STATIC) {
        char text[TORUS_TEXT];
        torus_format(c->self, text);
        snprintf(c->name, sizeof c->name, "%s", text);
    } else if (gethostname(c->name, sizeof c->name - 1) < 0 || c->name[0] == '\0') {
        snprintf(c->name, sizeof c->name, "cubeway");
    }
}

static bool has_link(const struct daemon_config *c)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (c->link[link].shim != CONFIG_NO_SHIM) {
            return true;
        }
    }
    return false;
}

static void complete(struct reading *r)
{
    struct daemon_config *c = r->config;
    c->labelled = !r->ports || !has_link(c); /* names of ports that are not there say nothing */
    default_name(c);
    if (strcmp(c->control_socket, default_socket) == 0) {
        memset(c->control_socket, 0, sizeof c->control_socket);
        snprintf(c->control_socket, sizeof c->control_socket, "/run/cubeway/%s.sock", c->name);
    }
    for (unsigned i = 0; i < c->service_count; i++) {
        reading_complete_service(c, &c->service[i]);
    }
    if (r->ports && r->labels) {
        tell(&r->report, "links", "either all links have directions (+x) or all have numbers (port0)");
    }
}

struct daemon_config config_default(void)
{
    struct node_config node = node_config_default();
    struct daemon_config c;
    memset(&c, 0, sizeof c); /* so that equal configurations are equal bytes */
    c.cluster = 1;
    c.labelled = true;
    c.watcher = true;
    c.control_mode = 0660;
    c.log_level = CW_LOG_INFO;
    c.ethertype = 0x88b5;
    c.timers = node.timers;
    c.queue_packets = node.queue_packets;
    c.queue_bytes = node.queue_bytes;
    c.hold_bytes = node.hold_bytes;
    c.nap = CW_US(30);
    snprintf(c.state_dir, sizeof c.state_dir, "/var/lib/cubeway");
    snprintf(c.control_socket, sizeof c.control_socket, "%s", default_socket);
    return c;
}

unsigned config_read(const char *file, const char *text, size_t length, struct daemon_config *out,
                     config_mistake_fn *mistake, void *context)
{
    struct reading r = {
        .report = {.tell = tell},
        .file = file,
        .config = out,
        .mistake = mistake,
        .context = context,
    };
    *out = config_default();
    int rc = conf_open_most(&r.tree, text, length, tell_text, &r);
    if (rc < 0) {
        reading_tell(&r, 1, "", "not enough memory");
        return r.mistakes;
    }
    snprintf(out->file, sizeof out->file, "%s", file);
    const struct conf_item *root = &r.tree.item[0];
    for (const struct conf_item *i = reading_item(&r, root->first); i != NULL; i = reading_next(&r, i)) {
        read_top(&r, root, i);
    }
    complete(&r);
    if (rc == 0) { /* else what is missing may stand in a line that could not be read */
        config_check(out, &r.report);
    }
    conf_close(&r.tree);
    if (r.mistakes > CONFIG_MISTAKES) {
        char more[CONFIG_PATH + 64];
        snprintf(more, sizeof more, "%s: and %u more mistakes", file, r.mistakes - CONFIG_MISTAKES);
        mistake(context, more);
    }
    return r.mistakes;
}

int config_parse(const char *file, const char *text, size_t length, struct daemon_config *out,
                 config_mistake_fn *mistake, void *context)
{
    struct daemon_config config;
    if (config_read(file, text, length, &config, mistake, context) > 0) {
        return -EINVAL;
    }
    *out = config;
    return 0;
}

const char *config_priority_name(enum config_priority priority)
{
    static const char *const names[] = {
        [CONFIG_HIGH] = "high", [CONFIG_NORMAL] = "normal", [CONFIG_REALTIME] = "realtime"};
    return names[priority];
}

const char *config_shim_name(enum config_shim shim)
{
    static const char *const names[] = {"none", "raw", "pcap", "udp"};
    return names[shim];
}

const char *config_link_name(const struct daemon_config *config, cw_link link)
{
    CHECK(link < CW_LINK_COUNT);
    return config->labelled ? quantity_link_name(link) : port_names[link];
}
