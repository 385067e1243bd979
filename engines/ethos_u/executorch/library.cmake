thimble_executorch_delegate(ethos_u LOAD load.cpp npu_simulator.cpp PRODUCT npu_product.cpp)
