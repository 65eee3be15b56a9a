"""What a fitted linear model of any library is worth: see `audit`."""
