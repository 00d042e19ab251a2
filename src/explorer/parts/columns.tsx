/** A column's name, or its name and class: `number`, `wide` (not on phones), `number wide`, `hidden` (for screen readers only). */
type Column = string | readonly [name: string, kind: 'number' | 'wide' | 'number wide' | 'hidden'];

/** The header row of a table. */
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
