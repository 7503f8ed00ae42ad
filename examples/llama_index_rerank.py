"""LlamaIndex: retrieve from an exact index, and rerank nodes by who did what to whom."""

from llama_index.core.schema import NodeWithScore, TextNode

import movers
from movers.integrations.llama_index import MoversRerank, MoversRetriever

NEWS = [
    "The newspaper sued the senator.",
    "The senator sued the newspaper.",
    "Rain is expected in Paris.",
]
QUESTION = "which senator sued a newspaper"

retriever = MoversRetriever(movers.Index.build(movers.load(), NEWS), top_k=2)
print("retrieved:", [node.text for node in retriever.retrieve(QUESTION)])

nodes = [NodeWithScore(node=TextNode(text=text), score=0.5) for text in NEWS]
for node in MoversRerank(top_n=2).postprocess_nodes(nodes, query_str=QUESTION):
    print(f"reranked: {node.text} ({node.score:.2f})")
