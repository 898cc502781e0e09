import { need } from "../errors.js";
import * as binomial from "../maths/binomial.js";
import { crossing } from "../maths/crossing.js";
const MARGIN = 1e-9;
const DRAWS_TAIL = 1e-3;
const FIRST_GUESS = 1e-15;
const TOLERANCE = 1e-7;
const FAR_BELOW = 1e-6;
const SINGLES_TAIL = 1e-24;
const BOTH_TAIL = 1e-12;
const CHORD = 0.1;
const BLOCK = 5e-5;
const GROUP = 0.002;
const MIN_BLOCKS = 16;
const MAX_BLOCKS = 400;
const MAX_NODES = 48;
export function genericBlanket(epsilonLocal) {
    return { epsilonLocal, share: 0.5, overlap: 0, drawable: false };
}
export function massOf(blanket) {
    return 1 / (1 + blanket.share * Math.expm1(blanket.epsilonLocal));
}
export function batchOf(blanket, users, fakes) {
    need(Number.isSafeInteger(users) && users >= 1, "`users` must be a whole number of at least 1");
    need(Number.isSafeInteger(fakes) && fakes >= 0, "`fakes` must be a whole number of at least 0");
    return blanket.drawable ? { users, fakes } : { users: users + fakes, fakes: 0 };
}
export function delta(blanket, batch, epsilon) {
    need(epsilon >= 0 && epsilon < Infinity, "`epsilon` must be a number of at least 0");
    const first = boundOf(blanket, batch, epsilon, FIRST_GUESS);
    return Math.min(first, boundOf(blanket, batch, epsilon, DRAWS_TAIL * first));
}
export function epsilon(blanket, batch, delta) {
    need(delta > 0 && delta < 1, "`delta` must be a number above 0 and below 1");
    const surplus = (candidate) => {
        const bound = boundOf(blanket, batch, candidate, DRAWS_TAIL * delta);
        return Math.log(Math.max(bound / delta, FAR_BELOW));
    };
    if (surplus(0) <= 0)
        return 0;
    return crossing(surplus, 0, blanket.epsilonLocal, TOLERANCE * blanket.epsilonLocal);
}
function boundOf(blanket, batch, epsilon, tail) {
    if (epsilon >= blanket.epsilonLocal)
        return 0;
    const mass = massOf(blanket);
    const draws = binomial.lowerQuantile(tail, batch.users - 1, mass);
    const missing = binomial.fewerThan(draws, batch.users - 1, mass);
    const hidden = new HiddenReport(blanket, 1 + draws + batch.fakes, epsilon);
    return Math.min(1, (1 + MARGIN) * (hidden.delta() + missing * hidden.deltaAlone()));
}
class HiddenReport {
    blanket;
    draws;
    epsilon;
    single;
    both;
    gap;
    blockEnds;
    nodes;
    weights = new Map();
    constructor(blanket, draws, epsilon) {
        this.blanket = blanket;
        this.draws = draws;
        this.epsilon = epsilon;
        const { share, overlap, epsilonLocal } = blanket;
        this.single = Math.min(1, 2 * share * (1 - overlap));
        this.both = 0;
        if (overlap !== 0 && this.single !== 1)
            this.both = Math.min(1, (share * overlap) / (1 - this.single));
        this.gap = massOf(blanket) * (Math.exp(epsilonLocal) - Math.exp(epsilon));
        this.blockEnds = this.listBlockEnds();
        this.nodes = this.listNodes();
    }
    deltaAlone() {
        return this.gap * this.blanket.share * (1 - this.blanket.overlap);
    }
    delta() {
        let low = 0;
        let total = 0;
        for (const high of this.blockEnds) {
            const chance = binomial.between(low, high + 1, this.draws, this.single);
            if (chance > 0)
                total += chance * this.excess(low, high);
            low = high + 1;
        }
        const last = this.blockEnds.at(-1);
        const beyond = binomial.atLeast(last, this.draws - 1, this.single);
        const odds = Math.expm1(this.blanket.epsilonLocal);
        const scale = (massOf(this.blanket) * odds * (Math.exp(this.epsilon) + 1)) / this.draws;
        return scale * total + this.gap * this.single * beyond;
    }
    distance(singles, both) {
        const neither = this.draws / Math.expm1(this.blanket.epsilonLocal);
        return Math.tanh(this.epsilon / 2) * (singles / 2 + both + neither);
    }
    excess(low, high) {
        if (this.nodes.length === 1)
            return binomial.fairExcess(high, this.distance(low, 0));
        const rest = this.draws - this.lastOfGroup(high);
        const weights = this.weights.get(rest) ?? this.chordWeights(rest);
        this.weights.set(rest, weights);
        const excessAt = (node) => binomial.fairExcess(high, this.distance(low, node));
        return this.nodes.reduce((sum, node, at) => sum + weights[at] * excessAt(node), 0);
    }
    lastOfGroup(high) {
        const first = this.blockEnds[0];
        const spread = Math.sqrt(Math.max(1, this.draws * this.single)) / 2;
        const turn = Math.tanh(this.epsilon / 2) * this.both;
        let width = this.draws;
        if (turn * this.draws > GROUP * spread)
            width = Math.max(1, Math.floor((GROUP * spread) / turn));
        const next = first + (Math.floor((high - first) / width) + 1) * width;
        return Math.min(this.blockEnds.at(-1), next - 1);
    }
    chordWeights(rest) {
        const { nodes, both } = this;
        const fewer = Math.max(rest - 1, 0);
        const below = nodes.map((node) => binomial.fewerThan(node, rest, both));
        const means = nodes.map((node) => rest * both * binomial.fewerThan(node - 1, fewer, both));
        const weights = nodes.map(() => 0);
        for (let left = 0; left + 1 < nodes.length; left++) {
            const [node, next] = [nodes[left], nodes[left + 1]];
            const chance = Math.max(0, below[left + 1] - below[left]);
            const aboveLeft = means[left + 1] - means[left] - node * chance;
            const toRight = Math.min(chance, Math.max(0, aboveLeft / (next - node)));
            weights[left] = weights[left] + chance - toRight;
            weights[left + 1] = toRight;
        }
        const last = nodes.length - 1;
        weights[last] =
            weights[last] + binomial.atLeast(nodes[last], rest, both);
        return weights;
    }
    listBlockEnds() {
        const last = binomial.upperQuantile(SINGLES_TAIL, this.draws, this.single);
        const lower = binomial.lowerQuantile(SINGLES_TAIL, this.draws, this.single);
        const first = Math.min(last, lower);
        const count = MIN_BLOCKS + Math.ceil((last - first) / (BLOCK * Math.max(1, last)));
        const ends = evenly(first, last, Math.min(count, MAX_BLOCKS));
        return first > 0 ? [first - 1, ...ends] : ends;
    }
    listNodes() {
        const most = this.draws - this.blockEnds[0];
        if (this.both === 0 || most === 0)
            return [0];
        const fewest = this.draws - this.blockEnds.at(-1);
        const first = binomial.lowerQuantile(BOTH_TAIL, fewest, this.both);
        const last = binomial.upperQuantile(BOTH_TAIL, most, this.both);
        const deviation = Math.sqrt(Math.max(1, this.draws * this.single)) / 2;
        const steps = ((last - first) * Math.tanh(this.epsilon / 2)) / (CHORD * deviation);
        const nodes = evenly(first, last, Math.min(2 + Math.ceil(steps), MAX_NODES));
        return nodes[0] === 0 ? nodes : [0, ...nodes];
    }
}
function evenly(first, last, most) {
    const steps = Math.min(last - first, Math.max(most, 2) - 1);
    if (steps === 0)
        return [first];
    return Array.from({ length: steps + 1 }, (_, step) => first + Math.floor(((last - first) * step) / steps));
}
