// SPDX-License-Identifier: Apache-2.0
#ifndef FSL_DEBUG_CONSOLE_H
#define FSL_DEBUG_CONSOLE_H
int PRINTF(const char* format, ...) __attribute__((format(printf, 1, 2)));
#endif
