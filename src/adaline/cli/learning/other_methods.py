"""Names of well-known methods that adaline lacks or calls otherwise: what to take instead."""

from __future__ import annotations

_LINEAR = (
    "every model of adaline is linear in its columns: --model ridge for numbers, logistic for "
    "classes; --formula adds logarithms, powers and products"
)
_SELECTS = (
    "ridge shrinks the weights as well, but sets none of them to zero: --model ridge for numbers, "
    "logistic for classes"
)
_MARGIN = (
    "logistic is the linear classifier nearest to it, kernel-perceptron the one with kernels, and "
    "in Python max_margin(X, y) finds the widest margin of separable classes"
)
_COUNTS = "poisson is the nearest for counts and other numbers that are not negative"
_ROBUST = "least-squares and ridge are the nearest, and both mind outliers"
_KERNELS = "ridge is the nearest, linear in its columns; --formula adds powers and products"
_GROUPS = "it needs no target, and every learner of adaline needs one"

ADVICE = {
    f"{_SELECTS}.": "lasso lassocv elasticnet elasticnetcv enet lars lassolars",
    f"{_MARGIN}.": "svm svc linearsvc nusvc linearsvm",
    f"{_KERNELS}.": (
        "svr linearsvr nusvr kernelridge gp gpr gaussianprocess kriging spline gam loess"
    ),
    f"{_COUNTS}.": "negbin negativebinomial gamma tweedie zeroinflated",
    f"{_ROBUST}.": "huber ransac theilsen quantile rlm lad",
    f"{_LINEAR}.": (
        "randomforest forest rf tree decisiontree cart extratrees xgboost xgb gbm gbt lightgbm "
        "lgbm catboost adaboost boosting gradientboosting histgradientboosting knn kneighbors "
        "kneighbours nearestneighbors nearestneighbours mlp nn ann neuralnetwork neuralnet"
    ),
    f"{_GROUPS}.": "pca kmeans clustering dbscan tsne umap",
    "take --model least-squares.": "ols linear lm linreg linearregression regression lstsq",
    "take --model logistic.": "logit logreg softmax maxent multinomial multinomiallogit binomial",
    "take --model logistic, which answers nearly the same.": "probit",
    "take --model logistic for classes, or poisson for counts.": "glm",
    "take --model poisson.": "poissonglm counts",
    "take --model gaussian.": "lda lineardiscriminant lineardiscriminantanalysis bayes",
    "take --model gaussian --set covariance=full.": (
        "qda quadraticdiscriminant quadraticdiscriminantanalysis"
    ),
    "take --model gaussian --set covariance=diagonal.": "naivebayes gaussiannb gnb nb",
    "take --model ridge.": "ridgecv tikhonov bayesianridge ard",
    "take --model widrow-hoff for numbers, or adaline for classes.": "sgd lms deltarule",
    "take --model ridge, with --formula 'poly(x, 3)' or the like.": "polynomial poly polyfit",
}
_ENDINGS = ("", "classifier", "regressor", "regression", "model")


def advice_for(model: str) -> str:
    """What to take instead of a method by another name; "" where the name is not known.

    >>> advice_for("Naive-Bayes")
    'take --model gaussian --set covariance=diagonal.'
    >>> advice_for("RandomForestClassifier")[:40]
    'every model of adaline is linear in its '
    >>> advice_for("ridgge")
    ''
    """
    bare = "".join(letter for letter in model.lower() if letter.isalnum())
    names = {bare.removesuffix(ending) for ending in _ENDINGS}
    return next((said for said, known in ADVICE.items() if names & set(known.split())), "")
