"""Run the notebooks of the docs and keep what they print, without a Jupyter kernel.

    python scripts/notebooks.py docs/notebooks/*.ipynb

A notebook here is Python that prints, draws and ends in a value: cells share one namespace, the
output of a cell is what it prints, the value of its last line as HTML, and the matplotlib figures
that it leaves open.  That needs no kernel, so that the documentation does not install one.
Notebooks open in Jupyter as they are.
"""

import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any


def run(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook with the outputs of a fresh run."""
    scope: dict[str, Any] = {}
    cells = []
    number = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            cell = {**cell, "execution_count": number, "outputs": outputs(cell, scope)}
        cells.append(cell)
    return {**notebook, "cells": cells}


def outputs(cell: dict[str, Any], scope: dict[str, Any]) -> list[dict[str, Any]]:
    """Run one cell, and return what it prints and draws."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        value = _value("".join(cell["source"]), scope)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        found.append({"name": "stdout", "output_type": "stream", "text": text})
    html = value._repr_html_() if hasattr(value, "_repr_html_") else None
    if html is not None:
        data = {"text/html": html.splitlines(keepends=True), "text/plain": [type(value).__name__]}
        result = {"data": data, "metadata": {}, "output_type": "execute_result"}
        found.append({**result, "execution_count": cell.get("execution_count")})
    return found + [_picture(figure) for figure in _open_figures()]


def _value(source: str, scope: dict[str, Any]) -> Any:
    """Run the source of a cell, and return the value of its last line, if that has one."""
    tree = ast.parse(source)
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        exec(compile(tree, "cell", "exec"), scope)
        return None
    last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, "cell", "exec"), scope)
    return eval(compile(last, "cell", "eval"), scope)


def _open_figures() -> list[Any]:
    """Return the figures of pyplot, and close them."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    pyplot.close("all")
    return figures


def _picture(figure: Any) -> dict[str, Any]:
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=70, metadata={"Software": None})
    data = base64.b64encode(png.getvalue()).decode()
    shown = {"image/png": data, "text/plain": ["<Figure>"]}
    return {"data": shown, "metadata": {}, "output_type": "display_data"}


def main(paths: list[str]) -> None:
    """Run notebooks and write them back."""
    import matplotlib

    matplotlib.use("agg")
    for name in paths:
        path = Path(name)
        notebook = run(json.loads(path.read_text(encoding="utf-8")))
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
