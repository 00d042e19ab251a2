import { integerOf } from '../../core/fields.ts';
import { ALWAYS, base64Secret, credentialForm, headerText, readFields } from '../credential-form.ts';
import { addressOfKey, walletAddressField, walletKeyField } from '../evm/wallet-fields.ts';

/** Signing credential for orders on Polymarket. */
export const PolymarketFields = credentialForm({
  private_key: walletKeyField,
  /** 0 the wallet itself, 1 proxy, 2 Safe, 3 deposit wallet. */
  signature_type: integerOf([0, 1, 2, 3]).default(0),
  funder: walletAddressField.optional(),
  /** Given together, or derived from the wallet for the first order. */
  api_key: headerText(100).optional(),
  api_secret: base64Secret().optional(),
  api_passphrase: headerText(200).optional(),
}).superRefine((fields, context) => {
  const refuse = (field: string, message: string): void => context.addIssue({ code: 'custom', path: [field], message });
  const isRead = readFields(context);
  const { signature_type: type, funder } = fields;
  const own = isRead('private_key') ? addressOfKey(fields.private_key) : funder;
  if (isRead('signature_type') && isRead('funder')) {
    if (type === 0 && funder !== undefined && funder !== own) {
      refuse(
        'funder',
        'the address of private_key when signature_type is 0 (leave it out, or set signature_type to 1, 2 or 3)',
      );
    }
    if (type !== 0 && funder === undefined)
      refuse('funder', `the wallet that holds the funds: signature_type ${type} needs it`);
  }
  const given = [fields.api_key, fields.api_secret, fields.api_passphrase].filter((value) => value !== undefined);
  if (given.length === 1 || given.length === 2) {
    refuse('api_key', 'all of api_key, api_secret and api_passphrase, or none of them');
  }
}, ALWAYS);
