import { kebab } from './market-fields.ts';

/** One category of the vocabulary that all platforms share. */
interface Category {
  /** Display name, `Climate and Weather`. */
  name: string;
  /** Kebab form of the name. */
  slug: string;
}

interface CategoryRule extends Category {
  /** Other words the platforms use for it, kebab-cased. */
  also: readonly string[];
}

/** In order of precedence: a market tagged both `fed` and `politics` is Politics. */
const CATEGORY_RULES: readonly CategoryRule[] = [
  { name: 'Sports', slug: 'sports', also: ['sport', 'football-matches', 'props', 'esports'] },
  { name: 'Crypto', slug: 'crypto', also: [] },
  { name: 'Politics', slug: 'politics', also: ['elections', 'us-politics'] },
  { name: 'Economy', slug: 'economy', also: ['economics', 'fed'] },
  { name: 'Finance', slug: 'finance', also: ['financials', 'earnings', 'stocks', 'companies'] },
  { name: 'Geopolitics', slug: 'geopolitics', also: ['world'] },
  { name: 'Climate and Weather', slug: 'climate-and-weather', also: ['weather'] },
  { name: 'Science and Technology', slug: 'science-and-technology', also: ['tech', 'ai', 'science'] },
  { name: 'Culture', slug: 'culture', also: ['entertainment', 'pop-culture'] },
  { name: 'Mentions', slug: 'mentions', also: [] },
  { name: 'Health', slug: 'health', also: [] },
];

/** The first category, in the vocabulary's order, that one of these kebab-cased words names, with the word's index; else null. */
export function canonicalCategory(slugs: readonly string[]): (Category & { index: number }) | null {
  for (const { name, slug, also } of CATEGORY_RULES) {
    const index = slugs.findIndex((candidate) => candidate === slug || also.includes(candidate));
    if (index >= 0) return { name, slug, index };
  }
  return null;
}

/** The slug of a category's display name; `other` for markets without a category. */
export const categorySlug = (name: string): string => kebab(name) || 'other';
