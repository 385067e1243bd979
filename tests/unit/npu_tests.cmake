# SPDX-License-Identifier: Apache-2.0
# The Ethos-U driver; the program has platform functions of its own.
thimble_test(npu_driver_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/npu_driver_test.cpp
  DEPS thimble_ethos_u_delegate thimble_base
  LABELS unit fast)
thimble_test(delegates_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/delegates_mutation_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/delegates_test.cpp
  DEPS test_runtime_files thimble_hostrun
  LABELS unit fast)

# Calls of the core while an NPU works.
thimble_test(background_delegates_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/background_delegates_test.cpp
  DEPS test_runtime_files thimble_driver thimble_hostrun
  LABELS unit fast)

# Arm's driver interface in place of delegate/driver.cpp.
thimble_test(vendor_driver_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/vendor_driver_test.cpp
    ${CMAKE_SOURCE_DIR}/engines/ethos_u/vendor_driver/job.cpp
    ${CMAKE_SOURCE_DIR}/engines/ethos_u/vendor_driver_model/driver.cpp
  DEPS thimble_ethos_u_formats thimble_ethos_u_model thimble_formats thimble_base
  APART job.cpp driver.cpp
  LABELS unit fast)
if(TARGET vendor_driver_test)
  target_include_directories(vendor_driver_test PRIVATE ${CMAKE_SOURCE_DIR}/engines/ethos_u/vendor_driver_model/include)
endif()
