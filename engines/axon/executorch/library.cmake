# SPDX-License-Identifier: Apache-2.0
thimble_executorch_delegate(axon LOAD load.cpp APART vendor.cpp)
