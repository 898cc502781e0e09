export const TEXTS = {
    "sentences": {
        "nothing_clear": "Your device sends nothing in clear.",
        "clear": "Your device sends these columns in clear, without any protection: {columns}.",
        "rehearsal": "This is a rehearsal: your device sends a random answer instead of yours, and that costs nothing.",
        "cost": "Answering costs epsilon {epsilon} of your privacy budget.",
        "odds": "Whoever sees the message can change their odds about your answer by a factor of at most {odds}.",
        "odds_named": "Whoever sees the message and knows that it is yours can change their odds about your answer by a factor of at most {odds}.",
        "odds_all": "Whoever sees all your messages can change their odds about your answer by a factor of at most {odds}.",
        "reports": "Your device sends {reports} reports, and this is the price of all of them together.",
        "paid_once_for_one": "You pay once, for 1 value, however often your device reports it.",
        "paid_once": "You pay once, for {distinct} different values: epsilon {epsilon} for each, however often your device reports it.",
        "single_message": "Somebody who sees only one message learns at most epsilon {epsilon}.",
        "changes": "Somebody who compares your messages may notice that your answer has changed, but not what it was.",
        "spent": "This device has spent {spent} of {cap} so far.",
        "collectors": "If the shufflers are honest, collectors have learned at most epsilon {epsilon} of it, except with a probability of 1 in {cases}.",
        "window": "Within {duration} it may spend {epsilon} in {answers}; it has spent {spent} in {used}.",
        "mixed_one": "The message passes {hops}, which mixes the messages of at least {users} people before the collector sees them.",
        "mixed": "The message passes {hops}, which mix the messages of at least {users} people before the collector sees them.",
        "mixing_promises_nothing": "The task does not promise that this protects your answer any further.",
        "central_one": "If it does so honestly, the collector alone can change its odds by a factor of at most {odds} (epsilon {epsilon}), except with a probability of 1 in {cases}.",
        "central": "If one of them does so honestly, the collector alone can change its odds by a factor of at most {odds} (epsilon {epsilon}), except with a probability of 1 in {cases}.",
        "people_checked": "Every enrolled person can send one message only, and nobody can tell which.",
        "people_unchecked": "Nobody checks that the messages come from different people, so this rests on how many real people take part.",
        "fakes": "Even if all the others work with the collector or do not exist, the {fakes} made-up messages that an honest one adds keep the factor at {odds} or less (epsilon {epsilon}).",
        "no_fakes": "If all the others work with the collector or do not exist, the mixing does not help.",
        "and": "{first} and {last}",
        "asked_once": "The task asks your device once for {values}.",
        "asked_often": "The task asks your device in every round for {values}.",
        "other_values": "an answer",
        "used_record": "Your device uses all columns of your record{where}.",
        "used_columns": "Your device uses only some columns of your record{where}, and only roughly; a public random draw picks which.",
        "used_one_row": "Your device uses one of your records{where}, or a made-up one, so that nobody learns how many you have.",
        "used_rows": "Your device uses {rows} of your records{where}, or made-up ones, so that nobody learns how many you have.",
        "row_record": "Of such a record it uses all columns.",
        "row_columns": "Of such a record it uses only some columns, and only roughly; a public random draw picks which.",
        "where": " in {table}",
        "other_encoding": "Your device uses a value that it computes from your answer ({kind}).",
        "randomised": "Your device randomises your answer before it sends anything: it {ways}.",
        "way": "{does} ({names})",
        "other_way": "sends a random report that depends on your answer",
        "promises": "The collector promises to publish nothing about fewer than {minimum} people, and to erase the messages after {retention}.",
        "crowd": "It promises to publish no value that it estimates for fewer than {crowd} people.",
        "no_promises": "The collector promises no minimum group and no date by which it erases the messages.",
        "enrolment": "Answering needs an enrolment token, which your device sends with the message.",
        "blind_tokens": "Answering needs an enrolment token, which your device shows to the collector once, and not with the message.",
        "open": "Anybody may answer, and the collector does not notice if one person answers with several devices.",
        "named": "The collector calls this task “{task}”.",
        "described": "The collector calls this task “{task}” and describes it like this: “{description}”"
    },
    "mechanisms": {
        "affine": {
            "name": "affine response",
            "does": "sends a random code that fits your answer more often than any other"
        },
        "affine_prefix": {
            "name": "affine response",
            "does": "sends a random code that fits your answer more often than any other"
        },
        "blh": {
            "name": "binary local hashing",
            "does": "sends a random code that fits your answer more often than any other"
        },
        "bloom": {
            "name": "a randomised Bloom filter",
            "does": "sends a random code that fits your answer more often than any other"
        },
        "duchi": {
            "name": "Duchi's mechanism",
            "does": "sends one of two numbers, which is right only on average over many people"
        },
        "grr": {
            "name": "generalised randomised response",
            "does": "sends your answer or, by chance, another possible answer"
        },
        "hadamard": {
            "name": "Hadamard response",
            "does": "sends a random code that fits your answer more often than any other"
        },
        "hybrid": {
            "name": "the hybrid mechanism",
            "does": "sends a random number, which is right only on average over many people"
        },
        "olh": {
            "name": "optimised local hashing",
            "does": "sends a random code that fits your answer more often than any other"
        },
        "oue": {
            "name": "optimised unary encoding",
            "does": "sends a yes or a no for every possible answer, and changes each of them by chance"
        },
        "piecewise": {
            "name": "the piecewise mechanism",
            "does": "sends a random number, which is right only on average over many people"
        },
        "rmp": {
            "name": "random matrix projection",
            "does": "sends a random code that fits your answer more often than any other"
        },
        "square_wave": {
            "name": "square wave",
            "does": "sends a random number, which is more often near yours than far from it"
        },
        "subset": {
            "name": "subset selection",
            "does": "sends a random set of possible answers, which contains yours more often than any other"
        },
        "sue": {
            "name": "symmetric unary encoding",
            "does": "sends a yes or a no for every possible answer, and changes each of them by chance"
        },
        "the": {
            "name": "thresholding with histogram encoding",
            "does": "sends a yes or a no for every possible answer, and changes each of them by chance"
        }
    },
    "encodings": {
        "attribute": {
            "always": "Your device uses only one part of your record.",
            "picked": "Your device uses only one part of your record; a public random draw picks which."
        },
        "cell": {
            "always": "",
            "picked": ""
        },
        "holds": {
            "always": "Your device uses only whether you have one particular item.",
            "picked": "Your device uses only whether you have one particular item; a public random draw picks which."
        },
        "sample": {
            "always": "Your device uses only one of your items, drawn at random, or none.",
            "picked": "Your device uses only one of your items, drawn at random, or none."
        },
        "segment": {
            "always": "Your device uses only a part of your answer, such as its beginning.",
            "picked": "Your device uses only a part of your answer, such as its beginning; a public random draw picks which."
        },
        "size": {
            "always": "Your device uses only the number of your items.",
            "picked": "Your device uses only the number of your items."
        },
        "view": {
            "always": "Your device uses several parts of your record together.",
            "picked": "Your device uses only some parts of your record, together; a public random draw picks which."
        }
    },
    "values": {
        "bits": "a value of {bits} bits",
        "buckets": "a number from {low} to {high}, of which only one of {count} ranges is used",
        "categories": "one of {count} possible answers",
        "integers": "a whole number from {low} to {high}",
        "lists": "a list of records",
        "numbers": "a number from {low} to {high}",
        "records": "a record of {count} parts",
        "services": "your entries in {names}",
        "sets": "a set of items, out of {count}",
        "strings": "a text of up to {length} bytes"
    },
    "counts": {
        "answers": {
            "one": "1 answer",
            "many": "{count} answers"
        }
    },
    "durations": [
        {
            "seconds": 86400,
            "one": "1 day",
            "many": "{count} days"
        },
        {
            "seconds": 3600,
            "one": "1 hour",
            "many": "{count} hours"
        },
        {
            "seconds": 60,
            "one": "1 minute",
            "many": "{count} minutes"
        },
        {
            "seconds": 1,
            "one": "1 second",
            "many": "{count} seconds"
        }
    ]
};
