# SPDX-License-Identifier: Apache-2.0
# The stack is at the start of `data`, so that an overflow leaves the RAM.
thimble_board(mps3-an547
  CODE 0x00000000 512K
  DATA 0x20000000 512K
  BIG  0x60000000 64M
  UART CMSDK 0x59303000
  STACK 16K)
