# SPDX-License-Identifier: Apache-2.0
# Arm MPS2 with image AN385: Cortex-M3
set(CORE cortex-m3)
set(CORE_FLAGS )
set(BOARD_CLOCK_HZ 25000000)
set(BOARD_UART_KIND cmsdk)
set(BOARD_UART 0x40004000)
set(BOARD_UART_IRQ 0) # of the receiver
set(BOARD_START mps)
set(BOARD_CODE 0x00000000 4M)
set(BOARD_DATA 0x20000000 4M)
set(BOARD_RAM 0x21000000 16M)
set(BOARD_STACK 16K)
