# SPDX-License-Identifier: Apache-2.0
# The stack is at the start of `data`, so that an overflow leaves the RAM.
thimble_board(microbit
  CODE 0x00000000 256K
  DATA 0x20000000 6K
  BIG  0x20001800 10K
  UART NRF 0x40002000
  STACK 3K)
