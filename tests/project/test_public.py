"""The public names: a list that only grows on purpose."""

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import refless

PUBLIC = """
BLEUNeighbors BertScore BleuStar Columns CompareResult ESTIMATORS Estimates ExplainResult
Explanation FitResult GateResult GaussianProcess
HuseResult InputError JudgeResult JudgedResult KERNELS
LookResult METRICS Meteor MetricResult MineResult MissingExtraError Neighbor NextResult Outputs
PlanResult Predictions RatPred RatedPool RatersResult Ratings Reading RefLessError RougeL
RouteResult Rows ScoreResult ScoresResult Signature StressResult TrainResult UsageError
ValidateResult VerifiedResult WinsResult __version__ agreement annotators bleu_star compare
compare_certificate compare_choices compare_scores dataset estimator_of explain fit gate
held_out huse judge judge_choices judge_raters kernel_of load look metric metric_of mine next plan
pool_of read_both read_outputs read_pool route save score scored stress train validate
validate_choices
"""


def test_public_names_are_exact_and_sorted() -> None:
    """`refless.__all__` is this list, in order."""
    assert list(refless.__all__) == PUBLIC.split()
    assert sorted(refless.__all__) == list(refless.__all__)


def test_every_public_name_is_there() -> None:
    """Each name can be had from the package (lazily or not), and dir() shows it."""
    for name in refless.__all__:
        assert getattr(refless, name) is not None
    assert set(refless.__all__) <= set(dir(refless))


def test_nothing_else_is_public() -> None:
    """No function or class of ours is reachable from the package without being listed."""
    ours = {
        name
        for name, value in vars(refless).items()
        if not name.startswith("_")
        and getattr(value, "__module__", "").startswith("refless")
    }
    assert ours <= set(refless.__all__)


def test_it_is_imported_from_a_zip_too(tmp_path: Path) -> None:
    """Clusters send packages as zip files."""
    folder = Path(refless.__file__).parent
    with ZipFile(tmp_path / "refless.zip", "w") as packed:
        for name in (
            "__init__.py",
            "__init__.pyi",
            *(f"registry/{one}.py" for one in ("__init__", "version", "errors")),
        ):
            packed.write(folder / name, f"refless/{name}")
    code = "import refless; assert '.zip' in refless.__file__; refless.UsageError('x')"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "refless.zip")}
    subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, env=environment, cwd=tmp_path
    )
