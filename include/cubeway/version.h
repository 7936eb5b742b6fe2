/* SPDX-License-Identifier: Apache-2.0 */
/* version.h - the release that this tree will become. This is the only copy: the build reads it from here. */
#ifndef CUBEWAY_VERSION_H
#define CUBEWAY_VERSION_H

#define CW_VERSION_MAJOR 0
#define CW_VERSION_MINOR 1
#define CW_VERSION_PATCH 0
#define CW_VERSION "0.1.0"

#endif
