# SPDX-License-Identifier: Apache-2.0
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

# The list of core ATen operators, if that Python has its version of PyTorch.
if(THIMBLE_TORCH_PYTHON)
  add_test(NAME peers_core_aten COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/core_aten_peer.py ${CMAKE_SOURCE_DIR})
  set_tests_properties(peers_core_aten PROPERTIES LABELS peers TIMEOUT 600 SKIP_RETURN_CODE 77)
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
  # Files of ExecuTorch's own Cortex-M flow.
  add_test(NAME peers_executorch_networks
           COMMAND ${THIMBLE_TORCH_PYTHON} ${here}/networks_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR} ${libraries}
                   ${folder}/networks)
  # Files of ExecuTorch's own Ethos-U flow, with the TOSA reference model.
  add_test(NAME peers_executorch_ethos_u_networks
           COMMAND ${THIMBLE_TORCH_PYTHON} ${here}/ethos_u_networks_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}
                   ${libraries} ${folder}/ethos_u_networks)
  # Nordic's delegate with a stand-in for the driver.
  add_library(executorch_axon_vendor STATIC
              ${CMAKE_SOURCE_DIR}/engines/axon/executorch/vendor.cpp ${CMAKE_SOURCE_DIR}/tests/axon_vendor/standin_driver.c)
  target_link_libraries(executorch_axon_vendor PRIVATE thimble_executorch_headers)
  set(axon ${CMAKE_SOURCE_DIR}/engines/axon)
  file(GLOB_RECURSE vendor CONFIGURE_DEPENDS ${axon}/delegate_vendor/*.cpp ${axon}/container/*.cpp ${axon}/delegate/*.cpp
       ${axon}/model/*.cpp)
  target_sources(executorch_axon_vendor PRIVATE ${vendor}
                 ${CMAKE_SOURCE_DIR}/executorch/delegate/backend.cpp ${CMAKE_SOURCE_DIR}/executorch/delegate/args.cpp
                 ${CMAKE_SOURCE_DIR}/executorch/status.cpp ${CMAKE_SOURCE_DIR}/executorch/tensor.cpp
                 ${CMAKE_SOURCE_DIR}/runtime/core/status_text.cpp)
  target_include_directories(executorch_axon_vendor PRIVATE
                             ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/runtime/include ${CMAKE_SOURCE_DIR}/executorch/include
                             ${axon}/executorch/include ${axon}/delegate/include)
  set_target_properties(executorch_axon_vendor PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
  target_compile_options(executorch_axon_vendor PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti -fno-exceptions>)
  add_test(NAME peers_executorch_axon_driver
           COMMAND ${THIMBLE_TORCH_PYTHON} ${here}/axon_driver_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}
                   $<TARGET_FILE:axon_standin_compiler> $<TARGET_FILE:executorch_axon_vendor> ${THIMBLE_EXECUTORCH_LIBRARY}
                   ${folder}/axon_driver)
  set_tests_properties(peers_executorch_runtime peers_executorch_delegates peers_executorch_events peers_executorch_commands
                       peers_executorch_networks peers_executorch_ethos_u_networks peers_executorch_axon_driver
                       PROPERTIES LABELS peers TIMEOUT 1800 SKIP_RETURN_CODE 77)
  # ExecuTorch's flow with the partitioners, quantizers and the Cortex-M pipeline of thimble_ml.executorch.
  if(THIMBLE_PYTHON)
    add_test(NAME peers_executorch_switching
             COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/executorch_flow/switching_test.py $<TARGET_FILE:thimble>
                     ${CMAKE_SOURCE_DIR} $<TARGET_FILE:axon_standin_compiler> ${folder}/switching)
    add_test(NAME peers_executorch_features
             COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/executorch_flow/features_test.py $<TARGET_FILE:thimble>
                     ${CMAKE_SOURCE_DIR} $<TARGET_FILE:axon_standin_compiler> ${folder}/features)
    add_test(NAME peers_executorch_placement
             COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/executorch_flow/placement_test.py $<TARGET_FILE:thimble>
                     ${libraries} ${folder}/placement)
    set_tests_properties(peers_executorch_switching peers_executorch_features peers_executorch_placement
                         PROPERTIES LABELS peers TIMEOUT 1800 SKIP_RETURN_CODE 77
                         ENVIRONMENT PYTHONPATH=${CMAKE_BINARY_DIR}/python)
    foreach(engine ethos_u axon neutron imxrt700cm cortex_m cortex_m-passes)
      add_test(NAME peers_executorch_flow_${engine}
               COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/executorch_flow/flow_peer.py ${CMAKE_SOURCE_DIR}
                       $<TARGET_FILE:thimble> ${libraries} ${folder}/flow/${engine} ${engine})
      set_tests_properties(peers_executorch_flow_${engine} PROPERTIES LABELS peers TIMEOUT 1800 SKIP_RETURN_CODE 77
                           ENVIRONMENT PYTHONPATH=${CMAKE_BINARY_DIR}/python)
    endforeach()
    # Their quantizers, after training and with training.
    foreach(engine ethos_u axon neutron imxrt700cm cortex_m)
      add_test(NAME peers_executorch_simulated_${engine}
               COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/executorch_flow/simulated_peer.py
                       $<TARGET_FILE:thimble> ${libraries} ${folder}/simulated/${engine} ${engine})
      set_tests_properties(peers_executorch_simulated_${engine} PROPERTIES LABELS peers TIMEOUT 1800 SKIP_RETURN_CODE 77
                           ENVIRONMENT PYTHONPATH=${CMAKE_BINARY_DIR}/python)
    endforeach()
  endif()
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
