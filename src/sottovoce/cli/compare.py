"""``sottovoce compare``: which mechanism errs least on data you have."""

from pathlib import Path
from typing import Any

import click

from sottovoce.cli.completion import mechanism_kinds
from sottovoce.cli.domains import DomainOptions
from sottovoce.cli.option_groups import group_of, options_of
from sottovoce.cli.output import as_json, print_json

_READ = click.Path(exists=True, dir_okay=False, path_type=Path)
_WRITE = click.Path(dir_okay=False, writable=True, path_type=Path)


@click.command("compare")
@click.argument("data", type=_READ)
@click.option("--column", required=True, help="The column to ask about.")
@options_of(DomainOptions)
@click.option(
    "--epsilon", "epsilons", type=float, multiple=True, help="An epsilon (default: 0.5, 1, 2, 4)."
)
@click.option(
    "--mechanism",
    "mechanisms",
    multiple=True,
    shell_complete=mechanism_kinds,
    help="A mechanism, such as grr (default: those that `advise` compares).",
)
@click.option("--seeds", type=click.IntRange(1, 10_000), default=5, help="Simulations of each.")
@click.option("--csv", "csv_path", type=_WRITE, help="Write the rows to this file.")
@click.option("--plot", "plot_path", type=_WRITE, help="Draw the errors to this file.")
@as_json
def command(data: Path, column: str, *, as_json: bool, **options: Any) -> None:
    """Compare mechanisms on a column of DATA, a CSV or Parquet file.

    \b
    sottovoce compare people.csv --column city --epsilon 1 --epsilon 2 --plot errors.png
    """
    from sottovoce.cli.columns import read
    from sottovoce.lab.compare import DEFAULT_EPSILONS, compare

    cells = read(data, (column,))
    domain = group_of(DomainOptions, options).of(cells)[column]
    compared = compare(
        domain.from_cells(column, cells[column]),
        domain,
        mechanisms=options["mechanisms"],
        epsilons=options["epsilons"] or DEFAULT_EPSILONS,
        seeds=options["seeds"],
    )
    if options["csv_path"]:
        options["csv_path"].write_text(compared.to_csv(), encoding="utf-8")
    if options["plot_path"]:
        compared.plot(options["plot_path"])
    if as_json:
        print_json(compared.to_dict())
    else:
        click.echo(str(compared))
