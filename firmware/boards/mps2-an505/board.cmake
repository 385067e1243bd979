# SPDX-License-Identifier: Apache-2.0
# The stack is at the start of `data`, so that an overflow leaves the RAM.
thimble_board(mps2-an505
  CODE 0x10000000 4M
  DATA 0x38000000 4M
  BIG  0x80000000 16M
  UART CMSDK 0x50200000
  STACK 16K)
