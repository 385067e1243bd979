# SPDX-License-Identifier: Apache-2.0
# Overrides the SDK's settings for this board: loading a network needs about 2 KiB of stack, and Thimble needs no heap.
mcux_add_armgcc_configuration(LD "-Xlinker --defsym=__stack_size__=0x2000 -Xlinker --defsym=__heap_size__=0x400")
mcux_add_armgcc_configuration(TARGETS release flash_release CC "-O2" CX "-O2")
