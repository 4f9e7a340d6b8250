"""A language model that answers: ``linkwise ask FILE --oracle "python examples/llm_judge.py" --parallel 8``.

It works with any service that has an OpenAI-compatible interface, on the network or on this machine, and
needs only the standard library. Environment variables say where the service is:

OPENAI_BASE_URL  address of the interface, such as http://localhost:8000/v1
OPENAI_API_KEY   key, if the service needs one
LLM_MODEL        name of the model
LLM_PARALLEL     how many requests run at once; by default 8
LLM_PRICE        price of 1000 tokens, to report costs; by default the cost is the number of tokens

Each line of the input is a question, and each line of the output a reply; both are JSON.
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
{{"answer": "yes" or "no" or "unsure", "reason": "at most ten words"}}
Say "unsure" if the items do not show it."""
USUAL = "Two items belong together if a careful person would put them into the same category."
ATTEMPTS, TIMEOUT_S, FIRST_DELAY_S, MOST_DELAY_S = 5, 50, 1.0, 30.0
REPLY = re.compile(r"\{[^{}]*\}")


def write_prompt(question):
    """Write the messages for one question."""
    guidelines = question.get("guidelines")
    task = TASK.format(guidelines=f"Guidelines:\n{guidelines}" if guidelines else USUAL)
    items = "\n\n".join(
        f"Item {letter}:\n" + json.dumps(question[which], ensure_ascii=False, indent=1)
        for letter, which in (("A", "first"), ("B", "second"))
    )
    return [{"role": "system", "content": task}, {"role": "user", "content": items}]


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
    """Find the answer and its reason in what the model wrote; without an answer it is unsure."""
    for found in reversed(REPLY.findall(text)):
        try:
            fields = json.loads(found)
        except ValueError:
            continue
        answer = str(fields.get("answer", "")).strip().lower()
        if answer in ("yes", "no", "unsure"):
            return answer, str(fields.get("reason", ""))
    return "unsure", f"the model gave no answer: {text[:80]!r}"


def judge(question):
    """Answer one question."""
    try:
        text, n_tokens = ask_model(write_prompt(question))
    except (OSError, ValueError, LookupError, TypeError) as error:
        return {
            "id": question["id"],
            "error": f"{type(error).__name__}: {error}",
        }  # linkwise asks again later
    answer, reason = read_answer(text)
    price = os.environ.get("LLM_PRICE")
    cost = n_tokens if price is None else n_tokens / 1000 * float(price)
    return {"id": question["id"], "answer": answer, "reason": reason, "cost": cost}


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
