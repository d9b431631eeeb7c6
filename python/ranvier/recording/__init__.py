"""What was recorded: data and the files that hold them."""
