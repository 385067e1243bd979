# The stack lies at the start of `data`, so that it overflows out of the RAM.
thimble_board(mps2-an386
  CODE 0x00000000 4M
  DATA 0x20000000 4M
  BIG  0x21000000 16M
  UART CMSDK 0x40004000
  STACK 16K)
