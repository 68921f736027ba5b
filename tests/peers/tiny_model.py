"""Writes the tiny language model that llama-server serves in the tests.

    python tiny_model.py OUT.gguf

The model knows nothing. It exists so that a real inference server can be asked real questions: the
server tokenises, keeps its context limit, samples, constrains tool calls by grammar, streams and
parses exactly as with a large model, and the file is two megabytes and takes seconds to make.

Nothing is trained. Almost all weights are noise, so words come out as babble. A few embedding
dimensions are reserved, and each carries one rule, "after this token comes that one": the source
tokens are large there, and the output row of the target is large there too, so the rule outweighs
the noise. The chat template decides which rule begins the answer, by ending the prompt in a marker:

- tools offered, none used since the last word of the user: a call (of `inspect_location` if offered);
- tools offered, one used, `say` with a `message` among them: a call of `say`;
- no tools, but the conversation explains the JSON form of a call: the same two calls as JSON text;
- anything else: a few words and a full stop.

Equal inputs give equal files: the noise is seeded and the text for the tokeniser is made up here.
"""

import json
import random
import sys

import gguf
import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

WIDTH, HEADS, FEED_FORWARD, LAYERS, CONTEXT = 64, 4, 128, 2, 32768
VOCABULARY = 1536

END, START, STOP = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
OPEN, CLOSE = "<tool_call>", "</tool_call>"
CALL = OPEN + '\n{"name": "'
CALL_LOOK = CALL + "inspect_location"
CALL_SAY = CALL + 'say", "arguments": {"message": "Hello from the tiny model'
JSON_LOOK = '{"tool": "inspect_location", "parameters": {}}'
JSON_SAY = '{"tool": "say", "parameters": {"message": "Hello from the tiny model."}}'

# What the template may end a prompt with, and the token that then begins the answer.
MARKERS = {
    "<|call|>": CALL,
    "<|look|>": CALL_LOOK,
    "<|say|>": CALL_SAY,
    "<|json look|>": JSON_LOOK,
    "<|json say|>": JSON_SAY,
}
# Never shown to a client, in the order of their token ids.
CONTROL = [END, START, STOP, *MARKERS]
# Longest first: the tokeniser takes the first that fits.
VISIBLE = [JSON_SAY, JSON_LOOK, CALL_SAY, CALL_LOOK, CALL, OPEN, CLOSE]

TEMPLATE = """
{%- set json = namespace(form=false) -%}
{%- set used = namespace(tools=0) -%}
{%- set offered = namespace(look=false, say=false) -%}
{%- for message in messages -%}
  {%- set content = message.content or "" -%}
  {%- if '"tool"' in content and '"parameters"' in content %}{% set json.form = true %}{% endif -%}
  {%- if message.role == "tool" or (message.role == "user" and content.startswith("[TOOL RESULT")) -%}
    {%- set used.tools = used.tools + 1 -%}
  {%- elif message.role == "user" -%}
    {%- set used.tools = 0 -%}
  {%- endif -%}
{%- endfor -%}
{%- if tools -%}
<|im_start|>system
You may call these tools:
{% for tool in tools -%}
  {%- if tool.function.name == "inspect_location" %}{% set offered.look = true %}{% endif -%}
  {%- if tool.function.name == "say" and "message" in tool.function.parameters.properties -%}
    {%- set offered.say = true -%}
  {%- endif -%}
{{ tool | tojson }}
{% endfor -%}
A call is a JSON object between two tags:
<tool_call>
{"name": <name of the tool>, "arguments": <object>}
</tool_call><|im_end|>
{% endif -%}
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{{ message.content or "" }}
{%- for call in (message.tool_calls or []) %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor -%}
<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}
<|im_start|>assistant
{% if tools and used.tools == 0 -%}
{{ "<|look|>" if offered.look else "<|call|>" }}
{%- elif tools and used.tools == 1 and offered.say -%}
<|say|>
{%- elif not tools and json.form and used.tools == 0 -%}
<|json look|>
{%- elif not tools and json.form and used.tools == 1 -%}
<|json say|>
{%- endif -%}
{%- endif -%}
"""


def story(sentences):
    """Made-up sentences for the tokeniser to find its pieces in."""
    chance = random.Random(7)
    who = ["the dormouse", "a hedgehog", "the keeper", "Alice", "Bob", "an old badger", "the miller"]
    does = ["finds", "carries", "forgets", "remembers", "counts", "hides", "looks for", "speaks of"]
    what = ["hazel nuts", "a kettle", "the blue box", "a lantern", "warm tea", "the key", "a letter"]
    where = ["in the kitchen", "under the stairs", "by the river", "in the attic", "at the market"]
    when = ["every evening", "before winter", "at dawn", "once more", "after a long sleep", "today"]
    for _ in range(sentences):
        parts = [chance.choice(words) for words in (who, does, what, where, when)]
        yield " ".join(parts).capitalize() + ".\n"


