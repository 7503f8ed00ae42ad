"""sentence-transformers: search with its embeddings, then rerank with word order in view."""

from sentence_transformers import SentenceTransformer, util

from movers.encode.models import embedded_folder
from movers.integrations.sentence_transformers import MoversEvaluator, MoversReranker, scorer_of

CORPUS = [
    "Shares of the bank fell after the minister resigned.",
    "The minister resigned after shares of the bank fell.",
    "The teacher praised the student for the essay.",
    "The student praised the teacher for the essay.",
    "A storm closed the harbour for three days.",
    "The harbour was closed for three days because of a storm.",
]
QUERY = "The pupil praised her teacher for the essay."


def main() -> None:
    model = SentenceTransformer(str(embedded_folder()), device="cpu")
    found = util.semantic_search(model.encode(QUERY), model.encode(CORPUS), top_k=4)[0]
    print(f"{QUERY}\n\nby embeddings, cosine:")
    for hit in found:
        print(f"  {hit['score']:7.4f}  {CORPUS[hit['corpus_id']]}")

    candidates = [CORPUS[hit["corpus_id"]] for hit in found]
    reranker = MoversReranker(scorer_of(model, "wsmd", layers=2, whitening="none"))
    print("\nreranked by the same model's words and attention, minus the distance:")
    for hit in reranker.rank(QUERY, candidates, return_documents=True):
        print(f"  {hit['score']:7.4f}  {hit['text']}")

    pairs = [(CORPUS[k], CORPUS[k + 1]) for k in (0, 2, 4)]
    pairs += [(CORPUS[2], QUERY), (CORPUS[3], QUERY)]
    sources, targets = zip(*pairs, strict=True)
    print("\narea under the curve on five pairs, of which two say the same:")
    for method in ("average", "wmd", "wsmd"):
        evaluator = MoversEvaluator(sources, targets, [0, 0, 1, 0, 1], method=method, layers=2)
        print(f"  {method:8} {evaluator(model)[evaluator.primary_metric]:.2f}")


if __name__ == "__main__":
    main()
