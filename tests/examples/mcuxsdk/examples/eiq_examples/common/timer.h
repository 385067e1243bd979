// SPDX-License-Identifier: Apache-2.0
#ifndef TIMER_H
#define TIMER_H
void TIMER_Init(void);
int TIMER_GetTimeInUS(void);
#endif
