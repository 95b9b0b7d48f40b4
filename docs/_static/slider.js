// The landing page's slider: shows what docs/_ext/slider.py computed when the site was built.
"use strict";

document.querySelectorAll(".skdp-slider").forEach((root) => {
  const given = JSON.parse(root.dataset.given);
  const input = root.querySelector("input");

  function update() {
    const k = Number(input.value);
    root.querySelector("output").textContent = given.epsilons[k];
    for (const [n, values] of Object.entries(given.accuracy)) {
      root.querySelector(`i[data-n="${n}"]`).style.width = `${values[k]}%`;
      root.querySelector(`[data-text="${n}"]`).textContent = `${values[k].toFixed(1)} %`;
    }
    root.querySelector("i.attack").style.width = `${given.caught[k]}%`;
    root.querySelector("td.attack").textContent = given.caught[k].toFixed(1);
  }

  input.addEventListener("input", update);
  update();
});
