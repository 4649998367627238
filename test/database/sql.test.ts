import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encode, prepare } from "../../src/database/parameter.ts";
import { connect } from "../../src/database/pool.ts";
import { sql, statement } from "../../src/database/sql.ts";
import { freshDatabase } from "../support/database.ts";

describe("sql", () => {
  test("a value becomes a parameter and never text, whatever it is", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 2, maxLength: 2 }), ([left, right]) => {
        const query = sql`select ${left} as a, ${right} as b`;

        expect(query.text).toBe("select $1 as a, $2 as b");
        expect(query.values).toEqual([left, right]);
      }),
    );
  });

  test("the server gives back each text as it was, quotes and semicolons included", async () => {
    const database = await freshDatabase();
    const db = await connect({ url: database.url });
    const texts = ["'; drop table x; --", '"', "\\", "$1", "{a,b}", "null", "line\nend", "grüße 🜲"];

    const { rows } = await db.read<{ one: string; many: string[] }>(
      sql`select ${texts[0]}::text as one, ${texts}::text[] as many`,
    );

    expect(rows).toEqual([{ one: texts[0], many: texts }]);
    await db.close();
  });

  test("one text has one name, and two texts have two", () => {
    const name = (value: number) => sql`select ${value}`.name;

    expect(name(1)).toBe(name(2));
    expect(sql`select ${1}`.name).toBe(name(3));
    expect(sql`select  ${1}`.name).not.toBe(name(1));
    expect(statement("select $1", [1]).name).toBe(name(1));
  });

  test("undefined and a statement inside a statement are refused", () => {
    expect(() => sql`select ${undefined}`).toThrow("parameter $1 is undefined");
    expect(() => sql`select ${1}, ${sql`select 1`}`).toThrow("parameter $2 is a statement");
    expect(() => statement("select $1", [undefined])).toThrow("parameter $1 is undefined");
  });
});

describe("a parameter", () => {
  test("is text, bytes or NULL on the wire; objects are JSON and arrays are PostgreSQL's", () => {
    expect(encode(null)).toBe(null);
    expect(encode(12n)).toBe("12");
    expect(encode(true)).toBe("true");
    expect(encode(new Date(0))).toBe("1970-01-01T00:00:00.000Z");
    expect(encode(new Uint8Array([1, 255]))).toEqual(Buffer.from([1, 255]));
    expect(encode({ a: [1] })).toBe('{"a":[1]}');
    expect(encode([1, null, 'a"b\\', [true]])).toBe('{"1",NULL,"a\\"b\\\\",{"true"}}');
    expect(encode([new Uint8Array([255])])).toBe('{"\\\\xff"}');
    expect(() => encode(() => 1)).toThrow("cannot be a parameter");
  });

  test("a name that means another text is refused before anything is sent", () => {
    prepare({ name: "taken", text: "select 1", values: [] });

    expect(() => prepare({ name: "taken", text: "select 2", values: [] })).toThrow("means another text");
  });
});
