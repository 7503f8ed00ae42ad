"""LangChain: retrieve exactly, rerank, and cache answers by what a question says."""

from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel

import movers
from movers.integrations.langchain import MoversCache, MoversCompressor, MoversRetriever

NEWS = [
    "The newspaper sued the senator.",
    "The senator sued the newspaper.",
    "Rain is expected in Paris.",
]
QUESTION = "which senator sued a newspaper"

retriever = MoversRetriever(source=movers.Index.build(movers.load(), NEWS), k=2)
print("retrieved:", [document.page_content for document in retriever.invoke(QUESTION)])

documents = [Document(text) for text in NEWS]
best = MoversCompressor(top_n=1).compress_documents(documents, QUESTION)[0]
print("reranked:", best.page_content, f"({best.metadata['similarity']:.2f})")

model = FakeListChatModel(responses=["to checking", "to savings"], cache=MoversCache())
for asked in (
    "How do I transfer money from savings to checking?",
    "How do I transfer money from savings to checking",
    "How do I transfer money from checking to savings?",
):
    print(f"{asked}  →  {model.invoke(asked).content}")
