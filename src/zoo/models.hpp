// One builder a model; builtin.cpp lists them.
#pragma once

#include "emplace/zoo/zoo.hpp"

namespace emplace {

ZooEntry inception_v3_entry();
ZooEntry nmt_entry();

}  // namespace emplace
