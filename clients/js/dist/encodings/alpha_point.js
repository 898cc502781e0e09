import { need } from "../errors.js";
import { fields, small } from "../wire/fields.js";
export function alpha_point(content) {
    const { points, size } = fields(content, "alpha_point", { points: small, size: small });
    need(2 <= points && points <= size && size <= 2 ** 31, "rounding needs from 2 levels to as many as there are values, at most 2^31");
    return {
        outputs(domain) {
            need(domain.ordered && domain.size === size, "this question rounds a number of another range than the domain has");
            return points;
        },
        encode(index, random) {
            const product = BigInt(index) * BigInt(points - 1);
            const whole = BigInt(size - 1);
            return Number(product / whole) + +(random.integer(size - 1) < product % whole);
        },
    };
}
