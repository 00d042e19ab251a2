import { type KalshiCredential, KalshiFields } from './credential.ts';

/** The operator's key, as the settings have it. */
export interface KalshiKeySettings {
  KALSHI_API_KEY_ID?: string | undefined;
  KALSHI_PRIVATE_KEY?: string | undefined;
}

/** The operator's key, or why there is none that could sign. */
export function operatorKey(given: KalshiKeySettings): KalshiCredential | { missing: string } {
  const { KALSHI_API_KEY_ID: id, KALSHI_PRIVATE_KEY: privateKey } = given;
  if (id === undefined) return { missing: 'KALSHI_API_KEY_ID is not set' };
  if (privateKey === undefined) return { missing: 'KALSHI_PRIVATE_KEY is not set' };
  const key = KalshiFields.safeParse({ api_key_id: id, private_key: privateKey });
  return key.success ? key.data : { missing: 'the key of KALSHI_PRIVATE_KEY cannot be used' };
}
