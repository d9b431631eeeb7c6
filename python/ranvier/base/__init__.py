"""What all parts of the package use: names, numbers, values, times, paths."""
