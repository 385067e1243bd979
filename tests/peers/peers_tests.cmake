# Creates files with ExecuTorch's own Cortex-M flow and runs them in Thimble's runtime. This takes
# minutes, so it runs only if THIMBLE_TORCH_PYTHON names a Python with ExecuTorch.
set(THIMBLE_TORCH_PYTHON "" CACHE STRING "A Python with torch and executorch, for tests of peers")
if(TARGET executorch_files_test AND THIMBLE_TORCH_PYTHON)
  add_test(NAME peers_executorch
           COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/executorch_peer.py executorch_make.py
                   $<TARGET_FILE:executorch_files_test> ${CMAKE_CURRENT_BINARY_DIR}/executorch_files
                   THIMBLE_EXECUTORCH_FILES)
  add_test(NAME peers_executorch_ethos_u
           COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/executorch_peer.py executorch_ethos_u.py
                   $<TARGET_FILE:executorch_ethos_u_test> ${CMAKE_CURRENT_BINARY_DIR}/executorch_ethos_u_files
                   THIMBLE_ETHOS_U_FILES)
  set_tests_properties(peers_executorch peers_executorch_ethos_u
                       PROPERTIES LABELS peers TIMEOUT 1800 SKIP_RETURN_CODE 77)
endif()

# Compares the simulator with Vela, LiteRT and the TOSA reference model on thousands of streams, if that
# Python has them.
if(TARGET npu_run AND THIMBLE_TORCH_PYTHON)
  add_test(NAME peers_ethos_u_streams
           COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/ethos_u/streams_peer.py
                   $<TARGET_FILE:npu_run> ${CMAKE_CURRENT_BINARY_DIR}/ethos_u_cases)
  set_tests_properties(peers_ethos_u_streams PROPERTIES LABELS peers TIMEOUT 3600
                                                        SKIP_RETURN_CODE 77)
endif()

# Observers and fake quantization of PyTorch with the compiler's rules, if that Python has torch and torchao.
if(THIMBLE_PYTHON AND THIMBLE_TORCH_PYTHON)
  add_test(NAME peers_quantizer
           COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/quantizer/quantizer_peer.py ${CMAKE_SOURCE_DIR}
                   $<TARGET_FILE:thimble>)
  set_tests_properties(peers_quantizer PROPERTIES LABELS peers TIMEOUT 1800 SKIP_RETURN_CODE 77
                       ENVIRONMENT PYTHONPATH=${CMAKE_BINARY_DIR}/python)
endif()
