namespace emplace {}
