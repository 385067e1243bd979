// SPDX-License-Identifier: Apache-2.0
/* The part of Zephyr's kernel.h that the applications of examples/nordic use. */
#ifndef ZEPHYR_STANDIN_KERNEL_H
#define ZEPHYR_STANDIN_KERNEL_H
#include <stddef.h>
#include <stdint.h>
#endif
