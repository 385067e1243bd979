# SPDX-License-Identifier: Apache-2.0
# Arm MPS2 with image AN505: Cortex-M33
set(CORE cortex-m33)
set(CORE_FLAGS -mfloat-abi=hard)
set(BOARD_CLOCK_HZ 20000000)
set(BOARD_UART_KIND cmsdk)
set(BOARD_UART 0x50200000)
set(BOARD_UART_IRQ 32) # of the receiver
set(BOARD_START mps)
set(BOARD_CODE 0x10000000 4M)
set(BOARD_DATA 0x38000000 4M)
set(BOARD_RAM 0x80000000 16M)
set(BOARD_STACK 16K)
