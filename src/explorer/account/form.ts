import { useState } from 'preact/hooks';
import { ApiFailure } from '../parts/api.ts';

export interface Attempt {
  busy: boolean;
  failure: ApiFailure | null;
  /** Runs a change; its refusal is kept to be shown. */
  attempt: (work: () => Promise<void>) => Promise<void>;
}

export function useAttempt(): Attempt {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setFailure(null);
    try {
      await work();
    } catch (error) {
      setFailure(error instanceof ApiFailure ? error : new ApiFailure(0, String(error), ''));
    } finally {
      setBusy(false);
    }
  };
  return { busy, failure, attempt };
}

/** The text of a field of a form. */
export const textOf = (form: HTMLFormElement, name: string): string => String(new FormData(form).get(name) ?? '');
