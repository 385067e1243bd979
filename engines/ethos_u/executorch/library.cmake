# SPDX-License-Identifier: Apache-2.0
thimble_executorch_delegate(ethos_u LOAD load.cpp npu_simulator.cpp PRODUCT npu_product.cpp)
