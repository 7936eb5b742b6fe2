/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loss.h - a program for the kernel's packet path that loses frames by chance, for kernels that were built without
 * netem.
 */
#ifndef TESTBED_LOSS_H
#define TESTBED_LOSS_H

#include "cubeway/types.h"

/*
 * Gives the descriptor of a classifier (cls_bpf, direct action) that lets ppm of a million frames vanish as if they had
 * been sent, and lets the other frames pass. -EPERM: this needs CAP_BPF in the machine's own user namespace.
 */
CW_MUST_CHECK int loss_program(uint32_t ppm);

#endif
