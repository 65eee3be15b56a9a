"""Numbers by which kernels know criteria, targets, rates and what is kept: they never change."""

# Criteria.
PERCEPTRON, MACHINE, SQUARED, TANH, SQUARED_LOGISTIC, CROSS_ENTROPY, SOFTMAX = range(7)
# Targets: numbers, or codes of classes that become +1 and -1, or 1 and 0.
NUMBERS, SIGNS, BITS = range(3)
# Rates.
CONSTANT, OVER_K, SEARCH_THEN_CONVERGE, AUTO, ABSOLUTE = range(5)
# Weights to predict with.
LAST, AVERAGE, POCKET, LATE_AVERAGE = range(4)
