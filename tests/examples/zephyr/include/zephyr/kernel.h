/* Of Zephyr's kernel.h, what the applications of examples/nordic use. */
#ifndef ZEPHYR_STANDIN_KERNEL_H
#define ZEPHYR_STANDIN_KERNEL_H
#include <stddef.h>
#include <stdint.h>
#endif
