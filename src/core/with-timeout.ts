/** How long a health probe and a scrape wait for a store. */
export const PROBE_MS = 3000;

/** The value, or `otherwise` if it fails or takes longer than a probe waits. */
export async function withTimeout<T>(value: Promise<T>, otherwise: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<T>((resolve) => {
    timer = setTimeout(resolve, PROBE_MS, otherwise);
  });
  return Promise.race([value.catch(() => otherwise), late]).finally(() => clearTimeout(timer));
}
