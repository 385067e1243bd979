# SPDX-License-Identifier: Apache-2.0
# Generators of random graphs and the code that runs them on all paths. Tests of other folders use them too.
thimble_test_library(test_graphs
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/random_move_graph.cpp
    ${CMAKE_CURRENT_LIST_DIR}/random_direct_graph.cpp
    ${CMAKE_CURRENT_LIST_DIR}/random_spectrum_graph.cpp
    ${CMAKE_CURRENT_LIST_DIR}/random_wide_graph.cpp
    ${CMAKE_CURRENT_LIST_DIR}/../unit/ir_random_graph.cpp
  DEPS thimble_ir)
file(GLOB integer_graphs CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/random_integer_*.cpp)
thimble_test_library(test_integer_graphs SOURCES ${integer_graphs} DEPS test_graphs thimble_eval)
thimble_test_library(test_networks
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/../unit/quant_random_network.cpp
  DEPS test_graphs thimble_passes thimble_quant)
thimble_test_library(test_runs
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/run_series.cpp ${CMAKE_CURRENT_LIST_DIR}/../matrix/ledger.cpp
  DEPS test_integer_graphs thimble_emit thimble_eval thimble_runtime)
thimble_test(cortex_m_conformance_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/cortex_m_conformance_test.cpp
  DEPS test_runs thimble_engines thimble_emit thimble_eval thimble_runtime
  LABELS conformance fast)
thimble_test(float_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/float_test.cpp
  DEPS test_runs test_graphs thimble_engines thimble_emit thimble_eval thimble_runtime
  LABELS conformance fast)
thimble_test(share_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/share_test.cpp
  DEPS test_integer_graphs test_graphs thimble_engines thimble_emit thimble_runtime
  LABELS conformance fast)
thimble_test(row_tiling_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/row_tiling_test.cpp
  DEPS test_runs test_graphs thimble_driver thimble_engines thimble_emit thimble_eval thimble_runtime
  LABELS conformance)
thimble_test(optimize_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/optimize_test.cpp
  DEPS test_runs test_graphs thimble_engines thimble_emit thimble_eval thimble_runtime
  LABELS conformance fast)
thimble_test(executorch_files_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/executorch_files_test.cpp
  DEPS thimble_hostrun thimble_driver thimble_emit thimble_eval
  LABELS conformance fast)
thimble_test(executorch_ethos_u_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/executorch_ethos_u_test.cpp
  DEPS thimble_hostrun thimble_driver
  LABELS conformance fast)
thimble_test(state_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/state_test.cpp
  DEPS test_graphs thimble_engines thimble_emit thimble_eval thimble_quant thimble_passes thimble_hostrun
  LABELS conformance fast)
if(TARGET firmware AND QEMU_ARM)
  thimble_test(operators_test
    SOURCES
      ${CMAKE_CURRENT_LIST_DIR}/operators_test.cpp
      ${CMAKE_CURRENT_LIST_DIR}/../firmware/support.cpp
    DEPS test_runs thimble_engines thimble_emit thimble_eval thimble_runtime
    LABELS conformance fast)
  if(TARGET operators_test)
    target_compile_definitions(operators_test PRIVATE THIMBLE_TEST="operators")
    add_dependencies(operators_test firmware)
  endif()
endif()
thimble_test(ethos_u_ops_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/ethos_u_ops_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/ethos_u_cases.cpp
    ${CMAKE_CURRENT_LIST_DIR}/ethos_u_shapes.cpp
  DEPS test_runs test_ethos_u_programs thimble_engines thimble_emit thimble_eval thimble_runtime thimble_ethos_u_model
  LABELS conformance)
thimble_test(neutron_rules_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/neutron_rules_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/../text/text_runner.cpp
  DEPS test_integer_graphs thimble_engines thimble_eval
  LABELS conformance fast)
thimble_test(axon_ops_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/axon_ops_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/axon_cases.cpp
    ${CMAKE_CURRENT_LIST_DIR}/../unit/ir_random_graph.cpp
  DEPS thimble_engines thimble_eval thimble_axon_model
  LABELS conformance fast)
thimble_test(neutron_ops_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/neutron_ops_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_cases.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_random_network.cpp
    ${CMAKE_CURRENT_LIST_DIR}/axon_cases.cpp
  DEPS test_integer_graphs thimble_partition thimble_engines thimble_eval thimble_axon_model thimble_neutron_model
  APART axon_cases.cpp
  LABELS conformance)
thimble_test(engines_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/engines_test.cpp
  DEPS test_runs test_networks thimble_driver thimble_hostrun
  LABELS conformance fast)
