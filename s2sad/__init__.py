"""Source-to-source reverse-mode differentiation of numerical Python."""

from s2sad.api import Derivative, differentiable, grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp
from s2sad.custom import adjoint_of, nondifferentiable, stop_gradient, tangent_of
from s2sad.errors import DifferentiationError, S2sadError, SourceError, TypeInferenceError, UnsupportedError, WrongGradient, ZeroGradientWarning
from s2sad.testing import GradientMismatch, check_gradients

__version__ = "0.1.0"

__all__ = [
    "Derivative",
    "DifferentiationError",
    "GradientMismatch",
    "S2sadError",
    "SourceError",
    "TypeInferenceError",
    "UnsupportedError",
    "WrongGradient",
    "ZeroGradientWarning",
    "adjoint_of",
    "check_gradients",
    "differentiable",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "nondifferentiable",
    "stop_gradient",
    "tangent_of",
    "value_and_grad",
    "vjp",
]
