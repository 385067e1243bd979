#include "tests/faults/corrupted.h"

namespace thimble::faults {

std::span<const Format> formats() {
  const auto corpus = [](const char* folder) {
    return std::vector<std::pair<std::string, std::string>>{
        {std::string("tests/fuzz/corpus/") + folder, ""}};
  };
  static const std::vector<Format> all = {
      {"axon_list", corpus("axon_list"), nullptr, damage_axon, run_axon},
      {"bundle",
       {{"tests/data/executorch/devtools", ".bpte"}},
       prepare_flatbuffer,
       damage_flatbuffer,
       run_bundle},
      {"ethos_u_payload", corpus("ethos_u_payload"), nullptr, damage_ethos_u_payload,
       run_ethos_u_payload},
      {"ethos_u_stream", corpus("ethos_u_payload"), prepare_ethos_u_stream, damage_stream,
       run_ethos_u_stream},
      {"ir", corpus("ir"), nullptr, damage_text, run_ir},
      {"neutron_payload", corpus("neutron_payload"), nullptr, damage_neutron, run_neutron},
      {"npy", {{"tests/data/executorch/devtools", ".npy"}}, nullptr, damage_npy, run_npy},
      {"npz",
       {{"tests/data/executorch", ".npz"}, {"models/hello_sin", ".npz"}},
       prepare_zip,
       damage_zip,
       run_npz,
       inflated_zip_bytes},
      {"part", {{"targets", ".toml"}}, nullptr, damage_text, run_part},
      {"pt2", {{"tests/data/pt2", ".pt2"}}, prepare_zip, damage_zip, run_pt2, inflated_zip_bytes},
      {"ptd",
       {{"tests/data/executorch/devtools", ".ptd"}},
       prepare_flatbuffer,
       damage_flatbuffer,
       run_ptd},
      {"pte", corpus("pte"), prepare_flatbuffer, damage_flatbuffer, run_pte},
      {"pte_npu", corpus("pte_run_npu"), prepare_flatbuffer, damage_flatbuffer, run_pte_npu},
      {"pte_stock",
       {{"tests/data/executorch", ".pte"}},
       prepare_flatbuffer,
       damage_flatbuffer,
       run_pte},
      {"tflite", corpus("tflite"), prepare_flatbuffer, damage_flatbuffer, run_tflite},
  };
  return all;
}

}  // namespace thimble::faults
