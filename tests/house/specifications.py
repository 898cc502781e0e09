"""Which test specifies a module that has no test of its own name.

``src/sottovoce/a/b.py`` is specified by ``tests/a/test_b.py``.  A module that is one concept with
another one is listed here with the test that would fail if it were wrong.  The checks are in
``test_specifications.py``.
"""

SPECIFIED_BY = {
    "__main__.py": "cli/test_serve.py",
    # Answers
    "answers/side_views.py": "collector/dashboard/test_pairs.py",
    # Command line
    "cli/truths.py": "cli/test_sql.py",
    # Collector
    "collector/app.py": "collector/test_api.py",
    "collector/dashboard/assets.py": "collector/dashboard/test_pages.py",
    "collector/operations.py": "collector/test_openapi.py",
    "collector/query_worker.py": "collector/test_query_workers.py",
    "collector/wire.py": "collector/test_upload.py",
    # Laboratory: benchmarks run together, experiments are what the tests of the papers assert on
    "lab/baselines/attribute_groups.py": "lab/baselines/test_correlated.py",
    "lab/baselines/binary_attributes.py": "lab/baselines/test_priview.py",
    "lab/baselines/candidates.py": "lab/baselines/test_segment_pairs.py",
    "lab/baselines/pem1.py": "plans/heavy_hitters/test_heavy_hitters.py",
    "lab/baselines/tables/layouts.py": "lab/baselines/tables/test_plan.py",
    "lab/baselines/waiver.py": "lab/baselines/test_correlated.py",
    "lab/bench/affine.py": "lab/test_bench.py",
    "lab/bench/bare.py": "lab/test_bench.py",
    "lab/bench/collecting.py": "lab/test_bench.py",
    "lab/bench/consistency.py": "lab/test_bench.py",
    "lab/bench/discovery.py": "lab/test_bench.py",
    "lab/bench/growth.py": "lab/test_bench.py",
    "lab/bench/load.py": "lab/test_bench.py",
    "lab/bench/marginals.py": "lab/test_bench.py",
    "lab/bench/moving.py": "lab/test_bench.py",
    "lab/bench/olh.py": "lab/test_bench.py",
    "lab/bench/privatizing.py": "lab/test_bench.py",
    "lab/bench/queries.py": "lab/test_bench.py",
    "lab/bench/report.py": "lab/test_bench.py",
    "lab/bench/row.py": "lab/test_bench.py",
    "lab/bench/spark.py": "lab/test_bench.py",
    "lab/bench/timing.py": "lab/test_bench.py",
    "lab/bench/unary.py": "lab/test_bench.py",
    "lab/browser.py": "cli/test_demo.py",
    "lab/demonstration.py": "cli/test_demo.py",
    "lab/experiments/consistency/__main__.py": "papers/test_wang_consistency.py",
    "lab/experiments/consistency/experiment.py": "papers/test_wang_consistency.py",
    "lab/experiments/cormode/independence_power.py": "plans/marginals/test_independence.py",
    "lab/experiments/du_chapter5/top_k.py": "papers/test_du_chapter5.py",
    "lab/experiments/numbers.py": "mechanisms/test_square_wave.py",
    "lab/experiments/tables.py": "papers/test_xu_single.py",
    "lab/experiments/wang_chapter3/error_laws.py": "papers/test_wang_chapter3_experiments.py",
    "lab/experiments/wang_chapter4/long_values.py": "papers/test_wang_chapter4_experiments.py",
    "lab/experiments/wang_chapter6/classification.py": "papers/test_wang_chapter6.py",
    "lab/experiments/wang_chapter6/marginal_errors.py": "papers/test_wang_chapter6.py",
    "lab/peos/__main__.py": "lab/peos/test_processes.py",
    "lab/populations/correlated.py": "papers/test_du_chapter4.py",
    "lab/populations/item_frequencies.py": "papers/test_du_chapter5.py",
    "lab/populations/kosarak_clicks.py": "papers/test_wang_chapter3_experiments.py",
    "lab/populations/records.py": "lab/baselines/test_priview.py",
    "lab/populations/shop.py": "house/test_sql_page.py",
    "lab/populations/tables.py": "plans/tables/test_single_table.py",
    "lab/populations/transactions.py": "papers/test_wang_chapter5_experiments.py",
    "lab/populations/zipf.py": "papers/test_wang_chapter3_experiments.py",
    "lab/reference.py": "house/test_reference.py",
    "lab/seeded.py": "client/test_client.py",
    # Plans
    "plans/itemsets/adaptive_rounds.py": "plans/itemsets/test_adaptive_top_items.py",
    "plans/marginals/marginal_answers.py": "collector/dashboard/test_marginals.py",
    # SQL: the passes of a query are specified by what they give together
    "plans/tables/coefficients.py": "plans/tables/test_measures.py",
    "plans/tables/database.py": "plans/tables/test_single_table.py",
    "plans/tables/demand.py": "plans/tables/test_predict.py",
    "plans/tables/explain.py": "plans/tables/test_pipeline.py",
    "plans/tables/fanout.py": "plans/tables/test_single_table.py",
    "plans/tables/method.py": "plans/tables/test_acceptance.py",
    "plans/tables/result.py": "plans/tables/test_joins.py",
    "plans/tables/select.py": "plans/tables/test_pipeline.py",
    "plans/tables/source.py": "plans/tables/test_pipeline.py",
    "plans/tables/weigh.py": "plans/tables/test_pipeline.py",
    "sql/errors.py": "sql/test_grammar.py",
    "sql/query.py": "sql/test_reading.py",
    # Tasks
    "tasks/advice.py": "plans/test_advise.py",
    # Web
    "web/openapi.py": "collector/test_openapi.py",
    "web/problem_response.py": "web/test_problems.py",
}
