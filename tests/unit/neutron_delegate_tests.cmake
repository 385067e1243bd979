# SPDX-License-Identifier: Apache-2.0
# The delegates of the Neutron, with a driver of the test program.
thimble_test(neutron_delegate_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/neutron_delegate_invalid_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_delegate_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_test_driver.cpp
    ${CMAKE_CURRENT_LIST_DIR}/runtime_support.cpp
  DEPS thimble_neutron_delegate thimble_neutron_formats
  LABELS unit fast)
# The delegates of the Neutron, with the integer model behind the driver interface.
thimble_test(neutron_files_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/neutron_files_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_list.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_sample.cpp
    ${CMAKE_CURRENT_LIST_DIR}/runtime_support.cpp
  DEPS thimble_hostrun
  LABELS unit fast)
# The delegates of the Neutron, with files that ExecuTorch creates now, if that Python has it.
if(TARGET neutron_delegate_test AND THIMBLE_TORCH_PYTHON)
  set(peers ${CMAKE_SOURCE_DIR}/tests/peers)
  add_test(NAME peers_executorch_neutron
           COMMAND ${THIMBLE_TORCH_PYTHON} ${peers}/executorch_peer.py neutron/files.py
                   $<TARGET_FILE:neutron_delegate_test> ${CMAKE_CURRENT_BINARY_DIR}/neutron_files
                   THIMBLE_NEUTRON_FILES)
  set_tests_properties(peers_executorch_neutron PROPERTIES LABELS peers TIMEOUT 600
                                                           SKIP_RETURN_CODE 77)
endif()
