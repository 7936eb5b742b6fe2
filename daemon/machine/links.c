/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/machine/links.h"

#include "base/prng.h"
#include "shim/fault.h"
#include "shim/pcap.h"
#include "shim/raw.h"
#include "shim/replay.h"
#include "shim/threaded.h"
#include "shim/udp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { USUAL_MTU = 1500, RIVAL_TRIES = 25, RIVAL_PAUSE_MS = 20 };

int links_wrap(struct shim **shim, const struct config_fault *f, uint64_t salt, char why[static LINKS_WHY])
{
    struct prng seeds = prng_stream(f->seed, salt, 0);
    struct fault_options options = {
        .loss = f->loss_ppm,
        .duplicate = f->duplicate_ppm,
        .reorder = f->reorder_ppm,
        .corrupt = f->corrupt_ppm,
        .delay = f->delay,
        .bits_per_second = f->bits_per_second,
        .seed = prng_next(&seeds),
    };
    bool any = f->loss_ppm != 0 || f->duplicate_ppm != 0 || f->reorder_ppm != 0 || f->corrupt_ppm != 0 ||
               f->delay.ns != 0 || f->bits_per_second != 0;
    why[0] = '\0';
    return any ? fault_open(shim, *shim, &options, 0, NULL, why) : 0;
}

/* await: the mtu of an interface that is waited for; 0: none is waited for. */
static int open_plain(const struct daemon_config *c, const struct config_link *l, uint32_t await, struct shim **out,
                      char *why)
{
    struct port_options port = {
        .interface = l->interface,
        .mtu = await != 0 ? await : c->mtu,
        .await = await != 0,
        .ethertype = (uint16_t)c->ethertype,
        .ethertype_control = (uint16_t)c->ethertype_control,
        .bits_per_second = l->bits_per_second,
    };
    switch (l->shim) {
    case CONFIG_RAW:
        return raw_open(out, &port, why);
    case CONFIG_PCAP:
        if (l->file[0] != '\0') {
            return replay_open(out,
                               &(struct replay_options){.file = l->file,
                                                        .ethertype = port.ethertype,
                                                        .ethertype_control = port.ethertype_control,
                                                        .timed = true},
                               why);
        }
        return pcap_shim_open(out, &port, why);
    case CONFIG_UDP:
        return udp_open(
            out,
            &(struct udp_options){
                .local = l->local, .remote = l->remote, .mtu = c->mtu, .bits_per_second = l->bits_per_second},
            why);
    case CONFIG_NO_SHIM:
        break;
    }
    return 0;
}

static int open_link(const struct daemon_config *config, cw_link link, uint32_t await, struct shim **out,
                     char why[static LINKS_WHY])
{
    char text[LINKS_WHY] = "";
    *out = NULL;
    why[0] = '\0';
    const struct config_link *l = &config->link[link];
    int rc = open_plain(config, l, await, out, text);
    if (rc == 0 && *out != NULL) {
        rc = l->io_thread || config->io_threads ? threaded_open(out, *out, text) : 0;
        rc = rc < 0 ? rc : links_wrap(out, &l->fault, link, text);
        if (rc < 0) {
            shim_close(*out);
        }
    }
    if (rc < 0) {
        *out = NULL;
        snprintf(why, LINKS_WHY, "%s: %.480s", config_link_name(config, link), text);
    }
    return rc;
}

int links_open(const struct daemon_config *config, cw_link link, struct shim **out, char why[static LINKS_WHY])
{
    return open_link(config, link, 0, out, why);
}

/* Bytes of the longest frame that every open link carries. */
static uint32_t smallest_mtu(const struct daemon_config *config, struct shim *const shims[static CW_LINK_COUNT])
{
    uint32_t mtu = 0;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct shim_info info = {.mtu = 0};
        if (shims[link] != NULL) {
            shim_info(shims[link], &info);
            mtu = mtu == 0 || info.mtu < mtu ? info.mtu : mtu;
        }
    }
    return config->mtu != 0 ? config->mtu : mtu != 0 ? mtu : USUAL_MTU;
}

/* Sentences, one behind the other. */
static void tell(char why[static LINKS_WHY], const char *text)
{
    size_t used = strlen(why);
    snprintf(why + used, LINKS_WHY - used, "%s%.480s", used > 0 ? "; " : "", text);
}

int links_open_all(const struct daemon_config *config, struct shim *out[static CW_LINK_COUNT],
                   char why[static LINKS_WHY])
{
    char text[LINKS_WHY], awaited[LINKS_WHY] = "";
    cw_links missing = CW_LINKS_NONE;
    int first = 0;
    why[0] = '\0';
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        int rc = links_open(config, link, &out[link], text);
        if (rc == -ENODEV && config->link[link].shim == CONFIG_RAW) {
            missing |= cw_links_of(link);
            tell(awaited, text);
        } else if (rc < 0) {
            first = first == 0 ? rc : first;
            tell(why, text);
        }
    }
    uint32_t mtu = smallest_mtu(config, out);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        int rc = missing & cw_links_of(link) ? open_link(config, link, mtu, &out[link], text) : 0;
        if (rc < 0) {
            first = first == 0 ? rc : first;
            tell(why, text);
        }
    }
    if (first < 0) {
        links_close_all(out);
        return first;
    }
    memcpy(why, awaited, sizeof awaited);
    return 0;
}

int links_open_patiently(const struct daemon_config *config, struct shim *out[static CW_LINK_COUNT],
                         char why[static LINKS_WHY])
{
    int rc = links_open_all(config, out, why);
    for (int i = 0; i < RIVAL_TRIES && rc == -EADDRINUSE; i++) {
        nanosleep(&(struct timespec){.tv_nsec = CW_MS(RIVAL_PAUSE_MS).ns}, NULL);
        rc = links_open_all(config, out, why);
    }
    return rc;
}

void links_close_all(struct shim *shims[static CW_LINK_COUNT])
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (shims[link] != NULL) {
            shim_close(shims[link]);
            shims[link] = NULL;
        }
    }
}