def vocabulary():
    """The tokens in order of their ids, and the merges that build them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[*CONTROL, *VISIBLE],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(story(2000), trainer)
    learnt = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(learnt["vocab"], key=learnt["vocab"].get)
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in learnt["merges"]]
    return tokens, merges


class Weights:
    """Noise, and the rules written into its first dimensions."""

    def __init__(self, tokens):
        self.noise = np.random.default_rng(11)
        self.ids = {token: number for number, token in enumerate(tokens)}
        # One dimension each: a constant, the markers, the end of an answer, the end of a call.
        self.rules = len(MARKERS) + 3
        self.embedding = self.noise.standard_normal((len(tokens), WIDTH)).astype(np.float32)
        self.output = 2 * self.matrix(len(tokens), WIDTH)
        self.embedding[:, : self.rules] = 0
        self.output[:, : self.rules] = 0
        self.embedding[:, 0] = 1

    def matrix(self, rows, columns):
        values = self.noise.standard_normal((rows, columns)) / np.sqrt(columns)
        return values.astype(np.float32)

    def lean(self, token, amount):
        """Makes a token likelier, or less likely, everywhere."""
        self.output[self.ids[token], 0] = amount

    def follow(self, dimension, sources, target):
        """After any of the sources comes the target."""
        for source in sources:
            self.embedding[self.ids[source], dimension] = 25
        self.output[self.ids[target], dimension] = 6


def taught(tokens):
    weights = Weights(tokens)
    for dimension, (marker, first) in enumerate(MARKERS.items(), start=1):
        weights.follow(dimension, [marker], first)
    enders = [token for token in tokens if token[-1] in ".>" and token[0] != "<"]
    weights.follow(len(MARKERS) + 1, [*enders, CLOSE, JSON_LOOK, JSON_SAY], STOP)
    # The grammar lets a list of calls follow one call; it shall be one, so the tag closes after the brace.
    weights.follow(len(MARKERS) + 2, ["}"], CLOSE)
    # What only a rule may bring shall not come by chance, nor shall odd bytes; strings and sentences shall end soon.
    for token in tokens:
        weights.lean(token, 0 if token.removeprefix("Ġ").isascii() and token.strip("Ġ").isalpha() else -5)
    for token in [*VISIBLE, *MARKERS, START, END]:
        weights.lean(token, -9)
    weights.lean('"', 6)
    weights.lean(".", 6)
    return weights


def kind(token):
    if token in CONTROL:
        return gguf.TokenType.CONTROL
    return gguf.TokenType.USER_DEFINED if token in VISIBLE else gguf.TokenType.NORMAL


def describe(file, tokens, merges):
    """Everything about the model that is not a weight."""
    file.add_name("tiny")
    file.add_context_length(CONTEXT)
    file.add_embedding_length(WIDTH)
    file.add_block_count(LAYERS)
    file.add_feed_forward_length(FEED_FORWARD)
    file.add_head_count(HEADS)
    file.add_head_count_kv(HEADS)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_rope_dimension_count(WIDTH // HEADS)
    file.add_vocab_size(len(tokens))
    file.add_file_type(gguf.LlamaFileType.ALL_F32)
    file.add_tokenizer_model("gpt2")
    file.add_tokenizer_pre("gpt-2")
    file.add_token_list(tokens)
    file.add_token_merges(merges)
    file.add_token_types([kind(token) for token in tokens])
    file.add_bos_token_id(tokens.index(END))
    file.add_eos_token_id(tokens.index(STOP))
    file.add_add_bos_token(False)
    file.add_chat_template(TEMPLATE)


def fill(file, weights):
    """The weights, by the names llama.cpp knows them under."""
    ones = np.ones(WIDTH, np.float32)
    file.add_tensor("token_embd.weight", weights.embedding)
    file.add_tensor("output_norm.weight", ones)
    file.add_tensor("output.weight", weights.output)
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        file.add_tensor(block + "attn_norm.weight", ones)
        file.add_tensor(block + "ffn_norm.weight", ones)
        for name in ("attn_q", "attn_k", "attn_v"):
            file.add_tensor(f"{block}{name}.weight", weights.matrix(WIDTH, WIDTH))
        # What a layer adds is kept faint, so that the rules come through it.
        file.add_tensor(block + "attn_output.weight", 0.05 * weights.matrix(WIDTH, WIDTH))
        file.add_tensor(block + "ffn_gate.weight", weights.matrix(FEED_FORWARD, WIDTH))
        file.add_tensor(block + "ffn_up.weight", weights.matrix(FEED_FORWARD, WIDTH))
        file.add_tensor(block + "ffn_down.weight", 0.05 * weights.matrix(WIDTH, FEED_FORWARD))


def main(path):
    tokens, merges = vocabulary()
    file = gguf.GGUFWriter(path, "llama")
    describe(file, tokens, merges)
    fill(file, taught(tokens))
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


if __name__ == "__main__":
    main(sys.argv[1])
