// SPDX-License-Identifier: Apache-2.0
// The origin of an operator of a .pt2: the source line of the user, the module, and the names of
// inputs and outputs.

#include <string>

#include <gtest/gtest.h>

#include "formats/pt2/source_line.h"
#include "formats/pt2/tree_spec.h"

namespace thimble::formats::pt2 {
namespace {

TEST(SourceLine, ReturnsLastFrameOfUserCode) {
  const SourceLine line = parse_stack_trace(
      "  File \"/home/me/main.py\", line 3, in <module>\n    run()\n"
      "  File \"/home/me/a \"b\", line 1.py\", line 12, in block\n    z = f(x,\n    ^^^^\n"
      "  File \"/v/site-packages/torch/nn/modules/conv.py\", line 5, in forward\n    return c\n"
      "  File \"<eval_with_key>.1\", line 9, in forward\n");
  EXPECT_EQ(line.file, "/home/me/a \"b\", line 1.py");
  EXPECT_EQ(line.line, 12);
  EXPECT_EQ(line.function, "block");
  EXPECT_EQ(line.text, "z = f(x,");
}

TEST(SourceLine, PrefersInstalledModelsToTorchItself) {
  const SourceLine line = parse_stack_trace(
      "File \"/v/site-packages/torchvision/models/vgg.py\", line 66, in forward\n    x = f(x)\n"
      "File \"/v/site-packages/torch/nn/modules/conv.py\", line 5, in forward\n    return c");
  EXPECT_EQ(line.file, "/v/site-packages/torchvision/models/vgg.py");
  EXPECT_EQ(line.line, 66);
  // A stack trace with lines of PyTorch and its quantizers only has no line of the user's.
  for (const char* folder : {"torch", "torchao", "executorch"}) {
    const std::string file = std::string("/v/site-packages/") + folder + "/quantization/pt2e/a.py";
    const SourceLine none = parse_stack_trace("File \"" + file + "\", line 5, in f\n  y = q(x)");
    EXPECT_EQ(none.line, 0) << file;
    EXPECT_EQ(none.file, "") << file;
    EXPECT_EQ(none.text, "") << file;
  }
  EXPECT_EQ(parse_stack_trace("File \"/v/site-packages/torchvision/a.py\", line 5, in f").line, 5);
  EXPECT_EQ(parse_stack_trace("File \"torch/fx/passes/x.py\", line 24, in check").line, 0);
}

TEST(SourceLine, NamesTheLineOfAnInstalledModelThatTheUserCalls) {
  const SourceLine line = parse_stack_trace(
      "File \"/home/me/wrap.py\", line 7, in forward\n    return self.m(ids).logits\n"
      "File \"/v/site-packages/transformers/bert.py\", line 66, in forward\n    x = self.a(x)\n"
      "File \"/v/site-packages/transformers/bert.py\", line 21, in forward\n    s = s + mask\n"
      "File \"/v/site-packages/torch/nn/modules/linear.py\", line 5, in forward\n    return c");
  EXPECT_EQ(line.file, "/home/me/wrap.py");
  EXPECT_EQ(line.line, 7);
  EXPECT_EQ(line.text, "return self.m(ids).logits  (bert.py:21: s = s + mask)");
}

TEST(SourceLine, AcceptsAnyText) {
  for (const char* text : {"", "\n\n", "File \"", "File \"a\"", "File \"a\", line x", "none",
                           "File \"a\", line 99999999999999999999"}) {
    EXPECT_EQ(parse_stack_trace(text).line, 0) << text;
  }
  EXPECT_EQ(parse_stack_trace("File \"a\", line 5").function, "");
}

TEST(TreeSpec, ReturnsKeysAndFieldsOnTheWayToEachLeaf) {
  const std::string leaf = R"({"type": null, "context": null, "children_spec": []})";
  const std::string pair = R"({"type": "builtins.tuple", "context": "null", "children_spec": [)" +
                           leaf + "," + leaf + "]}";
  const std::string dictionary =
      R"({"type": "builtins.dict", "context": "[\"a\", \"b\"]", "children_spec": [)" + leaf + "," +
      pair + "]}";
  const std::string dataclass =
      R"({"type": "Out", "context": "[[\"y\"], [\"none\"]]", "children_spec": [)" + leaf + "]}";
  const auto names = [](const std::string& tree) { return leaf_names("[1, " + tree + "]"); };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(dictionary), (Names{"a", "b_0", "b_1"}));
  EXPECT_EQ(names(dataclass), (Names{"y"}));
  EXPECT_EQ(names(pair), (Names{"", ""}));
  for (const std::string& text : {std::string(), std::string("[1"), std::string("[1, {}]"),
                                  "[2, " + leaf, std::string("{}")}) {
    EXPECT_TRUE(leaf_names(text).empty()) << text;
  }
}

TEST(ModuleStack, ReturnsInnermostModule) {
  const ModuleName module =
      parse_module_stack("L__self__,,__main__.M;k,b.slice(0, 3),__main__.B;x,b.l[0,1].c,T");
  EXPECT_EQ(module.path, "b.l[0,1].c");
  EXPECT_EQ(module.type, "T");
  EXPECT_EQ(parse_module_stack("L__self__,,__main__.M").path, "");
  EXPECT_EQ(parse_module_stack("_empty_nn_module_stack_from_metadata_hook,"
                               "_empty_nn_module_stack_from_metadata_hook,"
                               "_empty_nn_module_stack_from_metadata_hook")
                .type,
            "");
  for (const char* text : {"", ";;", ",", ",,,", ")))", "a,b"}) {
    EXPECT_EQ(parse_module_stack(text).path, "") << text;
  }
}

}  // namespace
}  // namespace thimble::formats::pt2
