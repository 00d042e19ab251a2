/** The part of oidc-provider that the tests use; the package brings no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Grant {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }
  interface Context {
    oidc: {
      provider: { Grant: new (of: { clientId: string; accountId: string }) => Grant };
      client?: { clientId: string };
      session?: { accountId?: string };
    };
  }
  interface Configuration {
    clients: object[];
    cookies: { keys: string[] };
    pkce: { required(): boolean };
    claims: Record<string, string[]>;
    conformIdTokenClaims: boolean;
    features: { devInteractions: { enabled: boolean } };
    interactions: { url(context: Context, interaction: { uid: string }): string };
    findAccount(context: Context, sub: string): { accountId: string; claims(): Promise<object> };
    loadExistingGrant(context: Context): Promise<Grant>;
  }
  export default class Provider {
    constructor(issuer: string, configuration: Configuration);
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: { login: { accountId: string }; consent: object },
      options: { mergeWithLastSubmission: boolean },
    ): Promise<void>;
  }
}
