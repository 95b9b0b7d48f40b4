"""Figures of linear models by epsilon: C 3.1 to 3.3, C 4.1 and 4.2, C 5.3 and 5.4, LK 2 to 4."""

from _quick import few

from ._by_epsilon import BASELINES, ByEpsilon
from ._figure import Claim

__all__ = ["FIGURES"]

EPSILONS = few((0.05, 0.1, 0.2, 0.4, 0.8, 1.6), (0.8,))
FOUR = few(("adult", "bank", "ipums_br", "ipums_us"), ("ipums_us",))
TWO = few(("adult", "ipums_br"), ("ipums_br",))
KDD_EPSILONS = few((0.01, 0.1, 1.0), (1.0,))
SETTINGS = few(("document", "ours"), ("document", "ours"))


def axes(data, loss, lambdas, methods, epsilons=EPSILONS):
    """Return the axes of a figure, with its baselines."""
    return {
        "data": data,
        "loss": (loss,),
        "lambda": lambdas,
        "method": (*methods, *BASELINES),
        "setting": SETTINGS,
        "epsilon": epsilons,
    }


# Chapter 3: one release of everything, beside noisy gradients.
SHOT = few(
    ("RSGD-AR", "NSGD", "OutPert-GD", "ObjPert", "DP-AGD", "SGD-MA"), ("RSGD-AR", "OutPert-GD")
)
PRINTED_3 = (
    "delta 1e-8, lambda 1e-3, L2, batches of 4,000 (RSGD-AR, NSGD) and of the root of n (SGD-MA), noise by Renyi "
    "lemmas; ObjPert of Kifer et al. 2012, OutPert-GD of Zhang et al. 2017; 20 times 5 folds; SGD-MA with the best of "
    "several numbers of steps, which is not priced"
)
OURS = "defaults of this library, priced by loss distributions or filters"
SHORT = (
    "steps of eta/h end before the minimum: on Adult at epsilon 0.4 the objective is 0.43 at both prices, 0.41 of "
    "SGD-MA, 0.40 without noise"
)


def of_chapter_3(loss):
    """Return the claims of figures 3.1 and 3.2."""
    others = ("NSGD", "OutPert-GD", "ObjPert", "DP-AGD", "SGD-MA")
    one_by_one = {
        "NSGD": "averaging takes noise away and no distance to the minimum: the difference is seldom clear",
        "OutPert-GD": "its printed noise costs half of the epsilon that is claimed; at equal prices both are level",
        "ObjPert": "its noise of 2012 costs 0.4 to 0.65 of the epsilon that is claimed; at its own price it leads",
        "DP-AGD": SHORT,
        "SGD-MA": SHORT,
    }
    yield Claim("RSGD-AR above or level with all", "RSGD-AR", others, SHORT)
    for name in others:
        yield Claim(f"RSGD-AR above {name}", "RSGD-AR", (name,), one_by_one[name])


CHAPTER_3 = (
    ByEpsilon(
        "C 3.1",
        "logistic regression by epsilon",
        PRINTED_3,
        OURS,
        tuple(of_chapter_3("logistic")),
        "IPUMS-US only where its file is; Adult has 105 columns here, 124 in the source",
        axes=axes(FOUR, "logistic", (1e-3,), SHOT),
    ),
    ByEpsilon(
        "C 3.2",
        "huberised SVM by epsilon",
        PRINTED_3,
        OURS,
        tuple(of_chapter_3("svm")),
        "as C 3.1",
        axes=axes(FOUR, "svm", (1e-3,), SHOT),
    ),
)
KDD = few(
    ("RSGD-AR", "NSGD", "OutPert-GD", "ObjPert", "DP-AGD", "SGD-MA"), ("RSGD-AR", "OutPert-GD")
)
PRINTED_KDD = PRINTED_3.replace("1e-8", "1e-12")
CROSSING = (
    "the noise of one release falls as 1/n: at 395,000 rows OutPert-GD and NSGD have hardly any at 0.01; RSGD-AR ends "
    "further from the minimum at that price; at 1 all are within 0.003"
)
KDD_CLAIMS = (
    Claim("RSGD-AR above DP-AGD and SGD-MA at small epsilon", "RSGD-AR", ("DP-AGD", "SGD-MA"), CROSSING, most=0.01),
    Claim("OutPert-GD above both at small epsilon", "OutPert-GD", ("DP-AGD", "SGD-MA"), CROSSING, most=0.01),
    Claim("SGD-MA above RSGD-AR where epsilon is large", "SGD-MA", ("RSGD-AR",), CROSSING, least=1.0),
)  # fmt: skip
LARGE = ByEpsilon(
    "C 3.3",
    "KDD Cup 99, logistic regression and SVM",
    PRINTED_KDD,
    OURS,
    KDD_CLAIMS,
    "the ten per cent file, 494,021 of 4,898,431 rows; NSGD and OutPert-GD on the SVM are not measured",
    repetitions=3,
    delta=1e-12,
    axes={
        **axes(("kddcup99",), "", (1e-3,), KDD, KDD_EPSILONS),
        "loss": few(("logistic", "svm"), ("svm",)),
    },
)

