"""Implementations for sweeps, by name; the file is imported from its own folder, as a user's would be."""

import os

import numpy as np


def softmax(z, axis=-1, temperature=1.0):
    p = np.exp((z - z.max(axis, keepdims=True)) / z.dtype.type(temperature))
    return p / p.sum(axis, keepdims=True)


def backward(dy, z, axis=-1, temperature=1.0):
    s = softmax(z, axis, temperature)
    return s * (dy - (s * dy).sum(axis, keepdims=True)) / z.dtype.type(temperature)


def first_axis(z, axis=-1, temperature=1.0):
    return softmax(z, 0, temperature)


def dies(z, axis=-1, temperature=1.0):
    os._exit(3)


def prints(z, axis=-1, temperature=1.0):
    print("printed in Python")
    os.write(1, b"printed in C\n")
    return softmax(z, axis, temperature)
