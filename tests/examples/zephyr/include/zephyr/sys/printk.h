// SPDX-License-Identifier: Apache-2.0
#ifndef ZEPHYR_STANDIN_PRINTK_H
#define ZEPHYR_STANDIN_PRINTK_H
void printk(const char* format, ...) __attribute__((format(printf, 1, 2)));
#endif
