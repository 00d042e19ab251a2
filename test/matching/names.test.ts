import { expect, test } from 'vitest';
import { mirrored, relationOf, type Case, type Some } from './pair.ts';

const nominee = (name: string): Some => ({ title: `Republican Presidential Nominee 2032: ${name}` });
const mvp = (name: string): Some => ({ title: `2031 NFL MVP Winner: ${name}`, category: 'NFL' });

const CASES: readonly Case[] = [
  ['a short first name', nominee('Mike Renard'), nominee('Michael Renard'), 'identical'],
  ['a short first name beside an initial', nominee('Tom A. Renard'), nominee('Thomas Renard'), 'identical'],
  ['two first names', nominee('Mike Renard'), nominee('Mitchell Renard'), 'disjoint'],
  ['letters that may be short for a name', nominee('AOC'), nominee('Alexandria Ocasio-Cortez'), 'unknown'],
  ['letters by which all know another person', nominee('MTG'), nominee('Alexandria Ocasio-Cortez'), 'disjoint'],
  ['letters that stand for no such name', nominee('KLM'), nominee('Karl Lindt Renard'), 'disjoint'],
  ['a mark of generation that one name lacks', mvp('Karl Lindt Jr.'), mvp('Karl Lindt'), 'unknown'],
  ['a second team', mvp('Quill II'), mvp('Quill'), 'disjoint'],
  ['two marks of generation', mvp('Karl Lindt Jr.'), mvp('Karl Lindt Sr.'), 'disjoint'],
  ['a mark of generation in an office', nominee('Karl Lindt Jr.'), nominee('Karl Lindt'), 'disjoint'],
];

test.each(CASES)('names: %s', (_, a, b, relation) => {
  expect([relationOf(a, b), relationOf(b, a)]).toEqual([relation, mirrored(relation)]);
});
