# SPDX-License-Identifier: Apache-2.0
thimble_executorch_delegate(neutron LOAD load.cpp)
