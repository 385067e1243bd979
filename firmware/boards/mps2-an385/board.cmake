# SPDX-License-Identifier: Apache-2.0
# The stack is at the start of `data`, so that an overflow leaves the RAM.
thimble_board(mps2-an385
  CODE 0x00000000 4M
  DATA 0x20000000 4M
  BIG  0x21000000 16M
  UART CMSDK 0x40004000
  STACK 16K)
