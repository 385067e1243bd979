thimble_executorch_delegate(neutron LOAD load.cpp)
