thimble_test(cortex_m_conformance_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/cortex_m_conformance_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/random_integer_graph.cpp
    ${CMAKE_CURRENT_LIST_DIR}/random_wide_graph.cpp
    ${CMAKE_CURRENT_LIST_DIR}/../unit/ir_random_graph.cpp
  DEPS thimble_target thimble_emit thimble_eval thimble_runtime
  LABELS conformance)
thimble_test(executorch_files_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/executorch_files_test.cpp
  DEPS thimble_hostrun thimble_driver thimble_emit thimble_eval
  LABELS conformance)
thimble_test(state_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/state_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/../unit/ir_random_graph.cpp
  DEPS thimble_target thimble_emit thimble_eval thimble_quant thimble_passes thimble_hostrun
  LABELS conformance)
