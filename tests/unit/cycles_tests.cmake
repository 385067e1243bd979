# SPDX-License-Identifier: Apache-2.0
thimble_test(cycles_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/cycles_test.cpp DEPS thimble_cycles LABELS unit fast)
add_executable(cycles_blocks ${CMAKE_SOURCE_DIR}/benchmarks/cycles/blocks.cpp)
target_link_libraries(cycles_blocks PRIVATE thimble_options thimble_cycles thimble_engines)
if(THIMBLE_FIRMWARE)
  # Skipped without llvm-mca 19.
  add_test(NAME cycles_llvm_mca
           COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/benchmarks/cycles/llvm_mca.py --check
                   --program $<TARGET_FILE:thimble> --blocks $<TARGET_FILE:cycles_blocks>)
  set_tests_properties(cycles_llvm_mca PROPERTIES LABELS peers TIMEOUT 600 SKIP_RETURN_CODE 77)
endif()

add_test(NAME cycles_boards_page COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/benchmarks/cycles/boards.py --page)
set_tests_properties(cycles_boards_page PROPERTIES LABELS "docs;fast")
# Skipped without a clone of the submissions (benchmarks/cycles/README.md, "Boards").
set(THIMBLE_TINY_RESULTS "" CACHE PATH "clone of github.com/mlcommons/tiny_results_v1.2")
add_test(NAME cycles_boards
         COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/benchmarks/cycles/boards.py
                 ${THIMBLE_TINY_RESULTS} --check --build ${CMAKE_BINARY_DIR})
set_tests_properties(cycles_boards PROPERTIES LABELS peers TIMEOUT 3600 SKIP_RETURN_CODE 77)
