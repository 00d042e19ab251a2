import type { ClickHouseRequest } from '../clickhouse/request.ts';

const HELLO = 'SELECT displayName(), version(), revision(), timezone()';

/** Lengths are varints; these texts are shorter than 128 bytes, where a varint is the byte itself. */
const text = (value: string) => Buffer.concat([Buffer.of(Buffer.byteLength(value)), Buffer.from(value)]);
const column = (name: string, type: string, value: Buffer) =>
  Buffer.concat([text(name), text(type), Buffer.of(0), value]);

/**
 * clickhouse-go (Grafana's plugin) opens a connection with one query and reads its Native block in the newest protocol revision,
 * which the engine does not write: with block info and a serialisation byte per column. We answer revision 0, so it reads
 * everything after that in the plain form. Null for any other request.
 */
export function answerHello(request: ClickHouseRequest, version: string): Uint8Array | null {
  if (request.defaultFormat !== 'Native' || request.sql.trim() !== HELLO) return null;
  const revision = Buffer.alloc(4);
  return Buffer.concat([
    // Block info: field 1 (overflows) = 0, field 2 (bucket) = -1, end; then 4 columns, 1 row.
    Buffer.of(1, 0, 2, 255, 255, 255, 255, 0, 4, 1),
    column('displayName()', 'String', text('forecastle')),
    column('version()', 'String', text(version)),
    column('revision()', 'UInt32', revision),
    column('timezone()', 'String', text('UTC')),
  ]);
}
