"""One sample or one batch at a time: perceptron, LMS and their like."""
