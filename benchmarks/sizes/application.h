// SPDX-License-Identifier: Apache-2.0
/* Functions that measure.py generates for one model. */
#ifndef APPLICATION_H
#define APPLICATION_H

#include <stdint.h>

uint32_t call_model(void);
void write_outputs(void);
void write_output(const void* data, uint32_t bytes);

#endif
