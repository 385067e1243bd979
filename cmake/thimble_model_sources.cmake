# Run as a script: writes NAME.h and NAME_model.cpp next to the compiled model.
file(READ ${REPORT} report)
string(JSON arena GET ${report} arena_bytes)
string(JSON state GET ${report} state_bytes)
string(JSON pte GET ${report} pte_bytes)
math(EXPR memory "${arena} + ${state}")
configure_file(${TEMPLATES}/thimble_model.h.in ${FOLDER}/${NAME}.h @ONLY)
configure_file(${TEMPLATES}/thimble_model.cpp.in ${FOLDER}/${NAME}_model.cpp @ONLY)
file(TOUCH ${FOLDER}/${NAME}.h ${FOLDER}/${NAME}_model.cpp)
