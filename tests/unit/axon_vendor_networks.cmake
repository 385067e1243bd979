# SPDX-License-Identifier: Apache-2.0
# Whole networks compiled with Nordic's SDK. axon_vendor_tests.cmake defines the libraries.
thimble_test(axon_vendor_networks_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/axon_vendor_networks_test.cpp
  DEPS axon_vendor_support axon_standin_driver thimble_driver
  LABELS unit fast)
