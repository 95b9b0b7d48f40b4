"""Which numbers are pinned: (function of make_accounting_pins.py, arguments, digits printed)."""


def rsgd_shifts():
    """Distance of final iterates by batch position: contraction, restarts and averaging."""
    batches, size, lam, epochs, period = 12, 4000, 1e-3, 20, 10
    shifts = []
    for changed in range(batches):
        distance, held, seen = 0.0, 1, []
        for epoch in range(1, epochs + 1):
            step = 1 / held
            for batch in range(batches):
                distance *= max(abs(1 - step * lam), abs(1 - step * 0.251))
                distance += 2 * step / size if batch == changed else 0.0
                seen.append(distance)
            held += 1
            if epoch % period == 0:
                distance, held = sum(seen[-batches * period :]) / (batches * period), 1
        shifts.append(distance)
    return shifts


_MU = [
    (0.001, "1e-12", "0.0001847642582000"),
    (0.05, "1e-8", "0.0112259652507524"),
    (0.1, "1e-5", "0.0325207840562039"),
    (1, "1e-12", "0.152489651245981"),
    (1, "1e-8", "0.196066560213955"),
    (1, "1e-5", "0.268051123211294"),
    (8, "1e-5", "1.66603059784572"),
    (50, "1e-12", "5.24355136185538"),
    (1, "1e-6", "0.236704"),
    (0.1, "1e-6", "0.027545"),
    (1.6, "1e-8", "0.305696"),
]
_FAILURES = [
    (1.25, "1e-3", "7.463474370"),
    (1.25, "1e-5", "8.419771302"),
    (1.25, "1e-6", "8.782091752"),
    (1.25, "1e-8", "9.374336740"),
    (1.25, "1e-12", "10.248144099"),
    (2, "1e-3", "8.512441249"),
    (2, "1e-5", "9.391321462"),
    (2, "1e-6", "9.732750717"),
    (2, "1e-8", "10.297927049"),
    (2, "1e-12", "11.143709406"),
]
_CKS = [
    (0.001, "1e-5", "0.157335393161", "0.141685367078"),
    (0.01, "1e-8", "0.752325885458", "0.709017683876"),
    (0.1, "1e-5", "1.914238832", "1.76005714951"),
    (0.5, "1e-5", "4.72838698494", "4.37717809568"),
    (1, "1e-8", "8.97721843356", "8.533781357"),
]
_ZCDP = [
    (0.1, "1e-8", "2.088163809e-4"),
    (1, "1e-8", "0.0172053180394"),
    (1, "1e-5", "0.0305565952"),
    (4, "1e-8", "0.23259431"),
]
_FILTER = [
    (1, "1e-5", "18", "0.549949372247"),
    (1, "1e-8", "31", "0.533233371507"),
    (0.1, "1e-8", "250", "0.0522039257104"),
    (4, "1e-5", "6", "2.23808835765"),
]
_POISSON = [
    (0.01, 4, 8, "2.589912301e-05", "1.000023918e-04", "1.56473065435e-04"),
    (0.1, 4, 4, "1.30489545e-03", "4.976137862e-03", "7.44543796807e-03"),
    (0.01, 1, 8, "8.936439076e-04", "1.984454523e-03", "10.7369483589"),
]
_FRACTIONAL = [
    (1.5, ".000127253743327"),
    (2.5, ".000217575332282"),
    (3.7, ".000332935625396"),
    (10.5, ".18833969138"),
]
_THRESHOLD = [
    (2, 0.0025, "1.2535288076263e-5"),
    (32, 0.0025, "2.1701445097225e-4"),
    (8, 0.0125, "1.3736924482688e-3"),
    (8, 0.05, "3.2138536498951e-2"),
]
_SELECTION = [
    (1, 3, "1.23318", "1.26224", "1.33879020", "1.566413", "1.778249", "1.353574"),
    (1, 10, "1.44103", "1.54061", "2.05695606", "1.798173", "2.149615", "1.925336"),
    (1, 30, "1.60479", "1.78263", "3.99244464", "1.961848", "2.418414", "3.362533"),
    (0.1, 10, ".152711", ".164326", "0.22454998", "0.197257", "0.241034", "0.204368"),
]
_GAMMA = [(0, "0.0269182596006802"), (0.5, ".0625"), (1, ".1"), (2, "0.170820393249937")]
_POSITION = [
    (0.05, "0.1837078781"),
    (0.1, "0.09480961172"),
    (0.4, "0.02523021367"),
    (1.6, "0.00677564244"),
]
_STEPS = [
    (0.01, 1, 1000, 1e-5, "1.82824365", "2.84344581"),
    (0.1, 8, 500, 1e-8, "1.47978914", "3.05212299"),
    (0.01, 4, 10000, 1e-5, "0.946999307", "1.99319438"),
    (0.005, 2, 2000, 1e-8, "0.6122325", "1.15515044"),
]

