"""What the error of a row costs, one file a criterion; `objective.Loss` says what Newton asks."""
