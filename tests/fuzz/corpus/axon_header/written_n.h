#ifdef __cplusplus
extern "C" {
#endif
#define NRF_AXON_MODEL_N_MAX_IL_BUFFER_USED 24
#define NRF_AXON_MODEL_N_MAX_PSUM_BUFFER_USED 0
static_assert(NRF_AXON_MODEL_N_MAX_IL_BUFFER_USED <= (SIZE), "small; {\n");
// size
const static struct {
	int8_t l00_weights[3];
	int32_t l00_biasp[2];
	int16_t l01_w[1];
} axon_model_const_n = {
	.l00_weights = {117,-28,17,},
	.l00_biasp = {-2,0x10,},
	.l01_w = {-3},
};
int32_t axon_model_n_persistent_vars[3];
extern const int8_t axonpro_int8_packing_filter[4];
const NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE cmd_buffer_n[3] = {
0x5d000001,2,(NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE)(nrf_axon_interlayer_buffer),
};
const nrf_axon_nn_model_persistent_var_s axon_model_n_persistent_var_list[] = {
  {// 0
 .buf_ptr = (int8_t*)((uint8_t*)(axon_model_n_persistent_vars)+0x8),
 .buf_size = 4,// in bytes
 .initial_value = -128,
 .byte_width = 1,
 },
};
const nrf_axon_nn_compiled_model_s model_n = {
 .compiler_version = 0x00010400,
 .model_name = "n",
 .labels = NULL,
 .inputs = {
 {// 0
 .ptr = (int8_t*)nrf_axon_interlayer_buffer,
 .dimensions = {
 .height = 2,
 .width = 3,
 .channel_cnt = 1,
 .byte_width = 1,
 },
 .stride = 3,
 .is_external = true,
 },
 },
 .input_cnt = 1,
 .external_input_ndx = 0,
 .output_ptr = (int8_t*)((uint8_t*)(nrf_axon_interlayer_buffer)+0x10),
#if NRF_AXON_MODEL_ALLOCATE_PACKED_OUTPUT_BUFFER
 .packed_output_buf = (int8_t*)x,
#else
 .packed_output_buf = NULL,
#endif
 .interlayer_buffer_needed = NRF_AXON_MODEL_N_MAX_IL_BUFFER_USED,
 .psum_buffer_needed = NRF_AXON_MODEL_N_MAX_PSUM_BUFFER_USED,
 .persistent_vars = {
 .buf_ptr = (int8_t*)axon_model_n_persistent_vars,
 .buf_size = sizeof(axon_model_n_persistent_vars),
 .vars = axon_model_n_persistent_var_list,
 .count = 1,
 },
 .output_dimensions = {
 .height = 1,
 .width = 2,
 .channel_cnt = 1,
 .byte_width = 4,
 },
 .output_stride = 8,
 .extra_output_cnt = 0,
 .extra_outputs = NULL,
 .min_driver_version_required = 0x00010200,
};
#ifdef __cplusplus
}
#endif
