export declare const TEXTS: {
    writing: {
        open: string;
        close: string;
        thousands: string;
        decimal: string;
        or: string;
    };
    sentences: {
        nothing_clear: string;
        clear: string;
        rehearsal: string;
        cost: string;
        odds: string;
        odds_named: string;
        odds_all: string;
        reports: string;
        paid_once_for_one: string;
        paid_once: string;
        single_message: string;
        changes: string;
        spent: string;
        collectors: string;
        window: string;
        mixed_one: string;
        mixed: string;
        same_keys_one: string;
        same_keys: string;
        mixing_promises_nothing: string;
        central_one: string;
        central: string;
        people_checked: string;
        people_unchecked: string;
        fakes: string;
        no_fakes: string;
        and: string;
        asked_once: string;
        asked_often: string;
        other_values: string;
        used_record: string;
        used_columns: string;
        used_one_row: string;
        used_rows: string;
        row_record: string;
        row_columns: string;
        where: string;
        other_encoding: string;
        randomised: string;
        way: string;
        other_way: string;
        promises: string;
        crowd: string;
        no_promises: string;
        enrolment: string;
        blind_tokens: string;
        fixed_seeds: string;
        open: string;
        named: string;
        described: string;
    };
    mechanisms: {
        affine: {
            name: string;
            does: string;
        };
        affine_prefix: {
            name: string;
            does: string;
        };
        blh: {
            name: string;
            does: string;
        };
        bloom: {
            name: string;
            does: string;
        };
        duchi: {
            name: string;
            does: string;
        };
        grr: {
            name: string;
            does: string;
        };
        hadamard: {
            name: string;
            does: string;
        };
        hybrid: {
            name: string;
            does: string;
        };
        olh: {
            name: string;
            does: string;
        };
        oue: {
            name: string;
            does: string;
        };
        piecewise: {
            name: string;
            does: string;
        };
        rmp: {
            name: string;
            does: string;
        };
        square_wave: {
            name: string;
            does: string;
        };
        subset: {
            name: string;
            does: string;
        };
        sue: {
            name: string;
            does: string;
        };
        the: {
            name: string;
            does: string;
        };
    };
    encodings: {
        attribute: {
            always: string;
            picked: string;
        };
        cell: {
            always: string;
            picked: string;
        };
        holds: {
            always: string;
            picked: string;
        };
        sample: {
            always: string;
            picked: string;
        };
        segment: {
            always: string;
            picked: string;
        };
        size: {
            always: string;
            picked: string;
        };
        view: {
            always: string;
            picked: string;
        };
    };
    values: {
        bits: string;
        buckets: string;
        categories: string;
        dates: string;
        integers: string;
        lists: string;
        numbers: string;
        records: string;
        services: string;
        sets: string;
        strings: string;
    };
    units: {
        year: string;
        month: string;
        day: string;
        hour: string;
        minute: string;
    };
    counts: {
        answers: {
            one: string;
            many: string;
        };
    };
    durations: {
        seconds: number;
        one: string;
        many: string;
    }[];
};
