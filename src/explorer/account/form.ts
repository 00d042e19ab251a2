import { useState } from 'preact/hooks';
import { ApiFailure } from '../parts/api.ts';

export interface Attempt {
  busy: boolean;
  failure: ApiFailure | null;
  /** Runs a change and keeps its error in `failure`. */
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

/** The text of a form field; '' if the form does not have it. */
export const textOf = (form: HTMLFormElement, name: string): string => String(new FormData(form).get(name) ?? '');
