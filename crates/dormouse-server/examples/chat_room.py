"""A chat room as a world for an assistant, with nothing but Python's own library.

A line "Ann: hello" on standard input is said to the assistant; what the assistant says is printed. The room may be
killed and started again at any time: its book says what it has sent and what it has carried out.

    python3 chat_room.py http://127.0.0.1:8420 TOKEN BOOK [KEY]
"""
import json, os, sys, threading, time, urllib.error, urllib.request

URL, TOKEN, BOOK = sys.argv[1:4]
KEY = (sys.argv[4:] or ["dormouse"])[0]
SAY = {"name": "say", "description": "Say something aloud to everyone here.", "category": "terminal",
       "speech": {"kind": "aloud", "words": "message"},
       "parameters": {"type": "object", "required": ["message"], "additionalProperties": False,
                      "properties": {"message": {"type": "string", "minLength": 1, "maxLength": 4000}}}}
writing = threading.Lock()


def call(method, path, body=None):
    """Sends a request until it is answered: every one of them may be repeated."""
    while True:
        request = urllib.request.Request(URL + "/api/ai/world/" + path, method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"authorization": "Bearer " + TOKEN, "content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 500, 503):
                print(error.read().decode(), file=sys.stderr, flush=True)
                os._exit(1)
        except (OSError, ValueError):
            pass  # The service is away, or was killed while it answered.
        time.sleep(0.2)


def write(**entry):
    with writing:
        book.write(json.dumps(entry) + "\n")
        book.flush()
        os.fsync(book.fileno())


def send(number, who, words):
    sender = {"id": "player:" + who.lower(), "name": who}
    call("POST", "perceptions/", {"id": f"line-{number}", "to": [KEY], "claimed": {"words": words},
                                  "attested": {"how": "addressed", "sender": sender}})
    write(sent=number)


def carry_out(request):
    key = request["id"]
    if request["ask"] == "perform" and key not in done:
        done[key] = request["arguments"]["message"]
        write(done=key, words=done[key])  # Saying it is writing it down, so both happen or neither.
        print(KEY + ": " + done[key], flush=True)
    outcome = "done" if key in done else "never_seen"
    call("POST", "receipts/", {"id": key, "outcome": outcome})


def answer():
    last = 0
    call("POST", "tools/", {"tools": [SAY]})
    while True:
        page = call("GET", f"effects/?wait_seconds=20&after={last}")
        for request in page["effects"]:
            carry_out(request)
        last = page["last"]


whole = []
if os.path.exists(BOOK):
    with open(BOOK) as old:
        whole = [line for line in old if line.endswith("\n")]  # A kill may have cut the last one short.
entries = [json.loads(line) for line in whole]
with open(BOOK + ".new", "w") as again:
    again.writelines(whole)
    again.flush()
    os.fsync(again.fileno())
os.replace(BOOK + ".new", BOOK)
book = open(BOOK, "a")
heard = {entry["heard"]: entry for entry in entries if "heard" in entry}
sent = {entry["sent"] for entry in entries if "sent" in entry}
done = {entry["done"]: entry["words"] for entry in entries if "done" in entry}
threading.Thread(target=answer, daemon=True).start()
for number in sorted(set(heard) - sent):
    send(number, heard[number]["who"], heard[number]["words"])
for line in sys.stdin:
    who, _, words = line.strip().partition(": ")
    number = len(heard) + 1
    heard[number] = {"who": who, "words": words}
    write(heard=number, who=who, words=words)
    print(f"heard {number}", flush=True)
    send(number, who, words)
threading.Event().wait()
