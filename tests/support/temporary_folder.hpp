// A folder that is removed at the end of the test that made it.
#pragma once

#include "base/temporary_folder.hpp"

namespace emplace::test {

using emplace::TemporaryFolder;

}  // namespace emplace::test
