"""Right and wrong calls of every function, for type checkers: nothing here is run.

A line that a type checker must refuse ends in `# wrong`; it must refuse no other line.
"""

from pathlib import Path

import refless
from refless.commands.demo.run import demo
from refless.commands.lists.run import list as list_of
from refless.extensions.serve.rate import rate
from refless.extensions.serve.serve import serve

ROWS = [{"text": "a reply", "rating": 4, "system": "A", "judge": 0.5}]
FILE = Path("rated.jsonl")

refless.compare(
    ROWS, rated=FILE, system=["A", "B"], selection="random", score_column="judge"
)
refless.compare(ROWS, outptus=3)  # wrong
refless.compare(ROWS, seed="x")  # wrong
refless.compare(ROWS, selection="lot")  # wrong
refless.compare(ROWS, looks="two")  # wrong

refless.judge(
    FILE, passing=4, score_column=["judge", "gpt*"], columns={"text": "reply"}
)
refless.judge(FILE, score_colum="judge")  # wrong
refless.judge(FILE, passing="4")  # wrong

refless.validate(ROWS, estimator=["gp", "bleu-neighbors"], scale=(1, 5), group="source")
refless.validate(ROWS, scale=5)  # wrong
refless.validate(ROWS, estimater="gp")  # wrong

refless.score(
    [FILE], ROWS, min_mean=3.5, where=["status=approved"], reading={"encoding": "utf-8"}
)
refless.score([FILE], ROWS, min_maen=3.5)  # wrong
refless.score(FILE, ROWS, "gp")  # wrong

refless.explain("a reply", rated=ROWS, most=3)
refless.explain("a reply", rated=ROWS, most=3, top=3)  # wrong

refless.fit(ROWS, to="model.safetensors", dimension="fluency")
refless.fit(ROWS)  # wrong
refless.fit(ROWS, to="model.safetensors", dimensoin="fluency")  # wrong

refless.next(FILE, goal="mean", n=20, lower_is_better="errors")
refless.next(FILE, gaol="mean")  # wrong
refless.next(FILE, n="20")  # wrong

refless.look(FILE, scale=(1, 5), score_column="judge*")
refless.look(FILE, score_colum="judge*")  # wrong

refless.route(FILE, licence="licence.json", audit=0.1)
refless.route(FILE, license="licence.json")  # wrong

refless.metric(ROWS, ["bleu", "rouge-l"], resamples=100)
refless.metric(ROWS, ["bleu"], score_column="judge")  # wrong

refless.huse(ROWS, human_label="person", skip_bad=True)
refless.huse(ROWS, skip_bad="yes", neighbours=3)  # wrong

refless.stress(ROWS, metrics="bleu", probe=["frequent"])
refless.stress(ROWS, metric="bleu")  # wrong

refless.mine(FILE, out_dir="mined", seeds=ROWS, columns={"message": "question"})
refless.mine(FILE, out_dri="mined")  # wrong

refless.train(ROWS, to=Path("model.safetensors"), references=FILE)
refless.train(ROWS, to=Path("model.safetensors"), reference=FILE)  # wrong

rate(FILE, scale=(1, 7), ask="rating", port=8001)
rate(FILE, prot=8001)  # wrong

serve(FILE, host="0.0.0.0", threads=2)
serve(FILE, thread=2)  # wrong

demo(out_dir=Path("sample"))
demo(out="sample")  # wrong

list_of("datasets", get=["news"], out_dir="data")
list_of("datasets", fetch="news")  # wrong

mean: float = refless.score(FILE, ROWS).scored.overall.mean
notes: tuple[str, ...] = refless.score(FILE, ROWS).notes
assert refless.score(FILE, ROWS).scored.overall.maen  # wrong
assert refless.fit(FILE, to="model.safetensors").paths  # wrong
assert refless.huse(ROWS).human_labels  # wrong
assert refless.compare(ROWS).comparison.systemes  # wrong
assert refless.compare_choices(ROWS).comparison  # wrong
assert refless.judge_raters(ROWS).audits  # wrong
wins = refless.compare_choices(ROWS, system=["A", "B"]).wins
by_judge = refless.compare_scores(ROWS).metrics
picked = refless.judge_choices(ROWS, score_column="judge").pairwise
chosen = refless.validate_choices(ROWS, estimator="gp").pairwise
refless.judge_choices(ROWS, score_colum="judge")  # wrong

goals = refless.plan(scale=(1, 5), within=0.25).goals
refless.plan(ROWS, goal="mean")  # wrong

refless.gate(ROWS, baseline="A", margin=0.2)
refless.gate(ROWS, basline="A")  # wrong
