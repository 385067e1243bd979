// SPDX-License-Identifier: Apache-2.0
// Text of the report's page, and the trace of a profile.

#include "report/text.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "report/chrome_trace.h"

namespace thimble::report {
namespace {

TEST(ReportText, html_has_no_markup_of_the_user) {
  EXPECT_EQ(escape_html("a<b>&\"'c"), "a&lt;b&gt;&amp;&quot;&#39;c");
  EXPECT_EQ(escape_html("x\n\ty"), "x\n\ty");
  EXPECT_EQ(escape_html(std::string_view("\0\x1B\x7F", 3)), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(escape_html("\xC3\xA9\xE2\x82\xAC"), "\xC3\xA9\xE2\x82\xAC");
  EXPECT_EQ(escape_html("\xC3("), "\xEF\xBF\xBD(") << "not UTF-8";
  EXPECT_EQ(escape_html("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "cut in the middle";
}

TEST(ReportText, json_does_not_end_its_script_element) {
  const std::string text = script_json({{"name", "</script><!--"}, {"bad", "\xFF"}});
  EXPECT_EQ(text.find('<'), std::string::npos);
  const Json parsed = Json::parse(text);
  EXPECT_EQ(parsed["name"], "</script><!--");
  EXPECT_EQ(parsed["bad"], "\xEF\xBF\xBD");
}

TEST(ReportText, shortened_text_keeps_its_ends) {
  EXPECT_EQ(shorten("conv2d", 6), "conv2d");
  EXPECT_EQ(shorten("scaled_dot_product_attention_12", 11), "scale\xE2\x80\xA6on_12");
  EXPECT_EQ(text_columns("\xE4\xB8\xAD\xE6\x96\x87"), 4U) << "wide characters";
  std::mt19937 random(1);
  const std::string_view letters[] = {"a", "\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80", "\xFF"};
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (size_t k = random() % 40; k > 0; --k) text += letters[random() % std::size(letters)];
    const size_t columns = 1 + random() % 30;
    EXPECT_LE(text_columns(shorten(text, columns)), columns) << text;
  }
}

TEST(ReportText, numbers) {
  EXPECT_EQ(short_number(999), "999");
  EXPECT_EQ(short_number(1234567), "1.23 M");
  EXPECT_EQ(short_bytes(1023), "1023 B");
  EXPECT_EQ(short_bytes(1024), "1 KiB");
  EXPECT_EQ(short_bytes(12595), "12.3 KiB");
  EXPECT_EQ(short_bytes(3395952), "3.24 MiB");
  EXPECT_EQ(shape_text({1, 8, 3}),
            "1\xC3\x97"
            "8\xC3\x97"
            "3");
  EXPECT_EQ(shape_text({}), "scalar");
  EXPECT_EQ(coordinate(-0.01), "0");
  EXPECT_EQ(coordinate(2.25), "2.2");
}

TEST(Trace, overlapping_events_are_in_different_lanes) {
  Trace trace;
  trace.process = "a \"net\"";
  trace.lanes = {{"core", {{"k0", 0, 10}, {"k1", 10, 5}}},
                 {"npu", {{"a", 0, 4}, {"b", 2, 4}, {"c", 5, 1}, {"d", 6, 0}}}};
  const Json json = Json::parse(trace_json(trace));
  std::map<std::string, int> lanes;
  std::map<int, std::string> names;
  for (const Json& event : json["traceEvents"]) {
    if (event["ph"] == "X") lanes[event["name"]] = event["tid"];
    if (event["name"] == "thread_name") names[event["tid"]] = event["args"]["name"];
    if (event["name"] == "process_name") {
      EXPECT_EQ(event["args"]["name"], "a \"net\"");
    }
  }
  EXPECT_EQ(lanes["k0"], lanes["k1"]);
  EXPECT_NE(lanes["k0"], lanes["a"]);
  EXPECT_NE(lanes["a"], lanes["b"]);
  EXPECT_EQ(lanes["a"], lanes["c"]);
  EXPECT_EQ(names[lanes["a"]], "npu");
  EXPECT_EQ(names[lanes["b"]], "npu, in parallel");
  EXPECT_EQ(json["otherData"]["unit"], "microseconds");
}

TEST(Trace, another_unit_is_named) {
  Trace trace;
  trace.process = "net";
  trace.unit = "1 us = 1 cycle";
  trace.lanes = {{"core", {}}};
  const Json json = Json::parse(trace_json(trace));
  EXPECT_EQ(json["traceEvents"][0]["args"]["name"], "net (1 us = 1 cycle)");
}

}  // namespace
}  // namespace thimble::report
