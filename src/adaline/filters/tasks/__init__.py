"""Uses of filters by name: each task says which signal is x, which is d, and which the result.

x is what is filtered, d what is wanted, y = w^H x the output and e = d - y the error:

    task            x                    d                     result
    identify        system's input       system's output       weights, the system's response
    cancel          noise reference      signal + noise        e, the signal
    predict         x, delayed           x                     y, what x will be
    enhance_line    x, delayed           x                     y, the periodic part of x
    equalise        received             sent, delayed         y, what was sent
    cancel_echo     far end              microphone            e, the near end
"""
