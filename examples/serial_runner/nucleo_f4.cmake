# SPDX-License-Identifier: Apache-2.0
# ST NUCLEO boards with an STM32F4 in 64 pins: USART2 on PA2 and PA3, which the ST-LINK connects to USB. The file of a board sets
# BOARD_DATA.
set(CORE cortex-m4)
set(CORE_FLAGS -mfloat-abi=hard)
set(BOARD_CLOCK_HZ 16000000)
set(BOARD_UART_KIND stm32_v1)
set(BOARD_UART 0x40004400)
set(BOARD_UART_IRQ 38) # of the receiver
set(BOARD_START stm32 stm32_clock_reset)
set(BOARD_DEFINES BOARD_PORT=0x40020000 BOARD_PORT_CLOCK_REGISTER=0x40023830 BOARD_PORT_CLOCK_BIT=0 BOARD_UART_TX_PIN=2
                  BOARD_UART_ALTERNATE=7 BOARD_UART_CLOCK_REGISTER=0x40023840 BOARD_UART_CLOCK_BIT=17)
set(BOARD_CODE 0x08000000 512K)
set(BOARD_RAM 0 0) # the rest of the data
set(BOARD_STACK 4K)
