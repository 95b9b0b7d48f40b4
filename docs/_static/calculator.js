// The arithmetic of the calculator's page, and the page itself. tests/docs/test_calculator.py holds the first against skdp.
"use strict";

const SQRT_2PI = Math.sqrt(2 * Math.PI);

// (1 - Phi(x)) / phi(x), the integral of exp(-x t - t^2 / 2) over t > 0, by the double exponential rule.
function mills(x) {
  if (x < 0) return SQRT_2PI * Math.exp((x * x) / 2) - mills(-x);
  const step = 1 / 16;
  let sum = 0;
  for (let k = -80; k <= 80; k++) {
    const s = k * step;
    const t = Math.exp(s - Math.exp(-s));
    sum += Math.exp(-x * t - (t * t) / 2) * t * (1 + Math.exp(-s));
  }
  return sum * step;
}

function density(x) {
  return Math.exp((-x * x) / 2) / SQRT_2PI;
}

function normal(x) {
  return x < 0 ? density(x) * mills(-x) : 1 - density(x) * mills(x);
}

// The x at which a growing function reaches a value, from the side that is said.
function solve(f, value, low, high, above) {
  for (let k = 0; k < 200; k++) {
    const middle = low + (high - low) / 2;
    if (f(middle) < value) low = middle;
    else high = middle;
  }
  return above ? high : low;
}

// delta of a mu-Gaussian release at epsilon: Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu).
function deltaOf(epsilon, mu) {
  const near = epsilon / mu - mu / 2;
  const far = epsilon / mu + mu / 2;
  if (near < -30) return 1;
  return density(near) * (mills(near) - mills(far));
}

function epsilonOf(delta, mu) {
  if (!(mu > 0) || deltaOf(0, mu) <= delta) return 0;
  let top = 1;
  while (deltaOf(top, mu) > delta) top *= 2;
  return solve((e) => -deltaOf(e, mu), -delta, 0, top, true);
}

function muOf(epsilon, delta) {
  let top = 1;
  while (deltaOf(epsilon, top) < delta) top *= 2;
  return solve((mu) => deltaOf(epsilon, mu), delta, 1e-9, top, false);
}

// People caught, of all who are in the data, by the best test that wrongly accuses this share of all others.
function powerOf(mu, alarms) {
  return normal(solve(normal, alarms, -40, 40, true) + mu);
}

// What any (epsilon, delta) is worth to a group of k records, and under replacement if it holds under add or remove.
function groupOf(epsilon, delta, k) {
  const factor = epsilon > 0 ? Math.expm1(k * epsilon) / Math.expm1(epsilon) : k;
  return [k * epsilon, Math.min(1, delta * factor)];
}

function replacedOf(epsilon, delta) {
  return [2 * epsilon, Math.min(1, (1 + Math.exp(epsilon)) * delta)];
}

function roundUp(value, digits = 3) {
  if (value === 0 || !isFinite(value)) return String(value);
  const unit = Math.pow(10, Math.floor(Math.log10(Math.abs(value))) - digits + 1);
  const up = Number((Math.ceil((value / unit) * (1 - 1e-12)) * unit).toPrecision(digits));
  return up < 1e-3 ? up.toExponential() : String(up);
}

function page(root) {
  const field = (name) => Number(root.querySelector(`[name=${name}]`).value);
  const show = (name, text) => {
    root.querySelector(`[data-out=${name}]`).textContent = text;
  };
  const pair = ([epsilon, delta]) =>
    delta < 1 ? `epsilon ${roundUp(epsilon)}, delta ${roundUp(delta)}` : "nothing is promised";

  function update() {
    const [epsilon, delta, fits, rows] = ["epsilon", "delta", "fits", "rows"].map(field);
    const wrong = !(epsilon > 0 && epsilon <= 50 && delta > 0 && delta < 1 && fits >= 1 && rows >= 1);
    root.querySelector("[data-out=wrong]").hidden = !wrong;
    if (wrong) return;
    const mu = muOf(epsilon, delta);
    show("mu", roundUp(mu));
    for (const alarms of [1, 5, 10]) show(`caught${alarms}`, roundUp(100 * powerOf(mu, alarms / 100)));
    for (const digits of [5, 8, 10]) show(`at${digits}`, roundUp(epsilonOf(Math.pow(10, -digits), mu)));
    const all = mu * Math.sqrt(fits);
    show("composed", pair([epsilonOf(delta, all), delta]));
    show("added", pair([fits * epsilon, Math.min(1, fits * delta)]));
    show("person", pair([epsilonOf(delta, rows * mu), delta]));
    show("anyPerson", pair(groupOf(epsilon, delta, rows)));
    show("replaced", pair([epsilonOf(delta, 2 * mu), delta]));
    show("anyReplaced", pair(replacedOf(epsilon, delta)));
    draw(root.querySelector("svg"), mu, all);
  }

  root.addEventListener("input", update);
  update();
}

// The trade-off curve of one fit, and of all.
function draw(svg, mu, all) {
  const size = 200;
  const curve = (m) => {
    const points = [];
    for (let x = -5; x <= 5; x += 0.1) {
      points.push(`${(normal(x) * size).toFixed(2)},${((1 - normal(x + m)) * size).toFixed(2)}`);
    }
    return `0,${size} ${points.join(" ")} ${size},0`;
  };
  svg.querySelector(".one").setAttribute("points", curve(mu));
  svg.querySelector(".all").setAttribute("points", curve(all));
}

if (typeof module !== "undefined") {
  module.exports = { deltaOf, epsilonOf, muOf, powerOf, groupOf, replacedOf, roundUp };
} else {
  document.querySelectorAll(".skdp-calculator").forEach(page);
}
