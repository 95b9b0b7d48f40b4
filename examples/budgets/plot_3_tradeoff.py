"""
The curve behind epsilon and delta
==================================

A pair (epsilon, delta) is one point of what a release promises. The trade-off curve is all of it:
for each rate of false alarms, how often the best attack in the world may be right.
"""

import matplotlib.pyplot as plt
import numpy as np

from skdp.privacy import Spec, calibrate, epsilon, profile, tradeoff
from skdp.privacy.events import Gaussian, Laplace

alarms = np.linspace(0.001, 0.999, 300)
for promised in (0.5, 1, 2, 4):
    _, script = calibrate(lambda z: ((Gaussian(z), 1),), Spec(promised, 1e-6))
    plt.plot(alarms, 1 - tradeoff(script, alarms), label=f"epsilon = {promised}")
plt.plot([0, 1], [0, 1], "--", color="0.6", label="a guess")
plt.xlabel("false alarms")
plt.ylabel("people caught, at most")
plt.legend()
plt.show()

# %%
# Two mechanisms with the same epsilon at delta = 1e-6 need not be equally good. The profile shows
# delta at every epsilon: Laplace noise ends at its epsilon, Gaussian noise never quite does.

_, gauss = calibrate(lambda z: ((Gaussian(z), 1),), Spec(1.0, 1e-6))
laplace = ((Laplace(1.0), 1),)  # noise of the scale of the sensitivity
at = np.linspace(0, 2, 200)
for script, name in ((gauss, "Gaussian"), (laplace, "Laplace")):
    print(f"{name}: epsilon {epsilon(script, 1e-6):.3f} at delta 1e-6")
    plt.semilogy(at, np.maximum(profile(script, at), 1e-12), label=name)
plt.ylim(1e-9, 1)
plt.xlabel("epsilon")
plt.ylabel("delta")
plt.legend()
plt.show()
