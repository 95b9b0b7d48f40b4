"""What the laws ask of each registered kind: its default, and the variants that are worth a law of their own."""


def examples(kinds, variants):
    """Each kind as it is by default, and then the variants; a kind without defaults has to have one of these.

    Parameters
    ----------
    kinds : iterable of type
        What is registered.
    variants : list
        Other instances.
    """
    defaults = [kind() for kind in kinds if has_defaults(kind)]
    return [*defaults, *(v for v in variants if v not in defaults)]


def has_defaults(kind):
    """Whether it can be made of nothing."""
    try:
        kind()
    except TypeError:
        return False
    return True


def never_asked(kinds, asked):
    """Kinds of which the laws have no instance."""
    return sorted(kind.__name__ for kind in set(kinds) - {type(one) for one in asked})
