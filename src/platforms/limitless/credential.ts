import type { z } from 'zod';
import { ALWAYS, base64Secret, credentialForm, headerText, readFields } from '../credential-form.ts';
import { addressOfKey, walletAddressField, walletKeyField } from '../evm/wallet-fields.ts';

/** Signing credential for orders on Limitless. */
export const LimitlessFields = credentialForm({
  token_id: headerText(200),
  secret: base64Secret(),
  private_key: walletKeyField,
  /** Checked if given, so that the key of another wallet is noticed before the first order. */
  address: walletAddressField.optional(),
}).superRefine(({ address: given, private_key: key }, context) => {
  const isRead = readFields(context);
  if (given === undefined || !isRead('address') || !isRead('private_key') || given === addressOfKey(key)) return;
  context.addIssue({ code: 'custom', path: ['address'], message: 'the address of private_key' });
}, ALWAYS);

export type LimitlessCredential = z.output<typeof LimitlessFields>;
