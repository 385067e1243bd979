# SPDX-License-Identifier: Apache-2.0
# Runs Thimble's .tflite and .tosa files in the reference tools: LiteRT, the TOSA reference model, Vela.
# Only if THIMBLE_TORCH_PYTHON names a Python.
if(THIMBLE_TESTS)
  add_executable(interchange_cases ${CMAKE_CURRENT_LIST_DIR}/interchange/cases.cpp
                                   ${CMAKE_CURRENT_LIST_DIR}/../unit/function_tables.cpp)
  target_link_libraries(interchange_cases PRIVATE test_integer_graphs thimble_interchange thimble_eval
                                                  thimble_formats)
  set(conformance ${CMAKE_CURRENT_LIST_DIR}/../conformance)
  find_package(GTest REQUIRED)
  add_executable(neutron_networks
    ${CMAKE_CURRENT_LIST_DIR}/interchange/neutron_networks.cpp ${conformance}/axon_cases.cpp
    ${conformance}/neutron_cases.cpp ${conformance}/neutron_random_network.cpp)
  target_link_libraries(neutron_networks PRIVATE test_integer_graphs thimble_partition thimble_engines
                                                 thimble_eval thimble_axon_model
                                                 thimble_neutron_model GTest::gtest)
endif()
if(NOT THIMBLE_TORCH_PYTHON AND TARGET interchange_cases)
  set_target_properties(interchange_cases neutron_networks PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
if(TARGET interchange_cases AND TARGET thimble AND THIMBLE_TORCH_PYTHON)
  add_test(NAME peers_interchange
           COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/interchange/networks.py
                   $<TARGET_FILE:thimble> ${CMAKE_CURRENT_BINARY_DIR}/interchange_cases
                   ${CMAKE_CURRENT_BINARY_DIR}/interchange)
  add_test(NAME peers_interchange_float
           COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/interchange/float_networks.py
                   $<TARGET_FILE:thimble> ${CMAKE_CURRENT_BINARY_DIR}/interchange_float)
  add_test(NAME peers_functions
           COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/interchange/functions.py
                   ${CMAKE_CURRENT_BINARY_DIR}/interchange_cases
                   ${CMAKE_CURRENT_BINARY_DIR}/interchange_functions)
  add_test(NAME peers_partitions
           COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/interchange/partitions.py
                   $<TARGET_FILE:thimble> ${CMAKE_CURRENT_BINARY_DIR}/interchange_cases
                   ${CMAKE_CURRENT_BINARY_DIR}/neutron_networks
                   ${CMAKE_CURRENT_BINARY_DIR}/interchange_partitions)
  set_tests_properties(peers_interchange peers_interchange_float peers_functions peers_partitions
                       PROPERTIES LABELS peers TIMEOUT 3600 SKIP_RETURN_CODE 77)
endif()
