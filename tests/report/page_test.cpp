#include "report/page.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/html_texts.hpp"

namespace emplace::report::page_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Page, DataCannotEndItsScriptOrBeginAComment) {
  const nlohmann::json hostile = {{"</script><script>alert(1)</script>", "<!-- \"quoted\" ]]> \\ \u2028 <SCRIPT"}};
  const std::string text = json_in_script(hostile.dump());
  EXPECT_THAT(text, Not(HasSubstr("<")));
  EXPECT_EQ(nlohmann::json::parse(text), hostile);
}

TEST(Page, TitlesAreTextWhateverTheyHold) {
  const std::string html = to_html({.title = "</title><b>&\"' \xff", .data = "{}", .scripts = {}});
  EXPECT_THAT(html, HasSubstr("<title>&lt;/title&gt;&lt;b&gt;&amp;&quot;&#39; \uFFFD</title>"));
}

TEST(Page, LongTextsAreCutBetweenCharactersAndSaySo) {
  EXPECT_EQ(page_text("short", 5), "short");
  EXPECT_EQ(page_text("äöü", 3), "ä… (6 bytes)");  // ö would end at byte 4
  EXPECT_EQ(page_text("a\xff", 5), "a\uFFFD");
  EXPECT_EQ(page_text(std::string(100, '\x80'), 10), "… (100 bytes)");
}

TEST(Page, ForbidsTheNetworkAndLoadsNothing) {
  const std::string html = to_html({.title = "t", .data = "{}", .scripts = {}});
  EXPECT_THAT(html, HasSubstr("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"));
  for (const char* loads : {"<link", "<script src", "@import", "<iframe", "<img"})
    EXPECT_THAT(html, Not(HasSubstr(loads)));
}

TEST(Page, KeepsTheLicenceOfTheLibraryThatDraws) {
  const std::string html = to_html({.title = "t", .data = "{}", .scripts = {}});
  EXPECT_THAT(html, HasSubstr("Mike Bostock"));
  EXPECT_THAT(html, HasSubstr("Redistributions of source code must retain the above copyright"));
  EXPECT_EQ(count_of(html, "-->"), 1U) << "the licence would end its comment";
}

TEST(Page, NoScriptOfItsOwnEndsItsElement) {
  for (const HtmlText& file : html_texts()) {
    EXPECT_FALSE(file.text.empty()) << file.name;
    EXPECT_THAT(std::string(file.text), Not(::testing::AnyOf(HasSubstr("</script"), HasSubstr("</style"))))
        << file.name;
  }
}

}  // namespace
}  // namespace emplace::report::page_test
