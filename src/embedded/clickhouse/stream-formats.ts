import { RAW_FORMATS } from './statement.ts';

const NEWLINE = 0x0a;
const QUOTE = 0x22;

/** Formats whose blocks can be sent one after the other; all others are buffered. */
export const STREAMED_FORMATS: ReadonlySet<string> = new Set([...RAW_FORMATS, 'TSV', 'TSVWithNames', 'Native']);

/** Each block is formatted like a whole result: removes the header line from all but the first. */
export function headerSkipper(format: string): (block: Uint8Array) => Uint8Array {
  if (!format.endsWith('WithNames')) return (block) => block;
  let headerBytes: number | undefined;
  return (block) => {
    if (headerBytes !== undefined) return block.subarray(headerBytes);
    headerBytes = firstLine(block, format === 'CSVWithNames');
    return block;
  };
}

function firstLine(block: Uint8Array, quoted: boolean): number {
  let inside = false;
  for (let index = 0; index < block.length; index += 1) {
    if (quoted && block[index] === QUOTE) inside = !inside;
    else if (block[index] === NEWLINE && !inside) return index + 1;
  }
  return block.length;
}
