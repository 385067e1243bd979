# SPDX-License-Identifier: Apache-2.0
# The report with pictures, Model Explorer's JSON and the trace of a profile.
if(TARGET thimble)
  set(here ${CMAKE_CURRENT_LIST_DIR})
  set(boards)
  if(ARM_CXX AND QEMU_ARM)
    set(boards --boards)
  endif()
  add_test(NAME report_page
           COMMAND python3 ${here}/page_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR} ${boards})
  set_tests_properties(report_page PROPERTIES LABELS "e2e;fast" TIMEOUT 600)
  # Chromium is optional (Debian: package chromium). Without it the test is reported as skipped.
  find_program(CHROMIUM NAMES chromium chromium-browser google-chrome)
  set(chromium)
  if(CHROMIUM)
    set(chromium ${CHROMIUM})
  endif()
  add_test(NAME report_browser
           COMMAND python3 ${here}/browser_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR} "${chromium}")
  set_tests_properties(report_browser PROPERTIES LABELS browser TIMEOUT 600 SKIP_RETURN_CODE 77)
  # MobileNetV2 of 224 x 224 pixels. Without its export (models/make.py) and without PyTorch the test is reported as
  # skipped.
  set(export_python python3)
  if(THIMBLE_TORCH_PYTHON)
    set(export_python ${THIMBLE_TORCH_PYTHON})
  endif()
  add_test(NAME report_browser_mobilenet_v2
           COMMAND ${export_python} ${here}/browser_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR} "${chromium}"
                   --mobilenet-v2)
  set_tests_properties(report_browser_mobilenet_v2 PROPERTIES LABELS browser TIMEOUT 600 SKIP_RETURN_CODE 77)
  # A Python with ai-edge-model-explorer and pte-adapter-model-explorer. Without it the test installs them in the build folder.
  set(model_explorer_python python3)
  if(THIMBLE_MODEL_EXPLORER_PYTHON)
    set(model_explorer_python ${THIMBLE_MODEL_EXPLORER_PYTHON})
  endif()
  add_test(NAME report_model_explorer
           COMMAND ${model_explorer_python} ${here}/model_explorer_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}
                   ${CMAKE_BINARY_DIR} "${chromium}")
  set_tests_properties(report_model_explorer PROPERTIES LABELS browser TIMEOUT 600 SKIP_RETURN_CODE 77)
endif()
thimble_test(report_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/report_layout_test.cpp ${CMAKE_CURRENT_LIST_DIR}/report_page_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/report_text_test.cpp
  DEPS thimble_report
  LABELS unit fast)
