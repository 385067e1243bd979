# SPDX-License-Identifier: Apache-2.0
# thimble_write_model(NAME PTE FOLDER ARENA POINTERS PTE_BYTES ISA TARGET KEYS KERNELS): writes NAME.h and NAME_model.cpp into
# FOLDER. The kernels are those of the operators' KEYS, or of the file KERNELS that `thimble compile --kernels` wrote.

function(thimble_write_model NAME PTE folder arena pointers pte isa target keys KERNELS)
  math(EXPR state "4 * ${pointers}")
  math(EXPR memory "${arena} + ${state}")
  set(template thimble_model.cpp.in)
  if(NOT KERNELS)
    set(template thimble_pte_model.cpp.in)
    set(kernels)
    foreach(key ${keys})
      string(APPEND kernels "    kernel_of(${key}),\n")
    endforeach()
    list(LENGTH keys kernel_count)
  endif()
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/thimble_model.h.in ${folder}/${NAME}.h @ONLY)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${template} ${folder}/${NAME}_model.cpp @ONLY)
endfunction()
