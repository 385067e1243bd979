# Tables of benchmarks/ and README.md, measured anew.
if(TARGET firmware AND TARGET thimble AND QEMU_ARM)
  add_test(NAME benchmarks_cortex_m
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/cortex_m_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  set_tests_properties(benchmarks_cortex_m PROPERTIES LABELS "e2e;firmware" SKIP_RETURN_CODE 77 TIMEOUT 600)
endif()
if(TARGET thimble)
  add_test(NAME benchmarks_accuracy
           COMMAND python3 ${CMAKE_SOURCE_DIR}/benchmarks/accuracy/accuracy.py --program $<TARGET_FILE:thimble> --check)
  set_tests_properties(benchmarks_accuracy PROPERTIES LABELS e2e TIMEOUT 600)
endif()
if(TARGET firmware AND TARGET thimble AND QEMU_ARM AND THIMBLE_TORCH_PYTHON)
  add_test(NAME peers_benchmarks_lstm
           COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_SOURCE_DIR}/benchmarks/lstm/lstm.py --build ${CMAKE_BINARY_DIR} --check)
  set_tests_properties(peers_benchmarks_lstm PROPERTIES LABELS peers TIMEOUT 600)
endif()
if(TARGET thimble AND THIMBLE_TORCH_PYTHON)
  add_test(NAME peers_benchmarks_operators
           COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_SOURCE_DIR}/benchmarks/operators/operators.py --program $<TARGET_FILE:thimble>
                   --check)
  set_tests_properties(peers_benchmarks_operators PROPERTIES LABELS peers TIMEOUT 600)
endif()
