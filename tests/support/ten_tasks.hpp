// Topcuoglu, Hariri, Wu 2002, figure 2, in the text format of heterogeneous task graphs: ten tasks with a time for each
// of three processors, and 15 edges with a delay.
#pragma once

namespace emplace::test {

inline constexpr const char* ten_tasks_file =
    "#critical\n0.0\n#tasks\n"
    "0: 14, 16, 9\n1: 13, 19, 18\n2: 11, 13, 19\n3: 13, 8, 17\n4: 12, 13, 10\n"
    "5: 13, 16, 9\n6: 7, 15, 11\n7: 5, 11, 14\n8: 18, 12, 20\n9: 21, 7, 16\n"
    "#edges\n"
    "0: 0, 1, 18\n1: 0, 2, 12\n2: 0, 3, 9\n3: 0, 4, 11\n4: 0, 5, 14\n"
    "5: 1, 7, 19\n6: 1, 8, 16\n7: 2, 6, 23\n8: 3, 7, 27\n9: 3, 8, 23\n"
    "10: 4, 8, 13\n11: 5, 7, 15\n12: 6, 9, 17\n13: 7, 9, 11\n14: 8, 9, 13\n#end\n";

}  // namespace emplace::test
