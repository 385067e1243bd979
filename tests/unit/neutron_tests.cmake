# SPDX-License-Identifier: Apache-2.0
# Kernel lists of the Neutron: the checker and the integer model.
thimble_test(neutron_list_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/neutron_check_kernel_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_check_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_list.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_model_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_mutation_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_reference.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_run_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_sample.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_view_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_random_list.cpp
  DEPS thimble_neutron_model thimble_base
  LABELS unit fast)
thimble_test(neutron_text_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/neutron_list.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_reference.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_sample.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_text_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_random_list.cpp
  DEPS thimble_neutron_text thimble_neutron_model
  LABELS unit fast)
