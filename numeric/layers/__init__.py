"""One layer a file, forward and backward in one sight; nothing here knows of a proof.

A layer is a module with `forward(...) -> (output, Cache)` and `backward(cotangent, cache)`. Arrays may be float16,
bfloat16, float32 or float64, or object arrays of Arb balls, on which the same lines enclose the true value rigorously.
The output has the dtype of the input; a gradient has the dtype of the cotangent it came from. After a forward pass in balls
it holds balls, since a cotangent of floats is then read exactly; balls after a pass in floats are refused.
"""
