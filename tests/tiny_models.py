"""Tiny random models of every tokenizer family, and sentences to feed them."""

import importlib
import re
import warnings
from collections import Counter

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

SENTENCES = (
    "The press greets the president in Chicago.",
    "The president greets the press in Illinois.",
    "Obama speaks to the media in Illinois",
    "A quick brown fox jumps over the lazy dog, and then sleeps.",
    "The lazy dog sleeps while a quick fox jumps!",
    "Interest rates rose faster than economists had expected",
    "Economists had not expected interest rates to rise",
    "She sold the old house to her brother in 1999",
    "Her brother sold the old house to her",
    "Unbelievably, the café served naïve tourists cold soup.",
)
"""What the tokenizers know, and sentences to compare."""

PAIRS = tuple((a, b) for a in SENTENCES[:6] for b in SENTENCES[3:])

WORDPIECE = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")

SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 80,
}
RELATIVE = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_relative_positions": 8}
TINY = {
    "bert": ("wordpiece", "BertConfig", SIZES),
    "distilbert": (
        "wordpiece",
        "DistilBertConfig",
        {"dim": 16, "n_layers": 3, "n_heads": 2, "hidden_dim": 32, "max_position_embeddings": 80},
    ),
    "electra": ("wordpiece", "ElectraConfig", {**SIZES, "embedding_size": 8}),
    "mpnet": ("wordpiece", "MPNetConfig", {**SIZES, "pad_token_id": 1}),
    "roberta": ("bpe", "RobertaConfig", SIZES),
    "modernbert": (
        "bpe",
        "ModernBertConfig",
        {
            **SIZES,
            "global_attn_every_n_layers": 2,
            "local_attention": 8,
            **dict.fromkeys(("cls_token_id", "bos_token_id"), 0),
            **dict.fromkeys(("sep_token_id", "eos_token_id"), 2),
            "pad_token_id": 1,
        },
    ),
    "deberta": ("bpe", "DebertaConfig", {**SIZES, **RELATIVE}),
    "xlm-roberta": ("unigram", "XLMRobertaConfig", SIZES),
    "albert": ("unigram", "AlbertConfig", {**SIZES, "embedding_size": 8}),
    "deberta-v2": ("unigram", "DebertaV2Config", {**SIZES, **RELATIVE}),
    "xlnet": ("unigram", "XLNetConfig", {"d_model": 16, "n_layer": 3, "n_head": 2, "d_inner": 32}),
    "gpt2": ("bpe", "GPT2Config", {"n_embd": 16, "n_layer": 3, "n_head": 2, "n_positions": 80}),
    "convbert": ("wordpiece", "ConvBertConfig", SIZES),
    "longformer": ("unigram", "LongformerConfig", {**SIZES, "attention_window": 8}),
    "fnet": (
        "unigram",
        "FNetConfig",
        {name: size for name, size in SIZES.items() if name != "num_attention_heads"},
    ),
}
"""Tokenizer family, configuration class and configuration of every tiny model."""

PECULIAR = ("convbert", "longformer", "fnet")
"""Fewer heads than configured, attention to neighbours alone, no attention."""
ATTENTIVE = [name for name in TINY if name not in PECULIAR]


def words_of(sentences):
    return Counter(re.findall(r"\w+|[^\w\s]", " ".join(sentences)))


def make_wordpiece():
    """Words of the sentences, and letters for all others."""
    normalizer = normalizers.BertNormalizer()
    words = sorted(words_of(map(normalizer.normalize_str, SENTENCES)))
    inner = sorted({letter for word in words for letter in word[1:]})
    pieces = [*"abcdefghijklmnopqrstuvwxyz!?.,'-", *(f"##{one}" for one in (*inner, "er", "is"))]
    vocabulary = dict.fromkeys((*WORDPIECE, *pieces, *words))
    numbers = {piece: number for number, piece in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def make_bpe():
    """Merges that training finds, the same every time."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=list(ROBERTA),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([*SENTENCES] * 4, trainer)
    return tokenizer


def make_unigram():
    """Words that occur more than once, and letters for all others."""
    words = words_of(SENTENCES)
    letters = sorted(set("".join(words)))
    pieces = {
        **dict.fromkeys(ROBERTA, 0.0),
        **{f"▁{word}": -4.0 for word in sorted(words) if words[word] > 1},
        **dict.fromkeys(("er", "ou", "st", "ve"), -5.0),
        **dict.fromkeys(("▁", *letters), -6.0),
    }
    tokenizer = Tokenizer(models.Unigram([*pieces.items()], unk_id=ROBERTA.index("<unk>")))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


TOKENIZERS = {"wordpiece": make_wordpiece, "bpe": make_bpe, "unigram": make_unigram}
"""How a tokenizer of each family is made: the same every time, so that models are."""


def build_tokenizer(family):
    """Make a tokenizer of one family for the sentences above."""
    import transformers  # takes seconds, and a process that hands out tests makes no models

    tokenizer = TOKENIZERS[family]()
    if family == "wordpiece":
        pad, unk, start, end, mask = WORDPIECE
    else:
        start, pad, end, unk, mask = ROBERTA
    tokenizer.post_processor = processors.TemplateProcessing(
        f"{start} $A {end}",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (start, end)],
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=pad,
        unk_token=unk,
        cls_token=start,
        sep_token=end,
        mask_token=mask,
        model_max_length=64,
    )


def import_quietly(family):
    """Import a model that scripts functions with torch.jit when it is imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        importlib.import_module(f"transformers.models.{family}.modeling_{family}")


def save_model(name, path, tokenizer):
    """Save a tiny random model with its tokenizer; the same weights every time."""
    import torch
    import transformers

    if name.startswith("deberta"):
        import_quietly(name.replace("-", "_"))
    _, config_class, options = TINY[name]
    options = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id} | options
    torch.manual_seed(len(name))
    # a wide spread of weights, so that heads differ as in a trained model
    config = getattr(transformers, config_class)(initializer_range=0.5, **options)
    transformers.AutoModel.from_config(config).eval().save_pretrained(path)
    tokenizer.save_pretrained(path)
