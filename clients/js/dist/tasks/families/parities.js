import { need } from "../../errors.js";
import { fields, flag, list, small, whole } from "../../wire/fields.js";
import { readMechanism } from "../../core/registry.js";
import { bitsOf, coefficient } from "../../encodings/parity.js";
const MOST = 20;
export function parities(content) {
    const shape = { mechanism: readMechanism, sizes: list(whole), order: small, within: flag };
    const { mechanism, sizes, order, within } = fields(content, "parities", shape);
    need(mechanism.size === 2, "a coefficient is a matter of odd or even");
    need(order >= 1 && order <= sizes.length && sizes.every((size) => size >= 2), "marginals are of at least one attribute and at most all, of at least 2 values each");
    need(order <= MOST, `at most 2^${MOST} coefficients are asked about`);
    const choices = sizes.map((size) => 2 ** Math.min(bitsOf(size), 53) - +!within);
    const ranks = new Ranks(choices, order, within);
    need(ranks.length <= 2 ** MOST, `at most 2^${MOST} coefficients are asked about`);
    return {
        length: ranks.length,
        at(place) {
            const touched = ranks.at(place);
            const columns = touched.map(([column]) => column);
            const encoding = coefficient({
                columns,
                sizes: columns.map((column) => sizes[column]),
                masks: touched.map(([, mask]) => mask),
            });
            return { mechanism, encoding, epsilon: mechanism.epsilon, width: mechanism.width };
        },
    };
}
class Ranks {
    length;
    #choices;
    #empty;
    #orders;
    #masks;
    #sets;
    constructor(choices, order, within) {
        this.#choices = choices;
        this.#empty = +within;
        this.#orders = within ? [order] : Array.from({ length: order }, (_, i) => i + 1);
        this.#masks = sums(choices, order);
        this.#sets = sums(Array(choices.length).fill(1), order);
        this.length = this.#orders.reduce((sum, count) => sum + this.#number(1, 0, count), 0);
    }
    at(place) {
        let rest = place;
        let [count] = this.#orders;
        for (let all; rest >= (all = this.#number(1, 0, count)); count++)
            rest -= all;
        const columns = [];
        for (let column = 0, before = 1; count; column++) {
            const chosen = before * this.#choices[column];
            const here = this.#number(chosen, column + 1, count - 1);
            if (rest >= here)
                rest -= here;
            else
                (columns.push(column), (before = chosen), count--);
        }
        return this.#spelt(columns, rest + this.#empty);
    }
    #number(before, first, count) {
        return before * this.#masks[first][count] - this.#empty * this.#sets[first][count];
    }
    #spelt(columns, number) {
        const masks = [...columns].reverse().map((column) => {
            const choices = this.#choices[column];
            const mask = (number % choices) + 1 - this.#empty;
            number = Math.floor(number / choices);
            return [column, mask];
        });
        return masks.reverse().filter(([, mask]) => mask);
    }
}
function sums(factors, most) {
    let after = Array.from({ length: most + 1 }, (_, count) => +!count);
    const found = [after];
    for (const factor of [...factors].reverse()) {
        const before = after;
        after = before.map((sum, count) => sum + (count && factor * before[count - 1]));
        found.push(after);
    }
    return found.reverse();
}
