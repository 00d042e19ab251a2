import { expect, test } from 'vitest';
import { RowBinary } from '../../src/stores/clickhouse/row-binary.ts';

function encoded(...values: (number | string)[]): Buffer {
  return Buffer.concat(
    values.map((value) => {
      if (typeof value === 'number') {
        const bytes = Buffer.alloc(8);
        bytes.writeDoubleLE(value);
        return bytes;
      }
      const text = Buffer.from(value);
      const length: number[] = [];
      let left = text.length;
      for (; left >= 128; left = Math.floor(left / 128)) length.push((left % 128) + 128);
      return Buffer.concat([Buffer.from([...length, left]), text]);
    }),
  );
}

test('numbers and texts of any length and script are read as they were written', () => {
  const written = [2 ** 52 + 1, '', '{"title":"Zürich → 東京 \\"?"}', 0.25, 'x'.repeat(127), 'ü'.repeat(70_000), -1];
  const values = new RowBinary(encoded(...written));
  expect(written.map((value) => (typeof value === 'number' ? values.number() : values.text()))).toEqual(written);
  expect(values.isAtEnd).toBe(true);
});

test('rows that end too soon are refused', () => {
  const bytes = encoded(1, 'a text');
  for (let length = 1; length < bytes.length; length += 1) {
    const values = new RowBinary(bytes.subarray(0, length));
    expect(() => [values.number(), values.text()], String(length)).toThrow('end too soon');
  }
});
