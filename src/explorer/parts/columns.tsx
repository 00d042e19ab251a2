/** A column's name, or its name with the class of its cells: `number`, `number wide` (left out on a phone), `hidden` (read aloud only). */
export type Column = string | readonly [name: string, kind: 'number' | 'number wide' | 'hidden'];

/** The head of a table. */
export function Columns({ of }: { of: readonly Column[] }) {
  return (
    <thead>
      <tr>
        {of.map((column) => {
          const [name, kind] = typeof column === 'string' ? [column, ''] : column;
          return (
            <th key={name} scope="col" class={kind === 'hidden' ? '' : kind}>
              {kind === 'hidden' ? <span class="hidden">{name}</span> : name}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}