# Chapter 4 (Chen and Lee): an L1 penalty.
SPLIT = few(
    ("ssADMM", "mpADMM", "DP-SGD", "DP-ADMM", "ADMM-objP"), ("ssADMM", "DP-ADMM", "ADMM-objP")
)
PRINTED_4 = (
    "delta 1e-8, L1 with lambda 1e-4 and 1e-3, batches of the root of n, steps eta/h in the h-th epoch, rho 0.25 "
    "(ssADMM) and 0.5 (mpADMM, noise on x, z and y), two parties, 20 rounds of ADMM-objP, noise by Renyi lemmas; "
    "10 times 10 folds"
)


def of_chapter_4():
    """Return the claims of figures 4.1 and 4.2."""
    rivals = ("mpADMM", "DP-SGD", "DP-ADMM", "ADMM-objP")
    splitting = (
        "with steps of eta/h DP-SGD stops shorter than the splitting; with constant, averaged steps at one price it "
        "does not"
    )
    yield Claim("ssADMM most accurate", "ssADMM", rivals, splitting)
    yield Claim(
        "ssADMM above DP-SGD in its objective", "ssADMM", ("DP-SGD",), splitting, "objective"
    )
    yield Claim(
        "mpADMM's objective below DP-SGD's",
        "mpADMM",
        ("DP-SGD",),
        "against steps of eta/h in half of the cells; full passes are not amplified, so at equal prices in none",
        "objective",
    )
    yield Claim(
        "ssADMM above DP-ADMM",
        "ssADMM",
        ("DP-ADMM",),
        "each of two parties adds the noise of all, and nothing is amplified",
    )
    yield Claim(
        "ssADMM above ADMM-objP",
        "ssADMM",
        ("ADMM-objP",),
        "20 rounds of a whole release share one budget; with 5, the default here, it comes nearer",
    )


L1_FIGURES = tuple(
    ByEpsilon(
        name,
        title,
        PRINTED_4,
        OURS,
        tuple(of_chapter_4()),
        "z is released here, x there: z is the sparse one",
        penalty="l1",
        axes=axes(TWO, loss, few((1e-4, 1e-3), (1e-3,)), SPLIT),
    )
    for name, title, loss in (
        ("C 4.1", "L1 logistic regression by epsilon (CL 1)", "logistic"),
        ("C 4.2", "L1 huberised SVM by epsilon (CL 2)", "svm"),
    )
)

# Chapter 5: line searches, no penalty.
SEARCHES = few(
    (
        *("DP-BLSGD", "DP-BLSGD-AC", "DP-BLGD", "DP-AGD", "SGD-MA", "RSGD-AR", "OutPert-GD"),
        *("ObjPert", "PrivGene"),
    ),
    ("DP-BLSGD", "DP-BLGD", "PrivGene"),
)
PRINTED_5 = (
    "delta 1e-8, no penalty, q 0.1, C_grad 3, C_obj 1, 50 expected iterations with half of each for the search, growth "
    "0.3, alpha 0.5, beta 0.8, tau 10, slack 1.2, angles 1.1, 0.5 and 0.8, zeta 0.05, Laplace searches; add/remove; 5 "
    "times 10 folds"
)
BATCHES = "a search pays for comparisons that a step of public length does not need; exact prices give SGD 1,000 steps"


