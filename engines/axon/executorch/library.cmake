thimble_executorch_delegate(axon LOAD load.cpp APART vendor.cpp)
