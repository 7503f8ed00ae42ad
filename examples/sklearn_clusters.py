"""scikit-learn: cluster sentences, and classify new ones by their nearest neighbours."""

from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import silhouette_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from movers.integrations.sklearn import SentenceDistances

SENTENCES = {
    "weather": [
        "Heavy rain flooded the streets of the old town.",
        "The streets of the old town were under water after the storm.",
        "Snow is expected in the mountains tonight.",
        "Tonight the mountains will see some snow.",
    ],
    "sport": [
        "The home team won the match in the last minute.",
        "A late goal decided the game for the hosts.",
        "The runner broke the national record in Oslo.",
        "In Oslo a national record fell in the race.",
    ],
    "kitchen": [
        "Fry the onions in butter until they are soft.",
        "Cook the onions gently in butter.",
        "Let the dough rest for an hour before baking.",
        "The dough should rest one hour before it is baked.",
    ],
}
NEW = ["Rain and wind are expected on the coast.", "Bake the bread until it is brown."]


def main() -> None:
    texts = [text for group in SENTENCES.values() for text in group]
    topics = [topic for topic, group in SENTENCES.items() for _ in group]

    distances = SentenceDistances("wsmd").fit_transform(texts)
    model = AgglomerativeClustering(6, metric="precomputed", linkage="average")
    clusters = model.fit_predict(distances)
    silhouette = silhouette_score(distances, clusters, metric="precomputed")
    print(f"six clusters, silhouette {silhouette:.2f}")
    for cluster in sorted(set(clusters)):
        print(
            *(f"  {text}" for text, c in zip(texts, clusters, strict=True) if c == cluster),
            sep="\n",
        )
        print()

    pipeline = make_pipeline(
        SentenceDistances(), KNeighborsClassifier(n_neighbors=1, metric="precomputed")
    )
    grid = {"sentencedistances__method": ["bow", "wmd", "wsmd"]}
    search = GridSearchCV(pipeline, grid, cv=4).fit(texts, topics)
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        print(f"nearest neighbour under {params['sentencedistances__method']:5} {score:.0%} right")
    for text, topic in zip(NEW, search.predict(NEW), strict=True):
        print(f"{topic:8} {text}")


if __name__ == "__main__":
    main()