def of_chapter_5():
    """Return the claims of figures 5.3 and 5.4."""
    rest = ("DP-AGD", "SGD-MA", "OutPert-GD", "ObjPert", "RSGD-AR", "PrivGene")
    yield Claim(
        "DP-BLGD above DP-AGD",
        "DP-BLGD",
        ("DP-AGD",),
        "a first step that passes asks for less than the best of all; at the printed alpha 0.5 the gradient's own "
        "noise fails most tests",
    )
    yield Claim(
        "DP-BLSGD above all baselines, Bank excepted", "DP-BLSGD", rest, BATCHES, without=("bank",)
    )
    yield Claim(
        "DP-BLSGD above DP-AGD",
        "DP-BLSGD",
        ("DP-AGD",),
        "batches are amplified: more, cheaper gradients of the same budget",
    )
    yield Claim("DP-BLSGD above SGD-MA", "DP-BLSGD", ("SGD-MA",), BATCHES)
    yield Claim(
        "DP-BLSGD-AC a little above DP-BLSGD",
        "DP-BLSGD-AC",
        ("DP-BLSGD",),
        "the clip shrinks only where gradients were found too noisy, which is seldom",
    )


CHAPTER_5 = tuple(
    ByEpsilon(
        name,
        title,
        PRINTED_5,
        OURS + "; replace-one in all",
        tuple(of_chapter_5()),
        "IPUMS-US only where its file is; replace-one, where the source adds or removes a record",
        penalty=None,
        axes=axes(FOUR, loss, (0.0,), SEARCHES),
    )
    for name, title, loss in (
        ("C 5.3", "logistic regression by epsilon", "logistic"),
        ("C 5.4", "SVM by epsilon", "hinge"),
    )
)

# Lee and Kifer.
ADAPTIVE = few(
    ("DP-AGD", "SGD-MA", "SGD-Adv", "ObjPert", "OutPert-GD", "PrivGene"), ("DP-AGD", "SGD-Adv")
)
PRINTED_LK = (
    "20 step sizes evenly spaced to 2 along unit directions, refreshed after 10 steps to 1.1 of the largest, splits "
    "60, growth 0.1, half of a round for its selection, C_grad 3 and C_obj 1 as C 5; SGD-Adv by advanced composition"
)


RIVALS = ("SGD-MA", "SGD-Adv", "ObjPert", "OutPert-GD", "PrivGene")


def of_lee_and_kifer(most, rivals=RIVALS):
    """Return the claims of figures 2 to 4."""
    price = "theirs pay for a number of steps that is tuned; exactly priced SGD and ObjPert need no choice"
    yield Claim("DP-AGD above all at very small epsilon", "DP-AGD", rivals, price, most=most)
    yield Claim(
        "SGD-MA above DP-AGD",
        "SGD-MA",
        ("DP-AGD",),
        "batches are amplified, full gradients are not: the difference is small at both prices",
    )
    yield Claim(
        "SGD-MA above SGD-Adv",
        "SGD-MA",
        ("SGD-Adv",),
        "what advanced composition asks for costs a tenth of its epsilon; at equal prices they are one method",
    )


ADAPTIVE_FIGURES = (
    ByEpsilon(
        "LK 2",
        "logistic regression by epsilon",
        PRINTED_LK,
        OURS,
        tuple(of_lee_and_kifer(0.1)),
        "slides print no lambda: 1e-3 of C 3.1; IPUMS-US only where its file is",
        axes=axes(FOUR, "logistic", (1e-3,), ADAPTIVE),
        same="C 3.1",
    ),
    ByEpsilon(
        "LK 3",
        "SVM by epsilon",
        PRINTED_LK,
        OURS,
        tuple(of_lee_and_kifer(0.1)),
        "as LK 2",
        axes=axes(FOUR, "svm", (1e-3,), ADAPTIVE),
        same="C 3.2",
    ),
    ByEpsilon(
        "LK 4",
        "KDD Cup 99",
        PRINTED_LK,
        OURS,
        tuple(of_lee_and_kifer(0.01, RIVALS[:4])),
        "the ten per cent file; delta 1e-12 of C 3.3; without PrivGene",
        repetitions=3,
        delta=1e-12,
        same="C 3.3",
        axes={
            **axes(("kddcup99",), "", (1e-3,), ADAPTIVE[: few(5, 1)], KDD_EPSILONS),
            "loss": few(("logistic", "svm"), ("logistic",)),
        },
    ),
)

FIGURES = (*CHAPTER_3, LARGE, *L1_FIGURES, *CHAPTER_5, *ADAPTIVE_FIGURES)
