export function explain(notice, { ask }, { spent, cap }) {
    const { name, description, distinct } = notice;
    const about = description && ` It is about: ${description}`;
    return [
        `Task "${name}" asks this device ${distinct ? "in every round" : "once"}.${about}`,
        ...shown(notice),
        ...revealed(notice, ask),
        ...promised(notice),
        `This device has spent ${spent} of ${cap} so far.`,
    ].join(" ");
}
function shown({ domain: { publicColumns: shown = [] } }) {
    return shown.length ? [`Sent as they are, not randomised and not covered by epsilon: ${shown.join(", ")}.`] : [];
}
function revealed({ epsilon, distinct, collection }, ask) {
    if (collection?.sandbox) {
        return ["It is a rehearsal: your device sends an answer drawn at random, yours is not used and costs nothing."];
    }
    const kinds = [...new Set(ask.representatives.map(({ mechanism }) => mechanism.kind))].join(", ");
    const lasting = `This is paid once and covers ${distinct} different answers: epsilon ${ask.epsilon} for each, however often ` +
        `it is reported, and ${+ask.epsilonOnce.toPrecision(4)} to somebody who sees a single message. ` +
        "That your answer changed, though not what it was, may be noticed.";
    return [
        `Your answer is randomised here (${kinds}) before anything is sent.`,
        `Whoever sees ${distinct ? "all messages together" : "the message"} can shift their odds about your answer by a ` +
            `factor of at most ${Math.exp(+epsilon).toFixed(2)} (epsilon ${epsilon}).`,
        ...(distinct ? [lasting] : []),
    ];
}
function promised({ collection }) {
    if (!collection)
        return ["The collector has stated no minimum group and no time of erasure."];
    const { minimum, retention, enrolment } = collection;
    const words = `The collector promises to release nothing about fewer than ${minimum} people ` +
        `and to erase messages after ${retention} days.`;
    return [words, ...(enrolment ? ["Answering needs an enrolment token, which goes with the message."] : [])];
}
