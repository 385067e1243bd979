# SPDX-License-Identifier: Apache-2.0
# Layer lists of the AXON: the checker and the integer model.
thimble_test(axon_list_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/axon_check_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/axon_list.cpp
    ${CMAKE_CURRENT_LIST_DIR}/axon_model_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/axon_mutation_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/axon_reference.cpp
    ${CMAKE_CURRENT_LIST_DIR}/axon_sample.cpp
  DEPS thimble_axon_model thimble_base
  APART axon_mutation_test.cpp
  LABELS unit fast)
# The delegate that executes layer lists, with whole files.
thimble_test(axon_delegate_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/axon_delegate_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/axon_list.cpp
    ${CMAKE_CURRENT_LIST_DIR}/axon_sample.cpp
    ${CMAKE_CURRENT_LIST_DIR}/runtime_support.cpp
  DEPS thimble_hostrun
  LABELS unit fast)
thimble_test(axon_text_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/axon_list.cpp
    ${CMAKE_CURRENT_LIST_DIR}/axon_sample.cpp
    ${CMAKE_CURRENT_LIST_DIR}/axon_text_test.cpp
  DEPS thimble_axon_text thimble_axon_model
  LABELS unit fast)
