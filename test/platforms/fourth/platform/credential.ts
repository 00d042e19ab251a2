import { credentialForm, headerText } from '../../../../src/platforms/credential-form.ts';

export const FourthFields = credentialForm({ token: headerText(100) });
