// A page in a headless Chromium: what is drawn, what the mouse does, and that no text is cut off or lies over another.
// Pictures of pages stay in the build folder, in its tests/pages.
#pragma once

#include <gmock/gmock.h>

#include <optional>
#include <string>

#include "tests/report/sweep_folders.hpp"
#include "tests/support/browser.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test {

// Pairs of texts in a chart that lie over one another, and texts that stick out of their drawing or of the window.
inline constexpr const char* text_faults = R"((() => {
  const faults = [];
  const name = (text) => text.firstChild && text.childElementCount > 1 ? [...text.querySelectorAll("tspan")].map((each) => each.textContent).join("") : text.lastChild ? text.firstChild.textContent : "";
  for (const svg of document.querySelectorAll("svg")) {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].filter((text) => text.textContent);
    const boxes = texts.map((text) => text.getBoundingClientRect());
    texts.forEach((text, i) => {
      const a = boxes[i];
      if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 || a.bottom > frame.bottom + 1)
        faults.push(`${name(text)} sticks out of ${svg.getAttribute("aria-label")}`);
      for (let k = 0; k < i; ++k) {
        const b = boxes[k];
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1 && high > 4) faults.push(`${name(texts[k])} and ${name(text)} in ${svg.getAttribute("aria-label")}`);
      }
    });
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${innerWidth}`);
  return faults;
})())";

class PageInBrowser : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::optional<std::string> program = find_browser();
    if (!program) GTEST_SKIP() << "no chromium here (scripts/install-dependencies test)";
    browser_.emplace(*program);
    make_folder(EMPLACE_PICTURES);
  }
  void TearDown() override {
    if (browser_) {
      EXPECT_THAT(browser_->complaints, ::testing::IsEmpty());
    }
  }

  void open(const std::string& html) {
    write_file(folder_ / "page.html", html);
    browser_->load(folder_ / "page.html");
    data_ = data_of(html);
  }
  void keep_picture(const std::string& name, bool whole = true) {
    EXPECT_EQ(evaluate("document.body.innerText.match(/[^ ]*(\\[object|undefined|NaN).*/)"), nullptr) << name;
    write_file(EMPLACE_PICTURES "/" + name + ".png", browser_->picture(whole));
  }
  nlohmann::json evaluate(const std::string& expression) { return browser_->evaluate(expression); }
  int count(const std::string& selector) {
    return evaluate("document.querySelectorAll(" + nlohmann::json(selector).dump() + ").length");
  }
  std::string text(const std::string& selector) {
    return evaluate("document.querySelector(" + nlohmann::json(selector).dump() + ").textContent");
  }

  TemporaryFolder folder_;
  std::optional<Browser> browser_;
  nlohmann::json data_;
};

}  // namespace emplace::test
