"""Public data sets of human ratings: what each is, where it is, and under which terms.

Nobody's data is here, only addresses, sizes and digests: `sources.tsv` names each file at a commit,
with the SHA-256 of the bytes that the converters were written for.
"""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from refless.extensions.connect.datasets import convert
from refless.extensions.connect.datasets.convert import Converter
from refless.registry.errors import InputError, UsageError

RAW = "https://raw.githubusercontent.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A published file.

    Attributes:
        place: owner, repository, commit and path, joined by /.
        sha256, size: of its bytes; "" and 0 for a file that users get for themselves.
    """

    place: str
    sha256: str = ""
    size: int = 0

    @property
    def path(self) -> str:
        """Its path in the repository."""
        return self.place.split("/", 3)[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A data set.

    Attributes:
        name: what it and its folder are called.
        about: what it holds; good_for: what for.
        licence, citation: as its authors state them.
        home: a page about it.
        validate: words for `refless validate`, the file first; empty where nothing is rated.
        convert: published files to files.
        by_hand: the file that users get from `home` for themselves, where it cannot be fetched.
    """

    name: str
    about: str
    good_for: str
    licence: str
    citation: str
    home: str
    validate: tuple[str, ...] = ()
    convert: Converter = convert.as_it_is
    by_hand: str = ""

    @property
    def sources(self) -> tuple[Source, ...]:
        """Its published files."""
        if self.by_hand:
            return (Source(place=self.by_hand),)
        return tuple(source for name, source in _sources() if name == self.name)

    @property
    def size(self) -> int:
        """Bytes to fetch; 0 where that is not known."""
        return sum(source.size for source in self.sources)


def _sources() -> list[tuple[str, Source]]:
    """The rows of `sources.tsv`: a data set's name and one of its files."""
    table = (
        files("refless.extensions.connect.datasets")
        .joinpath("sources.tsv")
        .read_text(encoding="utf-8")
    )
    rows = [line.split("\t") for line in table.splitlines()[1:]]
    return [
        (name, Source(place=place, sha256=digest, size=int(size)))
        for name, digest, size, place in rows
    ]


def dataset_of(name: str) -> Dataset:
    """The data set of a name.

    Raises:
        UsageError: there is none.
    """
    if name not in DATASETS:
        raise UsageError(f"no data set '{name}'; there are {', '.join(DATASETS)}")
    return DATASETS[name]


def absent(path: Path, data: str = "data") -> InputError:
    """The error for a file of a data set that is not there: what to call to have it.

    Args:
        path: the file, in a folder of the data set's name.
        data: what a script is to be told with --data.
    """
    fetch = f"refless list datasets --get {path.parent.name} --out-dir data, then --data {data}"
    remedy = f"name its folder, or fetch it: {fetch}"
    return InputError("no such file", path=str(path), remedy=remedy)


