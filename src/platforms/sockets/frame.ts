import type { z } from 'zod';
import { parseWireJson } from '../http/wire-json.ts';
import { BadFrame } from './contract.ts';

/** The JSON of a frame; throws BadFrame. */
export function jsonOf(frame: string): unknown {
  try {
    return parseWireJson(frame);
  } catch {
    throw new BadFrame(`not JSON: ${frame.slice(0, 60)}`);
  }
}

/** Parses a frame, or part of one, by its schema; throws BadFrame with the first failing field. */
export function parseFrame<T>(schema: z.ZodType<T>, value: unknown, kind: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new BadFrame(`${kind} ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`);
}
