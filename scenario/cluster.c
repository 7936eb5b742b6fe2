/* SPDX-License-Identifier: Apache-2.0 */
#include "scenario/cluster.h"

enum { MTU = 9000, CARD_FRAMES = 1024 };

struct wire_config wire_config_default(void)
{
    return (struct wire_config){
        .bits_per_second = 1000 * 1000 * 1000,
        .propagation = CW_US(1),
        .ring = 1,
    };
}

struct world_config world_config_default(void)
{
    struct world_config config = {
        .dims = {3, 3, 3},
        .seed = 1,
        .node = node_config_default(),
        .wire = wire_config_default(),
        .carrier = {-1},
        .cpu_queue = CARD_FRAMES,
    };
    config.node.mtu = MTU;
    return config;
}

const char *world_loss_name(enum world_loss cause)
{
    static const char *const names[WORLD_LOSSES] = {
        [WORLD_LOSS_INJECTED] = "injected", [WORLD_LOSS_CORRUPTED] = "corrupted", [WORLD_LOSS_CUT] = "cut",
        [WORLD_LOSS_DEAD] = "dead",         [WORLD_LOSS_KILLED] = "killed",       [WORLD_LOSS_CARD] = "card",
    };
    return (unsigned)cause < WORLD_LOSSES ? names[cause] : "?";
}
