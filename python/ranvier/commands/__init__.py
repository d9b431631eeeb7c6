"""The commands of `ranvier`, one module each with a function `add_arguments`."""
