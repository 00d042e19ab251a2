import type { GammaEvent, GammaMarket } from './gamma-wire.ts';

/** The question; where another market of the event asks the same, with the market's name within the event, or its id. */
export function marketTitle({ id, question, groupItemTitle: name }: GammaMarket, event: GammaEvent | null): string {
  const twins = (event?.markets ?? []).filter((one) => one.question === question && one.id !== id);
  if (twins.length === 0) return question;
  const isNamed = name !== '' && twins.every((twin) => twin.groupItemTitle !== name);
  return `${question} (${isNamed ? name : id})`;
}
