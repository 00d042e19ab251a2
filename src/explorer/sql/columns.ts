export interface Column {
  name: string;
  type: string;
}
export interface Table {
  columns: Column[];
  rows: unknown[][];
}

export const isNumeric = ({ type }: Column): boolean => /^(Nullable\()?(U?Int|Float|Decimal)/.test(type);
export const isTime = ({ type }: Column): boolean => /Date/.test(type);
