"""What the columns of a table mean, and the numbers that are made of them."""
