import type { Balance } from './order-contract.ts';

/** A balance of which open orders need `reserved`; null: not known. */
export function balanceOf(asset: string, total: bigint | null, reserved: bigint | null): Balance {
  if (total === null || reserved === null) return { asset, total, available: null, reserved };
  const needed = total > reserved ? reserved : total;
  return { asset, total, available: total - needed, reserved: needed };
}
