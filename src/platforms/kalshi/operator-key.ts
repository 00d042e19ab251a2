import type { Settings } from '../../core/settings.ts';
import { type KalshiCredential, KalshiFields } from './credential.ts';

/** The settings with the operator's key. */
export type KalshiKeySetting = 'KALSHI_API_KEY_ID' | 'KALSHI_PRIVATE_KEY';

/** The operator's key, or why there is no usable one. */
export function operatorKey(given: Pick<Settings, KalshiKeySetting>): KalshiCredential | { missing: string } {
  const { KALSHI_API_KEY_ID: id, KALSHI_PRIVATE_KEY: privateKey } = given;
  if (id === undefined) return { missing: 'KALSHI_API_KEY_ID is not set' };
  if (privateKey === undefined) return { missing: 'KALSHI_PRIVATE_KEY is not set' };
  const key = KalshiFields.safeParse({ api_key_id: id, private_key: privateKey });
  return key.success ? key.data : { missing: 'the key of KALSHI_PRIVATE_KEY cannot be used' };
}
