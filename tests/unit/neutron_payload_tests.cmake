# SPDX-License-Identifier: Apache-2.0
thimble_test(neutron_payload_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/neutron_payload_test.cpp
  DEPS thimble_neutron_formats
  LABELS unit fast)
