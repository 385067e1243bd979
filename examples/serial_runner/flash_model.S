// SPDX-License-Identifier: Apache-2.0
/* The model in flash; empty without -DMODEL. */
.section .rodata.flash_model, "a"
.balign 16
.global flash_model
flash_model:
#ifdef MODEL_FILE
.incbin MODEL_FILE
#endif
flash_model_end:
.balign 4
.global flash_model_bytes
flash_model_bytes:
.long flash_model_end - flash_model
