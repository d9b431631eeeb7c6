"""Native code for neurons of equations, made by LLVM."""
