"""
Many fits: added up, or composed
================================

Ten fits of epsilon 0.3 are together less than 3. How much less depends on how they are counted: by
addition, by Renyi divergences, or by the exact curve of all releases together.
"""

import matplotlib.pyplot as plt

from skdp.privacy import Spec, calibrate, epsilon
from skdp.privacy.events import Gaussian

_, ((event, _),) = calibrate(lambda z: ((Gaussian(z), 1),), Spec(0.3, 1e-6))
counts = [1, 2, 5, 10, 20, 50, 100]
plt.plot(counts, [0.3 * k for k in counts], "--", color="0.6", label="added up")
for accountant, name in (("zcdp", "zero-concentrated"), ("rdp", "Renyi"), ("auto", "exact")):
    costs = [epsilon(((event, k),), 1e-6, accountant=accountant) for k in counts]
    plt.plot(counts, costs, "o-", label=name)
    print(f"{name:>17}: ten fits cost {costs[3]:.3f}, a hundred {costs[-1]:.3f}")
plt.xscale("log")
plt.yscale("log")
plt.xlabel("fits of epsilon = 0.3 on the same people")
plt.ylabel("epsilon of all (delta = 1e-6)")
plt.legend()
plt.show()
