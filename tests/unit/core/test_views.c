/* SPDX-License-Identifier: Apache-2.0 */
#include "core/views.h"
#include "suite.h"
int main(void) { return 0; }
