// SPDX-License-Identifier: Apache-2.0
#ifndef BOARD_INIT_H
#define BOARD_INIT_H
void BOARD_Init(void);
#endif
