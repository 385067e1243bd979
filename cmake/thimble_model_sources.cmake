# SPDX-License-Identifier: Apache-2.0
# Run as a script: writes NAME.h and NAME_model.cpp next to the compiled model.
include(${CMAKE_CURRENT_LIST_DIR}/thimble_read_pte.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/thimble_write_model.cmake)
file(READ ${REPORT} report)
string(JSON arena GET "${report}" arena_bytes)
string(JSON state GET "${report}" state_bytes)
thimble_read_pte(FILE ${PTE})
math(EXPR pointers "(${state} + 3) / 4")
thimble_write_model(${NAME} ${PTE} ${FOLDER} ${arena} ${pointers} ${FILE_PTE_BYTES} "${FILE_ISA}" "${FILE_TARGET}" "" ${KERNELS})
file(TOUCH ${FOLDER}/${NAME}.h ${FOLDER}/${NAME}_model.cpp)
