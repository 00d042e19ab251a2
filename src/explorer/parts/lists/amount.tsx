import { Usd } from '../show.tsx';

/** What an amount in USD is made of, by its word in the API. */
const BASES: Partial<Record<string, string>> = {
  traded: 'Sum of the stored trades',
  reported: "The platform's own figure",
  best_level: 'Orders at the best bid and ask',
  full_book: 'All orders of the book',
  amm: "The platform's own figure of the pool",
};

interface AmountProps {
  value: number | null;
  basis: string | null;
  wide?: boolean;
}

/** A cell with an amount in USD; its title says what the amount is made of. */
export const Amount = ({ value, basis, wide = false }: AmountProps) => (
  <td class={`number ${wide ? 'wide' : ''}`} title={BASES[basis ?? '']}>
    <Usd value={value} why="Not known in USD" />
  </td>
);
