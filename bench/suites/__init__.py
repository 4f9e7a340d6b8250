"""Measure methods of clustering with constraints and with questions, as the papers do.

    python -m bench.suites list
    python -m bench.suites run questions --methods KIN COBRAS --data DIR

`constraint_sets` draws constraints, `folds` splits rows, `scores` measures clusterings, `summaries` averages
runs and `comparison` ranks methods. `tasks` reads declared data sets, `protocols` declared suites, and
`declarations` checks both. `participants` finds methods, `trials` runs one of them on one task, `cell_store`
keeps what was measured, and `results` makes tables and a page of it.
"""
