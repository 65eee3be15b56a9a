"""How good a fitted model is, as plain data that the command, reports and plots quote.

`trial` holds a model, rows and predictions; `quality` counts predictions against the truth;
`fit_evidence` says what is proven of the fit, `diagnostics` what to doubt; `verdict` joins them.
"""