_ALL = (
    Dataset(
        name="grade",
        about="1,200 replies of eight dialogue systems, 11,910 ratings from 1 to 5 (coherence)",
        good_for="single ratings without known annotators; three tasks to transfer between",
        licence="none stated",
        citation="Huang, Ye, Qin, Lin and Liang 2020, GRADE: Automatic Graph-Enhanced Coherence "
        "Metric for Evaluating Open-Domain Dialogue Systems, EMNLP",
        home="https://github.com/li3cmz/GRADE",
        validate=("judgements.tsv", "--scale", "1", "5"),
        convert=convert.grade,
    ),
    Dataset(
        name="huse-summarization",
        about="200 headlines, half of them by people, 20 ratings each from 1 to 6 (typicality), "
        "with a model's log-probabilities",
        good_for="HUSE; annotators against estimates; papers/bleu_neighbors.py and huse.py",
        licence="none stated",
        citation="Hashimoto, Zhang and Liang 2019, Unifying Human and Statistical Evaluation for "
        "Natural Language Generation, NAACL",
        home="https://github.com/hughbzhang/HUSE",
        validate=("judgements.tsv", "--scale", "1", "6"),
        convert=convert.huse,
    ),
    Dataset(
        name="summeval-judges",
        about="1,200 news summaries of twelve systems, three experts on four dimensions from 1 to "
        "5, with GPT-4's scores",
        good_for="an LLM judge beside ratings of people (--score-column); comparing systems",
        licence="MIT for the ratings; none stated for the scores; articles of CNN and Daily Mail",
        citation="Fabbri et al. 2021, SummEval: Re-evaluating Summarization Evaluation, TACL; "
        "scores: Shen et al. 2023, Large Language Models are Not Yet Human-Level Evaluators for "
        "Abstractive Summarization, Findings of EMNLP",
        home="https://github.com/DAMO-NLP-SG/LLM_summeval",
        validate=("summaries.jsonl", "--scale", "1", "5", "--rating-column", "experts.coherence",
                  "--score-column", "judges.gpt4.coherence", "--group", "article"),
        convert=convert.summeval,
    ),
    Dataset(
        name="nlg-ratings",
        about="2,460 texts of three data-to-text systems, medians of three ratings from 1 to 6, "
        "with human references and the sets they come from",
        good_for="dialogue acts as sources; papers/ratpred.py and delta_bleu.py",
        licence="MIT (ratings, references), Apache-2.0 (RNNLG), none stated (BAGEL)",
        citation="Novikova, Dušek, Cercas Curry and Rieser 2017, Why We Need New Evaluation "
        "Metrics for NLG, EMNLP; references as in Zhong et al. 2022 (UniEval); sources: Wen et al. "
        "2016 (RNNLG), Mairesse et al. 2010 (BAGEL)",
        home="https://github.com/jeknov/EMNLP_17_submission",
        validate=("emnlp_data_medians.csv", "--scale", "1", "6", "--text-column", "sys_ref",
                  "--rating-column", "quality"),
        convert=convert.nlg_ratings,
    ),
    Dataset(
        name="dailydialog-multiref",
        about="500 replies with a mean rating from 1 to 5; 6,740 contexts with five references, "
        "and replies of HRED to them",
        good_for="metrics with several references; papers/cautionary_tale.py",
        licence="none stated; dialogues of DailyDialog, CC BY-NC-SA 4.0",
        citation="Gupta et al. 2019, Investigating Evaluation of Open-Domain Dialogue Systems With "
        "Human Generated Multiple References, SIGDIAL",
        home="https://github.com/prakharguptaz/multirefeval",
        validate=("mturk_rating_processed_output.csv", "--scale", "1", "5", "--text-column",
                  "response", "--rating-column", "human_average_rating"),
    ),
    Dataset(
        name="simpeval",
        about="360 simplified sentences by four systems and two people, mean ratings from 0 to 100",
        good_for="few texts; systems close to people",
        licence="MIT (the repository)",
        citation="Maddela, Dou, Heineman and Xu 2023, LENS: A Learnable Evaluation Metric for Text "
        "Simplification, ACL",
        home="https://github.com/SALT-NLP/autometrics",
        validate=("simpeval.jsonl", "--scale", "0", "100", "--rating-column", "score"),
        convert=convert.simplification,
    ),
    Dataset(
        name="simpda",
        about="434 simplified sentences of six systems: fluency, meaning and simplicity, as "
        "standardised means",
        good_for="several dimensions; ratings without a scale",
        licence="MIT (the repository)",
        citation="Alva-Manchego, Scarton and Specia 2021, The (Un)Suitability of Automatic "
        "Evaluation Metrics for Text Simplification, Computational Linguistics",
        home="https://github.com/SALT-NLP/autometrics",
        validate=("simpda.jsonl", "--rating-column", "fluency"),
        convert=convert.simplification,
    ),
    Dataset(
        name="asap-sas",
        about="17,000 short answers of pupils to ten questions, two ratings each",
        good_for="many ratings; papers/bleu_neighbors.py",
        licence="the rules of the competition, which an account at Kaggle has to accept",
        citation="The Hewlett Foundation 2012, Short Answer Scoring, Kaggle",
        home="https://www.kaggle.com/c/asap-sas/data",
        validate=("train.tsv", "--scale", "0", "3", "--id-column", "Id", "--text-column",
                  "EssayText", "--task-column", "EssaySet", "--rating-column", "Score1",
                  "--rating-column", "Score2"),
        convert=convert.asap_sas,
        by_hand="train.tsv",
    ),
    Dataset(
        name="dailydialog-plusplus",
        about="1,028 contexts with five good, five adversarial and five random replies",
        good_for="replies that are known to be bad; papers/delta_bleu.py",
        licence="MIT; dialogues of DailyDialog, CC BY-NC-SA 4.0",
        citation="Sai, Mohankumar, Arora and Khapra 2020, Improving Dialog Evaluation with a "
        "Multi-reference Adversarial Dataset and Large Scale Pretraining, TACL",
        home="https://github.com/iitmnlp/DailyDialog-plusplus",
    ),
    Dataset(
        name="coco",
        about="5,000 images with five captions, and captions of four systems",
        good_for="metrics with references; papers/cautionary_tale.py",
        licence="CC BY 4.0 (captions), none stated (outputs)",
        citation="Lin et al. 2014, Microsoft COCO, ECCV; split: Karpathy and Fei-Fei 2015; "
        "outputs: Su et al. 2022, Language Models Can See: Plugging Visual Controls in Text "
        "Generation",
        home="https://github.com/yxuansu/MAGIC",
        convert=convert.coco,
    ),
    Dataset(
        name="flickr30k",
        about="1,000 images for tests and 29,000 for training with five captions",
        good_for="metrics with references; papers/cautionary_tale.py",
        licence="non-commercial research and education (Multi30K, Flickr30K)",
        citation="Young et al. 2014, From Image Descriptions to Visual Denotations, TACL; Elliott, "
        "Frank, Sima'an and Specia 2016, Multi30K, Workshop on Vision and Language",
        home="https://github.com/multi30k/dataset",
    ),
)  # fmt: skip
DATASETS = {one.name: one for one in _ALL}
