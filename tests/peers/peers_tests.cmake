# Creates files with ExecuTorch's own Cortex-M flow and runs them in Thimble's runtime. This takes
# minutes, so it runs only if THIMBLE_TORCH_PYTHON names a Python with ExecuTorch.
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

# ExecuTorch's flow with the partitioners, quantizers and the Cortex-M pipeline of thimble_ml.executorch.
if(THIMBLE_PYTHON AND THIMBLE_TORCH_PYTHON)
  add_test(NAME peers_executorch_flow
           COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/executorch_flow/flow_peer.py ${CMAKE_SOURCE_DIR})
  set_tests_properties(peers_executorch_flow PROPERTIES LABELS peers TIMEOUT 1800 SKIP_RETURN_CODE 77
                       ENVIRONMENT PYTHONPATH=${CMAKE_BINARY_DIR}/python)
endif()

# Observers and fake quantization of PyTorch with the compiler's rules, if that Python has torch and torchao.
if(THIMBLE_PYTHON AND THIMBLE_TORCH_PYTHON)
  add_test(NAME peers_quantizer
           COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/quantizer/quantizer_peer.py ${CMAKE_SOURCE_DIR}
                   $<TARGET_FILE:thimble>)
  set_tests_properties(peers_quantizer PROPERTIES LABELS peers TIMEOUT 1800 SKIP_RETURN_CODE 77
                       ENVIRONMENT PYTHONPATH=${CMAKE_BINARY_DIR}/python)
endif()

# Files in ExecuTorch's own runtime, with Thimble's kernels and delegates.
if(TARGET thimble AND TARGET thimble_executorch_kernels AND THIMBLE_TORCH_PYTHON)
  set(here ${CMAKE_CURRENT_LIST_DIR}/executorch_runtime)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/executorch_runtime)
  get_target_property(libraries thimble_executorch_kernels BINARY_DIR)
  add_test(NAME peers_executorch_runtime
           COMMAND ${THIMBLE_TORCH_PYTHON} ${here}/runtime_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR} ${libraries} ${folder})
  add_executable(executorch_host ${here}/host.cpp)
  # The delegates register themselves: nothing refers to their libraries.
  target_link_libraries(executorch_host PRIVATE thimble_executorch_headers -Wl,--no-as-needed thimble_executorch_kernels
                        thimble_executorch_axon thimble_executorch_ethos_u thimble_executorch_neutron
                        ${THIMBLE_EXECUTORCH_LIBRARY})
  target_compile_options(executorch_host PRIVATE -fsanitize=leak -Wall -Wextra)
  target_link_options(executorch_host PRIVATE -fsanitize=leak)
  add_test(NAME peers_executorch_delegates
           COMMAND ${THIMBLE_TORCH_PYTHON} ${here}/delegates_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}
                   $<TARGET_FILE:executorch_host> ${folder}/delegates)
  add_test(NAME peers_executorch_events
           COMMAND ${THIMBLE_TORCH_PYTHON} ${here}/events_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR} ${libraries}
                   ${folder}/events)
  add_test(NAME peers_executorch_commands
           COMMAND ${THIMBLE_TORCH_PYTHON} ${here}/docs_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR} ${folder}/commands)
  set_tests_properties(peers_executorch_runtime peers_executorch_delegates peers_executorch_events peers_executorch_commands
                       PROPERTIES LABELS peers TIMEOUT 1800 SKIP_RETURN_CODE 77)
endif()
# Sources for ExecuTorch's runtime, compiled for microcontrollers.
if(THIMBLE_EXECUTORCH AND ARM_CXX)
  add_test(NAME peers_executorch_device
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/executorch_runtime/device_test.py ${CMAKE_COMMAND} ${CMAKE_BINARY_DIR}
                   ${THIMBLE_EXECUTORCH} ${ARM_CXX} ${CMAKE_CURRENT_BINARY_DIR}/executorch_runtime/device)
  set_tests_properties(peers_executorch_device PROPERTIES LABELS peers TIMEOUT 1800)
endif()
# Inspector, ETRecord and bundled programs of ExecuTorch, if that Python has it.
if(THIMBLE_PYTHON AND THIMBLE_TORCH_PYTHON)
  add_test(NAME peers_devtools
           COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/devtools/devtools_peer.py ${CMAKE_SOURCE_DIR}
                   $<TARGET_FILE:thimble>)
  set_tests_properties(peers_devtools PROPERTIES LABELS peers TIMEOUT 1800 SKIP_RETURN_CODE 77
                       ENVIRONMENT PYTHONPATH=${CMAKE_BINARY_DIR}/python)
endif()
