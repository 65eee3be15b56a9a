"""What a fitted model is worth, as plain data: the command, the report and the plots quote it.

`quality` counts predictions against the truth, `evidence` tells what is proven of the fit,
`coefficients` are the weights by name with their intervals, and `verdict` puts them together.
"""
