# SPDX-License-Identifier: Apache-2.0
# One row per core with firmware images: its board, and its compiler flags or the core whose object
# files it shares. GCC 12 does not support cortex-m85; its image is built for cortex-m55. An image for
# an older core than its board's works because each Armv8-M or v7-M core executes v6-M code. microbit
# is the only machine that faults on newer instructions.
thimble_core(cortex-m55 mps3-an547 FLAGS -mcpu=cortex-m55 -mfloat-abi=hard ISA dsp mve)
thimble_core(cortex-m85 mps3-an547 SAME_AS cortex-m55)
thimble_core(cortex-m33 mps2-an505 FLAGS -mcpu=cortex-m33 -mfloat-abi=hard ISA dsp)
thimble_core(cortex-m35p mps2-an505 SAME_AS cortex-m33)
thimble_core(cortex-m7 mps2-an500 FLAGS -mcpu=cortex-m7 -mfloat-abi=hard ISA dsp)
thimble_core(cortex-m4 mps2-an386 FLAGS -mcpu=cortex-m4 -mfloat-abi=hard ISA dsp)
thimble_core(cortex-m3 mps2-an385 FLAGS -mcpu=cortex-m3)
thimble_core(cortex-m23 mps2-an505 FLAGS -mcpu=cortex-m23)
thimble_core(cortex-m0plus mps2-an385 FLAGS -mcpu=cortex-m0plus)
thimble_core(cortex-m0 mps2-an385 SAME_AS cortex-m0plus)
thimble_core(microbit microbit SAME_AS cortex-m0plus)
