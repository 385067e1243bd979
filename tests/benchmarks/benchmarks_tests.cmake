# SPDX-License-Identifier: Apache-2.0
# Tables of benchmarks/ and README.md, measured anew.
set(peer_networks hello_sin digits_cnn dscnn_kws resnet8 ad_autoencoder mobilenet_v1_vww unet_small yolo_nano_like)
if(TARGET firmware AND TARGET thimble AND QEMU_ARM)
  add_test(NAME benchmarks_cortex_m
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/cortex_m_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  set_tests_properties(benchmarks_cortex_m PROPERTIES LABELS "e2e;firmware" SKIP_RETURN_CODE 77 TIMEOUT 600)
endif()
add_test(NAME benchmarks_zoo COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/zoo_test.py ${CMAKE_SOURCE_DIR})
set_tests_properties(benchmarks_zoo PROPERTIES LABELS "docs;fast" TIMEOUT 60)
if(TARGET thimble)
  add_test(NAME benchmarks_mixed
           COMMAND python3 ${CMAKE_SOURCE_DIR}/benchmarks/mixed/mixed.py --program $<TARGET_FILE:thimble> --check)
  set_tests_properties(benchmarks_mixed PROPERTIES LABELS e2e TIMEOUT 600)
endif()
if(TARGET thimble AND THIMBLE_PYTHON)  # Python_EXECUTABLE has NumPy
  add_test(NAME benchmarks_accuracy
           COMMAND ${Python_EXECUTABLE} ${CMAKE_SOURCE_DIR}/benchmarks/accuracy/accuracy.py
                   --program $<TARGET_FILE:thimble> --seed 0 --check)
  set_tests_properties(benchmarks_accuracy PROPERTIES LABELS e2e TIMEOUT 900)
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
if(TARGET thimble AND THIMBLE_TORCH_PYTHON)
  list(TRANSFORM peer_networks PREPEND ${CMAKE_SOURCE_DIR}/models/)
  add_test(NAME peers_benchmarks_ethos_u
           COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_SOURCE_DIR}/benchmarks/ethos_u_peers/peers.py --thimble $<TARGET_FILE:thimble>
                   --timeline $<TARGET_FILE:ethos_u_timeline> --work ${CMAKE_BINARY_DIR}/ethos_u_peers --readme
                   ${peer_networks})
  set_tests_properties(peers_benchmarks_ethos_u PROPERTIES LABELS peers TIMEOUT 1200 SKIP_RETURN_CODE 77)
endif()
