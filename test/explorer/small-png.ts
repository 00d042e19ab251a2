import { deflateSync, inflateSync } from 'node:zlib';

/** A picture of a browser with at most 256 colours: about a third of its size, for pages that have few. */
export function smallPng(png: Buffer): Buffer {
  const { width, height, channels, pixels } = decode(png);
  const counts = new Map<number, number>();
  const colours = new Uint32Array(width * height);
  for (let n = 0; n < colours.length; n += 1) {
    const at = n * channels;
    // Fewer steps of a channel: the edges of letters look the same.
    const colour = (step(pixels[at]) << 16) | (step(pixels[at + 1]) << 8) | step(pixels[at + 2]);
    colours[n] = colour;
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, 256);
  const known = new Map(palette.map(([colour], index) => [colour, index]));
  const lines = Buffer.alloc((width + 1) * height);
  for (let n = 0; n < colours.length; n += 1) {
    const colour = colours[n] ?? 0;
    const index = known.get(colour) ?? nearest(colour, palette);
    known.set(colour, index);
    lines[n + Math.floor(n / width) + 1] = index;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits a pixel, which name a colour of the palette.
  header.set([8, 3, 0, 0, 0], 8);
  const table = Buffer.from(palette.flatMap(([colour]) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  const parts = [chunk('IHDR', header), chunk('PLTE', table), chunk('IDAT', deflateSync(lines, { level: 9 }))];
  return Buffer.concat([SIGNATURE, ...parts, chunk('IEND', Buffer.alloc(0))]);
}

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
/** The nearest of 52 steps. */
const step = (value = 0): number => Math.round((Math.round((value / 255) * 51) / 51) * 255);

function nearest(colour: number, palette: readonly (readonly [number, number])[]): number {
  let [best, least] = [0, Infinity];
  for (const [index, [other]] of palette.entries()) {
    const distance =
      Math.abs((colour >> 16) - (other >> 16)) +
      Math.abs(((colour >> 8) & 255) - ((other >> 8) & 255)) +
      Math.abs((colour & 255) - (other & 255));
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

/** Eight bits a channel, without interlacing, as browsers write them. */
function decode(png: Buffer) {
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const channels = png[25] === 6 ? 4 : 3;
  const data: Buffer[] = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') data.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const raw = inflateSync(Buffer.concat(data));
  const stride = width * channels;
  const pixels = new Uint8Array(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x += 1) {
      const left = x < channels ? 0 : (pixels[y * stride + x - channels] ?? 0);
      const up = y === 0 ? 0 : (pixels[(y - 1) * stride + x] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (pixels[(y - 1) * stride + x - channels] ?? 0);
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter ?? 0] ?? 0;
      pixels[y * stride + x] = ((raw[y * (stride + 1) + 1 + x] ?? 0) + guess) & 255;
    }
  }
  return { width, height, channels, pixels };
}

function paeth(left: number, up: number, corner: number): number {
  const estimate = left + up - corner;
  const [a, b, c] = [Math.abs(estimate - left), Math.abs(estimate - up), Math.abs(estimate - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

function crc32(bytes: Buffer): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
