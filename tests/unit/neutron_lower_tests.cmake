# SPDX-License-Identifier: Apache-2.0
# Views and memory orders of the Neutron's compiler.
thimble_test(neutron_lower_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/neutron_lower_test.cpp
  DEPS thimble_engines
  LABELS unit fast)
