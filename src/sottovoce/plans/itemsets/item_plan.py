"""Base of the plans that search for items in people's sets."""

from sottovoce.domains.sets import Sets
from sottovoce.tasks.advice import Advice


class ItemPlan:
    """A plan that seeks the ``top`` candidates among the items of a domain of sets."""

    domain: Sets
    top: int

    @property
    def methods(self) -> tuple[str, ...]:
        """Return the methods for candidates: their shares do not sum to 1."""
        from sottovoce.postprocess.apply import methods

        return ("none", *methods(whole_domain=False, equal_errors=False))

    def advise(
        self, users: int, epsilon: float, *, basket: float = 5.0, share: float | None = None
    ) -> Advice:
        """Return how to search for items in sets of ``basket`` items on average.

        With a wished ``share`` it says how many users are needed.
        """
        from sottovoce.plans.itemsets.advice import advise_items

        return advise_items(
            users, self.domain.items.size, epsilon, top=self.top, basket=basket, share=share
        )
