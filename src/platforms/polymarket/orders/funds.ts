import { z } from 'zod';
import { USD_SCALE, decimalText } from '../../../core/decimal.ts';
import { PlatformError } from '../../../core/errors.ts';
import { parseBody } from '../../parse-rows.ts';
import type { Exchange } from './exchanges.ts';
import type { WireOrder } from './signing.ts';
import type { PolymarketAccount } from '../signed-client.ts';

const PATH = '/balance-allowance';
/** The caller waits for this in addition to the rejection. */
const TIMEOUT_MS = 2000;

const baseUnits = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt);
/** Reply to GET /balance-allowance: whole base units ×10^6, allowances by spending contract. */
const Funds = z.object({ balance: baseUnits, allowances: z.record(z.string(), baseUnits) });

/** Advice on "not enough balance / allowance": the platform states neither which of them, nor of what. */
export async function fundsAdvice(
  account: PolymarketAccount,
  exchange: Exchange,
  { side, tokenId, makerAmount }: WireOrder,
): Promise<string> {
  const { verifyingContract } = exchange.domain;
  const what = side === 'BUY' ? 'pUSD' : 'shares of the outcome';
  const approve =
    side === 'BUY'
      ? `approve the exchange contract ${verifyingContract} to spend its pUSD, the fee included`
      : `approve the exchange contract ${verifyingContract} for its shares, with setApprovalForAll of ${exchange.shares}`;
  const funds = await readFunds(account, side === 'BUY' ? null : { tokenId, assetType: exchange.assetType });
  const allowed = Object.entries(funds?.allowances ?? {}).find(([spender]) =>
    isAddressEqual(spender, verifyingContract),
  );
  if (!funds || !allowed) return `Fund the wallet with ${what}, and ${approve}.`;
  if (allowed[1] < BigInt(makerAmount)) return `Let the wallet ${approve}.`;
  const held = decimalText(funds.balance, USD_SCALE);
  return `Fund the wallet, or use a smaller size: it holds ${held} ${what}, of which open orders reserve a part.`;
}

const isAddressEqual = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Of pUSD, or of one outcome's shares; null if the platform does not answer in time. */
async function readFunds(
  account: PolymarketAccount,
  shares: { tokenId: string; assetType: Exchange['assetType'] } | null,
): Promise<z.output<typeof Funds> | null> {
  try {
    const reply = await account.balance(
      shares ? { asset_type: shares.assetType, token_id: shares.tokenId } : { asset_type: 'COLLATERAL' },
      AbortSignal.timeout(TIMEOUT_MS),
    );
    return parseBody('polymarket', Funds, reply, PATH);
  } catch (error) {
    if (error instanceof PlatformError) return null;
    throw error;
  }
}
