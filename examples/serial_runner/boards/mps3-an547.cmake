# SPDX-License-Identifier: Apache-2.0
# Arm MPS3 with image AN547: Cortex-M55
set(CORE cortex-m55)
set(CORE_FLAGS -mfloat-abi=hard)
set(BOARD_CLOCK_HZ 32000000)
set(BOARD_UART_KIND cmsdk)
set(BOARD_UART 0x59303000)
set(BOARD_UART_IRQ 33) # of the receiver
set(BOARD_START mps)
set(BOARD_CODE 0x00000000 512K)
set(BOARD_DATA 0x20000000 512K)
set(BOARD_RAM 0x60000000 64M)
set(BOARD_STACK 16K)
