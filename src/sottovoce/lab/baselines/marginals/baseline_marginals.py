"""The plan that collects marginals by a published method, and the table of all methods.

    plan = BaselineMarginals(domain, "inp_ht", order=2)
    plan = BaselineMarginals(domain, "calm", order=2, users=50_000)
    sv.simulate(sv.Task("tables", plan, epsilon=1.0), records)

A method is what one person is asked, and what is computed from the reports.  No document can name
this plan: to collect marginals use ``sv.Marginals``.

Source: Cormode 2018, section 4; Wang 2021, chapter 6.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sottovoce.core.settings import choice
from sottovoce.domains.base import Domain
from sottovoce.domains.records import Records
from sottovoce.lab.baselines.hcms import HCMS
from sottovoce.lab.baselines.marginals.all_marginals import ask_marginal
from sottovoce.lab.baselines.marginals.calm import Calm
from sottovoce.lab.baselines.marginals.hadamard_spectrum import HadamardSpectrum, ask_parity
from sottovoce.lab.baselines.marginals.input_em import InputEM, ask_record
from sottovoce.lab.baselines.marginals.whole_table import WholeTable, ask_whole_table
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.oue import OUE
from sottovoce.plans.marginals.marginal_table import Model
from sottovoce.plans.marginals.marginals import DEFAULT_USERS, Marginals
from sottovoce.plans.marginals.reported_views import ReportedViews, ask_views
from sottovoce.plans.marginals.view_selection import ViewSelection
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.question import Ask


@dataclass(frozen=True)
class MarginalMethod:
    """A published way to collect marginals.

    ``ask`` takes epsilon, the sizes of the attributes, the order and how many users are expected;
    ``read`` takes the sizes and what was collected.  Some methods are biased, and some give tables
    beyond the order.
    """

    name: str
    ask: Callable[[float, tuple[int, ...], int, int], Ask]
    read: Callable[[tuple[int, ...], Collected], Model]
    unbiased: bool = True
    any_order: bool = False


def _whole_table(
    name: str, mechanism: type[Mechanism] | None, *, unbiased: bool = True
) -> MarginalMethod:
    def ask(epsilon: float, sizes: tuple[int, ...], order: int, users: int) -> Ask:
        return ask_whole_table(epsilon, sizes, mechanism)

    return MarginalMethod(name, ask, WholeTable.read, unbiased, any_order=True)


def _all_marginals(name: str, mechanism: type[Mechanism] | None) -> MarginalMethod:
    def ask(epsilon: float, sizes: tuple[int, ...], order: int, users: int) -> Ask:
        return ask_marginal(epsilon, sizes, order, mechanism)

    return MarginalMethod(name, ask, lambda sizes, collected: ReportedViews.read(collected))


def _coefficients(name: str, *, within: bool) -> MarginalMethod:
    def ask(epsilon: float, sizes: tuple[int, ...], order: int, users: int) -> Ask:
        return ask_parity(epsilon, sizes, order, within=within)

    return MarginalMethod(name, ask, lambda sizes, collected: HadamardSpectrum.read(collected))


def _calm() -> MarginalMethod:
    def ask(epsilon: float, sizes: tuple[int, ...], order: int, users: int) -> Ask:
        return ask_views(epsilon, sizes, ViewSelection(users, sizes, epsilon, order).views())

    def read(sizes: tuple[int, ...], collected: Collected) -> Model:
        return Calm(ReportedViews.read(collected), sizes)

    return MarginalMethod("calm", ask, read, unbiased=False, any_order=True)


def _input_em(name: str, *, warm: bool) -> MarginalMethod:
    def ask(epsilon: float, sizes: tuple[int, ...], order: int, users: int) -> Ask:
        return ask_record(epsilon, sizes)

    def read(sizes: tuple[int, ...], collected: Collected) -> Model:
        return replace(InputEM.read(collected), warm=warm)

    return MarginalMethod(name, ask, read, unbiased=False, any_order=True)


METHODS = {
    method.name: method
    for method in (
        _coefficients("inp_ht", within=False),
        _whole_table("inp_rr", OUE),
        _whole_table("inp_ps", GRR),
        _whole_table("inp_olh", OLH),
        _whole_table("inp_htcms", HCMS, unbiased=False),
        _input_em("inp_em", warm=False),
        _input_em("inp_em_warm", warm=True),
        _calm(),
        _all_marginals("marg_rr", OUE),
        _all_marginals("marg_ps", GRR),
        _coefficients("marg_ht", within=True),
        _whole_table("fc", None),
        _all_marginals("am", None),
    )
}


@dataclass(frozen=True, init=False)
class BaselineMarginals(Marginals, kind="baseline_marginals", wire=False):
    """Ask for the joint tables of up to ``order`` attributes by a published method."""

    def __init__(
        self,
        domain: Records | Mapping[str, Domain | Iterable[Any]],
        method: str,
        order: int = 3,
        users: int = DEFAULT_USERS,
    ) -> None:
        super().__init__(domain, users, order)
        object.__setattr__(self, "method", choice("method", method, METHODS))

    def ask(self, epsilon: float) -> Ask:
        return METHODS[self.method].ask(epsilon, self.sizes, self.order, self.users)

    def model(self, collected: Collected) -> Model:
        return METHODS[self.method].read(self.sizes, collected)
