/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - cwsim: one program, a command for each thing that can be asked of a simulated cluster. */
#include "simulator/cwsim/command.h"

int main(int argc, char **argv)
{
    return program_main(&program_cwsim, argc, argv);
}
