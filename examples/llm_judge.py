"""A language model that answers: ``linkwise ask FILE --oracle "python examples/llm_judge.py" --parallel 8``.

It works with any service that has an OpenAI-compatible interface, on the network or on this machine, and
needs only the standard library. Environment variables say where the service is:

OPENAI_BASE_URL  address of the interface, such as http://localhost:8000/v1
OPENAI_API_KEY   key, if the service needs one
LLM_MODEL        name of the model
LLM_PARALLEL     how many requests run at once; by default 8
LLM_PRICE        price of 1000 tokens, to report costs; by default the cost is the number of tokens

Each line of the input is a question, and each line of the output a reply; both are JSON. The model also says
how sure it is: the closer its probability is to 0.5, the less its answer counts. The example pairs of the
session go to the model as earlier turns of the conversation.
"""

import json
import os
import random
import re
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

TASK = """You decide whether two items belong to the same group.
{guidelines}
Answer with one line of JSON and nothing else:
{{"answer": "yes" or "no" or "unsure", "probability": 0 to 1, "reason": "at most ten words"}}
The probability is that of "yes". Say "unsure" if the items do not show it."""
USUAL = "Two items belong together if a careful person would put them into the same category."
ATTEMPTS, TIMEOUT_S, FIRST_DELAY_S, MOST_DELAY_S = 5, 50, 1.0, 30.0
REPLY = re.compile(r"\{[^{}]*\}")


def write_prompt(question):
    """Write the messages for one question."""
    guidelines = question.get("guidelines")
    task = TASK.format(guidelines=f"Guidelines:\n{guidelines}" if guidelines else USUAL)
    messages = [{"role": "system", "content": task}]
    for example in question.get("examples") or ():
        reply = {"answer": example["answer"], "reason": example.get("reason") or ""}
        messages += [
            {"role": "user", "content": write_items(example)},
            {"role": "assistant", "content": json.dumps(reply, ensure_ascii=False)},
        ]
    return [*messages, {"role": "user", "content": write_items(question)}]


def write_items(pair):
    """Write the two items of a question or of an example."""
    return "\n\n".join(
        f"Item {letter}:\n" + json.dumps(pair[which], ensure_ascii=False, indent=1)
        for letter, which in (("A", "first"), ("B", "second"))
    )


def post(messages):
    """Send one request; return the text of the reply and the number of tokens."""
    body = {"model": os.environ["LLM_MODEL"], "messages": messages, "temperature": 0, "max_tokens": 200}
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get("OPENAI_API_KEY"):
        headers["Authorization"] = f"Bearer {key}"
    url = os.environ["OPENAI_BASE_URL"].rstrip("/") + "/chat/completions"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
        reply = json.load(response)
    text = reply["choices"][0]["message"]["content"] or ""
    return text, (reply.get("usage") or {}).get("total_tokens", 0)


def find_delay(error, attempt):
    """Return the seconds to wait after an error; None if a repetition does not help."""
    longest = min(MOST_DELAY_S, FIRST_DELAY_S * 2**attempt)
    if isinstance(error, urllib.error.HTTPError):
        if error.code not in (408, 429) and error.code < 500:
            return None
        wanted = (error.headers or {}).get("Retry-After", "")
        if wanted.isdecimal():
            return min(MOST_DELAY_S, float(wanted))
    return longest * random.uniform(0.5, 1)


def ask_model(messages):
    """Send a request, and repeat it if the service is busy or fails."""
    for attempt in range(ATTEMPTS):
        try:
            return post(messages)
        except (OSError, ValueError, LookupError, TypeError) as error:  # OSError: all errors of the network
            delay = find_delay(error, attempt)
            if delay is None or attempt == ATTEMPTS - 1:
                raise
            time.sleep(delay)


def read_answer(text):
    """Find the answer, its probability and its reason in what the model wrote.

    Without an answer it is unsure. A probability that is none, or that contradicts the answer, is left out.
    """
    for found in reversed(REPLY.findall(text)):
        try:
            fields = json.loads(found)
        except ValueError:
            continue
        answer = str(fields.get("answer", "")).strip().lower()
        if answer in ("yes", "no", "unsure"):
            return answer, read_probability(fields, answer), str(fields.get("reason", ""))
    return "unsure", None, f"the model gave no answer: {text[:80]!r}"


def read_probability(fields, answer):
    """Return the probability that the items belong together, if it fits the answer."""
    try:
        probability = float(fields.get("probability"))
    except (TypeError, ValueError):
        return None
    fits = {"yes": 0.5 < probability <= 1, "no": 0 <= probability < 0.5}
    return probability if fits.get(answer) else None


def judge(question):
    """Answer one question."""
    try:
        text, n_tokens = ask_model(write_prompt(question))
    except (OSError, ValueError, LookupError, TypeError) as error:
        return {
            "id": question["id"],
            "error": f"{type(error).__name__}: {error}",
        }  # linkwise asks again later
    answer, probability, reason = read_answer(text)
    price = os.environ.get("LLM_PRICE")
    cost = n_tokens if price is None else n_tokens / 1000 * float(price)
    own = {} if probability is None else {"probability": probability}
    return {"id": question["id"], "answer": answer, **own, "reason": reason, "cost": cost}


def main():
    """Answer the questions of the input, several at once."""
    missing = [name for name in ("OPENAI_BASE_URL", "LLM_MODEL") if not os.environ.get(name)]
    if missing:
        sys.exit(f"Set the environment variables {' and '.join(missing)}.")
    lock = threading.Lock()

    def reply(line):
        text = json.dumps(judge(json.loads(line)))
        with lock:
            print(text, flush=True)

    with ThreadPoolExecutor(int(os.environ.get("LLM_PARALLEL", "8"))) as pool:
        for line in sys.stdin:
            pool.submit(reply, line)


if __name__ == "__main__":
    main()
