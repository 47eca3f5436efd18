#include "emplace/app/program.hpp"

int main(int argc, char** argv) { return emplace::app::run_program(argc, argv); }
