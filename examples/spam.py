"""A spam filter with the lecture's weights W(i, d) = tf(i, d) / df(i), and four learners.

    python examples/spam.py [messages]

The messages are made up here, from a seed: words of three kinds of mail (home, work, spam), words
that all mail shares, names by Zipf's law, and misspellings. Perceptron, Adaline and
logistic regression learn spam against the rest; the linear machine learns the three kinds.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer

from adaline import Adaline, LogisticRegression, Perceptron, TfDf

KINDS = {
    "home": "mum dad dinner birthday weekend kids garden holiday photos train tickets love grandma "
    "football cinema recipe dog school party cake beach bike doctor neighbours music song",
    "work": "meeting report deadline budget project client schedule invoice review agenda draft "
    "contract minutes server release customer team slides quarter office travel proposal survey",
    "spam": "winner prize free cash offer urgent click pills casino viagra credit loan guaranteed "
    "cheap discount limited bonus lottery million investment bitcoin luxury replica singles",
}
COMMON = (
    "the of to and a in is it you that was for on are with as be at one have this from or had by "
    "but some what there we can out other were all your when up use how said each she which their "
    "time will way about many then them would like so these see now please account today send "
    "order money new best call help"
)
LEET = {"o": "0", "i": "1", "e": "3", "a": "4", "s": "5"}


def corpus(n: int = 2000, seed: int = 0) -> tuple[list[str], list[str]]:
    """n messages and their kinds: about half home or work, half spam."""
    rng = np.random.default_rng(seed)
    own = {kind: words.split() for kind, words in KINDS.items()}
    common, names = COMMON.split(), _names(12_000, rng)
    names_of = {kind: names[k :: len(own)] for k, kind in enumerate(own)}
    zipf = np.cumsum(1.0 / (np.arange(len(names) // len(own)) + 100.0))
    kinds = rng.choice(["home", "work", "spam", "spam"], n).tolist()
    texts = []
    for kind in kinds:
        words = []
        for draw in rng.random(1 + rng.poisson(60)):
            if draw < 0.14:  # what the message is about
                words.append(_misspelt(str(rng.choice(own[kind])), rng, kind == "spam"))
            elif draw < 0.18:  # mail of one kind mentions the others
                words.append(str(rng.choice(own[str(rng.choice(list(own)))])))
            elif draw < 0.70:
                words.append(str(rng.choice(common)))
            else:  # two names in three belong to the kind: people, products, places
                about = kind if rng.random() < 2 / 3 else str(rng.choice(list(own)))
                rank = int(np.searchsorted(zipf, rng.random() * zipf[-1]))
                words.append(names_of[about][rank])
        texts.append(" ".join(words))
    return texts, kinds


def _names(count: int, rng: np.random.Generator) -> list[str]:
    """Made-up names of two or three syllables, all different."""
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    words: dict[str, None] = {}
    while len(words) < count:
        words["".join(rng.choice(syllables, 2 + rng.integers(0, 2)))] = None
    return list(words)


def _misspelt(word: str, rng: np.random.Generator, sly: bool) -> str:
    """One word in six with a letter dropped, doubled, or (in spam) disguised as a digit."""
    if rng.random() > 1 / 6:
        return word
    i = int(rng.integers(len(word)))
    if sly and word[i] in LEET:
        return word[:i] + LEET[word[i]] + word[i + 1 :]
    return word[:i] + word[i] * int(2 * rng.integers(0, 2)) + word[i + 1 :]


def telling(words: np.ndarray, w: np.ndarray, df: np.ndarray, n: int, count: int = 6) -> str:
    """Words, of those in a message of 20, of which one moves the output most towards spam."""
    often = np.flatnonzero(df >= n / 20)
    return " ".join(words[often[np.argsort(-(w / df)[often])[:count]]])


def main(n: int = 2000) -> dict[str, float]:
    """Train on four fifths, print what was learned, return the accuracies on the last fifth.

    Each learner gets plain counts tf too, for comparison: tf/df makes rare words loud, which helps
    where they tell something, and costs where they are names that never come back.
    """
    texts, kinds = corpus(n)
    cut = 4 * n // 5
    vectorizer, weights = CountVectorizer(), TfDf()
    tf = vectorizer.fit_transform(texts[:cut]).astype(np.float64)
    tf_new = vectorizer.transform(texts[cut:]).astype(np.float64)
    W, W_new = weights.fit_transform(tf), weights.transform(tf_new)
    words = vectorizer.get_feature_names_out()
    print(f"{W.shape[0]} messages of {W.shape[1]} words, {W.nnz / W.shape[0]:.0f} in each")
    kind = np.array(kinds)
    spam = np.where(kind == "spam", "spam", "ham")
    learners = {
        "perceptron": (Perceptron(keep="average", max_iter=50), spam),
        "Adaline": (Adaline(max_iter=50), spam),
        "logistic": (LogisticRegression(alpha=0.01), spam),
        "linear machine": (Perceptron(keep="average", max_iter=50), kind),
    }
    accuracies = {}
    for name, (model, labels) in learners.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # 50 passes are enough here
            plain = _accuracy(model.fit(tf, labels[:cut]), tf_new, spam[cut:])
            accuracies[name] = _accuracy(model.fit(W, labels[:cut]), W_new, spam[cut:])
        w = model.coef_[-1 if len(model.coef_) == 1 else list(model.classes_).index("spam")]
        best = telling(words, w, weights.df_, cut)
        print(f"{name:<15} {accuracies[name]:6.1%} right (tf alone {plain:.1%}); spam says {best}")
    return accuracies


def _accuracy(model: Any, X: Any, spam: np.ndarray) -> float:
    """Right as a filter: the linear machine tells three kinds, of which home and work are one."""
    return float(np.mean((model.predict(X) == "spam") == (spam == "spam")))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
