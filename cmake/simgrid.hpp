// Included first where smpicxx compiles: its macro for exit() meets methods of that name.
#undef exit