ASKED = [
    *[("gaussian_mu", [e, d], p) for e, d, p in _MU],
    *[("form_failure", [c, d], p) for c, d, p in _FAILURES],
    *[("cks_epsilon", [r, d], p) for r, d, p, _ in _CKS],
    *[("gaussian_epsilon", [(2 * r) ** 0.5, d], p) for r, d, _, p in _CKS],
    *[("zcdp_budget", [e, d], p) for e, d, p in _ZCDP],
    *[("rdp_order", [e, d], p) for e, d, p, _ in _FILTER],
    *[("rdp_budget", [e, d], p) for e, d, _, p in _FILTER],
    *[("poisson", [q, z, a, False], p) for q, z, a, p, _, _ in _POISSON],
    *[("poisson", [q, z, a, True], p) for q, z, a, _, p, _ in _POISSON],
    *[("without_replacement", [q, z, a], p) for q, z, a, _, _, p in _POISSON],
    *[("poisson", [0.01, 1, a, False], p) for a, p in _FRACTIONAL],
    ("bundle", [0.1, 8, 0.5, 8], "0.01142078883"),
    ("bundle", [0.05, 2, 1, 16], "0.1056968735"),
    ("bounded_range", [0.5, 2], "0.06185960722"),
    ("bounded_range", [0.5, 8], "0.2121923255"),
    ("pure", [0.5, 2], ".2273362938"),
    ("pure", [0.5, 8], ".4323537068"),
    ("range_mu", [1], "0.62389259"),
    *[("threshold_free", [a, e], p) for a, e, p in _THRESHOLD],
    *[("tnb_gamma", [eta, 10], p) for eta, p in _GAMMA],
    *[("selection_profile", [0, b, k, "1e-6"], p) for b, k, p, *_ in _SELECTION],
    *[("selection_profile", [1, b, k, "1e-6"], p) for b, k, _, p, *_ in _SELECTION],
    *[("selection_profile_poisson", [b, k, "1e-6"], r[2]) for b, k, *r in _SELECTION],
    *[("selection_renyi", [0, b, k, "1e-6"], r[3]) for b, k, *r in _SELECTION],
    *[("selection_renyi", [1, b, k, "1e-6"], r[4]) for b, k, *r in _SELECTION],
    *[("selection_renyi_poisson", [b, k, "1e-6"], r[5]) for b, k, *r in _SELECTION],
    *[("random_position", [e, "1e-8", rsgd_shifts()], p) for e, p in _POSITION],
    *[("loss_distribution", [q, z, t, d, "add_remove"], p) for q, z, t, d, p, _ in _STEPS],
    *[("loss_distribution", [q, z, t, d, "replace_one"], p) for q, z, t, d, _, p in _STEPS],
    ("loss_distribution", [0.01, 0.5**0.5, 1000, 1e-6, "add_remove"], "5.28713"),
    ("loss_distribution", [0.01, 0.8 * 0.5**0.5, 300, 1e-6, "add_remove"], "7.17970"),
    ("loss_distribution", [0.01, 1, 2000, 1e-6, "add_remove"], "2.95526"),
    ("loss_distribution", [0.01, 0.8, 600, 1e-6, "add_remove"], "3.09673"),
    ("loss_distribution_delta", [0.001, 0.5, 1000, 4], "1.74564e-6"),
    ("loss_distribution_delta", [0.001, 0.8, 1000, 1], "9.87262e-9"),
    ("loss_distribution_delta", [0.01, 1, 100, 1], "6.67634e-7"),
]
