# SPDX-License-Identifier: Apache-2.0
# Tests of whole networks and of the command line. Boards are emulated, so most of these tests need the
# cross compiler and QEMU.
if(TARGET thimble AND ARM_CXX AND QEMU_ARM)
  set(here ${CMAKE_CURRENT_LIST_DIR})
  foreach(model hello_sin digits_cnn ad_autoencoder dscnn_kws resnet8 mobilenet_v1_vww)
    add_test(NAME e2e_${model}
             COMMAND python3 ${here}/e2e_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}/models/${model})
    list(APPEND e2e_tests e2e_${model})
  endforeach()
  foreach(model conv_tasnet_like convnext_femto_like decoder_step deit_tiny_like efficientnet_lite_like
          gru_classifier lstm_classifier mnasnet_like mobilenet_v3_tiny rnn_step shufflenet_v2_like
          squeezenet_like streaming_conv streaming_conv_buffer tcn unet_small yolo_nano_like)
    add_test(NAME e2e_${model}
             COMMAND python3 ${here}/network_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}/models/${model})
    list(APPEND e2e_tests e2e_${model})
  endforeach()
  # Without quantization; one network also with some operators in float32.
  foreach(model ad_autoencoder digits_cnn gru_classifier hello_sin lstm_classifier rnn_step streaming_conv)
    add_test(NAME e2e_float_${model}
             COMMAND python3 ${here}/float_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}/models/${model})
    list(APPEND e2e_tests e2e_float_${model})
  endforeach()
  add_test(NAME e2e_float_log_mel
           COMMAND python3 ${here}/float_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}/tests/data/log_mel/kws)
  list(APPEND e2e_tests e2e_float_log_mel)
  add_test(NAME e2e_float_dscnn_kws
           COMMAND python3 ${here}/float_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}/models/dscnn_kws
                   --mixed blocks.0)
  list(APPEND e2e_tests e2e_float_dscnn_kws)
  # Integers at run time: tests/data/integers/make.py.
  add_test(NAME e2e_integers
           COMMAND python3 ${here}/network_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}/tests/data/integers)
  list(APPEND e2e_tests e2e_integers)
  # Audio front ends: tests/data/log_mel/make.py.
  foreach(model kws stream)
    add_test(NAME e2e_log_mel_${model}
             COMMAND python3 ${here}/network_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}/tests/data/log_mel/${model})
    list(APPEND e2e_tests e2e_log_mel_${model})
  endforeach()
  add_test(NAME e2e_log_mel
           COMMAND python3 ${here}/log_mel_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}/tests/data/log_mel)
  list(APPEND e2e_tests e2e_log_mel)
  add_test(NAME e2e_corpus
           COMMAND python3 ${here}/corpus_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}/tests/data/pt2)
  add_test(NAME e2e_board_image
           COMMAND python3 ${here}/board_image_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/firmware)
  add_test(NAME e2e_cli
           COMMAND python3 ${here}/cli_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  foreach(part table auto boards groups scalar)
    add_test(NAME e2e_int4_${part}
             COMMAND python3 ${here}/int4_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR} ${part})
    list(APPEND e2e_tests e2e_int4_${part})
  endforeach()
  add_test(NAME e2e_inputs
           COMMAND python3 ${here}/inputs_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  list(APPEND e2e_tests e2e_inputs)
  # Golden text: one test per transcript.
  file(GLOB transcripts CONFIGURE_DEPENDS ${here}/transcripts/*.txt)
  foreach(transcript ${transcripts})
    get_filename_component(name ${transcript} NAME_WE)
    add_test(NAME e2e_transcript_${name}
             COMMAND python3 ${here}/transcript_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR} ${name})
    list(APPEND e2e_tests e2e_transcript_${name})
    list(APPEND fast_transcripts transcript_${name})
  endforeach()
  add_test(NAME e2e_executorch
           COMMAND python3 ${here}/executorch_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}/tests/data/executorch)
  add_test(NAME e2e_methods
           COMMAND python3 ${here}/methods_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  list(APPEND e2e_tests e2e_methods)
  add_test(NAME e2e_memory
           COMMAND python3 ${here}/memory_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  add_test(NAME e2e_optimize
           COMMAND python3 ${here}/optimize_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  foreach(core m0plus m4 m55)
    add_test(NAME e2e_optimize_flash_${core}
             COMMAND python3 ${here}/optimize_flash_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR} cortex-${core})
    list(APPEND e2e_tests e2e_optimize_flash_${core})
  endforeach()
  add_test(NAME e2e_patches
           COMMAND python3 ${here}/patches_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}/tests/data/pt2)
  add_test(NAME e2e_annotate
           COMMAND python3 ${here}/annotate_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  add_test(NAME e2e_recipe
           COMMAND python3 ${here}/recipe_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  add_test(NAME e2e_report
           COMMAND python3 ${here}/report_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  # Parts with an Ethos-U: the NPU's simulator on the host and in the firmware.
  foreach(model hello_sin digits_cnn ad_autoencoder dscnn_kws resnet8 mobilenet_v1_vww unet_small
          yolo_nano_like mobilenet_v3_tiny efficientnet_lite_like shufflenet_v2_like tcn
          conv_tasnet_like decoder_step deit_tiny_like streaming_conv)
    add_test(NAME e2e_ethos_u_${model}
             COMMAND python3 ${here}/ethos_u_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}/models/${model})
    list(APPEND e2e_tests e2e_ethos_u_${model})
  endforeach()
  set(models ${CMAKE_SOURCE_DIR}/models)
  add_test(NAME e2e_payload_neutron
           COMMAND python3 ${here}/neutron_payload_test.py $<TARGET_FILE:thimble> ${models}/digits_cnn ${models}/resnet8
                   ${models}/unet_small ${models}/ad_autoencoder ${models}/tcn)
  list(APPEND e2e_tests e2e_payload_neutron)
  # MobileNetV2 if its export.py was run; networks of the tree always.
  foreach(folder ${CMAKE_SOURCE_DIR}/models/digits_cnn ${CMAKE_SOURCE_DIR}/models/mobilenet_v1_vww
          ${CMAKE_SOURCE_DIR}/build/models/mobilenet_v2)
    get_filename_component(model ${folder} NAME)
    if(EXISTS ${folder}/${model}.pt2)
      add_test(NAME e2e_payload_${model}
               COMMAND python3 ${here}/payload_test.py $<TARGET_FILE:thimble> ${folder})
      list(APPEND e2e_tests e2e_payload_${model})
    endif()
  endforeach()
  add_test(NAME e2e_ethos_u_quantized
           COMMAND python3 ${here}/ethos_u_quantized_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}/tests/data/pt2)
  list(APPEND e2e_tests e2e_ethos_u_quantized)
  # The nRF54LM20B: layer lists of the AXON on the integer model, on the host and in the firmware.
  foreach(model hello_sin digits_cnn ad_autoencoder dscnn_kws resnet8 mobilenet_v1_vww unet_small
          yolo_nano_like mobilenet_v3_tiny efficientnet_lite_like shufflenet_v2_like tcn mnasnet_like
          conv_tasnet_like decoder_step deit_tiny_like streaming_conv streaming_conv_buffer rnn_step
          squeezenet_like gru_classifier lstm_classifier)
    add_test(NAME e2e_axon_${model}
             COMMAND python3 ${here}/npu_test.py nrf54lm20b $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}/models/${model})
    list(APPEND e2e_tests e2e_axon_${model})
  endforeach()
  add_test(NAME e2e_axon_quantized
           COMMAND python3 ${here}/npu_test.py nrf54lm20b $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}/tests/data/pt2
                   q_axon_image q_axon_qat_image q_axon_curves)
  list(APPEND e2e_tests e2e_axon_quantized)
  # The i.MX RT700: kernel lists of the Neutron on the integer model, on the host and in the firmware.
  foreach(model ad_autoencoder cifarnet conv_tasnet_like convnext_femto_like decoder_step deit_tiny_like digits_cnn
          dscnn_kws efficientnet_lite_like face_embedding gru_classifier hello_sin lstm_classifier mnasnet_like
          mobilenet_v1_vww mobilenet_v2_tiny mobilenet_v3_tiny resnet8 rnn_step se_classifier shufflenet_v2_like
          squeezenet_like streaming_conv streaming_conv_buffer tcn unet_small vocoder yolo_nano_like)
    add_test(NAME e2e_nxp_${model}
             COMMAND python3 ${here}/npu_test.py imxrt700cm $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}/models/${model})
    list(APPEND e2e_tests e2e_nxp_${model})
  endforeach()
  add_test(NAME e2e_nxp_quantized
           COMMAND python3 ${here}/npu_test.py imxrt700 $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}/tests/data/pt2
                   q_neutron_image q_neutron_nhwc_image q_neutron_mixed q_neutron_rows q_neutron_faces q_neutron_mul_min
                   q_neutron_add_min_max q_neutron_gated q_neutron_qat_image q_neutron_qat_faces)
  set(mobilenet_v2 ${CMAKE_SOURCE_DIR}/build/models/mobilenet_v2) # exists if its export.py was run
  if(NOT EXISTS ${mobilenet_v2}/mobilenet_v2.pt2)
    set(mobilenet_v2)
  endif()
  add_test(NAME e2e_nxp_seeds
           COMMAND python3 ${here}/neutron_seeds_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR} ${mobilenet_v2})
  add_test(NAME e2e_nxp_lists
           COMMAND python3 ${here}/neutron_lists_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  list(APPEND e2e_tests e2e_nxp_quantized e2e_nxp_seeds e2e_nxp_lists)
  # A stand-in for the FVP of a Corstone-300.
  add_test(NAME e2e_fvp
           COMMAND python3 ${here}/fvp_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}/models/hello_sin)
  list(APPEND e2e_tests e2e_fvp)
  list(APPEND e2e_tests e2e_annotate e2e_board_image e2e_executorch e2e_corpus e2e_cli e2e_memory e2e_optimize e2e_patches e2e_recipe e2e_report)
  set_tests_properties(${e2e_tests} PROPERTIES LABELS e2e TIMEOUT 600)
  # Small networks of each kind on each engine. Each takes one or two seconds.
  foreach(name hello_sin digits_cnn decoder_step lstm_classifier rnn_step squeezenet_like streaming_conv tcn unet_small
          ethos_u_hello_sin ethos_u_digits_cnn ethos_u_dscnn_kws ethos_u_resnet8 ethos_u_tcn ethos_u_yolo_nano_like
          axon_hello_sin axon_digits_cnn axon_dscnn_kws axon_tcn axon_quantized
          nxp_hello_sin nxp_digits_cnn nxp_dscnn_kws nxp_resnet8 nxp_quantized nxp_lists
          cli executorch patches payload_digits_cnn recipe ${fast_transcripts})
    set_property(TEST e2e_${name} APPEND PROPERTY LABELS fast)
  endforeach()
endif()

# Tests that need no emulated board.
if(TARGET thimble)
  add_test(NAME e2e_nxp_rewrites
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/neutron_rewrites_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  add_test(NAME e2e_parts
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/parts_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  add_test(NAME e2e_npu_cycles
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/npu_cycles_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  add_test(NAME e2e_plans
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/plans_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  add_test(NAME e2e_fit
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/fit_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  set(boards)
  if(ARM_CXX AND QEMU_ARM)
    set(boards --boards)
  endif()
  add_test(NAME e2e_devtools
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/devtools_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR} ${FLATC}
                   ${boards})
  if(ARM_CXX AND QEMU_ARM)
    add_test(NAME e2e_overlap
             COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/overlap_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
    set_tests_properties(e2e_overlap PROPERTIES LABELS "e2e;fast" TIMEOUT 600)
  endif()
  set_tests_properties(e2e_devtools e2e_nxp_rewrites e2e_parts e2e_npu_cycles e2e_plans e2e_fit PROPERTIES LABELS "e2e;fast" TIMEOUT 600)
endif()
