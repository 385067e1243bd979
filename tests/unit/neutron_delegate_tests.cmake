# The delegates of the Neutron alone: the program has a driver of its own.
thimble_test(neutron_delegate_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/neutron_delegate_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_test_driver.cpp
    ${CMAKE_CURRENT_LIST_DIR}/runtime_support.cpp
  DEPS thimble_neutron_delegate thimble_neutron_formats
  LABELS unit fast)
# The same with the integer model behind the driver interface.
thimble_test(neutron_files_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/neutron_files_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_list.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_sample.cpp
    ${CMAKE_CURRENT_LIST_DIR}/runtime_support.cpp
  DEPS thimble_hostrun
  LABELS unit fast)
# And with files that ExecuTorch makes now, where a Python has it.
if(TARGET neutron_delegate_test AND THIMBLE_TORCH_PYTHON)
  set(peers ${CMAKE_SOURCE_DIR}/tests/peers)
  add_test(NAME peers_executorch_neutron
           COMMAND ${THIMBLE_TORCH_PYTHON} ${peers}/executorch_peer.py neutron/files.py
                   $<TARGET_FILE:neutron_delegate_test> ${CMAKE_CURRENT_BINARY_DIR}/neutron_files
                   THIMBLE_NEUTRON_FILES)
  set_tests_properties(peers_executorch_neutron PROPERTIES LABELS peers TIMEOUT 600
                                                           SKIP_RETURN_CODE 77)
endif()
