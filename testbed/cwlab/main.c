/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - cwlab: a cluster of real daemons on real links, on one machine. */
#include "testbed/cwlab/command.h"

int main(int argc, char **argv)
{
    return program_main(&program_cwlab, argc, argv);
}
